import { formatMinute } from "../../platform/base/text.ts";
import { DAY_MS } from "../../platform/base/time.ts";
import type { AlertRule, ConditionResult } from "../conditions/condition.ts";
import { isAboutWatchdog, NOTIFICATIONS_LOST } from "../conditions/watchdog-conditions.ts";
import { causesByAlert } from "../conditions/consequences.ts";
import { evaluateConditions } from "../conditions/conditions.ts";
import { advanceHistory, type PollHistory } from "../conditions/poll-history.ts";
import { type BlockCounts, sumCounts } from "../ledger/block-counts.ts";
import type { LedgerView } from "../ledger/ledger-view.ts";
import type { AlertEvent } from "./alert-event.ts";
import { alertCost } from "./incidents.ts";
import { incidentSourceOf } from "./miss-causes.ts";
import { deadLetters, type Delivery, enqueue } from "./outbox.ts";
import type { Assessment } from "../policy/assessment.ts";
import { activeWindow, type MaintenanceWindow } from "./maintenance.ts";
import { type Silence, silences, withoutExpired } from "./silence.ts";
import type { SidecarPrices } from "../policy/price-comparison.ts";
import type { Payment } from "../sources/payment-result.ts";
import { type BlockTime, countdownTo, headSeenMs } from "../policy/upgrade-countdown.ts";
import type { Observation } from "../sources/observation.ts";
import { advanceAlert, type AlertState, recordAlerts, type PastAlert } from "./alert-state.ts";
import { type NotificationOptions, type NotifiedPoll, planNotifications } from "./notifications.ts";

/** Alerting state that survives a restart. */
export interface AlertingState {
  /** Active and recently resolved alerts, in no particular order. */
  readonly alerts: readonly AlertState[];
  readonly silences: readonly Silence[];
  /** Events that channels have not accepted yet, oldest first. */
  readonly outbox: readonly Delivery[];
  /** Alerts that have fired, oldest first; only the newest are stored. */
  readonly history: readonly PastAlert[];
}

/** The state before the first poll. */
export const EMPTY_ALERTING: AlertingState = { alerts: [], silences: [], outbox: [], history: [] };

/** Configuration of alerting. */
export interface AlertingOptions extends NotificationOptions {
  readonly rules: readonly AlertRule[];
  /** For this long after a cause ends, the alerts it causes cannot start to fire. */
  readonly graceMs: number;
  readonly maintenance: readonly MaintenanceWindow[];
}

/** Result of {@link planAlerts}. */
interface AlertsPlan {
  readonly state: AlertingState;
  /** Events to notify people of. If there are no channels, events are only logged. */
  readonly events: readonly AlertEvent[];
}

/**
 * Advances all alerts of one validator by one poll, and decides who is notified of what. Pure. The alerts of other validators are
 * left unchanged; alerts without a rule are dropped.
 */
export function planAlerts(state: AlertingState, poll: EvaluatedPoll, options: AlertingOptions): AlertsPlan {
  const own = new Map(
    state.alerts.filter(({ validator }) => validator === poll.validator).map((alert) => [alert.alert, alert]),
  );
  const causes = causesByAlert(options.rules);
  const ended = endWithCauses(
    options.rules
      // Most are inactive, and stay so.
      .filter(({ condition: { name } }) => own.has(name) || poll.results.get(name)?.kind === "active")
      .map((rule) => {
        const before = own.get(rule.condition.name);
        return { rule, before, next: advanceOne(before, rule, poll) };
      }),
    causes,
    { history: state.history, graceMs: options.graceMs },
    poll,
  );
  const advanced = withDueCauses(ended, causes, poll.nowMs);
  const quietReasonOf = createQuietReasons(advanced, causes, poll, {
    silences: state.silences,
    maintenance: options.maintenance,
    others: state.alerts.filter(({ validator, phase }) => validator !== poll.validator && phase === "firing"),
  });
  const quieted = advanced.map(({ rule, alert, cause }) => ({
    rule,
    alert: withQuiet(alert, heldText(alert, cause) ?? quietReasonOf(alert)),
  }));
  const history = recordAlerts(
    state.history,
    quieted.map(({ alert }) => alert),
    poll,
    options.rules,
  );
  const planned = quieted.map(({ rule, alert }) =>
    planNotifications(alert, { rule, poll, history, options }),
  );
  const alerts = planned.map(({ alert }) => alert);
  const notifications = planned.flatMap((one) => one.notifications);
  return {
    state: {
      alerts: sameOr(state.alerts, [
        ...state.alerts.filter(({ validator }) => validator !== poll.validator),
        ...alerts,
      ]),
      silences: sameOr(state.silences, withoutExpired(state.silences, poll.nowMs)),
      outbox: notifications.reduce(
        (outbox, { event, channels }) => enqueue(outbox, [event], channels),
        state.outbox,
      ),
      history,
    },
    events: notifications.map(({ event }) => event),
  };
}

/** Returns `before` if both lists contain the same elements, so that unchanged state is not written again. */
function sameOr<T>(before: readonly T[], after: readonly T[]): readonly T[] {
  const isSame = before.length === after.length && before.every((element, index) => element === after[index]);
  return isSame ? before : after;
}

interface RuledAlert {
  readonly rule: AlertRule;
  readonly alert: AlertState;
  /** The cause that has just ended and therefore defers the alert. Absent if the alert is not deferred. */
  readonly cause?: string;
}

/** One alert before and after a poll. */
interface Advanced {
  readonly rule: AlertRule;
  readonly before: AlertState | undefined;
  readonly next: AlertState | undefined;
}

type Causes = ReturnType<typeof causesByAlert>;

/**
 * Ends alerts whose cause is over, and defers alerts that may be its aftermath until the grace period ends. An alert whose
 * condition is measured at this moment continues. A cause is over as soon as it is clear, before it is resolved, so no receiver
 * sees a consequence outlast its cause. While another cause is still firing, the alert continues, muted.
 */
function endWithCauses(
  all: readonly Advanced[],
  causes: Causes,
  { history, graceMs }: { readonly history: readonly PastAlert[]; readonly graceMs: number },
  { validator, nowMs }: EvaluatedPoll,
): readonly RuledAlert[] {
  const byName = new Map(all.map((one) => [one.rule.condition.name, one]));
  let recent: ReadonlyMap<string, number> | undefined;
  // The history is long, and few polls need it.
  const endedRecently = (): ReadonlyMap<string, number> =>
    (recent ??= new Map(
      history.flatMap(({ validator: of, alert, resolvedAtMs }) =>
        of === validator && resolvedAtMs !== undefined && isWithin(graceMs, resolvedAtMs, nowMs)
          ? [[alert, resolvedAtMs + graceMs] as const]
          : [],
      ),
    ));
  const overCause = (name: string): string | undefined => {
    const own = (causes.get(name) ?? []).map(({ condition }) => condition.name);
    if (own.some((cause) => isActive(byName.get(cause)?.next) && overCause(cause) === undefined))
      return undefined;
    return own.find((cause) => isEnding(byName.get(cause)) || endedRecently().has(cause));
  };
  return all.flatMap(({ rule, before, next }): readonly RuledAlert[] => {
    if (next === undefined) return [];
    const { name, echo } = rule.condition;
    // What notified before the cause did is no consequence of it.
    const isOwn = next.phase === "resolved" || next.notified !== undefined;
    const cause = isOwn ? undefined : overCause(name);
    const isNow = next.lastActiveMs === nowMs;
    if (cause === undefined || (echo === undefined && isNow)) return [{ rule, alert: withHold(next) }];
    if (before?.phase === "firing") return [{ rule, alert: endedWith(before, cause, nowMs) }];
    const heldUntilMs = endedRecently().get(cause);
    // Its time begins at the end of the grace.
    if (isNow && heldUntilMs !== undefined)
      return [{ rule, alert: withHold({ ...next, phase: "pending", sinceMs: nowMs }, heldUntilMs), cause }];
    return before?.phase === "resolved" ? [{ rule, alert: before }] : [];
  });
}

function withHold(alert: AlertState, heldUntilMs?: number): AlertState {
  if (alert.heldUntilMs === heldUntilMs) return alert;
  const { heldUntilMs: _, ...rest } = alert;
  return heldUntilMs === undefined ? rest : { ...rest, heldUntilMs };
}

/**
 * Lets a cause fire early if an alert that it explains is about to notify people: they are then notified of the cause, which
 * mutes that alert. If there are several causes, picks the one that explains the others. A loss over hours is about the month,
 * not the current minute, so it never makes a cause fire early.
 */
function withDueCauses(alerts: readonly RuledAlert[], causes: Causes, nowMs: number): readonly RuledAlert[] {
  const inPhase = (phase: AlertState["phase"]): ReadonlySet<AlertRule> =>
    new Set(
      alerts
        .filter(
          ({ alert }) =>
            alert.phase === phase && alert.lastActiveMs === nowMs && alert.heldUntilMs === undefined,
        )
        .map(({ rule }) => rule),
    );
  const [firing, pending] = [inPhase("firing"), inPhase("pending")];
  if (pending.size === 0) return alerts;
  const causesOf = (rule: AlertRule): readonly AlertRule[] => causes.get(rule.condition.name) ?? [];
  const explaining = new Set(
    alerts
      .filter(
        ({ rule, alert }) =>
          firing.has(rule) && alert.notified === undefined && rule.condition.echo !== "month",
      )
      .map(({ rule }) => causesOf(rule))
      .filter((own) => !own.some((cause) => firing.has(cause)))
      .flatMap((own) => own.filter((cause) => pending.has(cause))),
  );
  const isDue = (rule: AlertRule): boolean =>
    explaining.has(rule) && !causesOf(rule).some((cause) => explaining.has(cause));
  return alerts.map((one) => (isDue(one.rule) ? { ...one, alert: { ...one.alert, phase: "firing" } } : one));
}

function isActive(alert: AlertState | undefined): boolean {
  return alert?.phase === "firing" && alert.clearSinceMs === undefined;
}

/** True from the first clear poll of a firing alert until it is resolved. */
function isEnding(one: Advanced | undefined): boolean {
  return one?.before?.phase === "firing" && !isActive(one.next);
}

function endedWith(alert: AlertState, cause: string, nowMs: number): AlertState {
  const { quietReason: _, ...rest } = alert;
  return { ...rest, phase: "resolved", resolvedAtMs: nowMs, reason: `it ended with ${cause}` };
}

function isWithin(windowMs: number, atMs: number | undefined, nowMs: number): boolean {
  return atMs !== undefined && nowMs >= atMs && nowMs - atMs < windowMs;
}

function advanceOne(
  before: AlertState | undefined,
  rule: AlertRule,
  poll: EvaluatedPoll,
): AlertState | undefined {
  const { name } = rule.condition;
  const result = poll.results.get(name) ?? { kind: "unknown", reason: "not evaluated" };
  const timing = { nowMs: poll.nowMs, gapMs: poll.gapMs, forMs: rule.forMs, resolveForMs: rule.resolveForMs };
  const created = { validator: poll.validator, alert: name };
  return advanceAlert(before, result, timing, created);
}

/** Returns a function that explains why an alert sends no notification: a silence, maintenance, or a firing cause. */
function createQuietReasons(
  alerts: readonly RuledAlert[],
  causes: Causes,
  { validator, nowMs }: EvaluatedPoll,
  quiet: {
    readonly silences: readonly Silence[];
    readonly maintenance: readonly MaintenanceWindow[];
    /** The firing alerts of other validators. */
    readonly others: readonly AlertState[];
  },
): (alert: AlertState) => string | undefined {
  const firing = new Set(alerts.filter(({ alert }) => alert.phase === "firing").map(({ rule }) => rule));
  const window = activeWindow(quiet.maintenance, validator, nowMs);
  return (alert) => {
    const silence = quiet.silences.find((one) => silences(one, alert, nowMs));
    if (silence !== undefined) return `silenced by ${silence.author}: ${silence.reason}`;
    if (window !== undefined) return `maintenance: ${window.reason}`;
    const cause = causes.get(alert.alert)?.find((one) => firing.has(one));
    if (cause !== undefined) return `muted by ${cause.condition.name}`;
    return isAboutWatchdog(alert.alert) && alert.notified === undefined
      ? sameOf(alert, quiet.others)
      : undefined;
  };
}

/** An alert about the watchdog is the same for all validators: once the first has sent a notification, no other is needed. */
function sameOf({ alert }: AlertState, others: readonly AlertState[]): string | undefined {
  const first = others.find((other) => other.alert === alert && other.notified !== undefined);
  return first && `the same alert as for ${first.validator}`;
}

function heldText({ heldUntilMs }: AlertState, cause: string | undefined): string | undefined {
  return heldUntilMs === undefined || cause === undefined
    ? undefined
    : `held back until ${formatMinute(heldUntilMs).slice(11)} UTC, since ${cause} has just ended`;
}

function withQuiet(alert: AlertState, quietReason: string | undefined): AlertState {
  if (quietReason !== undefined) return { ...alert, quietReason };
  if (alert.quietReason === undefined) return alert;
  const { quietReason: _, ...rest } = alert;
  return rest;
}

/** One poll of one validator, after its blocks have been counted. */
interface CountedPoll {
  readonly observation: Observation;
  readonly ledger: LedgerView;
  /** Undefined until known. */
  readonly assessment: Assessment | undefined;
  /** How late the poll started compared with its schedule, in ms. Absent if not measured. */
  readonly lateMs?: number | undefined;
  /** Sidecars of other validators on the same chain, as last read. Absent if there are none. */
  readonly peers?: readonly SidecarPrices[];
  /** Undefined until known. */
  readonly blockTime?: BlockTime | undefined;
  /** Payments for closed months. Absent if no search for payments was made. */
  readonly payments?: readonly Payment[] | undefined;
}

/** Configuration of alerting and conditions. */
export interface AlertOptions extends AlertingOptions {
  readonly majorPairs: readonly string[];
  /** Limits for price deviations of individual pairs, in percent. Absent if there are none. */
  readonly pairDeviations?: ReadonlyMap<string, number>;
  /** Time between two polls. */
  readonly intervalMs: number;
}

/** Result of {@link alertOnPoll}. */
interface PollAlerts extends AlertsPlan {
  /** Input for this validator's next poll. */
  readonly pollHistory: PollHistory;
}

const FIVE_MINUTES = 300_000;
const HALF_HOUR = 1_800_000;

/** The allowed gap between two polls is never shorter than this, so that slow polls do not interrupt a short `for`. */
const MIN_GAP_MS = 60_000;

/** The allowed gap, measured in poll intervals. */
const GAP_POLLS = 3;

/** Evaluates all conditions for one poll of one validator, and advances its alerts. Pure. */
export function alertOnPoll(
  state: AlertingState,
  poll: CountedPoll,
  previous: PollHistory,
  options: AlertOptions,
): PollAlerts {
  const { observation, ledger, assessment } = poll;
  const gapMs = Math.max(MIN_GAP_MS, GAP_POLLS * options.intervalMs);
  const pollHistory = advanceHistory(previous, observation, gapMs);
  const recent = (windowMs: number): BlockCounts =>
    sumCounts(ledger.minutes(observation.atMs - windowMs, observation.atMs + 1));
  const results = evaluateConditions(options.rules, {
    observation,
    history: pollHistory,
    recent: { "5m": recent(FIVE_MINUTES), "30m": recent(HALF_HOUR) },
    assessment,
    majorPairs: options.majorPairs,
    ...(options.pairDeviations === undefined ? {} : { pairDeviations: options.pairDeviations }),
    ...(poll.peers === undefined ? {} : { peers: poll.peers }),
    payments: poll.payments,
    upgrade: countdownTo(pollHistory, headSeenMs(observation), poll.blockTime),
    lateMs: poll.lateMs,
    lost: deadLetters(state.outbox)
      .filter(
        ({ event, dead }) => event.alert !== NOTIFICATIONS_LOST && observation.atMs - dead.atMs < DAY_MS,
      )
      .map(({ channel, dead }) => ({ channel, reason: dead.reason })),
  });
  const { validator } = observation;
  const alerted = { validator, assessment, alerts: options.rules.map((rule) => ({ rule })) };
  const plan = planAlerts(
    state,
    {
      validator,
      chainId: ledger.chainId ?? "unknown chain",
      nowMs: observation.atMs,
      gapMs,
      results,
      costOf: (alert, history) =>
        assessment &&
        alertCost(incidentSourceOf(alerted, ledger, history), assessment, alert, observation.atMs),
    },
    options,
  );
  return { ...plan, pollHistory };
}

/** One poll of one validator, evaluated. */
interface EvaluatedPoll extends NotifiedPoll {
  /** If two polls are no further apart than this, a condition counts as active in between. */
  readonly gapMs: number;
  /** Keyed by condition name. */
  readonly results: ReadonlyMap<string, ConditionResult>;
}
