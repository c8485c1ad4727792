import type { Registry } from "prom-client";
import {
  knownSeries,
  registerStatusMetrics,
  series,
  type StatusMetric,
} from "../../platform/process/status-metrics.ts";
import type { GateStatus } from "./create-gate.ts";
import { ROLES } from "./leadership.ts";
import { namedOwners, type SpendingLimits } from "./spending.ts";

interface GateGauge extends StatusMetric<GateStatus> {
  /** The gauge exists only if this limit is configured. */
  readonly limit?: keyof SpendingLimits;
}

const GATE_GAUGES: readonly GateGauge[] = [
  {
    question: "Is it safe?",
    name: "relaywatch_relayer_role",
    help: "1 for the role of this process: leader submits, starting will submit soon, standby follows another process, unknown cannot read the lease.",
    labelNames: ["role"],
    values: ({ leadership }) => ROLES.map((role) => series(leadership.role === role ? 1 : 0, { role })),
  },
  {
    question: "Is it safe?",
    name: "relaywatch_relayer_store_pending_writes",
    help: "Store writes that are not durable yet.",
    labelNames: [],
    values: ({ store }) => [series(store.pendingWrites)],
  },
  {
    question: "Is it safe?",
    name: "relaywatch_relayer_store_dropped_writes",
    help: "Attempts that the store has failed to accept since the process started.",
    labelNames: [],
    values: ({ store }) => [series(store.droppedWrites)],
  },
  {
    question: "Is it safe?",
    name: "relaywatch_relayer_store_writable",
    help: "1 while the store accepts writes, else 0. At 0 nothing is sent.",
    labelNames: [],
    values: ({ store }) => [series(store.error === undefined ? 1 : 0)],
  },
  {
    question: "Is it safe?",
    name: "relaywatch_relayer_admitted",
    help: "1 if the gate admitted the last transaction, 0 if it refused it.",
    labelNames: [],
    values: ({ refusal }) => [series(refusal === undefined ? 1 : 0)],
  },
  {
    question: "What does it cost?",
    name: "relaywatch_relayer_spent_today_fees",
    help: "Fees of this UTC day's transactions, in units of the fee denom.",
    labelNames: [],
    values: ({ spending }) => knownSeries(spending.fee),
  },
  {
    question: "Is it safe?",
    name: "relaywatch_relayer_daily_fee_limit",
    help: "Fee limit per UTC day. Absent without a limit.",
    labelNames: [],
    limit: "dailyFee",
    values: ({ spending: { limits } }) => knownSeries(limits.dailyFee),
  },
  {
    question: "Is it safe?",
    name: "relaywatch_relayer_daily_gas_per_owner_limit",
    help: "Gas limit per UTC day and owner. Absent without a limit.",
    labelNames: [],
    limit: "dailyGasPerOwner",
    values: ({ spending: { limits } }) => knownSeries(limits.dailyGasPerOwner),
  },
  {
    question: "Is it safe?",
    name: "relaywatch_relayer_balance_reserve",
    help: "Balance that is never spent, in units of the fee denom.",
    labelNames: [],
    values: ({ reserve }) => knownSeries(reserve.reserve),
  },
  {
    question: "What does it cost?",
    name: "relaywatch_relayer_spent_today_urgent_fees",
    help: "Fees of this UTC day for urgent results, by urgency rule with a daily_fee, in units of the fee denom.",
    labelNames: ["rule"],
    values: ({ spending }) =>
      [...(spending.limits.dailyFeeByRule?.keys() ?? [])].map((rule) =>
        series(Number(spending.feeByRule.get(rule) ?? 0n), { rule }),
      ),
  },
  {
    question: "What does it cost?",
    name: "relaywatch_relayer_spent_today_gas",
    help: "Gas limits of this UTC day's transactions by query owner: the 100 owners with the most, and the sum of the others.",
    labelNames: ["owner"],
    values: ({ spending }) =>
      namedOwners(spending.gasByOwner).map(([owner, gas]) => series(Number(gas), { owner })),
  },
];

/** Registers the gate's metrics. An unconfigured limit has no metric. */
export function registerGateMetrics(
  registry: Registry,
  status: () => GateStatus,
  limits: SpendingLimits,
): void {
  const rows = GATE_GAUGES.filter(({ limit }) => limit === undefined || limits[limit] !== undefined);
  registerStatusMetrics(registry, rows, status);
}
