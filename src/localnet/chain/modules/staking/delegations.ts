import {
  lengthPrefixed,
  splitAddresses,
  type Codec,
  bytesCodec,
  createMap,
} from "../../store/collections.ts";
import { concat } from "../../../../platform/base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
import { DELEGATIONS, DELEGATIONS_BY_VALIDATOR, MODULE_NAME } from "./keys.ts";
import { type Delegation, delegationCodec } from "./records.ts";
import type { Keepers, Pair } from "./types.ts";

const EMPTY = new Uint8Array(0);

/** Encodes `lp(delegator) | lp(validator)`. */
export const pairKey: Codec<Pair> = {
  encode: ({ delegator, validator }) => lengthPrefixed(delegator, validator),
  decode: (bytes) => {
    const [delegator = EMPTY, validator = EMPTY] = splitAddresses(bytes);
    return { delegator, validator };
  },
};

/** Encodes `lp(validator) | lp(delegator)`. */
export const reversedPairKey: Codec<Pair> = {
  encode: ({ delegator, validator }) => lengthPrefixed(validator, delegator),
  decode: (bytes) => {
    const [validator = EMPTY, delegator = EMPTY] = splitAddresses(bytes);
    return { delegator, validator };
  },
};

/** Encodes `lp(validator) | delegator`. */
const indexKey: Codec<Pair> = {
  encode: ({ delegator, validator }) => concat(lengthPrefixed(validator), delegator),
  decode: (bytes) => {
    const end = 1 + (bytes[0] ?? 0);
    return { validator: bytes.slice(1, end), delegator: bytes.slice(end) };
  },
};

/** Delegations. Write them with {@link setDelegation}, which also updates the index by validator. */
export const delegations = createMap(MODULE_NAME, DELEGATIONS, pairKey, delegationCodec);
export const delegationsByValidator = createMap(MODULE_NAME, DELEGATIONS_BY_VALIDATOR, indexKey, bytesCodec);

export function setDelegation(context: Context, pair: Pair, delegation: Delegation): void {
  delegations.set(context, pair, delegation);
  delegationsByValidator.set(context, pair, EMPTY);
}

/** Runs the hook, then deletes a delegation. */
export function deleteDelegation(context: Context, { hooks }: Keepers, pair: Pair): void {
  hooks.beforeDelegationRemoved(context, pair.delegator, pair.validator);
  delegations.delete(context, pair);
  delegationsByValidator.delete(context, pair);
}
