import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { type LogFields, type Logger, silentLogger } from "../../../src/base/logger.ts";
import { createRelayerMetrics } from "../../../src/relayer/api/metrics.ts";
import { createGaugePoller, type GaugePollerDeps } from "../../../src/relayer/api/gauge-poller.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const SECOND_NS = 1_000_000_000n;

function setUp(balances: readonly (bigint | Error)[]) {
  const registry = new Registry();
  const clock = createManualClock(0);
  const warned: LogFields[] = [];
  const logger: Logger = { ...silentLogger, warn: (_message, fields = {}) => void warned.push(fields) };
  const remaining = [...balances];
  const local: GaugePollerDeps["local"] = {
    balance: async () => {
      const next = remaining.shift() ?? 0n;
      if (next instanceof Error) throw next;
      return next;
    },
    clientOfConnection: async (id) => id.replace("connection", "client"),
    clientState: async (clientId) => {
      if (clientId === "client-1") throw new Error("unreadable");
      const latestHeight = { revision: 1n, height: 5n };
      return { clientId, chainId: "remote-1", latestHeight, trustingPeriodNs: 1_000n * SECOND_NS };
    },
    consensusTimeNs: async () => 1_700_000_000n * SECOND_NS + 500_000_000n,
  };
  const poller = createGaugePoller({
    local,
    account: { address: "neutron1relayer", denom: "untrn" },
    connectionIds: ["connection-0", "connection-1"],
    metrics: createRelayerMetrics(registry, []),
    clock,
    logger,
  });
  return { poller, clock, warned, registry };
}

describe("the gauge poller", () => {
  it("sets the gauges once a minute, and keeps the last value of one that cannot be read", async () => {
    const { poller, clock, registry } = setUp([70n, new Error("down"), 50n]);
    const stop = new AbortController();
    const done = poller.run(stop.signal);
    const balance = async (): Promise<string | undefined> =>
      /account_balance\{denom="untrn"\} (\d+)/.exec(await registry.metrics())?.[1];
    await clock.advance(0);
    expect(await balance()).toBe("70");
    const page = await registry.metrics();
    expect(page).toContain('client_expiry_timestamp_seconds{connection_id="connection-0"} 1700001000.5');
    expect(page).not.toContain('expiry_timestamp_seconds{connection_id="connection-1"}');
    await clock.advance(60_000);
    expect(await balance()).toBe("70");
    await clock.advance(60_000);
    expect(await balance()).toBe("50");
    stop.abort(new Error("stop"));
    await done;
  });

  it("warns once when the account runs empty", async () => {
    const { poller, clock, warned } = setUp([0n, 0n, 9n, 0n]);
    const stop = new AbortController();
    const done = poller.run(stop.signal);
    const counts: number[] = [];
    for (let minutes = 0; minutes < 4; minutes++) {
      await clock.advance(minutes === 0 ? 0 : 60_000);
      counts.push(warned.length);
    }
    expect(counts).toEqual([1, 1, 1, 2]);
    expect(warned[0]).toEqual({ address: "neutron1relayer", denom: "untrn" });
    stop.abort(new Error("stop"));
    await done;
  });
});
