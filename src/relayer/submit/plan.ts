import type { QueryState } from "../registry/query-state.ts";
import { isNewer, type RemoteHeight } from "../registry/registered-query.ts";

/** A result that is ready to be sent: proven and within bounds. */
export interface ProvenResult {
  readonly state: QueryState;
  /** Encoded `MsgSubmitQueryResult`. */
  readonly message: Uint8Array;
  /** Number of keys, or of what costs as much: what its gas grows with. */
  readonly keys: number;
}

/** Limits of one transaction. */
export interface BatchLimits {
  /** Gas of one transaction; well below the chain's cap on a block, which others use too. */
  readonly gas: bigint;
  /** Encoded bytes of its messages. */
  readonly bytes: number;
  /** Number of results. */
  readonly results: number;
}

/** Gas estimates, before simulation says it exactly. Measured on a real chain: one transaction of 1, 10, 50, 150 results. */
export const GAS_PER_TRANSACTION = 110_000n;
/** For one header with a signature or two. */
export const GAS_PER_CLIENT_UPDATE = 85_000n;
/** For a result with one key and a proof of two levels. */
export const GAS_PER_KEY = 30_000n;

/**
 * Splits proven results into transactions: keeps order, fills each up to the limits; a result that alone exceeds a
 * limit travels alone. Linear.
 */
export function planBatches<T extends ProvenResult>(
  results: readonly T[],
  limits: BatchLimits,
): readonly (readonly T[])[] {
  const batches: T[][] = [];
  let open: T[] = [];
  let gas = GAS_PER_TRANSACTION + GAS_PER_CLIENT_UPDATE;
  let bytes = 0;
  for (const result of results) {
    const moreGas = GAS_PER_KEY * BigInt(result.keys);
    const fits =
      gas + moreGas <= limits.gas &&
      bytes + result.message.length <= limits.bytes &&
      open.length < limits.results;
    if (!fits && open.length > 0) {
      batches.push(open);
      [open, gas, bytes] = [[], GAS_PER_TRANSACTION + GAS_PER_CLIENT_UPDATE, 0];
    }
    open.push(result);
    gas += moreGas;
    bytes += result.message.length;
  }
  return open.length > 0 ? [...batches, open] : batches;
}

/**
 * The due states that may have a result at this remote height: the chain refuses one that is not newer than the last.
 * Longest without a result first, so that no query starves behind others.
 */
export function candidatesAt(due: readonly QueryState[], at: RemoteHeight): readonly QueryState[] {
  return due
    .filter(({ query }) => isNewer(at, query.lastRemoteHeight))
    .toSorted((a, b) => {
      const order = a.query.lastLocalHeight - b.query.lastLocalHeight || a.query.id - b.query.id;
      return order < 0n ? -1 : order > 0n ? 1 : 0;
    });
}
