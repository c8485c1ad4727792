import { compareBytes, concat } from "../base/bytes.ts";
import { simpleRoot } from "../merkle/simple-tree.ts";
import type { Validator, ValidatorSet } from "./block-types.ts";
import { malformed } from "./comet-error.ts";
import { addressOf } from "./ed25519.ts";
import { varintField } from "./wire.ts";

/** Largest total voting power of a set: an eighth of the largest int64, so that sums cannot overflow in CometBFT. */
const MAX_TOTAL_POWER = (2n ** 63n - 1n) / 8n;

/** How a `SimpleValidator` begins: field 1, a `PublicKey` of 34 bytes, in it field 1 (ed25519), 32 bytes. */
const ED25519_KEY = Uint8Array.of(0x0a, 0x22, 0x0a, 0x20);

/** Hash of a validator set: Merkle root over public key and power of each, in the set's order. */
export function validatorsHash(validators: readonly Pick<Validator, "publicKey" | "power">[]): Uint8Array {
  return simpleRoot(
    validators.map(({ publicKey, power }) => concat(ED25519_KEY, publicKey, varintField(2, power))),
  );
}

/** Sum of all powers. Throws `CometError` above {@link MAX_TOTAL_POWER}. */
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

/** Order of a validator set: falling power, then rising address. */
export function compareValidators(
  a: Pick<Validator, "power" | "address">,
  b: Pick<Validator, "power" | "address">,
): number {
  if (a.power !== b.power) return a.power > b.power ? -1 : 1;
  return compareBytes(a.address, b.address);
}

/** The validator with the highest priority; on a tie the lower address. Undefined for an empty set. */
export function mostPrior(validators: readonly Validator[]): Validator | undefined {
  return validators.reduce<Validator | undefined>(
    (best, one) => (best === undefined || isMorePrior(one, best) ? one : best),
    undefined,
  );
}

function isMorePrior(a: Validator, b: Validator): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority;
  return compareBytes(a.address, b.address) < 0;
}

/** A set as read from elsewhere: order kept, proposer computed from the priorities. */
export function validatorSetOf(validators: readonly Validator[]): ValidatorSet {
  return { validators, proposer: mostPrior(validators) };
}

/** A validator of this key that has not proposed yet. */
export function newValidator(publicKey: Uint8Array, power: bigint): Validator {
  return { address: addressOf(publicKey), publicKey, power, priority: 0n };
}
