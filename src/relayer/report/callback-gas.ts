import { maxInt } from "../../platform/base/integers.ts";
import { GAS_PER_CLIENT_UPDATE, GAS_PER_TRANSACTION } from "../result/gas-guess.ts";

/**
 * Gas that the chain itself uses per key of a result, without calling the contract: message, proof and storage. Measured on a
 * localnet. Proofs from a larger tree cost slightly more: 10 gas per byte.
 */
const CHAIN_GAS_PER_KEY = 28_200n;

/** The gas used by results, and the part of it that the chain used. */
export interface ResultGas {
  /** Gas of the results, including their shares of the transactions. */
  readonly gas: bigint;
  /** Part of `gas` that the transactions used apart from results; see {@link overheadGas}. */
  readonly overheadGas: bigint;
  /** Number of keys in all results together. A TX query's result counts as one key. */
  readonly keys: bigint;
}

/** Estimates the gas used by the owners' contracts when the chain called them with the results. */
export function callbackGas({ gas, overheadGas: overhead, keys }: ResultGas): bigint {
  return maxInt(gas - overhead - CHAIN_GAS_PER_KEY * keys, 0n);
}

/** Estimates the gas of transactions excluding their results: signature, fee and client updates. */
export function overheadGas(transactions: number, clientUpdates: number): bigint {
  return GAS_PER_TRANSACTION * BigInt(transactions) + GAS_PER_CLIENT_UPDATE * BigInt(clientUpdates);
}
