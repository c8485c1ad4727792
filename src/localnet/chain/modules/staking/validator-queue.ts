import { fromUtf8 } from "../../../../platform/base/bytes.ts";
import { ValAddresses } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import type { Context } from "../../runtime/context.ts";
import { messageCodec } from "../../store/collections.ts";
import { heightOfQueueKey, MODULE_NAME, timeKey, VALIDATOR_QUEUE, validatorQueueKey } from "./keys.ts";
import type { Validator } from "./records.ts";

const codec = messageCodec<ValAddresses>(ValAddresses);
/** Prefix and length of the time in front of the time of a key. */
const TIME_OFFSET = 9;

function keyOf({ unbondingTimeNs, unbondingHeight }: Validator): Uint8Array {
  return validatorQueueKey(unbondingTimeNs, unbondingHeight);
}

function addressesAt(context: Context, key: Uint8Array): readonly string[] {
  const known = context.store(MODULE_NAME).get(key);
  return known === undefined ? [] : codec.decode(known).addresses;
}

function setAddresses(context: Context, key: Uint8Array, addresses: readonly string[]): void {
  const store = context.store(MODULE_NAME);
  if (addresses.length === 0) store.delete(key);
  else store.set(key, codec.encode({ addresses: [...addresses] }));
}

/** Adds an unbonding validator at the end of its unbonding time. */
export function addToValidatorQueue(context: Context, validator: Validator): void {
  const key = keyOf(validator);
  setAddresses(context, key, [...addressesAt(context, key), validator.operatorAddress]);
}

/** Removes a validator, if it is there. */
export function removeFromValidatorQueue(context: Context, validator: Validator): void {
  const key = keyOf(validator);
  const others = addressesAt(context, key).filter((address) => address !== validator.operatorAddress);
  setAddresses(context, key, others);
}

/** Returns the operators, as text, whose unbonding time and height have passed, in order of time. */
export function dueValidators(context: Context): readonly string[] {
  const now = fromUtf8(timeKey(context.timeNs));
  const range = context
    .store(MODULE_NAME)
    .iterate(VALIDATOR_QUEUE, validatorQueueKey(context.timeNs, context.height + 1n));
  return [...range].flatMap(([key, value]) => {
    const time = fromUtf8(key.subarray(TIME_OFFSET, key.length - 8));
    const isDue = time <= now && heightOfQueueKey(key) <= context.height;
    return isDue ? codec.decode(value).addresses : [];
  });
}
