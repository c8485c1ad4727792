import {
  dueHeightOf,
  type QueryFailure,
  type QueryState,
  requiredHeight,
  unchangedReadOf,
} from "../registry/query-state.ts";
import type { HeightMark } from "../watch/head-watch.ts";
import { counted, formatDuration } from "../../platform/base/text.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import { MAX_LAG } from "../../cosmos/client/chain-client.ts";
import type { PoolEndpointHealth } from "../../cosmos/client/endpoint-pool.ts";

/**
 * Reasons why a due query cannot get a result. "failure": the query failed, and only a change to its contract or to the remote
 * state can help. "no-newer-remote-block": the remote chain has had no block since the last result.
 */
export const UNANSWERABLE = ["failure", "no-newer-remote-block"] as const;

type Unanswerable = (typeof UNANSWERABLE)[number];

/** The lateness of a query, in local blocks. */
export type Lateness = ReturnType<typeof latenessOf>;

export interface Present {
  readonly localHeight: bigint;
  readonly nowMs: number;
  /** Returns when this process first saw the given local height or a higher height. */
  readonly localFrom: (height: bigint) => HeightMark | undefined;
  /** The local chain's block time, ms; undefined before the chain's third block. */
  readonly localBlockMs: number | undefined;
  /** True if the remote chain's last block is so old that the chain seems to have halted. */
  readonly hasRemoteHalted: boolean;
  /** True once the remote block time is known. While the block time is unknown, a missing remote block does not excuse lateness. */
  readonly isRemotePaceKnown: boolean;
  /** Returns when this process first saw the given height, or a higher height, of the query's remote chain. */
  readonly remoteFrom: (height: bigint) => HeightMark | undefined;
  /** Number of blocks by which a query may be late. The default is 3 × its update period + 5 + `marketBlocks`. */
  readonly overdue_blocks?: number | undefined;
  /** Expected lateness of every result if demand exceeds the fee market's capacity, in blocks; otherwise 0. */
  readonly marketBlocks: bigint;
  /** Minimum number of remote blocks between two results of a KV query; 0 means 1. */
  readonly min_kv_update_period: bigint;
}

/** Failures that only a change to the contract, its query or the remote state can fix. An operator can fix all other failures. */
const OWN_FAILURES: ReadonlySet<QueryFailure["code"]> = new Set([
  "no-such-store",
  "empty-value",
  "empty-store",
  "absence-not-provable",
  "too-large",
  "rejected",
  "bad-filter",
] as const);

/** Computes a query's lateness from heights only, so that the value is current even if no cycle runs. O(log n) for n remembered heights. */
export function latenessOf(state: QueryState, present: Present) {
  const dueHeight = maxInt(dueFrom(state, present), state.sinceHeight);
  const blocks = positive(present.localHeight - dueHeight);
  const newer = newerRemoteBlock(state, present);
  const unanswerable = whyUnanswerable(state, newer);
  const configured = present.overdue_blocks;
  const limit =
    configured === undefined ? 3n * state.query.updatePeriod + 5n + present.marketBlocks : BigInt(configured);
  // The earliest local block that can include a result is the first block after this process saw the remote block.
  const possibleFrom = maxInt(dueHeight, newer === "any" ? 0n : (newer?.localHeight ?? 0n) + 1n);
  return {
    /** Local height at which the next result is due. While the query's values are unchanged, the height at which the next read is due. */
    dueHeight,
    /** Number of blocks since `dueHeight`; 0 if the query is not due yet. */
    blocks,
    /**
     * Time since the chain reached `dueHeight`, ms; 0 if the query is not yet due. If this process did not see the block at
     * `dueHeight`, the time is estimated from the block time; undefined while the block time is unknown.
     */
    ms: blocks === 0n ? 0 : sinceMs(dueHeight, present),
    /** The reason why no result is possible; undefined if a result is possible. */
    unanswerable,
    /** Maximum number of blocks by which the query may be late before it is overdue. */
    limit,
    /**
     * True if a result has been possible for more than `limit` blocks. Also true if the query is more than `limit` blocks late
     * while the remote chain has halted or its block time is unknown. A query with one of the `OWN_FAILURES` is not overdue,
     * because a contract must not be able to make `/readyz` fail.
     */
    isOverdue:
      unanswerable === "no-newer-remote-block"
        ? (present.hasRemoteHalted || !present.isRemotePaceKnown) && blocks > limit
        : unanswerable === undefined && present.localHeight - possibleFrom > limit,
  };
}

function sinceMs(
  height: bigint,
  { localFrom, localBlockMs, nowMs }: Pick<Present, "localFrom" | "localBlockMs" | "nowMs">,
): number | undefined {
  const seen = localFrom(height);
  if (seen === undefined) return undefined;
  const before = Number(seen.height - height);
  if (before > 0 && localBlockMs === undefined) return undefined;
  return Math.max(0, nowMs - seen.atMs + before * (localBlockMs ?? 0));
}

function dueFrom(state: QueryState, present: Present): bigint {
  const { lastLocalHeight, registeredAtHeight } = state.query;
  if (lastLocalHeight === 0n) return registeredAtHeight;
  const unchanged = unchangedReadOf(state);
  const required = requiredHeight(state);
  if (unchanged === undefined || required === undefined) return dueHeightOf(state);
  // There is nothing new to read until the remote chain has a newer block. A result that is required later may use the height
  // already read.
  const newer = firstAfter(unchanged.at.height, present);
  return newer === undefined
    ? required
    : minInt(maxInt(dueHeightOf(state), newer.localHeight + 1n), required);
}

/**
 * Returns the mark of the first remote block that allows a newer result. Returns "any" if every block allows a newer result, and
 * undefined if no block does yet.
 */
function newerRemoteBlock({ query }: QueryState, present: Present): HeightMark | "any" | undefined {
  // A transaction search needs no new block, because a search without new blocks ends immediately and is complete.
  if (query.type === "tx" || query.lastRemoteHeight === undefined) return "any";
  return firstAfter(query.lastRemoteHeight.height, present);
}

function firstAfter(
  height: bigint,
  { remoteFrom, min_kv_update_period: least }: Present,
): HeightMark | undefined {
  // Header h + 1 proves the state at height h.
  return remoteFrom(height + maxInt(least, 1n) + 1n);
}

function whyUnanswerable(
  { error }: QueryState,
  newer: HeightMark | "any" | undefined,
): Unanswerable | undefined {
  if (error !== undefined && OWN_FAILURES.has(error.code)) return "failure";
  return newer === undefined ? "no-newer-remote-block" : undefined;
}

/** Formats a query's lateness, for example "3 blocks, 5 s". */
export function lateText({ blocks, ms }: Pick<Lateness, "blocks" | "ms">): string {
  const text = counted(Number(blocks), "block");
  return ms === undefined ? text : `${text}, ${formatDuration(ms)}`;
}

/** Returns the query that is late by the most blocks, or undefined if no query is late. Ignores queries with one of the `OWN_FAILURES`. */
export function latestOf<Q extends { readonly lateness: Lateness }>(queries: readonly Q[]): Q | undefined {
  return queries.reduce<Q | undefined>((most, query) => {
    const { blocks, unanswerable } = query.lateness;
    return unanswerable !== "failure" && blocks > (most?.lateness.blocks ?? 0n) ? query : most;
  }, undefined);
}

function positive(value: bigint): bigint {
  return maxInt(value, 0n);
}

/** The facts about an endpoint that may explain late results. */
export interface EndpointFacts
  extends Pick<PoolEndpointHealth, "name" | "failures" | "lastError" | "lacks" | "lagBlocks" | "distrusted"> {
  readonly chainId: string;
}

/** After this many consecutive failures, an endpoint is treated as failing and not as briefly interrupted. */
const REFUSALS = 3;
/** RPC methods that every relayer needs. The list omits the transaction index, because the relayer can scan blocks instead. */
const NEEDED = ["abci_query", "commit", "validators", "block_results", "block", "response size"];

/**
 * Explains why none of a chain's endpoints is usable although their status is readable; undefined if an endpoint is usable. Reasons
 * are a missing method, repeated failures, or a choice between a lagging and a distrusted endpoint.
 */
export function endpointProblem(endpoints: readonly EndpointFacts[], chainId: string): string | undefined {
  const own = endpoints.filter((endpoint) => endpoint.chainId === chainId);
  if (own.length === 0) return undefined;
  const each = own.length === 1 ? `${chainId}'s endpoint` : `each ${chainId} endpoint`;
  const missing = NEEDED.find((method) => own.every(({ lacks }) => lacks?.has(method) === true));
  if (missing !== undefined) return `${each} cannot do ${missing}: ${own[0]?.lacks?.get(missing)}`;
  if (own.every(({ failures }) => failures >= REFUSALS))
    return `${each} fails: ${own[0]?.lastError}; add another endpoint`;
  return doubtText(own);
}

/** Explains that nothing new can be proven if the only endpoint that does not lag is distrusted. Returns undefined otherwise. */
function doubtText(own: readonly EndpointFacts[]): string | undefined {
  const doubted = own.find(({ distrusted }) => distrusted !== undefined);
  const trusted = own.filter(({ distrusted }) => distrusted === undefined);
  const [best] = trusted.toSorted((a, b) => Number((a.lagBlocks ?? 0n) - (b.lagBlocks ?? 0n)));
  if (doubted === undefined || best === undefined) return undefined;
  const { name, lagBlocks: blocks = 0n } = best;
  return blocks <= MAX_LAG
    ? undefined
    : `${name} is ${blocks} blocks behind, and ${doubted.name}, which is not, returned a wrong response: ${doubted.distrusted}; repair one of the nodes, or add an endpoint`;
}
