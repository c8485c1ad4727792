import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import type { GateStatus } from "../../../src/relayer/gate/create-gate.ts";
import { registerGateMetrics } from "../../../src/relayer/api/cost-gauges.ts";
import type { SpendingLimits } from "../../../src/relayer/gate/spending.ts";

function scrape(limits: SpendingLimits, gasByOwner: ReadonlyMap<string, bigint>): Promise<string> {
  const status: GateStatus = {
    leadership: { role: "starting", holder: undefined, error: undefined, progress: undefined },
    store: { kind: "memory", pendingWrites: 2, droppedWrites: 3, error: "full" },
    spending: {
      day: 1,
      fee: 12n,
      gasByOwner,
      feeByRule: new Map([["liquidations", 7n]]),
      limits,
      lastDay: { fee: 12n, ms: 600_000 },
    },
    reserve: { reserve: 50n, balance: undefined, readAtMs: undefined },
    refusal: "no",
  };
  const registry = new Registry();
  registerGateMetrics(registry, () => status, limits);
  return registry.metrics();
}

const valuesOf = (page: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...page.matchAll(/^relaywatch_relayer_(\S+) (\S+)$/gm)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]),
  );

describe("the metrics of the gate", () => {
  it("have limits and what is spent", async () => {
    const limits = { dailyFee: 100n, dailyGasPerOwner: 9n, dailyFeeByRule: new Map([["liquidations", 8n]]) };
    expect(valuesOf(await scrape(limits, new Map([["neutron1a", 4n]])))).toEqual({
      'role{role="leader"}': "0",
      'role{role="starting"}': "1",
      'role{role="standby"}': "0",
      'role{role="unknown"}': "0",
      store_pending_writes: "2",
      store_dropped_writes: "3",
      store_writable: "0",
      admitted: "0",
      spent_today_fees: "12",
      'spent_today_urgent_fees{rule="liquidations"}': "7",
      daily_fee_limit: "100",
      daily_gas_per_owner_limit: "9",
      balance_reserve: "50",
      'spent_today_gas{owner="neutron1a"}': "4",
    });
  });

  it("have no value for an absent limit, and at most 101 owners", async () => {
    const owners = Array.from(
      { length: 103 },
      (_, index) => [`neutron1${index}`, BigInt(index + 1)] as const,
    );
    const values = valuesOf(
      await scrape({ dailyFee: undefined, dailyGasPerOwner: undefined }, new Map(owners)),
    );
    expect(Object.keys(values).filter((name) => name.includes("limit"))).toEqual([]);
    expect(Object.keys(values).filter((name) => name.startsWith("spent_today_gas"))).toHaveLength(101);
    expect(values['spent_today_gas{owner="other"}']).toBe("6");
    expect(values['spent_today_gas{owner="neutron1102"}']).toBe("103");
  });
});
