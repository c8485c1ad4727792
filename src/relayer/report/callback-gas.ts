import { maxInt } from "../../platform/base/integers.ts";
import { GAS_PER_CLIENT_UPDATE, GAS_PER_TRANSACTION } from "../result/gas-guess.ts";

/**
 * Gas that the chain itself uses for one key of a result, without a call of the contract: message, proof and storage. Measured on a
 * localnet. Proofs of a larger tree cost a little more, 10 gas for each byte.
 */
const CHAIN_GAS_PER_KEY = 28_200n;

/** Gas of results, and what the chain used of it. */
export interface ResultGas {
  /** Gas of the results with their shares of the transactions. */
  readonly gas: bigint;
  /** Part of `gas` that the transactions used besides results; see {@link overheadGas}. */
  readonly overheadGas: bigint;
  /** Keys of all results together. A result of a TX query is counted as one key. */
  readonly keys: bigint;
}

/** Estimates the gas that the owners' contracts used when the chain called them with the results. */
export function callbackGas({ gas, overheadGas: overhead, keys }: ResultGas): bigint {
  return maxInt(gas - overhead - CHAIN_GAS_PER_KEY * keys, 0n);
}

/** Estimates the gas of transactions besides that of their results: signature, fee and client updates. */
export function overheadGas(transactions: number, clientUpdates: number): bigint {
  return GAS_PER_TRANSACTION * BigInt(transactions) + GAS_PER_CLIENT_UPDATE * BigInt(clientUpdates);
}
