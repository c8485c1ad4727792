import { alertOnPoll, type AlertOptions } from "../alerts/plan-alerts.ts";
import { EMPTY_HISTORY, withLostModules } from "../conditions/poll-history.ts";
import { blockTimeMs, countObservation, EMPTY_LEDGER, memoryView } from "../ledger/ledger.ts";
import type { AlertEvent } from "../alerts/alert-event.ts";
import type { SidecarPrices } from "../policy/price-comparison.ts";
import { type BlockTime, blockTimeOf } from "../policy/upgrade-countdown.ts";
import type { Observation } from "../sources/observation.ts";
import type { Assessment, PolicyChoice } from "../policy/assessment.ts";
import { type WatchdogState, withPayment } from "../state/state-store.ts";
import { recordStart } from "../ledger/ledger-events.ts";
import { assessObservation } from "../policy/assess.ts";

export interface Evaluation {
  /** The poll. While two nodes respond at one URL, the node's page is an error; so is a module that the chain used to have. */
  readonly observation: Observation;
  readonly state: WatchdogState;
  readonly assessment: Assessment;
  /** Sidecars of other validators on the same chain, as last read. */
  readonly peers: readonly SidecarPrices[];
  /** Undefined until known. */
  readonly blockTime: BlockTime | undefined;
  /** Names of the nodes that have restarted. */
  readonly restarted: readonly string[];
  /** Notifications from this poll. They are also in the outbox of each channel that should receive them. */
  readonly events: readonly AlertEvent[];
}

export interface EvaluationOptions {
  readonly alerts: AlertOptions;
  readonly intervalMs: number;
  /** Absent if the watchdog does not follow the validator's votes. */
  readonly consensusAddress?: string | undefined;
  readonly policy: PolicyChoice;
  /** True for the first poll of this process. */
  readonly isFirst: boolean;
  /** True while a gap is being filled: the readings are not counted yet, and a later poll counts their blocks. */
  readonly isFilling?: boolean;
  /** A longer time between two readings is a gap. Default: three intervals, at least one minute. */
  readonly gapMs?: number | undefined;
  /** How late the poll started compared with its schedule, in ms. Absent if not measured. */
  readonly lateMs?: number | undefined;
  /** Sidecars of other validators on the same chain, as last read. Absent if there are none. */
  readonly peers?: readonly SidecarPrices[];
}

/** Evaluates one poll: counts its blocks, applies the policy, and advances every alert. Pure. */
export function planEvaluation(
  state: WatchdogState,
  polled: Observation,
  options: EvaluationOptions,
): Evaluation {
  const { validator, atMs } = polled;
  const { lateMs, peers = [] } = options;
  const history = state.pollHistories.get(validator) ?? EMPTY_HISTORY;
  const seen = withLostModules(polled, history);
  const before = state.ledgers.get(validator) ?? EMPTY_LEDGER;
  const started = options.isFirst ? recordStart(before, atMs) : before;
  const { ledger, steps, observation } = options.isFilling
    ? { ledger: started, steps: [], observation: seen }
    : countObservation(started, seen, options);
  const view = memoryView(validator, ledger);
  const meanMs = blockTimeMs(ledger);
  const blockTime = blockTimeOf(ledger.anchors, meanMs);
  const assessment = assessObservation(view, observation, { ...options.policy, blockTimeMs: meanMs });
  const payments = withPayment(state.payments, observation);
  const facts = { observation, ledger: view, assessment, lateMs, peers, blockTime };
  const alerted = alertOnPoll(
    state.alerting,
    { ...facts, payments: payments?.get(validator) },
    history,
    options.alerts,
  );
  return {
    observation,
    state: {
      ...state,
      ...(payments === undefined ? {} : { payments }),
      ledgers: new Map([...state.ledgers, [validator, ledger]]),
      pollHistories: new Map([...state.pollHistories, [validator, alerted.pollHistory]]),
      alerting: alerted.state,
    },
    assessment,
    peers,
    blockTime,
    restarted: steps.filter(({ step }) => step.restarted).map(({ node }) => node),
    events: alerted.events,
  };
}
