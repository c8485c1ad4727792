import { Gauge, type Registry } from "prom-client";
import type { GateStatus } from "./create-gate.ts";
import { ROLES } from "./leadership.ts";
import { namedOwners, type SpendingLimits } from "./spending.ts";

/**
 * Registers the metrics of the gate. They are read at scrape time, so they are current while nothing is sent. A limit
 * that is not configured has no metric.
 */
export function registerGateMetrics(
  registry: Registry,
  status: () => GateStatus,
  { dailyFee, dailyGasPerOwner }: SpendingLimits,
): void {
  const registers = [registry];
  const gauge = (name: string, help: string, collect: (set: (value: number) => void) => void): void => {
    const metric: Gauge = new Gauge({
      name: `relaywatch_relayer_${name}`,
      help,
      registers,
      collect: () => collect((value) => metric.set(value)),
    });
  };
  const role = new Gauge({
    name: "relaywatch_relayer_role",
    help: "1 for the role of this process: leader submits, starting will submit soon, standby follows another process.",
    labelNames: ["role"],
    registers,
    collect: () => {
      for (const one of ROLES) role.set({ role: one }, status().leadership.role === one ? 1 : 0);
    },
  });
  gauge("store_pending_writes", "Writes of the store that are not durable yet.", (set) =>
    set(status().store.pendingWrites),
  );
  gauge("store_dropped_writes", "Attempts that the store could not take since the start.", (set) =>
    set(status().store.droppedWrites),
  );
  gauge("store_writable", "1 while the store accepts writes, else 0. At 0 nothing is sent.", (set) =>
    set(status().store.error === undefined ? 1 : 0),
  );
  gauge("admitted", "1 after the gate admitted the last transaction, 0 after it refused one.", (set) =>
    set(status().refusal === undefined ? 1 : 0),
  );
  gauge("spent_today_fees", "Fees of the transactions of this UTC day, in units of the fee denom.", (set) =>
    set(Number(status().spending.fee)),
  );
  if (dailyFee !== undefined)
    gauge("daily_fee_limit", "Limit of the fees of one UTC day. Absent without a limit.", (set) =>
      set(Number(dailyFee)),
    );
  if (dailyGasPerOwner !== undefined)
    gauge(
      "daily_gas_per_owner_limit",
      "Limit of the gas of one UTC day for each owner. Absent without a limit.",
      (set) => set(Number(dailyGasPerOwner)),
    );
  gauge("balance_reserve", "Balance that is never spent, in units of the fee denom.", (set) =>
    set(Number(status().reserve.reserve)),
  );
  const gas = new Gauge({
    name: "relaywatch_relayer_spent_today_gas",
    help: "Gas limits of the transactions of this UTC day by owner of the queries: the 100 with the most, and the sum of the others.",
    labelNames: ["owner"],
    registers,
    collect: () => {
      gas.reset();
      for (const [owner, value] of namedOwners(status().spending.gasByOwner))
        gas.set({ owner }, Number(value));
    },
  });
}
