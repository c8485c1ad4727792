import { compareBytes, concat } from "../../platform/base/bytes.ts";
import { simpleRoot } from "../merkle/simple-tree.ts";
import type { Validator, ValidatorSet } from "./block-types.ts";
import { malformed } from "./comet-error.ts";
import { addressOf, keyTypeOf } from "./validator-key.ts";
import { varintField } from "./wire.ts";

/**
 * Maximum total power: an eighth of the largest int64, so that sums do not overflow in CometBFT
 * (`MaxTotalVotingPower`).
 */
const MAX_TOTAL_POWER = (2n ** 63n - 1n) / 8n;

/**
 * Computes the hash of a validator set: the Merkle root over public key and power of each validator, in the set's
 * order.
 */
export function validatorsHash(validators: readonly Pick<Validator, "publicKey" | "power">[]): Uint8Array {
  return simpleRoot(
    validators.map(({ publicKey, power }) =>
      concat(keyTypeOf(publicKey).hashPrefix, publicKey, varintField(2, power)),
    ),
  );
}

/** Returns the sum of all powers. Throws `CometError` above {@link MAX_TOTAL_POWER}. */
export function totalPower(validators: readonly Pick<Validator, "power">[]): bigint {
  const total = validators.reduce((sum, { power }) => sum + power, 0n);
  if (total > MAX_TOTAL_POWER) {
    throw malformed(
      "validator set",
      `Total voting power should be guarded to not exceed ${MAX_TOTAL_POWER}; got: ${total}`,
    );
  }
  return total;
}

/** Compares validators in the order of a set: descending power, then ascending address. */
export function compareValidators(
  a: Pick<Validator, "power" | "address">,
  b: Pick<Validator, "power" | "address">,
): number {
  if (a.power !== b.power) return a.power > b.power ? -1 : 1;
  return compareBytes(a.address, b.address);
}

/**
 * Returns the validator with the highest priority; on a tie, the one with the lower address. Undefined for an empty
 * set.
 */
export function highestPriority(validators: readonly Validator[]): Validator | undefined {
  return validators.reduce<Validator | undefined>(
    (best, one) => (best === undefined || hasHigherPriority(one, best) ? one : best),
    undefined,
  );
}

function hasHigherPriority(a: Validator, b: Validator): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority;
  return compareBytes(a.address, b.address) < 0;
}

/** Creates a set from validators that are in order. The proposer is computed from the priorities. */
export function validatorSetOf(validators: readonly Validator[]): ValidatorSet {
  return { validators, proposer: highestPriority(validators) };
}

/** Creates a validator with a priority of zero. */
export function newValidator(publicKey: Uint8Array, power: bigint): Validator {
  return { address: addressOf(publicKey), publicKey, power, priority: 0n };
}
