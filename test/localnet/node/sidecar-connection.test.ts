import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import {
  createOracleClient,
  type SidecarResponse,
  type SidecarTransport,
} from "../../../src/localnet/node/oracle/oracle-client.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { CONNECTION_REFUSED } from "../../support/simulated-response.ts";

const PRICES: SidecarResponse = {
  status: 200,
  contentType: "application/json",
  text: '{"prices":{"BTC/USD":"1"}}',
};

/** A sidecar that listens at some times only. */
function simulate(isUp: (nowMs: number) => boolean): {
  clock: ManualClock;
  transport: SidecarTransport;
  attempts: number[];
} {
  const clock = createManualClock(0);
  const attempts: number[] = [];
  const transport: SidecarTransport = {
    get: async () => {
      if (!isUp(clock.nowMs())) {
        attempts.push(clock.nowMs());
        throw CONNECTION_REFUSED;
      }
      return PRICES;
    },
    connects: async () => {
      attempts.push(clock.nowMs());
      return isUp(clock.nowMs());
    },
  };
  return { clock, transport, attempts };
}

describe("the connection of the node to its sidecar", () => {
  it("tries again with the pauses of gRPC, also between two votes", async () => {
    const upAtMs = 17_000;
    const { clock, transport, attempts } = simulate((nowMs) => nowMs >= upAtMs);
    const life = new AbortController();
    const deps = { clock, logger: silentLogger, transport };
    const client = createOracleClient({ address: "http://127.0.0.1:8080", timeoutMs: 5 }, deps);
    const first = client.vote(life.signal);
    await clock.runUntil(upAtMs);
    expect(await first).toMatchObject({ success: false, latencyMs: 5 });
    // The sidecar is back, and the node does not know it yet.
    const second = client.vote(life.signal);
    await clock.runUntil(60_000);
    expect(await second).toMatchObject({ success: false, latencyMs: 5 });
    expect(attempts.map(Math.round)).toEqual([0, 1000, 2600, 5160, 9256, 15_810, 26_295]);
    expect((await client.vote(life.signal)).success).toBe(true);
  });

  it("pauses for at most two minutes, and ends with the node", async () => {
    const { clock, transport, attempts } = simulate(() => false);
    const life = new AbortController();
    const deps = { clock, logger: silentLogger, transport };
    const client = createOracleClient({ address: "http://127.0.0.1:8080", timeoutMs: 5 }, deps);
    const vote = client.vote(life.signal);
    await clock.runUntil(3_600_000);
    await vote;
    const pauses = attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0));
    expect(Math.max(...pauses)).toBe(120_000);
    life.abort(new Error("node stopped"));
    await expect.poll(clock.sleeping).toBe(0);
  });

  it("fails immediately while the sidecar drains, and succeeds with the first good response", async () => {
    const clock = createManualClock(0);
    let response: SidecarResponse = { status: 503, contentType: undefined, text: "" };
    const messages: unknown[] = [];
    const logger = { ...silentLogger, debug: (_text: string, fields?: object) => messages.push(fields) };
    const transport: SidecarTransport = { get: async () => response, connects: async () => true };
    const client = createOracleClient(
      { address: "http://h:1", timeoutMs: 60_000 },
      { clock, logger, transport },
    );
    const life = new AbortController();
    expect((await client.vote(life.signal)).success).toBe(false);
    expect(messages).toEqual([{ error: "malformed header: missing HTTP content-type" }]);
    response = PRICES;
    expect((await client.vote(life.signal)).success).toBe(true);
  });
});
