import { alertOnPoll, type AlertOptions } from "../alerts/plan-alerts.ts";
import { EMPTY_HISTORY } from "../conditions/poll-history.ts";
import {
  blockTimeMs,
  countObservation,
  EMPTY_LEDGER,
  type Ledger,
  recordStart,
  memoryView,
} from "../ledger/ledger.ts";
import type { AlertEvent } from "../alerts/alert-event.ts";
import type { SidecarPrices } from "../policy/price-comparison.ts";
import { type BlockTime, blockTimeOf } from "../upgrade/upgrade-plan.ts";
import type { Observation } from "../sources/observation.ts";
import { assess } from "../policy/assess.ts";
import { type Assessment, chainPolicy, type PolicyChoice } from "../policy/assessment.ts";
import type { SuccessRate } from "../policy/reward-tier.ts";
import type { WatchdogState } from "../state/state-store.ts";

/** Result of the evaluation of one poll of one validator. */
export interface Evaluation {
  /** The poll. While two nodes answer at one URL, the page of the node is an error. */
  readonly observation: Observation;
  readonly state: WatchdogState;
  readonly assessment: Assessment;
  /** Sidecars of other validators of the same chain, as last read. */
  readonly peers: readonly SidecarPrices[];
  /** Undefined while it is not known. */
  readonly blockTime: BlockTime | undefined;
  /** Names of the nodes that restarted. */
  readonly restarted: readonly string[];
  /** Notifications of this poll. They are also in the outbox of each channel that wants them. */
  readonly events: readonly AlertEvent[];
}

export interface EvaluationOptions {
  readonly alerts: AlertOptions;
  readonly intervalMs: number;
  /** Absent for a validator whose votes are not followed. */
  readonly consensusAddress?: string | undefined;
  readonly policy: PolicyChoice;
  /** The first poll of this process. */
  readonly isFirst: boolean;
  /** A gap is being filled: the readings are not counted yet. A later poll counts their blocks. */
  readonly isFilling?: boolean;
  /** A longer time between two readings is a gap. Default: three intervals, at least a minute. */
  readonly gapMs?: number | undefined;
  /** How much later than planned the poll began, ms. Absent: not measured. */
  readonly lateMs?: number | undefined;
  /** Sidecars of other validators of the same chain, as last read. Absent: none. */
  readonly peers?: readonly SidecarPrices[];
}

/** Evaluates one poll: counts its blocks, applies the policy, and advances every alert. Pure. */
export function planEvaluation(
  state: WatchdogState,
  scraped: Observation,
  options: EvaluationOptions,
): Evaluation {
  const { validator, atMs } = scraped;
  const { peers = [] } = options;
  const before = state.ledgers.get(validator) ?? EMPTY_LEDGER;
  const started = options.isFirst ? recordStart(before, atMs) : before;
  const { ledger, steps, conflicts } = options.isFilling
    ? { ledger: started, steps: [], conflicts: [] }
    : countObservation(started, scraped, options);
  const observation = withConflicts(scraped, conflicts);
  const blockTime = blockTimeOf(ledger.anchors, blockTimeMs(ledger));
  const assessment = assessObservation(ledger, observation, options.policy);
  const payments = withPayment(state.payments, validator, observation);
  const {
    state: alerting,
    events,
    pollHistory,
  } = alertOnPoll(
    state.alerting,
    {
      observation,
      ledger: memoryView(validator, ledger),
      assessment,
      lateMs: options.lateMs,
      peers,
      blockTime,
      payments: payments?.get(validator),
    },
    state.pollHistories.get(validator) ?? EMPTY_HISTORY,
    options.alerts,
  );
  return {
    observation,
    state: {
      ...(payments === undefined ? {} : { payments }),
      ledgers: new Map([...state.ledgers, [validator, ledger]]),
      pollHistories: new Map([...state.pollHistories, [validator, pollHistory]]),
      alerting,
    },
    assessment,
    peers,
    blockTime,
    restarted: steps.filter(({ step }) => step.restarted).map(({ node }) => node),
    events,
  };
}

/** Adds the payment that the poll's search found. */
function withPayment(
  payments: WatchdogState["payments"],
  validator: string,
  { chain: { payment } }: Observation,
): WatchdogState["payments"] {
  if (payment?.state !== "up") return payments;
  const others = (payments?.get(validator) ?? []).filter(({ month }) => month !== payment.value.month);
  return new Map([...(payments ?? []), [validator, [...others, payment.value]]]);
}

/** Applies the policy to a ledger. The chain's parameters count while the chain shows them. */
function assessObservation(
  ledger: Ledger,
  { validator, atMs, chain }: Observation,
  { policy, fromChain }: PolicyChoice,
): Assessment {
  const revenue = chain.revenue.state === "up" ? chain.revenue.value : undefined;
  const paid = revenue?.programme === "revenue" ? revenue : undefined;
  const signed: SuccessRate | undefined =
    paid?.stats === undefined || paid.stats.inActiveSet === 0n
      ? undefined
      : { good: paid.stats.committedBlocks, total: paid.stats.inActiveSet };
  return assess({
    ledger: memoryView(validator, ledger),
    nowMs: atMs,
    policy: fromChain && paid !== undefined ? chainPolicy(paid.params) : policy,
    blockTimeMs: blockTimeMs(ledger),
    signed,
  });
}

/** Makes the page of a node with a conflict an error. */
function withConflicts(observation: Observation, conflicts: readonly string[]): Observation {
  if (conflicts.length === 0) return observation;
  const text =
    "two nodes answer in turn at this URL, so neither is counted; let sources.node point to one node only";
  const nodes = observation.nodes.map((node) =>
    conflicts.includes(node.name) && node.metrics.state === "up"
      ? {
          ...node,
          metrics: {
            state: "error",
            failure: { code: "two-nodes", text },
            durationMs: node.metrics.durationMs,
          } as const,
        }
      : node,
  );
  return { ...observation, nodes };
}
