import { eachAtPath, genesisSchema } from "../../runtime/genesis.ts";
import { GenesisState } from "../../../../cosmos/proto/gen/neutron/harpoon/genesis.ts";
import { HookSubscriptions, HookType } from "../../../../cosmos/proto/gen/neutron/harpoon/hooks.ts";
import * as wire from "../../../../cosmos/proto/gen/neutron/harpoon/query.ts";
import * as tx from "../../../../cosmos/proto/gen/neutron/harpoon/tx.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { parseAddress, formatAddress } from "../../runtime/address.ts";
import type { Context, ChainModule, ChainNames } from "../../runtime/context.ts";
import { messageHandlers, queryHandlers } from "../../runtime/handlers.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { type Codec, createMap, messageCodec } from "../../store/collections.ts";
import * as errors from "../../runtime/errors.ts";

/** Name of the module, its store and its error codespace. */
const MODULE_NAME = "harpoon";

export interface HarpoonModule extends ChainModule {
  readonly hooks: HarpoonHooks;
}

export function createHarpoonModule(
  options: Omit<Keepers, "contracts">,
  deps: Pick<Keepers, "contracts">,
): HarpoonModule {
  const keepers = { ...options, ...deps };
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: messageHandlers(
      tx.Msg,
      {
        ManageHookSubscription: (context, message) => manageHookSubscription(context, message, keepers),
      },
      options.chainName,
    ),
    queries: queryHandlers(
      wire.Query,
      {
        SubscribedContracts: (context, { hookType }) => {
          errors.orThrow(() => requireHookType(hookType), errors.invalidArgument);
          return { contractAddresses: [...subscribedContracts(context, hookType)] };
        },
      },
      options.chainName,
    ),
    initGenesis: (context, genesis) => initGenesis(context, genesis, keepers),
    exportGenesis: (context) => SCHEMA.print({ hookSubscriptions: subscriptions.values(context) }),
    hooks: createHooks(keepers),
  };
}

/**
 * Handles MsgManageHookSubscription (chain-extension-modules.md, "Hook subscription module"), which only the authority may send. As in
 * Go, the contract address is checked before the authority.
 */
function manageHookSubscription(
  context: Context,
  message: tx.MsgManageHookSubscription,
  { authority, bech32Prefix, contracts }: Keepers,
): void {
  const { contractAddress, hooks } = validateManageHookSubscription(message, bech32Prefix);
  if (!contracts.isContract(context, contractAddress))
    throw errors.ErrInvalidAddress(`contract address not found: ${contractAddress}`);
  if (message.authority !== authority)
    throw ErrInvalidSigner(`invalid authority; expected ${authority}, got ${message.authority}`);
  replaceSubscriptions(context, contractAddress, hooks);
}

/**
 * Checks MsgManageHookSubscription in Go's order and returns its subscription. If the subscription is missing, Go panics. On this
 * chain, the message fails with an error.
 */
function validateManageHookSubscription(
  { authority, hookSubscription }: tx.MsgManageHookSubscription,
  bech32Prefix: string,
): tx.HookSubscription {
  const requireMessageAddress = (text: string, words: string): Uint8Array =>
    errors.orThrowWith(errors.unregisteredError, words, () => parseAddress(bech32Prefix, text));
  return errors.wrapErrors("failed to validate manage hook subscription message", () => {
    requireMessageAddress(authority, "authority is invalid");
    if (hookSubscription === undefined) throw errors.unregisteredError("hook subscription is empty");
    const { contractAddress, hooks } = hookSubscription;
    requireMessageAddress(contractAddress, "hook subscription contractAddress is invalid");
    requireUnique(hooks);
    for (const hook of hooks) errors.wrapErrors("non-existing hook type", () => requireHookType(hook));
    return hookSubscription;
  });
}

function requireUnique(hooks: readonly HookType[]): void {
  const seen = new Set<number>();
  for (const hook of hooks) {
    if (seen.has(hook))
      throw errors.unregisteredError(
        `subscription hooks are not unique: non-unique hook=${nameOfHook(hook)}`,
      );
    seen.add(hook);
  }
}

const SCHEMA = genesisSchema(MODULE_NAME, "neutron.harpoon.GenesisState", GenesisState);

/**
 * Stores the subscriptions from a genesis document. Throws `GenesisError` if a contract address is invalid or repeated, if no
 * contract exists at an address, or if a hook type is invalid or repeated.
 */
function initGenesis(context: Context, json: JsonValue | undefined, keepers: Keepers): void {
  const records = SCHEMA.read(json)?.hookSubscriptions ?? [];
  const seen = new Set<number>();
  eachAtPath(`app_state.${MODULE_NAME}.hook_subscriptions`, records, (record) => {
    requireHookType(record.hookType);
    if (seen.has(record.hookType)) throw new Error(`duplicate hook type: ${record.hookType}`);
    seen.add(record.hookType);
    requireContracts(context, record, keepers);
    setSubscriptions(context, record);
  });
}

function requireContracts(
  context: Context,
  { hookType, contractAddresses }: HookSubscriptions,
  { bech32Prefix, contracts }: Keepers,
): void {
  const seen = new Set<string>();
  for (const address of contractAddresses) {
    requireAddress(bech32Prefix, address);
    if (seen.has(address))
      throw new Error(`duplicate contract address: ${address} for hook type: ${hookType}`);
    seen.add(address);
    if (!contracts.isContract(context, address))
      throw errors.ErrInvalidAddress(`contract address not found: ${address}`);
  }
}

function requireAddress(bech32Prefix: string, address: string): void {
  try {
    parseAddress(bech32Prefix, address);
  } catch (thrown) {
    throw new Error(`invalid contract_address=${address} in genesis state: ${errorText(thrown)}`, {
      cause: thrown,
    });
  }
}

interface ContractKeeper {
  readonly isContract: (context: Context, address: string) => boolean;
  /** Calls a contract's sudo entry point with JSON text. Throws `ModuleError` if the contract fails. */
  readonly sudo: (context: Context, address: string, message: string) => void;
}

interface Keepers extends Pick<ChainNames, "chainName" | "bech32Prefix" | "authority"> {
  readonly contracts: ContractKeeper;
}

const NAMES = new Map<number, string>(Object.entries(HookType).map(([name, value]) => [value, name]));

/** All hook types, including the unspecified one, in ascending order. */
const HOOK_TYPES: readonly HookType[] = Object.values(HookType).toSorted((a, b) => a - b);

/** Returns a hook type's name. Like Go, returns the number if the hook type is unknown. */
function nameOfHook(hook: number): string {
  return NAMES.get(hook) ?? hook.toString();
}

/** Throws an unregistered error if the number is unspecified or not a hook type. */
function requireHookType(hook: number): void {
  if (!NAMES.has(hook)) throw errors.unregisteredError(`non-existing hook=${hook}`);
  if (hook === HookType.HOOK_TYPE_UNSPECIFIED)
    throw errors.unregisteredError("unspecified hooks are not allowed");
}

const ErrInvalidSigner = errors.registerError(
  MODULE_NAME,
  2,
  "expected gov account as only signer for proposal message",
);

const hookTypeCodec: Codec<number> = {
  encode: (hook) => Uint8Array.of(hook >>> 24, (hook >>> 16) & 0xff, (hook >>> 8) & 0xff, hook & 0xff),
  decode: (bytes) => bytes.reduce((value, byte) => value * 256 + byte, 0),
};

/** Key prefix of the stored `HookSubscriptions`. The rest of each key is the hook type (4 bytes, big-endian). */
const subscriptionsKey = utf8("subscriptions");
const subscriptions = createMap(
  MODULE_NAME,
  subscriptionsKey,
  hookTypeCodec,
  messageCodec(HookSubscriptions),
);

/**
 * Finds the subscriptions to a hook type. As in Go, checks whether the record exists before reading it, because both accesses
 * consume gas.
 */
function findRecord(context: Context, hookType: HookType): HookSubscriptions | undefined {
  return subscriptions.has(context, hookType) ? subscriptions.get(context, hookType) : undefined;
}

/** Returns the contracts subscribed to a hook type in subscription order, which is also the call order. */
function subscribedContracts(context: Context, hookType: HookType): readonly string[] {
  return findRecord(context, hookType)?.contractAddresses ?? [];
}

export function setSubscriptions(context: Context, record: HookSubscriptions): void {
  subscriptions.set(context, record.hookType, record);
}

/**
 * Replaces the hook types to which a contract subscribes (chain-extension-modules.md, "States and transitions"). An existing
 * subscription keeps its place in the call order. A new subscription is added at the end.
 */
function replaceSubscriptions(context: Context, contract: string, hooks: readonly HookType[]): void {
  for (const hook of hooks) subscribe(context, contract, hook);
  for (const hook of HOOK_TYPES) {
    if (!hooks.includes(hook)) unsubscribe(context, contract, hook);
  }
}

/**
 * Adds a contract to a hook type's subscribers. Like Go, writes the record even if the contract is already subscribed, because
 * the write consumes gas.
 */
function subscribe(context: Context, contract: string, hookType: HookType): void {
  const present = subscribedContracts(context, hookType);
  const contractAddresses = present.includes(contract) ? [...present] : [...present, contract];
  setSubscriptions(context, { hookType, contractAddresses });
}

/**
 * Removes a contract from a hook type's subscribers. If no contract is left, deletes the record. Otherwise, writes the record even
 * if it has not changed, as Go does.
 */
function unsubscribe(context: Context, contract: string, hookType: HookType): void {
  const record = findRecord(context, hookType);
  if (record === undefined) return;
  const contractAddresses = record.contractAddresses.filter((address) => address !== contract);
  if (contractAddresses.length === 0) subscriptions.delete(context, hookType);
  else setSubscriptions(context, { hookType, contractAddresses });
}

/** Common prefix of all hook type names. The rest of a name, in lower case, is the key in the sudo message. */
const NAME_PREFIX = "HOOK_TYPE_";

/** The hooks that the staking module calls. Addresses are raw bytes. If a contract fails, the hook throws the contract's error. */
export type HarpoonHooks = ReturnType<typeof createHooks>;

/**
 * Creates the hooks. Each hook sends one sudo message, formatted as by Go's `encoding/json`, to the contracts subscribed to its
 * type (chain-extension-modules.md, "Hook subscription module").
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
      // The id can be as large as 2^64 - 1, so JSON.stringify could not print the exact number.
      const body = `{"id":${id}}`;
      callSubscribers(context, keepers.contracts, HookType.HOOK_TYPE_AFTER_UNBONDING_INITIATED, body);
    },
  };
}

/**
 * Calls the contracts subscribed to a hook type, in order. The calls run in the caller's context, without a separate cache context
 * or gas limit. The first error ends the loop and is rethrown with its codespace and code. `body` is the JSON value in the sudo
 * message.
 */
function callSubscribers(context: Context, contracts: ContractKeeper, hook: HookType, body: string): void {
  const name = nameOfHook(hook);
  const message = `{"${name.slice(NAME_PREFIX.length).toLowerCase()}":${body}}`;
  for (const contract of subscribedContracts(context, hook)) {
    const call = `hook_type=${name}, msg=${message}, contract_address=${contract}`;
    errors.wrapErrors(
      (error) =>
        error
          .wrap(`could not execute sudo call successfully for ${call}`)
          .wrap(`failed to call sudo for subscriptions for hookType=${name}`),
      () => contracts.sudo(context, contract, message),
    );
  }
}
