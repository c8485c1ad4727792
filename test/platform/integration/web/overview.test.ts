import { afterEach, describe, expect, it } from "vitest";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { getRoute, type HttpRoute, jsonReply } from "../../../../src/platform/http/http-route.ts";
import { openRouteServer } from "../../../../src/platform/http/route-server.ts";
import {
  overviewRoute,
  type PartRow,
  partsPages,
  readNeighbours,
} from "../../../../src/platform/web/overview.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serve(route: HttpRoute): Promise<string> {
  const listen = { host: "127.0.0.1", port: 0 };
  const server = await openRouteServer(
    { name: "neighbour", listen, portOption: "none", routes: [route] },
    { logger: silentLogger },
  );
  closing.push(server.close);
  return `http://127.0.0.1:${server.address.port}/`;
}

const PART: PartRow = {
  name: "validator a",
  tone: "bad",
  verdict: "losing",
  number: "97.5 %",
  asOfMs: Date.UTC(2026, 0, 2),
  href: "/validators/a",
  trend: { text: "last day", bars: [["good", 0.4], null, ["bad", 1]] },
};

describe("the overview of neighbours", () => {
  it("shows their parts, with links to their pages", async () => {
    const url = await serve(overviewRoute(() => [PART]));
    expect(await readNeighbours([{ name: "oracle watchdog", url }])).toEqual([
      { ...PART, href: `${url}validators/a` },
    ]);
  });

  it("says that one is not running, and why another cannot be seen", async () => {
    const url = await serve(getRoute("/api/overview", () => jsonReply(200, { parts: [{ name: 1 }] })));
    const rows = await readNeighbours([
      { name: "relayer", url: "http://127.0.0.1:1/" },
      { name: "watchdog", url },
    ]);
    expect(rows.map(({ name, tone, verdict, number }) => `${name}: ${tone} ${verdict} ${number}`)).toEqual([
      "relayer: unknown not running ",
      expect.stringMatching(/^watchdog: unknown cannot see parts\[0\]\.\w+: expected a string$/),
    ]);
  });

  it("takes no other tone, bar or address from them", async () => {
    const part = {
      ...PART,
      as_of: null,
      tone: "constructor",
      href: "//evil.example/",
      trend: { text: "", bars: [["x", 1], 5, ["good", "1"]] },
    };
    const url = await serve(getRoute("/api/overview", () => jsonReply(200, { parts: [part] })));
    const [row] = await readNeighbours([{ name: "relayer", url }]);
    expect(row).toMatchObject({
      tone: "unknown",
      href: `${url}evil.example/`,
      trend: { bars: [null, null, null] },
    });
  });

  it("is a page only of a daemon that knows a neighbour", async () => {
    const clock = { nowMs: () => Date.UTC(2026, 0, 2) };
    expect(partsPages(() => [PART], [], clock)).toEqual([]);
    const [page] = partsPages(() => [PART], [{ name: "relayer", url: "http://127.0.0.1:1/" }], clock);
    const content = await page?.content({ params: {}, query: new URLSearchParams() });
    expect(content?.title).toBe("validator a: losing – all parts");
    expect(content?.sections[0]?.content.text).toMatch(/✕ <\/span>losing.*not running/s);
  });
});
