import { concat, prefixEnd, readUint64BigEndian, uint64BigEndian } from "../../../../platform/base/bytes.ts";
import { Failure } from "../../../../cosmos/proto/gen/neutron/contractmanager/failure.ts";
import { Params } from "../../../../cosmos/proto/gen/neutron/contractmanager/params.ts";
import type { Context } from "../../runtime/context.ts";
import { createItem, messageCodec } from "../../store/collections.ts";
import { FAILURES_PREFIX, failuresOf, MODULE_NAME, PARAMS_KEY } from "./keys.ts";

/** A sudo call may use this gas, unless the params say otherwise. */
export const DEFAULT_PARAMS: Params = { sudoCallGasLimit: 1_000_000n };

export const storedParams = createItem(MODULE_NAME, PARAMS_KEY, messageCodec<Params>(Params));

/** Returns the params, or the default params before any are stored. */
export function paramsOf(context: Context): Params {
  return storedParams.get(context) ?? DEFAULT_PARAMS;
}

/** Stores a failed call under the next number of its contract and returns it. A number is free again once it was the last. */
export function addFailure(context: Context, failed: Omit<Failure, "id">): Failure {
  const failure = { ...failed, id: nextId(context, failed.address) };
  setFailure(context, failure);
  return failure;
}

export function setFailure(context: Context, failure: Failure): void {
  context.store(MODULE_NAME).set(keyOf(failure.address, failure.id), Failure.encode(failure).finish());
}

export function getFailure(context: Context, address: string, id: bigint): Failure | undefined {
  const bytes = context.store(MODULE_NAME).get(keyOf(address, id));
  return bytes === undefined ? undefined : Failure.decode(bytes);
}

export function removeFailure(context: Context, { address, id }: Failure): void {
  context.store(MODULE_NAME).delete(keyOf(address, id));
}

/** Returns all failures in the order of addresses and numbers. */
export function allFailures(context: Context): readonly Failure[] {
  const entries = context.store(MODULE_NAME).iterate(FAILURES_PREFIX, prefixEnd(FAILURES_PREFIX));
  return Array.from(entries, ([, value]) => Failure.decode(value));
}

/** Returns the number after the last failure of a contract; 0 without any. */
function nextId(context: Context, address: string): bigint {
  const prefix = failuresOf(address);
  const last = context.store(MODULE_NAME).iterateReverse(prefix, prefixEnd(prefix)).next();
  return last.done === true ? 0n : readUint64BigEndian(last.value[0].subarray(prefix.length)) + 1n;
}

function keyOf(address: string, id: bigint): Uint8Array {
  return concat(failuresOf(address), uint64BigEndian(id));
}
