import type { QueryFailure, QueryState } from "../registry/query-state.ts";
import { isNewer, type RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import type { Entry } from "./result-queue.ts";

/** Limits of one transaction. */
export interface BatchLimits {
  readonly gas: bigint;
  /** Encoded bytes of its messages. */
  readonly bytes: number;
  /** Number of results. */
  readonly results: number;
}

/** Fixed gas of a transaction: signature, fee, sequence. Measured on a real chain. */
export const GAS_PER_TRANSACTION = 110_000n;
/** First guess for a client update: a header with one or two signatures. */
export const GAS_PER_CLIENT_UPDATE = 85_000n;
/** First guess for a result with one key and its two proof operators. */
export const GAS_PER_KEY = 30_000n;

/** What may be planned now, and how. */
export interface PlanOptions {
  readonly limits: BatchLimits;
  /** What all planned transactions may use together. */
  readonly room: { readonly gas: bigint; readonly bytes: number };
  /** Expected gas of an entry. */
  readonly gasOf: (entry: Entry) => bigint;
  /** Entries of different groups travel in different transactions. */
  readonly groupOf: (entry: Entry) => string;
}

/**
 * Packs entries into transactions of about equal size. `entries` are in the order of their need; those without room are
 * left out. A transaction has at most one result of a KV query, and the results of a TX query are in one transaction: the
 * others of that query follow when it is included. An entry that alone exceeds a limit gets a transaction of its own.
 */
export function planTransactions(
  entries: readonly Entry[],
  options: PlanOptions,
): readonly (readonly Entry[])[] {
  const groups = new Map<string, Entry[]>();
  for (const entry of withRoom(entries, options)) {
    const name = options.groupOf(entry);
    const group = groups.get(name) ?? [];
    group.push(entry);
    groups.set(name, group);
  }
  const planned = [...groups.values()].flatMap((group) => splitEvenly(group.toSorted(byConnection), options));
  return oneTransactionPerQuery(planned);
}

/** The longest prefix within the room, at least one entry. Each transaction has its fixed gas. */
function withRoom(entries: readonly Entry[], options: PlanOptions): readonly Entry[] {
  const { room, gasOf } = options;
  // Simulations may say a little more than was expected. A transaction too much would wait for the next block.
  const roomGas = (room.gas * 99n) / 100n - GAS_PER_CLIENT_UPDATE;
  let gas = 0n;
  let bytes = 0;
  let weight = 0;
  const end = entries.findIndex((entry, index) => {
    gas += gasOf(entry);
    bytes += entry.result.message.length;
    weight += weightOf(entry, options);
    const fixed = GAS_PER_TRANSACTION * BigInt(Math.ceil(weight));
    return index > 0 && (gas + fixed > roomGas || bytes > room.bytes);
  });
  return end < 0 ? entries : entries.slice(0, end);
}

/** Results behind one client update stay together. The sort is stable, so TX results keep their order. */
function byConnection({ result: a }: Entry, { result: b }: Entry): number {
  return compareText(a.query.connectionId, b.query.connectionId) || compareText(a.update?.key, b.update?.key);
}

function compareText(a = "", b = ""): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Splits in order. Equal sizes, because transactions of one burst travel over several connections: a small last one would
 * arrive before the others, and the node would refuse its sequence.
 */
function splitEvenly(entries: readonly Entry[], options: PlanOptions): readonly (readonly Entry[])[] {
  const weights = entries.map((entry) => weightOf(entry, options));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const target = total / Math.max(1, Math.ceil(total));
  const transactions: Entry[][] = [];
  let open: Entry[] = [];
  let filled = 0;
  for (const [index, entry] of entries.entries()) {
    const weight = weights[index] ?? 0;
    if (open.length > 0 && (filled + weight > 1 || filled + weight / 2 > target)) {
      transactions.push(open);
      [open, filled] = [[], 0];
    }
    open.push(entry);
    filled += weight;
  }
  return open.length > 0 ? [...transactions, open] : transactions;
}

/** The part of a transaction that the entry takes up, by the scarcest limit. */
function weightOf(entry: Entry, { limits, gasOf }: PlanOptions): number {
  const gas = limits.gas - GAS_PER_TRANSACTION - GAS_PER_CLIENT_UPDATE;
  return Math.max(
    Number(gasOf(entry)) / Math.max(1, Number(gas)),
    entry.result.message.length / limits.bytes,
    1 / limits.results,
  );
}

/** A transaction may fail while the one behind it is included, so later results of a TX query must not be behind it. */
function oneTransactionPerQuery(planned: readonly (readonly Entry[])[]): readonly (readonly Entry[])[] {
  const seen = new Set<bigint>();
  return planned
    .map((entries) => {
      const fresh = entries.filter(({ result }) => !seen.has(result.query.id));
      for (const { result } of fresh) seen.add(result.query.id);
      return fresh;
    })
    .filter((entries) => entries.length > 0);
}

/** The failure of a result whose message exceeds the bytes of any transaction. */
export function tooLarge(message: Uint8Array, limits: Pick<BatchLimits, "bytes">): QueryFailure {
  return {
    code: "too-large",
    reason: `the result has ${message.length} bytes; a transaction may have ${limits.bytes}`,
  };
}

/**
 * Returns the due queries that accept a result of the remote height `at`. The chain refuses a result that is not newer
 * than the last one. `minBlocks` is the least number of remote blocks after the last one. The query with the oldest result
 * comes first, then the lower id, so that no query starves when there is no room for all.
 */
export function candidatesAt(
  due: readonly QueryState[],
  at: RemoteHeight,
  minBlocks = 0n,
): readonly QueryState[] {
  return due
    .filter(({ query: { lastRemoteHeight: last } }) => isNewer(at, last) && !isTooSoon(at, last, minBlocks))
    .toSorted((a, b) => {
      const order = a.query.lastLocalHeight - b.query.lastLocalHeight || a.query.id - b.query.id;
      return order < 0n ? -1 : order > 0n ? 1 : 0;
    });
}

function isTooSoon(at: RemoteHeight, last: RemoteHeight | undefined, minBlocks: bigint): boolean {
  return last?.revision === at.revision && at.height - last.height < minBlocks;
}
