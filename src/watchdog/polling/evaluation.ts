import { DAY_MS, MINUTE_MS } from "../../platform/base/time.ts";
import type { AlertEvent } from "../alerts/alert-event.ts";
import { alertCost } from "../alerts/incidents.ts";
import { incidentSourceOf } from "../alerts/miss-causes.ts";
import { deadLetters } from "../alerts/outbox.ts";
import { planAlerts } from "../alerts/plan-alerts.ts";
import type { AlertingOptions, AlertingState, AlertsPlan } from "../alerts/plan-alerts.ts";
import type { ConditionInput } from "../conditions/condition.ts";
import { evaluateConditions } from "../conditions/conditions.ts";
import { advanceHistory, EMPTY_HISTORY, type PollHistory } from "../conditions/poll-history.ts";
import { NOTIFICATIONS_LOST } from "../conditions/network-conditions.ts";
import { type BlockCounts, type LedgerView, sumCounts } from "../ledger/ledger-view.ts";
import { recordStart } from "../ledger/ledger-events.ts";
import { blockTimeMs, countObservation, type Counting, EMPTY_LEDGER, memoryView } from "../ledger/ledger.ts";
import { assessObservation } from "../policy/assess.ts";
import type { Assessment, PolicyChoice } from "../policy/assessment.ts";
import { compareAll, DEFAULT_MAX_AGE_MS } from "../policy/price-comparison.ts";
import type { ComparedPrices, SidecarPrices } from "../policy/price-comparison.ts";
import { type Standing, standingOf } from "../policy/standing.ts";
import { blockTimeOf, countdownTo, headSeenMs } from "../policy/upgrade-countdown.ts";
import type { BlockTime, UpgradeCountdown } from "../policy/upgrade-countdown.ts";
import type { Observation } from "../sources/observation.ts";
import { type SeenSource, seenSources } from "../sources/seen-sources.ts";
import { type WatchdogState, withPayment } from "../state/state-store.ts";

/** The outcome of one poll, derived from its observation and the previous state. */
export interface Evaluation {
  /**
   * The observation, in which errors replace two kinds of misleading data: the page of a node whose URL alternates between two processes,
   * and the absence of a module that the chain had before.
   */
  readonly observation: Observation;
  readonly sources: readonly SeenSource[];
  readonly state: WatchdogState;
  readonly assessment: Assessment;
  /** The validator's jail state, signing window and comparisons; absent while neither the chain nor other validators' votes are read. */
  readonly standing?: Standing;
  readonly compared: ComparedPrices;
  /** The countdown to the planned upgrade; undefined if no upgrade is known. */
  readonly upgrade: UpgradeCountdown | undefined;
  /** Names of the nodes that have restarted. */
  readonly restarted: readonly string[];
  /** The poll's notifications, already queued in the outboxes of their channels. */
  readonly events: readonly AlertEvent[];
}

export interface EvaluationOptions {
  readonly alerts: AlertOptions;
  readonly intervalMs: number;
  /** The validator's consensus address; absent if the watchdog does not read the validator's votes. */
  readonly consensusAddress?: string | undefined;
  readonly policy: PolicyChoice;
  /** True for the first poll of this process. */
  readonly isFirst: boolean;
  /** True while a gap is being filled from Prometheus. Until the gap is filled, polls count no blocks; a later poll counts them. */
  readonly isFilling?: boolean;
  /** Readings further apart than this produce a "gap" event; by default, three poll intervals, but at least one minute. */
  readonly gapMs?: number | undefined;
  /** How late the poll started compared with its schedule, in ms; absent if not measured. */
  readonly lateMs?: number | undefined;
  /** Sidecar prices of other validators on the same chain, as last read; absent if there are none. */
  readonly peers?: readonly SidecarPrices[];
}

/** Evaluates one observation as a pure function: counts its blocks, applies the policy, and advances every alert. */
export function planEvaluation(
  state: WatchdogState,
  observation: Observation,
  options: EvaluationOptions,
): Evaluation {
  const history = state.pollHistories.get(observation.validator) ?? EMPTY_HISTORY;
  const counting = countUnlessFilling(state, withLostModules(observation, history), options);
  return evaluateCounting(state, counting, history, options);
}

type Counted = Pick<Counting, "ledger" | "steps" | "observation">;

function countUnlessFilling(
  { ledgers }: WatchdogState,
  observation: Observation,
  options: EvaluationOptions,
): Counted {
  const before = ledgers.get(observation.validator) ?? EMPTY_LEDGER;
  const ledger = options.isFirst ? recordStart(before, observation.atMs) : before;
  return options.isFilling
    ? { ledger, steps: [], observation }
    : countObservation(ledger, observation, options);
}

function evaluateCounting(
  state: WatchdogState,
  { ledger, steps, observation }: Counted,
  previous: PollHistory,
  { policy, lateMs, peers = [], alerts }: EvaluationOptions,
): Evaluation {
  const { validator } = observation;
  const view = memoryView(validator, ledger);
  const meanMs = blockTimeMs(ledger);
  const assessment = assessObservation(view, observation, { ...policy, blockTimeMs: meanMs });
  const payments = withPayment(state.payments, observation);
  const input = {
    observation,
    ledger: view,
    assessment,
    lateMs,
    peers,
    payments: payments?.get(validator),
    blockTime: blockTimeOf(ledger.anchors, meanMs),
  };
  const { history, upgrade, events, state: alerting } = alertOnPoll(state.alerting, input, previous, alerts);
  return {
    observation,
    sources: seenSources(observation),
    state: {
      ...state,
      ...(payments === undefined ? {} : { payments }),
      ledgers: new Map([...state.ledgers, [validator, ledger]]),
      pollHistories: new Map([...state.pollHistories, [validator, history]]),
      alerting,
    },
    assessment,
    ...standingIn(observation, meanMs),
    compared: comparePrices(observation, history, peers, alerts),
    upgrade,
    restarted: steps.filter(({ step }) => step.restarted).map(({ node }) => node),
    events,
  };
}

/** Treats an absent module as unreadable if the chain had it before, unless an upgrade in the last day may have removed it. */
function withLostModules(observation: Observation, { modules = [], upgrade }: PollHistory): Observation {
  if (upgrade?.doneMs !== undefined) return observation;
  const lost = modules.flatMap((name) => {
    const seen = observation.chain[name];
    return seen?.state === "absent" ? [[name, { ...LOST, durationMs: seen.durationMs }] as const] : [];
  });
  return lost.length === 0
    ? observation
    : { ...observation, chain: { ...observation.chain, ...Object.fromEntries(lost) } };
}

const LOST = {
  state: "error",
  failure: {
    code: "absent",
    text: "the endpoint says that the chain has no such module, although it had one; it is another program or another chain",
  },
} as const;

function standingIn(observation: Observation, meanMs: number | undefined): { readonly standing?: Standing } {
  const { slashing } = observation.chain;
  const standing = standingOf(observation, meanMs);
  const isRead =
    slashing?.state === "up" ||
    slashing?.state === "error" ||
    standing.votes !== undefined ||
    standing.peers.comparisons.length > 0;
  return isRead ? { standing } : {};
}

/** Compares sidecar prices, ignoring prices older than the `max_age` of the price alerts. */
function comparePrices(
  observation: Observation,
  history: PollHistory,
  peers: readonly SidecarPrices[],
  { rules, majorPairs }: AlertOptions,
): ComparedPrices {
  const maxAgeMs = (alert: string): number =>
    rules.find(({ condition }) => condition.name === alert)?.limits["max_age"] ?? DEFAULT_MAX_AGE_MS;
  return compareAll(
    { observation, history, peers, pairs: majorPairs },
    { chain: maxAgeMs("prices-differ-from-chain"), sidecars: maxAgeMs("prices-differ-from-sidecars") },
  );
}

interface AlertInput
  extends Pick<ConditionInput, "observation" | "assessment" | "lateMs" | "peers" | "payments"> {
  readonly ledger: LedgerView;
  /** The chain's block time; undefined until it is known. */
  readonly blockTime?: BlockTime | undefined;
}

export interface AlertOptions extends AlertingOptions, Pick<ConditionInput, "majorPairs" | "pairDeviations"> {
  /** Configured time between two polls, in ms. */
  readonly intervalMs: number;
}

interface PollAlerts extends AlertsPlan, Pick<Evaluation, "upgrade"> {
  /** Updated poll history, to be passed to this validator's next evaluation. */
  readonly history: PollHistory;
}

/** Polls at most this far apart never interrupt an alert's `for` time, so that slow polls do not restart it. */
const MIN_GAP_MS = 60_000;

/** Polls at most this many intervals apart do not interrupt an alert's `for` time. */
const GAP_POLLS = 3;

/** Evaluates all conditions for one poll of one validator, and advances the validator's alerts, as a pure function. */
export function alertOnPoll(
  state: AlertingState,
  { ledger, blockTime, ...input }: AlertInput,
  previous: PollHistory,
  options: AlertOptions,
): PollAlerts {
  const { observation, assessment } = input;
  const { validator, atMs } = observation;
  const { rules, majorPairs, pairDeviations } = options;
  const gapMs = Math.max(MIN_GAP_MS, GAP_POLLS * options.intervalMs);
  const history = advanceHistory(previous, observation, gapMs);
  const upgrade = countdownTo(history, headSeenMs(observation), blockTime);
  const recent = (windowMs: number): BlockCounts => sumCounts(ledger.minutes(atMs - windowMs, atMs + 1));
  const results = evaluateConditions(rules, {
    ...input,
    majorPairs,
    pairDeviations,
    history,
    recent: { "5m": recent(5 * MINUTE_MS), "30m": recent(30 * MINUTE_MS) },
    upgrade,
    lost: deadLetters(state.outbox)
      .filter(({ event, dead }) => event.alert !== NOTIFICATIONS_LOST && atMs - dead.atMs < DAY_MS)
      .map(({ channel, dead }) => ({ channel, reason: dead.reason })),
  });
  const alerted = { validator, assessment, alerts: rules.map((rule) => ({ rule })) };
  const plan = planAlerts(
    state,
    {
      validator,
      chainId: ledger.chainId ?? "unknown chain",
      nowMs: atMs,
      gapMs,
      results,
      costOf: (alert, past) =>
        assessment && alertCost(incidentSourceOf(alerted, ledger, past), assessment, alert, atMs),
    },
    options,
  );
  return { ...plan, history, upgrade };
}
