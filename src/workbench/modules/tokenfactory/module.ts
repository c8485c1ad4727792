import { GenesisState } from "../../../cosmos/proto/gen/osmosis/tokenfactory/v1beta1/genesis.ts";
import * as wire from "../../../cosmos/proto/gen/osmosis/tokenfactory/v1beta1/query.ts";
import type { JsonValue } from "../../../platform/base/json.ts";
import type { Context, ChainModule, QueryHandler } from "../../../localnet/chain/runtime/context.ts";
import { atPath, partOr, genesisSchema } from "../../../localnet/chain/runtime/genesis.ts";
import { queryHandlers } from "../../../localnet/chain/runtime/handlers.ts";
import type { BankHooks } from "../../../localnet/chain/modules/bank/keeper.ts";
import { listChannels } from "../../../localnet/chain/modules/ibc/channel/channel-store.ts";
import type { IBCModule } from "../../../localnet/chain/modules/ibc/channel/ibc-module.ts";
import type { ChannelEndpoint } from "../../../localnet/chain/modules/ibc/host/packet.ts";
import { escrowAddress } from "../../../localnet/chain/modules/transfer/keeper.ts";
import { PORT_ID } from "../../../localnet/chain/modules/transfer/denom.ts";
import type { CustomMessageHandler, CustomQueryHandler } from "../../../localnet/chain/modules/wasm/types.ts";
import { createBankHooks } from "./before-send.ts";
import { createMessageBindings, createQueryBindings } from "./bindings.ts";
import { creatorOf, DENOM_PREFIX, tokenDenom } from "./denom.ts";
import { createHandlers } from "./handlers.ts";
import {
  addDenom,
  adminOf,
  beforeSendHook,
  escrows,
  type Keepers,
  listDenoms,
  moduleParams,
  parseAccount,
  setAdmin,
  setBeforeSendHook,
} from "./keeper.ts";
import { MODULE_NAME } from "./errors.ts";

/** The module and the methods that other modules call. */
export interface TokenFactoryModule extends ChainModule {
  /** Hooks that the bank calls before payments. */
  readonly hooks: BankHooks;
  /** Records transfer channels' escrow accounts. */
  readonly escrowMiddleware: (inner: IBCModule) => IBCModule;
  readonly handleCustomMessage: CustomMessageHandler;
  readonly handleCustomQuery: CustomQueryHandler;
}

/** Creates the `tokenfactory` module. Anyone can create its denominations. Each has an admin and a hook. */
export function createTokenFactoryModule(keepers: Keepers): TokenFactoryModule {
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createHandlers(keepers),
    queries: createQueries(keepers),
    initGenesis: (context, json) => initGenesis(context, json, keepers),
    exportGenesis,
    hooks: createBankHooks(keepers),
    escrowMiddleware,
    handleCustomMessage: createMessageBindings(keepers),
    handleCustomQuery: createQueryBindings(keepers),
  };
}

function createQueries({ bech32Prefix }: Keepers): readonly QueryHandler[] {
  return queryHandlers(wire.Query, {
    Params: moduleParams.query,
    DenomAuthorityMetadata: (context, request) => ({
      authorityMetadata: { Admin: adminOf(context, nameOf(request)) },
    }),
    DenomsFromCreator: (context, { creator }) => ({ denoms: listDenoms(context, creator) }),
    BeforeSendHookAddress: (context, request) => ({ contractAddr: beforeSendHook(context, nameOf(request)) }),
    FullDenom: (_context, { creator, subdenom }) => {
      parseAccount(creator, bech32Prefix);
      return { fullDenom: tokenDenom(creator, subdenom) };
    },
  });
}

/** Returns the name without any checks, as in Go. */
function nameOf({ creator, subdenom }: { readonly creator: string; readonly subdenom: string }): string {
  return `${DENOM_PREFIX}/${creator}/${subdenom}`;
}

const SCHEMA = genesisSchema(MODULE_NAME, "osmosis.tokenfactory.v1beta1.GenesisState", GenesisState);

/** Stores params and denominations. Throws `GenesisError` if a denomination is invalid or occurs twice. */
function initGenesis(context: Context, json: JsonValue | undefined, keepers: Keepers): void {
  keepers.accounts.moduleAccount(context, MODULE_NAME);
  recordEscrows(context);
  const state = SCHEMA.read(json);
  moduleParams.set(context, partOr(json, "params", state?.params, moduleParams.defaults));
  const seen = new Set<string>();
  for (const [index, { denom, authorityMetadata, hookContractAddress }] of (
    state?.factoryDenoms ?? []
  ).entries()) {
    atPath(`app_state.${MODULE_NAME}.factory_denoms[${index}]`, () => {
      if (seen.has(denom)) throw new Error(`duplicate denom: ${denom}`);
      seen.add(denom);
      addDenom(context, creatorOf(denom, keepers.bech32Prefix), denom, keepers);
      setAdmin(context, denom, authorityMetadata?.Admin ?? "", keepers);
      if (hookContractAddress !== "") setBeforeSendHook(context, denom, hookContractAddress, keepers);
    });
  }
}

/** Exports params and denominations. Omits escrow accounts, since the channels determine them. */
function exportGenesis(context: Context): JsonValue {
  return SCHEMA.print({
    params: moduleParams.get(context),
    factoryDenoms: listDenoms(context).map((denom) => ({
      denom,
      authorityMetadata: { Admin: adminOf(context, denom) },
      hookContractAddress: beforeSendHook(context, denom),
    })),
  });
}

/** Records a transfer channel's escrow account when the channel opens. Wraps the `transfer` application. */
function escrowMiddleware(inner: IBCModule): IBCModule {
  return {
    ...inner,
    onOpenAck: (context, channel, version) => {
      inner.onOpenAck(context, channel, version);
      storeEscrow(context, channel);
    },
    onOpenConfirm: (context, channel) => {
      inner.onOpenConfirm(context, channel);
      storeEscrow(context, channel);
    },
  };
}

function storeEscrow(context: Context, channel: ChannelEndpoint): void {
  escrows.set(context, escrowAddress(channel), Uint8Array.of(0));
}

/**
 * Records the escrow accounts of channels that existed before the module, in a genesis state or on a chain that adds the module.
 */
function recordEscrows(context: Context): void {
  for (const { portId, channelId } of listChannels(context))
    if (portId === PORT_ID) storeEscrow(context, { portId, channelId });
}
