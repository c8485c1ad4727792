import type { RegisteredQuery } from "../chain/registered-query.ts";

/** Fixed gas per transaction: signature, fee, sequence. Measured on a real chain. */
export const GAS_PER_TRANSACTION = 110_000n;
/** Initial guess for a client update whose header has one or two signatures. */
export const GAS_PER_CLIENT_UPDATE = 85_000n;
/** Initial guess for a result with one key and its two proof operators. */
export const GAS_PER_KEY = 30_000n;
/** A contract that stores its result uses 77,000 gas, measured on a localnet. */
const GAS_PER_CALLBACK = 90_000n;

/** Returns a cautious estimate of a query's gas per result. The estimate applies until the relayer has learned the query's gas. */
export function gasGuess({ keys }: RegisteredQuery, allowKvCallbacks: boolean): bigint {
  return GAS_PER_KEY * BigInt(keys.length) + (allowKvCallbacks ? GAS_PER_CALLBACK : 0n);
}
