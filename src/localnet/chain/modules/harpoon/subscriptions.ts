import { HookSubscriptions, type HookType } from "../../../../cosmos/proto/gen/neutron/harpoon/hooks.ts";
import type { Context } from "../../runtime/context.ts";
import { type Codec, createMap, messageCodec } from "../../store/collections.ts";
import { HOOK_TYPES } from "./hook-type.ts";
import { MODULE_NAME, SUBSCRIPTIONS_PREFIX } from "./keys.ts";

const hookTypeCodec: Codec<number> = {
  encode: (hook) => Uint8Array.of(hook >>> 24, (hook >>> 16) & 0xff, (hook >>> 8) & 0xff, hook & 0xff),
  decode: (bytes) => bytes.reduce((value, byte) => value * 256 + byte, 0),
};

const subscriptions = createMap(
  MODULE_NAME,
  SUBSCRIPTIONS_PREFIX,
  hookTypeCodec,
  messageCodec<HookSubscriptions>(HookSubscriptions),
);

/** Returns the contracts of one hook type in the order in which they subscribed, which is the order of the calls. */
export function subscribedContracts(context: Context, hookType: HookType): readonly string[] {
  return subscriptions.get(context, hookType)?.contractAddresses ?? [];
}

/** Returns the records of all hook types that have one, in ascending order of the types. */
export function allSubscriptions(context: Context): readonly HookSubscriptions[] {
  return [...subscriptions.entries(context)].map(([, record]) => record);
}

/** Stores the record of one hook type. */
export function setSubscriptions(context: Context, record: HookSubscriptions): void {
  subscriptions.set(context, record.hookType, record);
}

/**
 * Replaces the hook types to which a contract is subscribed (chain-extension-modules.md, "States and transitions"). A
 * subscription that the contract keeps stays at its place in the order of calls; a new one is the last.
 */
export function replaceSubscriptions(context: Context, contract: string, hooks: readonly HookType[]): void {
  for (const hook of hooks) subscribe(context, contract, hook);
  for (const hook of HOOK_TYPES) {
    if (!hooks.includes(hook)) unsubscribe(context, contract, hook);
  }
}

/** Writes the record in any case, as Go does: the gas of a message does not depend on what was subscribed before. */
function subscribe(context: Context, contract: string, hookType: HookType): void {
  const present = subscribedContracts(context, hookType);
  const contractAddresses = present.includes(contract) ? [...present] : [...present, contract];
  setSubscriptions(context, { hookType, contractAddresses });
}

/** Deletes a record that becomes empty, and writes every other one, as Go does. */
function unsubscribe(context: Context, contract: string, hookType: HookType): void {
  const record = subscriptions.get(context, hookType);
  if (record === undefined) return;
  const contractAddresses = record.contractAddresses.filter((address) => address !== contract);
  if (contractAddresses.length === 0) subscriptions.delete(context, hookType);
  else setSubscriptions(context, { hookType, contractAddresses });
}
