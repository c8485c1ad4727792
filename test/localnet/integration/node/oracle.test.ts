import { createServer, type Server } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { encodeBech32 } from "../../../../src/platform/base/bytes.ts";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { createOracleClient } from "../../../../src/localnet/node/oracle/oracle-client.ts";
import { startTestNode } from "../../../support/test-node.ts";

const servers: Server[] = [];

/** Starts a sidecar that responds by path with a body or a status. It never responds on a path with 0. */
async function sidecar(responses: Readonly<Record<string, string | number>>): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const response = responses[incoming.url ?? ""] ?? 404;
    if (response === 0) return;
    outgoing
      .writeHead(typeof response === "number" ? response : 200, { "content-type": "application/json" })
      .end(typeof response === "number" ? "" : response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const never = new AbortController().signal;
const deps = { clock: systemClock, logger: silentLogger };
const PRICES =
  '{"prices":{"BTC/USD":"9712345000","ATOM/USD":"6789000000"},"timestamp":"2026-11-21T12:18:59Z","version":""}';

describe("the oracle client", () => {
  it.each(["/connect/oracle/v2/prices", "/slinky/oracle/v1/prices"])("reads prices at %s", async (path) => {
    const address = await sidecar({ [path]: PRICES });
    const client = createOracleClient({ address, timeoutMs: 1000 }, deps);
    for (let time = 0; time < 2; time++) {
      const vote = await client.vote(never);
      expect(vote).toMatchObject({ success: true, usable: true });
      expect([...vote.prices]).toEqual([
        ["btc/usd", 9_712_345_000n],
        ["atom/usd", 6_789_000_000n],
      ]);
    }
  });

  it("counts a response without any price as a success", async () => {
    const address = await sidecar({ "/connect/oracle/v2/prices": '{"prices":{}}' });
    expect((await createOracleClient({ address, timeoutMs: 1000 }, deps).vote(never)).success).toBe(true);
  });

  it.each(['"1e5"', '"1.5"', "15"])(
    "counts the price %s as a success without usable prices",
    async (price) => {
      const address = await sidecar({ "/connect/oracle/v2/prices": `{"prices":{"BTC/USD":${price}}}` });
      const messages: unknown[] = [];
      const logger = { ...silentLogger, debug: (_message: string, fields?: object) => messages.push(fields) };
      const vote = await createOracleClient({ address, timeoutMs: 1000 }, { ...deps, logger }).vote(never);
      expect(vote).toMatchObject({ success: true, usable: false, prices: new Map() });
      expect(messages).toEqual([{ error: "the price of BTC/USD is not an integer" }]);
    },
  );

  it.each([
    ["a server error", { "/connect/oracle/v2/prices": 500 }],
    ["a missing path", {}],
    ["a response that is not JSON", { "/connect/oracle/v2/prices": "<html>" }],
    ["a JSON array", { "/connect/oracle/v2/prices": "[]" }],
    ["an array of prices", { "/connect/oracle/v2/prices": '{"prices":[]}' }],
    ["a missing response", { "/connect/oracle/v2/prices": 0 }],
  ])("counts %s as a failure within its timeout", async (_name, responses) => {
    const address = await sidecar(responses);
    const vote = await createOracleClient({ address, timeoutMs: 200 }, deps).vote(never);
    expect(vote).toMatchObject({ success: false, usable: false, prices: new Map() });
    expect(vote.latencyMs).toBeLessThan(2000);
  });

  it("retries a refused connection until its timeout", async () => {
    const client = createOracleClient({ address: "http://127.0.0.1:1", timeoutMs: 300 }, deps);
    const vote = await client.vote(never);
    expect(vote.success).toBe(false);
    expect(vote.latencyMs).toBeGreaterThanOrEqual(290);
  });

  it("rejects on abort", async () => {
    const stop = new AbortController();
    const vote = createOracleClient({ address: "http://127.0.0.1:1", timeoutMs: 60_000 }, deps).vote(
      stop.signal,
    );
    stop.abort(new Error("stop"));
    await expect(vote).rejects.toThrow("stop");
  });
});

describe("a node with a sidecar", () => {
  const metricsOf = async (port: number | undefined) =>
    (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const start = (address: string, timeoutMs: number) =>
    startTestNode({
      startHalted: false,
      oracle: { address, timeoutMs },
      metrics: { host: "127.0.0.1", port: 0, portOption: "--metrics-port" },
    });

  it("counts one Success per block, and has no Failure series before the first failure", async () => {
    const node = await start(await sidecar({ "/connect/oracle/v2/prices": PRICES }), 20_000);
    await expect.poll(() => node.view.status().latestHeight).toBeGreaterThan(3n);
    node.control.halt();
    const page = await metricsOf(node.ports.get("metrics"));
    const votes = Number(/^app_oracle_responses\{chain_id="kv-1",status="Success"\} (\d+)$/m.exec(page)?.[1]);
    expect(votes).toBeGreaterThanOrEqual(Number(node.view.status().latestHeight));
    expect(page).not.toContain('status="Failure"');
    expect(page).toContain('app_prices{chain_id="kv-1",ticker="btc/usd"} 9712345000');
    expect(page).toMatch(
      /app_report_status_per_validator\{chain_id="kv-1",validator="kvvalcons1[a-z0-9]+",ticker="btc\/usd",status="with_price"\} \d+/,
    );
    await node.stop();
  });

  it("counts the votes of all validators: the others' sidecars always have prices, and who is absent does not vote", async () => {
    const node = await startTestNode({
      powers: [11n, 10n, 10n, 10n, 10n],
      startHalted: false,
      oracle: { address: await sidecar({ "/connect/oracle/v2/prices": PRICES }), timeoutMs: 20_000 },
      metrics: { host: "127.0.0.1", port: 0, portOption: "--metrics-port" },
    });
    const [own, other, third] = (node.view.validators(1n)?.validators ?? []).map(({ address }) => address);
    node.control.setAbsent([other ?? expect.unreachable("no second validator")]);
    const readPage = async (): Promise<string> => {
      const from = node.view.status().latestHeight;
      await expect.poll(() => node.view.status().latestHeight).toBeGreaterThan(from + 5n);
      node.control.halt();
      const text = await metricsOf(node.ports.get("metrics"));
      node.control.resume();
      return text;
    };
    let page = await readPage();
    const count = (address: Uint8Array | undefined, status: string): number => {
      const name = encodeBech32("kvvalcons", address ?? new Uint8Array());
      const line = new RegExp(`validator="${name}",ticker="btc/usd",status="${status}"\\} (\\d+)`).exec(page);
      return Number(line?.[1] ?? 0);
    };
    expect([count(own, "absent"), count(third, "absent")]).toEqual([0, 0]);
    expect(count(other, "absent")).toBeGreaterThan(3);
    expect(count(own, "with_price")).toBe(count(third, "with_price"));
    expect(count(other, "with_price") + count(other, "absent")).toBe(count(own, "with_price"));
    node.control.setAbsent([own ?? expect.unreachable("no validator")]);
    page = await readPage();
    expect(count(own, "absent")).toBeGreaterThan(3);
    expect(count(third, "absent")).toBe(0);
    await node.stop();
  });

  it("makes blocks without its sidecar and counts Failure", async () => {
    const node = await start("http://127.0.0.1:1", 50);
    await expect.poll(() => node.view.status().latestHeight).toBeGreaterThan(2n);
    const page = await metricsOf(node.ports.get("metrics"));
    expect(page).toMatch(/^app_oracle_responses\{chain_id="kv-1",status="Failure"\} [1-9]/m);
    expect(page).toMatch(
      /^app_abci_requests\{chain_id="kv-1",abci_method="extend_vote",status="OracleClientError"\} [1-9]/m,
    );
    expect(page).not.toContain('app_oracle_responses{chain_id="kv-1",status="Success"}');
    await node.stop();
  });
});
