import { maxInt } from "../../platform/base/integers.ts";
import { GAS_PER_CLIENT_UPDATE, GAS_PER_TRANSACTION } from "../result/gas-guess.ts";

/**
 * Gas that the chain itself uses per key of a result: message, proof and storage, without the contract call. Measured on a
 * localnet. Proofs from a larger tree cost 10 gas more per byte.
 */
const CHAIN_GAS_PER_KEY = 28_200n;

/** The gas of results, from which the chain's own part is subtracted. */
export interface ResultGas {
  /** Gas of the results, including their shares of the transactions. */
  readonly gas: bigint;
  /** Part of `gas` that the transactions used besides results; see {@link overheadGas}. */
  readonly overheadGas: bigint;
  /** Number of keys over all results. A TX query's result has one key. */
  readonly keys: bigint;
}

/** Estimates the gas that the owners' contracts used in their callbacks. */
export function callbackGas({ gas, overheadGas: overhead, keys }: ResultGas): bigint {
  return maxInt(gas - overhead - CHAIN_GAS_PER_KEY * keys, 0n);
}

/** Estimates the gas of transactions without their results: signature, fee and client updates. */
export function overheadGas(transactions: number, clientUpdates: number): bigint {
  return GAS_PER_TRANSACTION * BigInt(transactions) + GAS_PER_CLIENT_UPDATE * BigInt(clientUpdates);
}
