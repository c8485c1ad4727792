import { HOUR_MS, MINUTE_MS } from "../../platform/base/time.ts";
import { type Month, monthOf } from "../../platform/base/month.ts";
import type { AlertRule } from "../conditions/condition.ts";
import type { LedgerEvent, LedgerView, MissRange, Rollup } from "../ledger/ledger-view.ts";
import { missesWithin } from "../ledger/miss-ranges.ts";
import { type Assessment, type Policy, policyOf } from "../policy/assessment.ts";
import type { AlertState, PastAlert } from "./alert-state.ts";

/** A series of missed blocks with the same cause. An incident ends once enough good minutes have passed or another cause takes over. */
export interface Incident {
  /** Times of the first and last missed blocks, as precisely as they are known. */
  readonly fromMs: number;
  readonly toMs: number;
  /** First and last height of the block ranges with misses; absent if only the times are known. */
  readonly blocks?: { readonly from: bigint; readonly to: bigint } | undefined;
  readonly bad: bigint;
  /** The month in which the blocks are counted. */
  readonly month: Month;
  /** A condition's name, a ledger event's kind, {@link NO_CAUSE} or {@link SCATTERED}. */
  readonly cause: string;
  /** A text that explains how the incident ended; absent while the incident is ongoing. */
  readonly end?: string | undefined;
}

/** The cause assigned to runs of bad blocks that no alert or event explains. */
export const NO_CAUSE = "no known cause";

/** The cause of single unexplained bad blocks, e.g. on a busy machine. A month's scattered blocks form one incident. */
export const SCATTERED = "scattered";

/** The fields of an alert that are needed to explain bad blocks. */
export interface ExplainingAlert {
  /** Name of the alert's condition, such as "sidecar-down". */
  readonly alert: string;
  /** The time when an evaluation first found the condition active. */
  readonly sinceMs: number;
  /** The time when the alert was resolved; absent while the alert is firing. */
  readonly resolvedAtMs?: number | undefined;
  /** Names of the alerts that this alert causes. */
  readonly inhibits: readonly string[];
}

/** A validator's alerts with their rules, and the policy by which the validator is paid. */
interface AlertedValidator {
  readonly validator: string;
  readonly alerts: readonly {
    readonly rule: Pick<AlertRule, "condition">;
    readonly state?: Pick<AlertState, "phase" | "sinceMs"> | undefined;
  }[];
  readonly assessment: Pick<Assessment, "policy"> | undefined;
}

/** Returns the data from which a validator's incidents are derived. `history` contains the past alerts of all validators. */
export function incidentSourceOf(
  { validator, alerts, assessment }: AlertedValidator,
  ledger: LedgerView,
  history: readonly PastAlert[],
): IncidentSource & { readonly policy: Policy } {
  const inhibits = new Map(alerts.map(({ rule: { condition } }) => [condition.name, condition.inhibits]));
  const explaining = history
    .filter((past) => past.validator === validator)
    .map(({ alert, sinceMs, resolvedAtMs }) => ({
      alert,
      sinceMs,
      resolvedAtMs,
      inhibits: inhibits.get(alert) ?? [],
    }));
  const pending = alerts.flatMap(({ rule: { condition }, state }) =>
    state?.phase === "pending"
      ? [{ alert: condition.name, sinceMs: state.sinceMs, inhibits: condition.inhibits }]
      : [],
  );
  return { ledger, policy: policyOf(assessment), alerts: explaining, pending };
}

export interface IncidentSource {
  readonly ledger: LedgerView;
  /** The alerts that may explain bad blocks, oldest first. */
  readonly alerts: readonly ExplainingAlert[];
  /** Pending alerts, which explain the most recent bad blocks, e.g. in the first minute of an outage. */
  readonly pending?: readonly ExplainingAlert[];
  readonly policy: Pick<Policy, "quietMs">;
}

export function byBegin(a: Incident, b: Incident): number {
  return a.fromMs - b.fromMs;
}

/**
 * Assigns a cause to each bad block in [fromMs, toMs). Blocks are assigned by block range, by minute if the ranges are unknown, or
 * by hour if the minutes are also unknown. A cause is never assigned more bad blocks than the chain produced while the cause
 * applied. Causes are tried in the order of {@link rangesOf}. Blocks without a matching cause become {@link SCATTERED} or {@link
 * NO_CAUSE}. Returns the assigned blocks as incidents, in time order. `stored` contains the minute rollups, starting with the hour
 * of `fromMs`.
 */
export function piecesOf(
  { ledger, alerts, pending = [] }: IncidentSource,
  stored: readonly Rollup[],
  fromMs: number,
  toMs: number,
): readonly Incident[] {
  // Start at the full hour, because blocks are assigned by hourly rollup. Incidents that end before `fromMs` are dropped below.
  const beginMs = Math.floor(fromMs / HOUR_MS) * HOUR_MS;
  const causes = rangesOf({
    alerts: [...alerts, ...pending],
    events: ledger.events(beginMs - HOUR_MS, toMs),
  });
  const misses = byHour(ledger.misses(beginMs, toMs), (range) => range.toMs);
  const minutes = byHour(stored, ({ startMs }) => startMs);
  return ledger
    .hours(beginMs, toMs)
    .flatMap((hour) => partsOf(hour, HOUR_MS, misses(hour.startMs), minutes(hour.startMs)))
    .flatMap((part) => assign(part, causes))
    .filter((piece) => piece.toMs >= fromMs)
    .toSorted(byBegin);
}

/** Groups elements by hour, and returns a function that finds the elements of the hour starting at `startMs`. */
function byHour<T>(all: readonly T[], timeOf: (one: T) => number): (startMs: number) => readonly T[] {
  const hours = new Map<number, T[]>();
  for (const one of all) {
    const hour = Math.floor(timeOf(one) / HOUR_MS);
    const own = hours.get(hour);
    if (own === undefined) hours.set(hour, [one]);
    else own.push(one);
  }
  return (startMs) => hours.get(startMs / HOUR_MS) ?? [];
}

/** Splits a rollup into the most precise parts that account for all its bad blocks: ranges, minutes or the whole hour. */
function partsOf(
  rollup: Rollup,
  spanMs: number,
  misses: readonly MissRange[],
  minutes: readonly Rollup[],
): readonly Blocks[] {
  const { startMs, counts } = rollup;
  if (counts.bad === 0n) return [];
  const own = missesWithin(misses, startMs, startMs + spanMs);
  if (badOf(own) === counts.bad) return own.map((range) => ({ ...range, month: monthOf(startMs) }));
  if (minutes.length > 0 && badOf(minutes.map((minute) => minute.counts)) === counts.bad)
    return minutes.flatMap((minute) => partsOf(minute, MINUTE_MS, misses, []));
  const { good, bad } = counts;
  return [{ fromMs: startMs, toMs: startMs + spanMs, month: monthOf(startMs), good, bad }];
}

/** A period's good and bad blocks, with the month in which the blocks are counted. */
type Blocks = MissRange & Pick<Incident, "month">;

function badOf(parts: readonly Pick<Blocks, "bad">[]): bigint {
  return parts.reduce((sum, { bad }) => sum + bad, 0n);
}

function assign(part: Blocks, causes: readonly CauseRange[]): readonly Incident[] {
  const { fromMs: beginMs, toMs: endMs, month, good, bad, blocks } = part;
  const count = Number(good + bad);
  // Avoid a division by zero, because all blocks of a reading may have the same time.
  const spanMs = Math.max(1, endMs - beginMs);
  const where = { month, blocks };
  let left = bad;
  const found: Incident[] = [];
  for (const { cause, fromMs, toMs } of causes) {
    const [overlapFromMs, overlapToMs] = [Math.max(fromMs, beginMs), Math.min(toMs, beginMs + spanMs)];
    const overlapMs = overlapToMs - overlapFromMs;
    if (left === 0n || overlapMs <= 0) continue;
    const capacity = BigInt(Math.ceil((count * overlapMs) / spanMs));
    const own = left < capacity ? left : capacity;
    left -= own;
    const times = { fromMs: overlapFromMs, toMs: Math.min(endMs, overlapToMs) };
    found.push({ ...times, ...where, bad: own, cause });
  }
  if (left === 0n) return found;
  const cause = isDenseLoss(left, good, spanMs) ? NO_CAUSE : SCATTERED;
  return [...found, { fromMs: beginMs, toMs: endMs, ...where, bad: left, cause }];
}

/** A machine that is merely busy misses at most this many blocks in a row. */
const SINGLE_BLOCKS = 2n;

/** If only the hour is known, bad blocks below this percentage of the hour's blocks are treated as single misses. */
const HOUR_PERCENT = 2n;

function isDenseLoss(bad: bigint, good: bigint, spanMs: number): boolean {
  if (spanMs > MINUTE_MS) return bad * 100n >= HOUR_PERCENT * (good + bad);
  return bad > SINGLE_BLOCKS && bad >= good;
}

/** A period in which bad blocks are attributed to `cause`. */
interface CauseRange {
  readonly cause: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Maximum delay until a poll detects a failure. The alert about failing calls starts later, because most calls of the last five
 * minutes must have failed.
 */
const SEEN_LATE_MS = 30_000;
const CALLS_SEEN_LATE_MS = 5 * MINUTE_MS;
/** A node's calls already fail while the sidecar shuts down, and keep failing until the node has reconnected. */
const DRAIN_MS = 8000;
const RECONNECT_MS = 11_000;

/**
 * Returns the time ranges in which each cause applies, most precise cause first. Alerts come first, beginning with alerts that no
 * other alert explains. Ledger events such as restarts come next. The alert about failing calls comes last, unless another alert
 * explains the failures. Symptoms ({@link isSymptom}) are omitted. Blocks during a node restart are unknown rather than bad, so a
 * restart only explains bad blocks after the node has started.
 */
function rangesOf({
  alerts,
  events,
}: Pick<IncidentSource, "alerts"> & { readonly events: readonly LedgerEvent[] }): readonly CauseRange[] {
  const own = alerts.filter(({ alert }) => !isSymptom(alert));
  const isRoot = (one: ExplainingAlert): boolean =>
    !own.some((other) => other.inhibits.includes(one.alert) && overlaps(other, one));
  const failed = own.filter(({ alert }) => alert !== CALLS);
  return [
    ...ofAlerts(failed.filter(isRoot)),
    ...ofAlerts(failed.filter((one) => !isRoot(one))),
    ...EVENT_RANGES.flatMap(([kind, before, after]) =>
      events
        .filter((event) => event.kind === kind)
        .map(({ fromMs, toMs }) => ({ cause: kind, fromMs: before(fromMs, toMs), toMs: toMs + after })),
    ),
    ...ofAlerts(own.filter((one) => one.alert === CALLS && isRoot(one))),
  ];
}

const CALLS = "oracle-calls-failing";

function ofAlerts(alerts: readonly ExplainingAlert[]): readonly CauseRange[] {
  return alerts.map(({ alert, sinceMs, resolvedAtMs = Infinity }) => ({
    cause: alert,
    fromMs: sinceMs - (alert === CALLS ? CALLS_SEEN_LATE_MS : SEEN_LATE_MS),
    toMs: resolvedAtMs,
  }));
}

const EVENT_RANGES: readonly (readonly [
  LedgerEvent["kind"],
  (fromMs: number, toMs: number) => number,
  number,
])[] = [
  ["sidecar-restart", (fromMs) => fromMs - DRAIN_MS, RECONNECT_MS],
  ["node-restart", (_fromMs, toMs) => toMs, RECONNECT_MS],
  ["halt", (fromMs) => fromMs, SEEN_LATE_MS],
  ["gap", (fromMs) => fromMs, 0],
  ["two-nodes", (fromMs) => fromMs, 0],
];

function overlaps(a: ExplainingAlert, b: ExplainingAlert): boolean {
  return a.sinceMs < (b.resolvedAtMs ?? Infinity) && b.sinceMs < (a.resolvedAtMs ?? Infinity);
}

const SYMPTOM =
  /^(any|full)-reward-|^rotation-risk$|^cannot-see-|^jail-|^prices-differ-|^upgrade-|^payment-|-closed$|^watchdog-|^clock-|^notifications-|^test$/;

/**
 * Returns true for alerts about the monthly count, the watchdog, unreadable sources, price deviations, the risk of jail, upgrades,
 * payments and closed ports. Alerts about symptoms never explain missed blocks.
 */
export function isSymptom(alert: string): boolean {
  return SYMPTOM.test(alert);
}
