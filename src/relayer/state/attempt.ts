import { DAY_MS } from "../../platform/base/time.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { QUERY_FAILURE_CODES } from "../registry/query-state.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";

/**
 * An attempt's outcome, as it appears in JSON and metrics:
 *
 * - "included": a local block includes the result;
 * - one of `QUERY_FAILURE_CODES`: the query itself failed;
 * - "superseded": a newer result of the query replaced it before the broadcast;
 * - "redundant": another relayer was faster, so the chain already had a result for this remote height or a newer one;
 * - "unchanged": the values equal the last result's values, and `queries.skip_unchanged` allows skipping the result;
 * - "removed": the query was removed from the chain;
 * - "not-broadcast": the result was not sent, because the local node was unreachable or refused the transaction, or because the
 *   value grew too old (see `reason`). Nothing is lost, because the query is due again.
 */
export const ATTEMPT_OUTCOMES = [
  "included",
  ...QUERY_FAILURE_CODES,
  "superseded",
  "redundant",
  "unchanged",
  "removed",
  "not-broadcast",
] as const;

export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** Outcomes of results that were no longer needed, which are not failures. */
export const NOT_NEEDED: ReadonlySet<AttemptOutcome> = new Set([
  "superseded",
  "redundant",
  "unchanged",
  "removed",
] as const);

/** One attempt to answer a query, from its start to its outcome. */
export interface Attempt {
  readonly queryId: bigint;
  readonly connectionId: string;
  /** Bech32 address of the contract that owns the query. */
  readonly owner: string;
  readonly type: RegisteredQuery["type"];
  readonly startedAtMs: number;
  /** Local height at which the query was due. */
  readonly dueHeight: bigint;
  /** Height of the remote state or transaction; 0 if the attempt ended before a height was chosen. */
  readonly remoteHeight: bigint;
  /** Upper-case hex hash of the local transaction; undefined if nothing was broadcast. */
  readonly txHash: string | undefined;
  readonly outcome: AttemptOutcome;
  /** Human-readable reason; undefined for "included". */
  readonly reason: string | undefined;
  /** Height of the local block with the transaction; undefined if no block includes it. */
  readonly localHeight: bigint | undefined;
  /** The result's share of the gas that the transaction used; 0 if no block includes it. */
  readonly gas: bigint;
  /** The result's share of the transaction's fee, in the fee denom's base unit; 0 if nothing was paid. */
  readonly fee: bigint;
  readonly simulations: number;
}

/** Start time of an attempt, on both the wall clock and the monotonic clock. */
export interface AttemptStart {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** Returns an attempt's start time. Call this function before the attempt's first read of the remote chain. */
export function startAttempt(clock: Pick<Clock, "nowMs" | "monotonicMs">): AttemptStart {
  return { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
}

export interface EndedAttempt extends Attempt {
  /** Duration, measured with the monotonic clock, ms. */
  readonly durationMs: number;
}

export interface AttemptSink {
  readonly note: (attempts: readonly EndedAttempt[]) => void;
}

/** Selects the attempts that match all given fields. An absent field matches every attempt. */
export interface AttemptFilter {
  readonly queryId?: bigint;
  readonly connectionId?: string;
  readonly owner?: string;
  readonly outcome?: AttemptOutcome;
  /** Selects attempts that started at or after this time, as Unix time in ms. */
  readonly sinceMs?: number;
  /** Selects attempts that started before this time, as Unix time in ms. */
  readonly untilMs?: number;
  /** Maximum number of attempts, newest first; at most {@link MAX_ATTEMPTS_READ}. */
  readonly limit: number;
}

export const MAX_ATTEMPTS_READ = 1_000;

export interface DailyCost {
  /** The UTC day, as the number of days since 1970-01-01. */
  readonly day: number;
  readonly owner: string;
  readonly attempts: number;
  readonly included: number;
  readonly gas: bigint;
  readonly fee: bigint;
}

/** Number of attempts that started in a time range, by outcome and by lateness. */
export interface AttemptSummary {
  /** Number of attempts by outcome and `part` of the time range (the first part is 0); pairs without attempts are omitted. */
  readonly outcomes: readonly {
    readonly outcome: AttemptOutcome;
    readonly part: number;
    readonly attempts: number;
  }[];
  /** Number of included attempts, by the number of blocks between their due height and the including block. */
  readonly lateness: readonly { readonly blocks: number; readonly attempts: number }[];
}

/** The stored attempts, whose reads lag a few milliseconds behind writes. */
export interface AttemptLog extends AttemptSink {
  /** Queues attempts for the next write without blocking, and drops attempts while the store cannot write. */
  readonly note: (attempts: readonly Attempt[]) => void;
  /** Returns the matching attempts, newest first. */
  readonly find: (filter: AttemptFilter) => Promise<readonly Attempt[]>;
  /** Counts the stored attempts that started from `fromMs` up to, but not including, `toMs`, in `parts` of equal length. O(n). */
  readonly summary: (range: Record<"fromMs" | "toMs" | "parts", number>) => Promise<AttemptSummary>;
  /** Returns the costs by day and owner, from day `from` to day `to` inclusive. Costs are stored for longer than attempts. */
  readonly costs: (days: { readonly from: number; readonly to: number }) => Promise<readonly DailyCost[]>;
}

/** Converts a Unix time in ms to a UTC day as in {@link DailyCost}. */
export function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}
