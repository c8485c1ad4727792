import { Gauge, type Registry } from "prom-client";
import type { MetricDefinition } from "../../platform/process/metrics.ts";
import type { GateStatus } from "./create-gate.ts";
import { ROLES } from "./leadership.ts";
import { namedOwners, type SpendingLimits } from "./spending.ts";

const ROLE: MetricDefinition = {
  question: "Is it safe?",
  name: "relaywatch_relayer_role",
  help: "1 for the role of this process: leader submits, starting will submit soon, standby follows another process, unknown cannot read the lease.",
  labelNames: ["role"],
};

const SPENT_GAS: MetricDefinition = {
  question: "What does it cost?",
  name: "relaywatch_relayer_spent_today_gas",
  help: "Gas limits of the transactions of this UTC day by owner of the queries: the 100 with the most, and the sum of the others.",
  labelNames: ["owner"],
};

const URGENT_FEES: MetricDefinition = {
  question: "What does it cost?",
  name: "relaywatch_relayer_spent_today_urgent_fees",
  help: "Fees of this UTC day for urgent results, by rule of urgency with a daily_fee, in units of the fee denom.",
  labelNames: ["rule"],
};

/**
 * Registers the metrics of the gate. They are read at scrape time, so they are current while nothing is sent. A limit
 * that is not configured has no metric.
 */
export function registerGateMetrics(
  registry: Registry,
  status: () => GateStatus,
  { dailyFee, dailyGasPerOwner, dailyFeeByRule = new Map() }: SpendingLimits,
): void {
  const registers = [registry];
  const gauge = (definition: MetricDefinition, value: () => number): void => {
    const metric: Gauge = new Gauge({ ...definition, registers, collect: () => metric.set(value()) });
  };
  const role: Gauge = new Gauge({
    ...ROLE,
    registers,
    collect: () => {
      for (const one of ROLES) role.set({ role: one }, status().leadership.role === one ? 1 : 0);
    },
  });
  gauge(
    {
      question: "Is it safe?",
      name: "relaywatch_relayer_store_pending_writes",
      help: "Writes of the store that are not durable yet.",
    },
    () => status().store.pendingWrites,
  );
  gauge(
    {
      question: "Is it safe?",
      name: "relaywatch_relayer_store_dropped_writes",
      help: "Attempts that the store could not take since the start.",
    },
    () => status().store.droppedWrites,
  );
  gauge(
    {
      question: "Is it safe?",
      name: "relaywatch_relayer_store_writable",
      help: "1 while the store accepts writes, else 0. At 0 nothing is sent.",
    },
    () => (status().store.error === undefined ? 1 : 0),
  );
  gauge(
    {
      question: "Is it safe?",
      name: "relaywatch_relayer_admitted",
      help: "1 after the gate admitted the last transaction, 0 after it refused one.",
    },
    () => (status().refusal === undefined ? 1 : 0),
  );
  gauge(
    {
      question: "What does it cost?",
      name: "relaywatch_relayer_spent_today_fees",
      help: "Fees of the transactions of this UTC day, in units of the fee denom.",
    },
    () => Number(status().spending.fee),
  );
  if (dailyFee !== undefined)
    gauge(
      {
        question: "Is it safe?",
        name: "relaywatch_relayer_daily_fee_limit",
        help: "Limit of the fees of one UTC day. Absent without a limit.",
      },
      () => Number(dailyFee),
    );
  if (dailyGasPerOwner !== undefined)
    gauge(
      {
        question: "Is it safe?",
        name: "relaywatch_relayer_daily_gas_per_owner_limit",
        help: "Limit of the gas of one UTC day for each owner. Absent without a limit.",
      },
      () => Number(dailyGasPerOwner),
    );
  gauge(
    {
      question: "Is it safe?",
      name: "relaywatch_relayer_balance_reserve",
      help: "Balance that is never spent, in units of the fee denom.",
    },
    () => Number(status().reserve.reserve),
  );
  const urgent: Gauge = new Gauge({
    ...URGENT_FEES,
    registers,
    collect: () => {
      for (const rule of dailyFeeByRule.keys())
        urgent.set({ rule }, Number(status().spending.feeByRule.get(rule) ?? 0n));
    },
  });
  const gas: Gauge = new Gauge({
    ...SPENT_GAS,
    registers,
    collect: () => {
      gas.reset();
      for (const [owner, value] of namedOwners(status().spending.gasByOwner))
        gas.set({ owner }, Number(value));
    },
  });
}
