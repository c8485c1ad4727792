import type { Context } from "../../runtime/context.ts";
import { bytesCodec, createItem, createMap, uint64Codec } from "../../store/collections.ts";
import { isOutOfGas, ModuleError } from "../../runtime/errors.ts";
import { MODULE_NAME, UNBONDING_ID, UNBONDING_INDEX, UNBONDING_TYPE } from "./keys.ts";

/** Kinds of operations with an unbonding id. */
export const UNBONDING_KIND = { delegation: 1n, redelegation: 2n, validator: 3n } as const;

/** The last id that was given. */
export const lastUnbondingId = createItem(MODULE_NAME, UNBONDING_ID, uint64Codec);
const keysById = createMap(MODULE_NAME, UNBONDING_INDEX, uint64Codec, bytesCodec);
const kindsById = createMap(MODULE_NAME, UNBONDING_TYPE, uint64Codec, uint64Codec);

/** Takes the next id. */
export function takeUnbondingId(context: Context): bigint {
  const id = (lastUnbondingId.get(context) ?? 0n) + 1n;
  lastUnbondingId.set(context, id);
  return id;
}

/** Remembers the store key of the operation with an id. */
export function indexUnbonding(context: Context, id: bigint, kind: bigint, key: Uint8Array): void {
  keysById.set(context, id, key);
  kindsById.set(context, id, kind);
}

/** Forgets an operation that is complete. As in the SDK, its kind stays. */
export function forgetUnbonding(context: Context, id: bigint): void {
  keysById.delete(context, id);
}

/**
 * Calls a hook whose error the SDK only logs: the action goes on, and what the hook wrote before the error stays. Running out
 * of gas still ends the transaction.
 */
export function ignoringErrors(call: () => void): void {
  try {
    call();
  } catch (error) {
    if (!(error instanceof ModuleError) || isOutOfGas(error)) throw error;
  }
}
