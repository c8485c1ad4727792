import { expect, it } from "vitest";
import { createPricesReader, priceUrls } from "../../src/watchdog/sources/sidecar-reading.ts";

const CONNECT = "/connect/oracle/v2/prices";
const SLINKY = "/slinky/oracle/v1/prices";

it.each([
  ["http://sidecar:8080", [`http://sidecar:8080${CONNECT}`, `http://sidecar:8080${SLINKY}`]],
  [`http://sidecar:8080${SLINKY}`, [`http://sidecar:8080${SLINKY}`, `http://sidecar:8080${CONNECT}`]],
  [
    "https://gateway/KEY",
    ["https://gateway/KEY", `https://gateway/KEY${CONNECT}`, `https://gateway/KEY${SLINKY}`],
  ],
  [
    `https://gateway/KEY${CONNECT}?k=1`,
    [`https://gateway/KEY${CONNECT}?k=1`, `https://gateway/KEY${SLINKY}?k=1`],
  ],
  [
    "https://gateway/KEY/prices",
    ["https://gateway/KEY/prices", `https://gateway/KEY${CONNECT}`, `https://gateway/KEY${SLINKY}`],
  ],
])("%s: the known paths are tried behind the same gateway", (configured, urls) => {
  expect(priceUrls(configured)).toEqual(urls);
});

it("a server without a price API is said to have none at the paths that were tried", async () => {
  const asked: string[] = [];
  const read = createPricesReader("http://sidecar:8080/own", async (url) => {
    asked.push(new URL(url).pathname);
    return { status: 404, body: (async function* () {})() };
  });
  const paths = ["/own", `/own${CONNECT}`, `/own${SLINKY}`];
  await expect(read?.(new AbortController().signal)).rejects.toThrow(
    `no price API found at ${paths.join(", ")}`,
  );
  expect(asked).toEqual(paths);
});
