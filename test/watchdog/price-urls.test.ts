import { expect, it } from "vitest";
import { priceUrls } from "../../src/watchdog/sources/sidecar-reading.ts";

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
