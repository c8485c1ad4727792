import type { QueryFailure, QueryState } from "../registry/query-state.ts";
import { isNewer, type RemoteHeight } from "../registry/registered-query.ts";

/** A result with verified proofs, ready to be sent. */
export interface ProvenResult {
  readonly state: QueryState;
  /** Encoded `MsgSubmitQueryResult`. */
  readonly message: Uint8Array;
  /** Estimated gas in units of {@link GAS_PER_KEY}: the number of keys, plus the equivalent of other work. */
  readonly keys: number;
}

/** Limits of one transaction. */
export interface BatchLimits {
  readonly gas: bigint;
  /** Encoded bytes of its messages. */
  readonly bytes: number;
  /** Number of results. */
  readonly results: number;
}

/** Estimates for planning; the simulation returns the exact gas. Measured on a real chain with 1, 10, 50 and 150 results. */
export const GAS_PER_TRANSACTION = 110_000n;
/** A header with one or two signatures. */
export const GAS_PER_CLIENT_UPDATE = 85_000n;
/** A result with one key and its two proof operators. */
export const GAS_PER_KEY = 30_000n;

/**
 * Splits results into transactions within `limits`, in order. A result that alone exceeds a limit gets a transaction of
 * its own. Linear.
 */
export function planBatches<T extends ProvenResult>(
  results: readonly T[],
  limits: BatchLimits,
): readonly (readonly T[])[] {
  // Every batch is charged for a client update, although at most the first included one carries it.
  const fixedGas = GAS_PER_TRANSACTION + GAS_PER_CLIENT_UPDATE;
  const batches: T[][] = [];
  let open: T[] = [];
  let gas = fixedGas;
  let bytes = 0;
  for (const result of results) {
    const resultGas = GAS_PER_KEY * BigInt(result.keys);
    const fits =
      gas + resultGas <= limits.gas &&
      bytes + result.message.length <= limits.bytes &&
      open.length < limits.results;
    if (!fits && open.length > 0) {
      batches.push(open);
      [open, gas, bytes] = [[], fixedGas, 0];
    }
    open.push(result);
    gas += resultGas;
    bytes += result.message.length;
  }
  return open.length > 0 ? [...batches, open] : batches;
}

/** The failure of a result whose message exceeds the bytes of any transaction. */
export function tooLarge({ message }: ProvenResult, limits: BatchLimits): QueryFailure {
  return {
    code: "too-large",
    reason: `the result has ${message.length} bytes; a transaction may have ${limits.bytes}`,
  };
}

/**
 * Returns the due queries that accept a result of the remote height `at`. The chain refuses a result that is not newer
 * than the last one. `minBlocks` is the least number of remote blocks after the last one. The query with the oldest result comes first, then the lower id, so that no query starves when a
 * cycle ends early.
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
