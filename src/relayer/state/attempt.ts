import { DAY_MS } from "../../platform/base/time.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { QUERY_FAILURE_CODES } from "../registry/query-state.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";

/**
 * How an attempt ended, as it appears in JSON and metrics:
 *
 * - "included": the result is in a block of the local chain;
 * - one of `QUERY_FAILURE_CODES`: the query has a failure of its own;
 * - "superseded": a newer result of the same query replaced it before the broadcast;
 * - "redundant": another relayer was faster, so the chain already had a result for this remote height or a newer one;
 * - "unchanged": its values equal those of the last result, and `queries.skip_unchanged` allows sending none;
 * - "removed": the query was removed from the chain;
 * - "not-broadcast": it was not sent. `reason` explains why: the local node was unreachable or refused the transaction, or the
 *   value grew too old. Nothing is lost, because the query is due again.
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

/** One of {@link ATTEMPT_OUTCOMES}. */
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** Outcomes of results that were no longer needed. They are not failures. */
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
  /** Wall-clock time at which the attempt started, ms. */
  readonly startedAtMs: number;
  /** Local height at which the query was due. */
  readonly dueHeight: bigint;
  /** Height of the remote state or transaction; 0 if the attempt ended before one was chosen. */
  readonly remoteHeight: bigint;
  /** Upper-case hex hash of the local transaction; undefined if nothing was broadcast. */
  readonly txHash: string | undefined;
  readonly outcome: AttemptOutcome;
  /** Text for people. Undefined for "included". */
  readonly reason: string | undefined;
  /** Height of the local block with the transaction; undefined if no block includes it. */
  readonly localHeight: bigint | undefined;
  /** Share of the transaction's gas used. 0 if no block includes it. */
  readonly gas: bigint;
  /** Share of the transaction's fee, in units of the fee denom. 0 if nothing was paid. */
  readonly fee: bigint;
  /** Number of simulations that included the result. */
  readonly simulations: number;
}

/** The start of an attempt according to both clocks. */
export interface AttemptStart {
  /** Wall-clock time, ms. */
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** Starts an attempt, before its first read of the remote chain. */
export function startAttempt(clock: Pick<Clock, "nowMs" | "monotonicMs">): AttemptStart {
  return { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
}

/** An attempt that has just ended. */
export interface EndedAttempt extends Attempt {
  /** Duration measured by the monotonic clock, ms. */
  readonly durationMs: number;
}

/** Receives attempts once they have ended. */
export interface AttemptSink {
  readonly note: (attempts: readonly EndedAttempt[]) => void;
}

/** Selects attempts; an absent field matches all. */
export interface AttemptFilter {
  readonly queryId?: bigint;
  readonly connectionId?: string;
  readonly owner?: string;
  readonly outcome?: AttemptOutcome;
  /** Started at or after this time, ms. */
  readonly sinceMs?: number;
  /** Started before this time, ms. */
  readonly untilMs?: number;
  /** Maximum number of attempts, newest first. At most {@link MAX_ATTEMPTS_READ}. */
  readonly limit: number;
}

/** Maximum number of attempts per read. */
export const MAX_ATTEMPTS_READ = 1_000;

/** The cost of one owner's queries on one day. */
export interface DailyCost {
  /** Days since 1970-01-01, UTC. */
  readonly day: number;
  readonly owner: string;
  readonly attempts: number;
  readonly included: number;
  readonly gas: bigint;
  readonly fee: bigint;
}

/** Counts of the attempts that started in a time range. */
export interface AttemptSummary {
  /** Attempts by outcome and part of the range, counted from 0; pairs without attempts are absent. */
  readonly outcomes: readonly {
    readonly outcome: AttemptOutcome;
    readonly part: number;
    readonly attempts: number;
  }[];
  /** Attempts included in a block, by the number of blocks after their due height. */
  readonly lateness: readonly { readonly blocks: number; readonly attempts: number }[];
}

/** The stored attempts. Reads lag a few milliseconds behind writes. */
export interface AttemptLog extends AttemptSink {
  /** Stores attempts without blocking: they are written later, and dropped while the store cannot write. */
  readonly note: (attempts: readonly Attempt[]) => void;
  /** Returns the attempts that match the filter, newest first. */
  readonly find: (filter: AttemptFilter) => Promise<readonly Attempt[]>;
  /** Counts all stored attempts that started from `fromMs` until before `toMs`, ms, in `parts` of equal length. O(n). */
  readonly summary: (range: Record<"fromMs" | "toMs" | "parts", number>) => Promise<AttemptSummary>;
  /** Returns the costs for the days `from` to `to`, both included, by day and owner. Costs are stored longer than attempts. */
  readonly costs: (days: { readonly from: number; readonly to: number }) => Promise<readonly DailyCost[]>;
}

/** Returns the UTC day of a wall-clock time in ms, as in {@link DailyCost}. */
export function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}
