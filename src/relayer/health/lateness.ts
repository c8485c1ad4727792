import type { QueryFailure, QueryState } from "../registry/query-state.ts";
import type { HeightMark } from "./head-watch.ts";

/**
 * Why no result of a query is expected although it is due: a failure of its own, which only its contract or the remote
 * state can end, or no remote block after that of the last result.
 */
export const UNANSWERABLE = ["failure", "no-newer-remote-block"] as const;

/** One of {@link UNANSWERABLE}. */
type Unanswerable = (typeof UNANSWERABLE)[number];

/** How late a query is. All heights are local. */
export interface Lateness {
  /** Height at which the next result is due. */
  readonly dueHeight: bigint;
  /** Blocks since then; 0 when it is not due yet. */
  readonly blocks: bigint;
  /** Time since the chain passed that height, ms; 0 when it is not due yet. */
  readonly ms: number;
  /** undefined: a result is possible. */
  readonly unanswerable: Unanswerable | undefined;
  /** Largest acceptable `blocks`. */
  readonly limit: bigint;
  /** Whether a result is possible and, since it is, more than `limit` blocks late. */
  readonly isOverdue: boolean;
}

/** The present as {@link latenessOf} needs it. */
export interface Present {
  readonly localHeight: bigint;
  /** Monotonic time, ms. */
  readonly nowMs: number;
  /** The first sight of a local height or a greater one. */
  readonly localFrom: (height: bigint) => HeightMark | undefined;
  /** The first sight of a height of the query's remote chain or a greater one. */
  readonly remoteFrom: (height: bigint) => HeightMark | undefined;
  /** Blocks that a query may be late; undefined: 3 × its update period + 5. */
  readonly overdueBlocks: bigint | undefined;
  /** Least number of remote blocks between two results of a KV query; 0 means 1. */
  readonly minKvUpdatePeriod: bigint;
}

/** Failures that end only when the contract, its query, or the remote state changes. The others are ours to repair. */
const OWN_FAILURES: ReadonlySet<QueryFailure["code"]> = new Set([
  "no-such-store",
  "empty-value",
  "empty-store",
  "absence-not-provable",
  "too-large",
  "rejected",
  "bad-filter",
] as const);

/** Returns how late a query is, from the heights alone: no cycle has to run for it. O(log n) in the remembered heights. */
export function latenessOf(state: QueryState, present: Present): Lateness {
  const dueHeight = dueHeightOf(state);
  const blocks = positive(present.localHeight - dueHeight);
  const dueAt = blocks === 0n ? undefined : present.localFrom(dueHeight);
  const newer = newerRemoteBlock(state, present);
  const unanswerable = whyUnanswerable(state, newer);
  const limit = present.overdueBlocks ?? 3n * state.query.updatePeriod + 5n;
  // A result takes one block from the first sight of the remote block that it needs.
  const possibleFrom = greatest(dueHeight, newer === "any" ? 0n : (newer?.localHeight ?? 0n) + 1n);
  return {
    dueHeight,
    blocks,
    ms: dueAt === undefined ? 0 : Math.max(0, present.nowMs - dueAt.atMs),
    unanswerable,
    limit,
    isOverdue: unanswerable === undefined && present.localHeight - possibleFrom > limit,
  };
}

function dueHeightOf({ query, sinceHeight }: QueryState): bigint {
  const { lastLocalHeight, updatePeriod, registeredAtHeight } = query;
  const due = lastLocalHeight === 0n ? registeredAtHeight : lastLocalHeight + updatePeriod;
  return greatest(due, sinceHeight);
}

/** The first remote block that allows a newer result; "any" when every block does, undefined when there is none yet. */
function newerRemoteBlock({ query }: QueryState, present: Present): HeightMark | "any" | undefined {
  // A search of transactions without a new block ends at once, and counts as done.
  if (query.type === "tx" || query.lastRemoteHeight === undefined) return "any";
  // The state at height h is proven by the header of h + 1.
  return present.remoteFrom(query.lastRemoteHeight.height + greatest(present.minKvUpdatePeriod, 1n) + 1n);
}

function whyUnanswerable(
  { error }: QueryState,
  newer: HeightMark | "any" | undefined,
): Unanswerable | undefined {
  if (error !== undefined && OWN_FAILURES.has(error.code)) return "failure";
  return newer === undefined ? "no-newer-remote-block" : undefined;
}

function positive(value: bigint): bigint {
  return greatest(value, 0n);
}

function greatest(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
