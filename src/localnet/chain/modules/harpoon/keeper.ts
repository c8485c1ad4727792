import { HookSubscriptions, HookType } from "../../../../cosmos/proto/gen/neutron/harpoon/hooks.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { formatAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { registerError, unregisteredError, wrapErrors } from "../../runtime/errors.ts";
import { type Codec, createMap, messageCodec } from "../../store/collections.ts";

/** Name of the module and its store, and the error codespace. */
export const MODULE_NAME = "harpoon";

/** `subscriptions` | hook type (4 bytes, big-endian) → `HookSubscriptions`. */
const SUBSCRIPTIONS_PREFIX = utf8("subscriptions");

export interface HarpoonOptions {
  /** The chain's own name, used as the package prefix in type URLs and query paths. */
  readonly chainName: string;
  /** Bech32 prefix of account addresses. Operator and consensus addresses append `valoper` and `valcons`. */
  readonly bech32Prefix: string;
  /** Bech32 address of the account that may change subscriptions. */
  readonly authority: string;
}

/** Contract host methods that the module calls. */
interface ContractKeeper {
  readonly isContract: (context: Context, address: string) => boolean;
  /** Calls a contract's sudo entry point with JSON text. Throws `ModuleError` if the contract fails. */
  readonly sudo: (context: Context, address: string, message: string) => void;
}

export interface HarpoonDeps {
  readonly contracts: ContractKeeper;
}

/** Options, and keepers of other modules. */
export interface Keepers extends HarpoonOptions, HarpoonDeps {}

const NAMES = new Map<number, string>(Object.entries(HookType).map(([name, value]) => [value, name]));

/** All hook types, including the unspecified one, in ascending order. */
const HOOK_TYPES: readonly HookType[] = Object.values(HookType).toSorted((a, b) => a - b);

/** Returns a hook type's name or, if the type is unknown, its number, as Go prints it. */
export function nameOfHook(hook: number): string {
  return NAMES.get(hook) ?? hook.toString();
}

/** Throws an unregistered error if the number is unspecified or not a hook type. */
export function requireHookType(hook: number): void {
  if (!NAMES.has(hook)) throw unregisteredError(`non-existing hook=${hook}`);
  if (hook === HookType.HOOK_TYPE_UNSPECIFIED) throw unregisteredError("unspecified hooks are not allowed");
}

export const ErrInvalidSigner = registerError(
  MODULE_NAME,
  2,
  "expected gov account as only signer for proposal message",
);

const hookTypeCodec: Codec<number> = {
  encode: (hook) => Uint8Array.of(hook >>> 24, (hook >>> 16) & 0xff, (hook >>> 8) & 0xff, hook & 0xff),
  decode: (bytes) => bytes.reduce((value, byte) => value * 256 + byte, 0),
};

const subscriptions = createMap(
  MODULE_NAME,
  SUBSCRIPTIONS_PREFIX,
  hookTypeCodec,
  messageCodec(HookSubscriptions),
);

/** Finds a hook type's record. As in Go, checks that it exists before reading it; both accesses consume gas. */
function findRecord(context: Context, hookType: HookType): HookSubscriptions | undefined {
  return subscriptions.has(context, hookType) ? subscriptions.get(context, hookType) : undefined;
}

/** Returns the contracts subscribed to a hook type in subscription order, which is also the call order. */
export function subscribedContracts(context: Context, hookType: HookType): readonly string[] {
  return findRecord(context, hookType)?.contractAddresses ?? [];
}

/** Returns the records of all hook types with a record, ordered by type. */
export function allSubscriptions(context: Context): readonly HookSubscriptions[] {
  return [...subscriptions.entries(context)].map(([, record]) => record);
}

/** Stores one hook type's record. */
export function setSubscriptions(context: Context, record: HookSubscriptions): void {
  subscriptions.set(context, record.hookType, record);
}

/**
 * Replaces the hook types to which a contract subscribes (chain-extension-modules.md, "States and transitions"). An existing
 * subscription keeps its place in the call order; a new one is added at the end.
 */
export function replaceSubscriptions(context: Context, contract: string, hooks: readonly HookType[]): void {
  for (const hook of hooks) subscribe(context, contract, hook);
  for (const hook of HOOK_TYPES) {
    if (!hooks.includes(hook)) unsubscribe(context, contract, hook);
  }
}

/** Always writes the record, as Go does, so a message's gas does not depend on earlier subscriptions. */
function subscribe(context: Context, contract: string, hookType: HookType): void {
  const present = subscribedContracts(context, hookType);
  const contractAddresses = present.includes(contract) ? [...present] : [...present, contract];
  setSubscriptions(context, { hookType, contractAddresses });
}

/** Deletes the record if it becomes empty; otherwise writes it, as Go does. */
function unsubscribe(context: Context, contract: string, hookType: HookType): void {
  const record = findRecord(context, hookType);
  if (record === undefined) return;
  const contractAddresses = record.contractAddresses.filter((address) => address !== contract);
  if (contractAddresses.length === 0) subscriptions.delete(context, hookType);
  else setSubscriptions(context, { hookType, contractAddresses });
}

/** Prefix of hook type names. The rest of the name, in lower case, is the key in the sudo message. */
const NAME_PREFIX = "HOOK_TYPE_";

/** The hooks that the staking module calls. Addresses are bytes. If a contract fails, the hook throws its error. */
export type HarpoonHooks = ReturnType<typeof createHooks>;

/**
 * Creates the hooks. Each hook sends one sudo message, as JSON text in the style of Go's `encoding/json`, to the contracts
 * subscribed to its type (chain-extension-modules.md, "Hook subscription module").
 */
export function createHooks(keepers: Keepers) {
  const { bech32Prefix } = keepers;
  const account = (bytes: Uint8Array): string => formatAddress(bech32Prefix, bytes);
  const operator = (bytes: Uint8Array): string => formatAddress(`${bech32Prefix}valoper`, bytes);
  const consensus = (bytes: Uint8Array): string => formatAddress(`${bech32Prefix}valcons`, bytes);
  const call = (context: Context, hook: HookType, members: Readonly<Record<string, string>>): void =>
    callSubscribers(context, keepers.contracts, hook, JSON.stringify(members));
  const ofValidator =
    (hook: HookType) =>
    (context: Context, validator: Uint8Array): void =>
      call(context, hook, { val_addr: operator(validator) });
  const ofConsensus =
    (hook: HookType) =>
    (context: Context, key: Uint8Array, validator: Uint8Array): void =>
      call(context, hook, { cons_addr: consensus(key), val_addr: operator(validator) });
  const ofDelegation =
    (hook: HookType) =>
    (context: Context, delegator: Uint8Array, validator: Uint8Array): void =>
      call(context, hook, { del_addr: account(delegator), val_addr: operator(validator) });
  return {
    afterValidatorCreated: ofValidator(HookType.HOOK_TYPE_AFTER_VALIDATOR_CREATED),
    beforeValidatorModified: ofValidator(HookType.HOOK_TYPE_BEFORE_VALIDATOR_MODIFIED),
    afterValidatorRemoved: ofConsensus(HookType.HOOK_TYPE_AFTER_VALIDATOR_REMOVED),
    afterValidatorBonded: ofConsensus(HookType.HOOK_TYPE_AFTER_VALIDATOR_BONDED),
    afterValidatorBeginUnbonding: ofConsensus(HookType.HOOK_TYPE_AFTER_VALIDATOR_BEGIN_UNBONDING),
    beforeDelegationCreated: ofDelegation(HookType.HOOK_TYPE_BEFORE_DELEGATION_CREATED),
    beforeDelegationSharesModified: ofDelegation(HookType.HOOK_TYPE_BEFORE_DELEGATION_SHARES_MODIFIED),
    beforeDelegationRemoved: ofDelegation(HookType.HOOK_TYPE_BEFORE_DELEGATION_REMOVED),
    afterDelegationModified: ofDelegation(HookType.HOOK_TYPE_AFTER_DELEGATION_MODIFIED),
    /** `fraction` is decimal text with 18 decimal places. */
    beforeValidatorSlashedWithTokensToBurn: (
      context: Context,
      validator: Uint8Array,
      { fraction, tokensToBurn }: { readonly fraction: string; readonly tokensToBurn: bigint },
    ): void =>
      call(context, HookType.HOOK_TYPE_BEFORE_VALIDATOR_SLASHED, {
        val_addr: operator(validator),
        fraction,
        tokens_to_burn: tokensToBurn.toString(),
      }),
    afterUnbondingInitiated: (context: Context, id: bigint): void => {
      // The id is a JSON number up to 2^64 - 1, which JSON.stringify would round.
      const body = `{"id":${id}}`;
      callSubscribers(context, keepers.contracts, HookType.HOOK_TYPE_AFTER_UNBONDING_INITIATED, body);
    },
  };
}

/**
 * Calls the contracts subscribed to a hook type in order, in the caller's context: without a cache layer or gas limit of their
 * own. The first error ends the calls and keeps its codespace and code. `body` is the message's value as JSON.
 */
function callSubscribers(context: Context, contracts: ContractKeeper, hook: HookType, body: string): void {
  const name = nameOfHook(hook);
  const message = `{"${name.slice(NAME_PREFIX.length).toLowerCase()}":${body}}`;
  for (const contract of subscribedContracts(context, hook)) {
    const call = `hook_type=${name}, msg=${message}, contract_address=${contract}`;
    wrapErrors(
      (error) =>
        error
          .wrap(`could not execute sudo call successfully for ${call}`)
          .wrap(`failed to call sudo for subscriptions for hookType=${name}`),
      () => contracts.sudo(context, contract, message),
    );
  }
}
