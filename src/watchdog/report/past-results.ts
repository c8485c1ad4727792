import { DAY_MS, HOUR_MS } from "../../platform/base/time.ts";
import { type Month, monthOf, monthStartMs } from "../../platform/base/month.ts";
import type { ConditionInput, AlertRule, ConditionResult } from "../conditions/condition.ts";
import { evaluateConditions } from "../conditions/conditions.ts";
import { EMPTY_HISTORY } from "../conditions/poll-history.ts";
import { addCounts, type BlockCounts, NO_BLOCKS, partOfCounts, sumCounts } from "../ledger/ledger-view.ts";
import type { LedgerEvent, LedgerView, MonthRecord, Rollup, Tally } from "../ledger/ledger-view.ts";
import { assess } from "../policy/assess.ts";
import type { NodeObservation } from "../sources/observation.ts";
import { type DataRange, within } from "./report-data.ts";
import type { ValidatorData } from "./validator-data.ts";

/** The results of all evaluated conditions at a time in the past, by condition name. */
export interface PastResults {
  readonly atMs: number;
  readonly results: ReadonlyMap<string, ConditionResult>;
  /** Number of blocks missed in the month up to `atMs`. */
  readonly misses: bigint;
}

/** Time between two evaluations within an hour in which a result changes. */
const STEP_MS = HOUR_MS / 12;
const NOT_SEEN = { state: "not-configured" } as const;
const NOT_READ = {
  state: "error",
  failure: { code: "refused", text: "no node could be read" },
  durationMs: 0,
} as const;

/**
 * Evaluates the rules about counts at the end of each hour that has blocks. If a result changes during an hour, the rules are
 * evaluated every five minutes, with the hour's blocks distributed evenly over the hour.
 */
export function evaluateCounts(
  data: ValidatorData,
  { fromMs, toMs }: DataRange,
  rules: readonly AlertRule[],
): readonly PastResults[] {
  const hours = data.ledger.hours(fromMs - 3 * DAY_MS, toMs);
  const viewAt = createPastViews(data.ledger, hours);
  const evaluate = (atMs: number): PastResults => evaluateAt(data, viewAt(atMs), rules, atMs);
  let before: PastResults | undefined;
  return hours
    .filter(({ startMs }) => startMs >= fromMs)
    .flatMap(({ startMs }) => {
      const last = evaluate(startMs + HOUR_MS);
      const isSame = before !== undefined && hasSameKinds(before, last);
      before = last;
      if (isSame) return [last];
      const steps = Array.from(
        { length: HOUR_MS / STEP_MS - 1 },
        (_, index) => startMs + (index + 1) * STEP_MS,
      );
      return [...steps.map(evaluate), last];
    });
}

function hasSameKinds({ results: a }: PastResults, { results: b }: PastResults): boolean {
  return [...b].every(([name, { kind }]) => a.get(name)?.kind === kind);
}

function evaluateAt(
  { policy, assessment }: ValidatorData,
  view: LedgerView,
  rules: readonly AlertRule[],
  atMs: number,
): PastResults {
  const recent = (windowMs: number): BlockCounts => sumCounts(view.minutes(atMs - windowMs, atMs));
  // Assess one millisecond earlier, because the end of a month's last hour is in the next month.
  const past = assess({ ledger: view, nowMs: atMs - 1, policy, blockTimeMs: assessment.blockTimeMs });
  const results = evaluateConditions(rules, {
    ...inputOf(view.validator, atMs),
    recent: { "5m": recent(300_000), "30m": recent(1_800_000) },
    assessment: past,
  });
  return { atMs, results, misses: past.counts.bad };
}

/**
 * Evaluates the rules about halts or gaps at the polls that would have seen the event. Polls take place every `intervalMs`, from
 * the event's start until `afterMs` after the event's end.
 */
export function evaluateEvent(
  { kind, fromMs, toMs }: LedgerEvent,
  validator: string,
  rules: readonly AlertRule[],
  { intervalMs, afterMs }: { readonly intervalMs: number; readonly afterMs: number },
): readonly PastResults[] {
  // A halt's end is the last poll without a new block, whereas a gap's end is the first poll that read a node again.
  const overMs = kind === "halt" ? toMs + intervalMs : toMs;
  const found: PastResults[] = [];
  const evaluate = (atMs: number, poll: ConditionInput): void => {
    found.push({ atMs, results: evaluateConditions(rules, poll), misses: 0n });
  };
  for (let atMs = fromMs + intervalMs; atMs < overMs; atMs += intervalMs)
    evaluate(atMs, kind === "halt" ? readAt(validator, atMs, fromMs) : unreadAt(validator, atMs));
  for (let atMs = overMs; atMs <= overMs + afterMs + intervalMs; atMs += intervalMs)
    evaluate(atMs, readAt(validator, atMs, atMs));
  return found;
}

/** Creates the input for a poll that read a node whose last block was made at `blockMs`. */
function readAt(validator: string, atMs: number, blockMs: number): ConditionInput {
  const height = 1n;
  const page = { chainId: "", success: 0n, failure: 0n, height };
  const node = { ...SILENT_NODE, metrics: { state: "up", value: page, durationMs: 0 } } as const;
  const progress = { height, firstSeenMs: 0, advancedAtMs: blockMs };
  const history = { nodes: new Map([[node.name, { progress, webSockets: new Map() }]]), chain: {} };
  return { ...inputOf(validator, atMs, node), history };
}

/** Creates the input for a poll that could not read any node. */
function unreadAt(validator: string, atMs: number): ConditionInput {
  return inputOf(validator, atMs, { ...SILENT_NODE, metrics: NOT_READ });
}

const SILENT_NODE: NodeObservation = {
  name: "node",
  metrics: NOT_SEEN,
  prices: NOT_SEEN,
  oracleMetrics: NOT_SEEN,
  sidecar: NOT_SEEN,
  grpc: NOT_SEEN,
  egress: new Map(),
};

/** Creates the conditions' input for a poll that observed the given nodes but not their chain. */
function inputOf(validator: string, atMs: number, ...nodes: readonly NodeObservation[]): ConditionInput {
  const chain = { head: NOT_SEEN, validator: NOT_SEEN, prices: NOT_SEEN, revenue: NOT_SEEN };
  return {
    observation: { validator, atMs, nodes, chain },
    history: EMPTY_HISTORY,
    recent: { "5m": NO_BLOCKS, "30m": NO_BLOCKS },
    assessment: undefined,
    majorPairs: [],
  };
}

const NO_TALLY: Tally = { counts: NO_BLOCKS, estimated: NO_BLOCKS };

/**
 * Creates a function that returns the ledger as of an earlier time. `hours` contains the hourly counts of the evaluated months and
 * of the three days before. Minute rollups are not stored long enough, so each hour's blocks are distributed evenly over the hour.
 */
export function createPastViews(ledger: LedgerView, hours: readonly Rollup[]): (nowMs: number) => LedgerView {
  const records = ledger.months();
  const days = ledger.days(0, (hours.at(-1)?.startMs ?? 0) + HOUR_MS);
  const before = monthSums(hours);
  return (nowMs) => {
    const month = monthOf(nowMs - 1);
    const count = hours.findLastIndex(({ startMs }) => startMs < nowMs) + 1;
    const last = hours[count - 1];
    const current = last === undefined ? [] : [partOf(last, last.startMs, nowMs)];
    const past = [...hours.slice(0, Math.max(0, count - 1)), ...current];
    const hoursIn = (fromMs: number, toMs: number): readonly Rollup[] => within(past, fromMs, toMs);
    const isOfMonth = last !== undefined && monthOf(last.startMs) === month;
    const sum = isOfMonth ? sumOf([before[count - 1] ?? NO_TALLY, ...current]) : NO_TALLY;
    const months = [
      ...records.filter((record) => record.month < month),
      { month, ...sum, coveredFromMs: coveredFromMs(hours, month) },
    ];
    const todayMs = Math.floor((nowMs - 1) / DAY_MS) * DAY_MS;
    return {
      validator: ledger.validator,
      chainId: ledger.chainId,
      months: (source = "calls") => (source === "calls" ? months : []),
      days: (fromMs, toMs) => [
        ...within(days, fromMs, Math.min(toMs, todayMs)),
        ...(toMs > todayMs ? [{ startMs: todayMs, ...sumOf(hoursIn(todayMs, nowMs)) }] : []),
      ],
      hours: hoursIn,
      minutes: (fromMs, toMs) =>
        hours
          .filter(({ startMs }) => startMs + HOUR_MS > fromMs && startMs < Math.min(toMs, nowMs))
          .map((hour) => partOf(hour, fromMs, Math.min(toMs, nowMs))),
      misses: (fromMs, toMs) => ledger.misses(fromMs, Math.min(toMs, nowMs)),
      events: (fromMs, toMs) => ledger.events(fromMs, Math.min(toMs, nowMs)),
    };
  };
}

/** Returns for each hour the total of all earlier hours in the same month. */
function monthSums(hours: readonly Rollup[]): readonly Tally[] {
  let month: Month | undefined;
  let sum = NO_TALLY;
  return hours.map((hour) => {
    const own = monthOf(hour.startMs);
    if (own !== month) sum = NO_TALLY;
    month = own;
    const before = sum;
    sum = sumOf([before, hour]);
    return before;
  });
}

function coveredFromMs(hours: readonly Rollup[], month: Month): MonthRecord["coveredFromMs"] {
  const fromMs = monthStartMs(month);
  return hours.find(({ startMs }) => startMs >= fromMs)?.startMs ?? fromMs;
}

/** Limits an hour's rollup to [fromMs, toMs), with proportionally reduced counts. */
function partOf(hour: Rollup, fromMs: number, toMs: number): Rollup {
  const { startMs, counts, estimated } = hour;
  if (fromMs <= startMs && startMs + HOUR_MS <= toMs) return hour;
  const beginMs = Math.max(startMs, fromMs);
  const partMs = BigInt(Math.max(0, Math.min(startMs + HOUR_MS, toMs) - beginMs));
  const cut = (whole: BlockCounts): BlockCounts => partOfCounts(whole, partMs, BigInt(HOUR_MS));
  return { startMs, counts: cut(counts), estimated: cut(estimated) };
}

function sumOf(tallies: readonly Tally[]): Tally {
  const add = (part: (tally: Tally) => BlockCounts): BlockCounts =>
    tallies.reduce((sum, tally) => addCounts(sum, part(tally)), NO_BLOCKS);
  return { counts: add(({ counts }) => counts), estimated: add(({ estimated }) => estimated) };
}
