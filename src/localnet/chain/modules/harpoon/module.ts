import { GenesisState } from "../../../../cosmos/proto/gen/neutron/harpoon/genesis.ts";
import type { HookSubscriptions, HookType } from "../../../../cosmos/proto/gen/neutron/harpoon/hooks.ts";
import * as wire from "../../../../cosmos/proto/gen/neutron/harpoon/query.ts";
import * as tx from "../../../../cosmos/proto/gen/neutron/harpoon/tx.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import {
  ErrInvalidAddress,
  GrpcCode,
  ModuleError,
  QueryError,
  unregisteredError,
  wrapErrors,
} from "../../runtime/errors.ts";
import { atPath, genesisSchema, printGenesis, readGenesis } from "../../runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../runtime/handlers.ts";
import type { ChainModule, QueryHandler } from "../../runtime/module.ts";
import {
  allSubscriptions,
  createHooks,
  type Keepers,
  ErrInvalidSigner,
  type HarpoonDeps,
  type HarpoonHooks,
  type HarpoonOptions,
  MODULE_NAME,
  nameOfHook,
  replaceSubscriptions,
  requireHookType,
  setSubscriptions,
  subscribedContracts,
} from "./keeper.ts";

/** The module and its hooks. */
export interface HarpoonModule extends ChainModule {
  readonly hooks: HarpoonHooks;
}

/** Creates the `harpoon` module. */
export function createHarpoonModule(options: HarpoonOptions, deps: HarpoonDeps): HarpoonModule {
  const keepers: Keepers = { ...options, ...deps };
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
    queries: createQueryHandlers(options.chainName),
    initGenesis: (context, genesis) => initGenesis(context, genesis, keepers),
    exportGenesis,
    hooks: createHooks(keepers),
  };
}

/**
 * MsgManageHookSubscription (chain-extension-modules.md, "Hook subscription module"), accepted only from the authority. As in Go,
 * the contract address is checked before the authority.
 */
function manageHookSubscription(
  context: Context,
  message: tx.MsgManageHookSubscription,
  { authority, bech32Prefix, contracts }: Keepers,
): void {
  const { contractAddress, hooks } = validateManageHookSubscription(message, bech32Prefix);
  if (!contracts.isContract(context, contractAddress))
    throw ErrInvalidAddress(`contract address not found: ${contractAddress}`);
  if (message.authority !== authority)
    throw ErrInvalidSigner(`invalid authority; expected ${authority}, got ${message.authority}`);
  replaceSubscriptions(context, contractAddress, hooks);
}

/**
 * Checks MsgManageHookSubscription in Go's order and returns its subscription. If the subscription is missing, Go panics; here,
 * the message fails with an error.
 */
function validateManageHookSubscription(
  { authority, hookSubscription }: tx.MsgManageHookSubscription,
  bech32Prefix: string,
): tx.HookSubscription {
  return wrapErrors(
    (error) => error.wrap("failed to validate manage hook subscription message"),
    () => {
      requireMessageAddress(bech32Prefix, authority, "authority is invalid");
      if (hookSubscription === undefined) throw unregisteredError("hook subscription is empty");
      requireMessageAddress(
        bech32Prefix,
        hookSubscription.contractAddress,
        "hook subscription contractAddress is invalid",
      );
      requireUnique(hookSubscription.hooks);
      for (const hook of hookSubscription.hooks) requireExisting(hook);
      return hookSubscription;
    },
  );
}

function requireMessageAddress(bech32Prefix: string, text: string, words: string): void {
  try {
    parseAddress(bech32Prefix, text);
  } catch (thrown) {
    throw unregisteredError(`${words}: ${errorText(thrown)}`);
  }
}

function requireUnique(hooks: readonly HookType[]): void {
  const seen = new Set<number>();
  for (const hook of hooks) {
    if (seen.has(hook))
      throw unregisteredError(`subscription hooks are not unique: non-unique hook=${nameOfHook(hook)}`);
    seen.add(hook);
  }
}

function requireExisting(hook: HookType): void {
  wrapErrors(
    (error) => error.wrap("non-existing hook type"),
    () => requireHookType(hook),
  );
}

/** Creates the handler for the module's query, whose path starts with the chain's own name. */
function createQueryHandlers(chainName: string): readonly QueryHandler[] {
  return queryHandlers(
    wire.Query,
    {
      SubscribedContracts: (context, { hookType }) => {
        asArgument(() => requireHookType(hookType));
        return { contractAddresses: [...subscribedContracts(context, hookType)] };
      },
    },
    chainName,
  );
}

function asArgument(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw error instanceof ModuleError ? new QueryError(GrpcCode.InvalidArgument, error.message) : error;
  }
}

const SCHEMA = genesisSchema(MODULE_NAME, "neutron.harpoon.GenesisState", GenesisState);

/**
 * Stores the subscriptions from a genesis document. Throws `GenesisError` if a contract is invalid, repeated or missing, or if a
 * hook type is invalid or repeated.
 */
function initGenesis(context: Context, json: JsonValue | undefined, keepers: Keepers): void {
  const records = readGenesis(SCHEMA, json)?.hookSubscriptions ?? [];
  const seen = new Set<number>();
  records.forEach((record, index) => {
    atPath(`app_state.${MODULE_NAME}.hook_subscriptions[${index}]`, () => {
      requireHookType(record.hookType);
      if (seen.has(record.hookType)) throw new Error(`duplicate hook type: ${record.hookType}`);
      seen.add(record.hookType);
      requireContracts(context, record, keepers);
      setSubscriptions(context, record);
    });
  });
}

/** Exports the subscriptions, ordered by hook type. */
function exportGenesis(context: Context): JsonValue {
  return printGenesis(SCHEMA, { hookSubscriptions: [...allSubscriptions(context)] });
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
      throw ErrInvalidAddress(`contract address not found: ${address}`);
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
