import { GenesisState } from "../../../cosmos/proto/gen/osmosis/tokenfactory/v1beta1/genesis.ts";
import * as wire from "../../../cosmos/proto/gen/osmosis/tokenfactory/v1beta1/query.ts";
import type { JsonValue, JsonField } from "../../../platform/base/json.ts";
import type { Context, ChainModule, QueryHandler } from "../../../localnet/chain/runtime/context.ts";
import { atPath, partOr, genesisSchema } from "../../../localnet/chain/runtime/genesis.ts";
import { queryHandlers } from "../../../localnet/chain/runtime/handlers.ts";
import type { BankHooks } from "../../../localnet/chain/modules/bank/keeper.ts";
import { listChannels } from "../../../localnet/chain/modules/ibc/channel/channel-store.ts";
import type { IBCModule } from "../../../localnet/chain/modules/ibc/channel/ibc-module.ts";
import type { ChannelEndpoint } from "../../../localnet/chain/modules/ibc/host/packet.ts";
import { escrowAddress } from "../../../localnet/chain/modules/transfer/keeper.ts";
import { PORT_ID } from "../../../localnet/chain/modules/transfer/denom.ts";
import type {
  CustomMessageHandler,
  CustomQueryHandler,
  CustomMessageResult,
} from "../../../localnet/chain/modules/wasm/types.ts";
import { createBankHooks } from "./before-send.ts";
import { creatorOf, DENOM_PREFIX, tokenDenom, MODULE_NAME } from "./denom.ts";
import * as keeper from "./keeper.ts";
import type { Metadata } from "../../../cosmos/proto/gen/cosmos/bank/v1beta1/bank.ts";
import { formatAddress } from "../../../localnet/chain/runtime/address.ts";
import { goPanic, wrapErrors } from "../../../localnet/chain/runtime/errors.ts";
import {
  asInteger,
  customMessages,
  customQueries,
} from "../../../localnet/chain/modules/wasm/custom-json.ts";
import * as handlers from "./handlers.ts";

/** The `tokenfactory` module, with methods for other modules. */
export interface TokenFactoryModule extends ChainModule {
  /** Hooks that the bank module calls before each payment. */
  readonly hooks: BankHooks;
  /** Wraps `transfer` to record the escrow account of each new transfer channel. */
  readonly escrowMiddleware: (inner: IBCModule) => IBCModule;
  readonly handleCustomMessage: CustomMessageHandler;
  readonly handleCustomQuery: CustomQueryHandler;
}

/**
 * Creates the `tokenfactory` module, with which anyone can create denominations. A denomination can have an admin, and a hook that
 * is called before payments.
 */
export function createTokenFactoryModule(keepers: keeper.Keepers): TokenFactoryModule {
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: handlers.createHandlers(keepers),
    queries: createQueries(keepers),
    initGenesis: (context, json) => initGenesis(context, json, keepers),
    exportGenesis,
    hooks: createBankHooks(keepers),
    escrowMiddleware,
    handleCustomMessage: createMessageBindings(keepers),
    handleCustomQuery: createQueryBindings(keepers),
  };
}

function createQueries({ bech32Prefix }: keeper.Keepers): readonly QueryHandler[] {
  return queryHandlers(wire.Query, {
    Params: keeper.moduleParams.query,
    DenomAuthorityMetadata: (context, request) => ({
      authorityMetadata: { Admin: keeper.adminOf(context, nameOf(request)) },
    }),
    DenomsFromCreator: (context, { creator }) => ({ denoms: keeper.listDenoms(context, creator) }),
    BeforeSendHookAddress: (context, request) => ({
      contractAddr: keeper.beforeSendHook(context, nameOf(request)),
    }),
    FullDenom: (_context, { creator, subdenom }) => {
      keeper.parseAccount(creator, bech32Prefix);
      return { fullDenom: tokenDenom(creator, subdenom) };
    },
  });
}

/** Returns the full name of a denomination. Like the Go module, does not check the creator and subdenom. */
function nameOf({ creator, subdenom }: { readonly creator: string; readonly subdenom: string }): string {
  return `${DENOM_PREFIX}/${creator}/${subdenom}`;
}

const SCHEMA = genesisSchema(MODULE_NAME, "osmosis.tokenfactory.v1beta1.GenesisState", GenesisState);

/** Stores genesis params, denominations, admins and hooks. Throws `GenesisError` if a denomination is invalid or occurs twice. */
function initGenesis(context: Context, json: JsonValue | undefined, keepers: keeper.Keepers): void {
  keepers.accounts.moduleAccount(context, MODULE_NAME);
  recordEscrows(context);
  const state = SCHEMA.read(json);
  keeper.moduleParams.set(context, partOr(json, "params", state?.params, keeper.moduleParams.defaults));
  const seen = new Set<string>();
  for (const [index, { denom, authorityMetadata, hookContractAddress }] of (
    state?.factoryDenoms ?? []
  ).entries()) {
    atPath(`app_state.${MODULE_NAME}.factory_denoms[${index}]`, () => {
      if (seen.has(denom)) throw new Error(`duplicate denom: ${denom}`);
      seen.add(denom);
      keeper.addDenom(context, creatorOf(denom, keepers.bech32Prefix), denom, keepers);
      keeper.setAdmin(context, denom, authorityMetadata?.Admin ?? "", keepers);
      if (hookContractAddress !== "") keeper.setBeforeSendHook(context, denom, hookContractAddress, keepers);
    });
  }
}

/** Exports params and denominations, but not escrow accounts, which are derived from the channels. */
function exportGenesis(context: Context): JsonValue {
  return SCHEMA.print({
    params: keeper.moduleParams.get(context),
    factoryDenoms: keeper.listDenoms(context).map((denom) => ({
      denom,
      authorityMetadata: { Admin: keeper.adminOf(context, denom) },
      hookContractAddress: keeper.beforeSendHook(context, denom),
    })),
  });
}

/** Wraps the `transfer` application, and records a transfer channel's escrow account when the channel opens. */
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
  keeper.escrows.set(context, escrowAddress(channel), Uint8Array.of(0));
}

/**
 * Records the escrow accounts of existing transfer channels, for a genesis with channels or for an existing chain that adds the
 * module.
 */
function recordEscrows(context: Context): void {
  for (const { portId, channelId } of listChannels(context))
    if (portId === PORT_ID) storeEscrow(context, { portId, channelId });
}

/**
 * A custom message, which `read` decodes and `run` handles. Errors from `run` get the prefix `inner`; then all errors get the
 * prefix `outer`.
 */
interface Binding<T> {
  readonly inner: string;
  readonly outer: string;
  readonly read: (fields: JsonField, sender: string) => T;
  readonly run: (context: Context, message: T, keepers: keeper.Keepers) => unknown;
}

/** Creates the handler for contracts' custom messages. As in Go, the response to a custom message is empty. */
function createMessageBindings(keepers: keeper.Keepers): CustomMessageHandler {
  const binding =
    <T>({ inner, outer, read, run }: Binding<T>) =>
    (context: Context, sender: string, fields: JsonField): CustomMessageResult =>
      wrapErrors(outer, () => {
        const message = read(fields, sender);
        wrapErrors(inner, () => run(context, message, keepers));
        return {};
      });
  return customMessages({
    create_denom: binding({
      inner: "creating denom",
      outer: "perform create denom",
      read: (fields, sender) => ({ sender, subdenom: fields.member("subdenom").asText() }),
      run: handlers.createDenom,
    }),
    mint_tokens: binding({
      inner: "minting coins from message",
      outer: "perform mint",
      read: (fields, sender) => ({
        sender,
        mintToAddress: account(fields.member("mint_to_address"), keepers),
        amount: coinOf(fields),
      }),
      run: handlers.mint,
    }),
    set_before_send_hook: binding({
      inner: "set before send from message",
      outer: "failed to perform set before send hook",
      read: (fields, sender) => ({
        sender,
        denom: fields.member("denom").asText(),
        contractAddr: fields.member("contract_addr").asText(),
      }),
      run: handlers.setBeforeSendHook,
    }),
    change_admin: binding({
      inner: "failed changing admin from message",
      outer: "failed to change admin",
      read: (fields, sender) => ({
        sender,
        denom: fields.member("denom").asText(),
        newAdmin: account(fields.member("new_admin_address"), keepers),
      }),
      run: handlers.changeAdmin,
    }),
    burn_tokens: binding({
      inner: "burning coins from message",
      outer: "perform burn",
      read: (fields, sender) => ({
        sender,
        amount: coinOf(fields),
        burnFromAddress: fields.member("burn_from_address").asText(),
      }),
      run: handlers.burn,
    }),
    force_transfer: binding({
      inner: "forcing transfer",
      outer: "perform force transfer",
      read: (fields, sender) => ({
        sender,
        amount: smallCoinOf(fields),
        transferFromAddress: fields.member("transfer_from_address").asText(),
        transferToAddress: fields.member("transfer_to_address").asText(),
      }),
      run: handlers.forceTransfer,
    }),
    set_denom_metadata: binding({
      inner: "setting denom metadata",
      outer: "perform set denom metadata",
      read: (fields, sender) => ({ sender, metadata: metadataOf(fields) }),
      run: handlers.setDenomMetadata,
    }),
  });
}

function account(field: JsonField, { bech32Prefix }: keeper.Keepers): string {
  const bytes = wrapErrors("address from bech32", () => keeper.parseAccount(field.asText(), bech32Prefix));
  return formatAddress(bech32Prefix, bytes);
}

/** Reads a coin, or returns undefined for a coin without an amount, which is invalid like a nil amount in Go. */
function coinOf(fields: JsonField): { denom: string; amount: string } | undefined {
  const amount = fields.member("amount");
  if (!amount.isPresent()) return undefined;
  return { denom: fields.member("denom").asText(), amount: asInteger(amount).toString() };
}

/** Reads a coin whose amount must fit in a signed 64-bit integer, because the deployed chain's binding requires this. */
function smallCoinOf(fields: JsonField): { denom: string; amount: string } | undefined {
  const coin = coinOf(fields);
  if (coin !== undefined && BigInt.asIntN(64, BigInt(coin.amount)) !== BigInt(coin.amount))
    throw goPanic("Int64() out of bound");
  return coin;
}

function metadataOf(fields: JsonField): Metadata {
  const text = (name: string): string => fields.member(name).asText();
  return {
    description: text("description"),
    denomUnits: fields
      .member("denom_units")
      .elements()
      .map((unit) => ({
        denom: unit.member("denom").asText(),
        exponent: unit.member("exponent").asUint32(),
        aliases: unit
          .member("aliases")
          .elements()
          .map((alias) => alias.asText()),
      })),
    base: text("base"),
    display: text("display"),
    name: text("name"),
    symbol: text("symbol"),
    uri: text("uri"),
    uriHash: text("uri_hash"),
  };
}

function createQueryBindings({ bech32Prefix }: keeper.Keepers): CustomQueryHandler {
  return customQueries({
    full_denom: (_context, fields) => ({ denom: nameFor(fields, bech32Prefix) }),
    // `denom_admin` expects the whole denomination in `subdenom`.
    denom_admin: (context, fields) => ({
      admin: keeper.adminOf(context, fields.member("subdenom").asText()),
    }),
    before_send_hook: (context, fields) => ({
      contract_addr: keeper.beforeSendHook(context, fields.member("denom").asText()),
    }),
  });
}

function nameFor(fields: JsonField, bech32Prefix: string): string {
  const creator = fields.member("creator_addr").asText();
  const subdenom = fields.member("subdenom").asText();
  return wrapErrors("unable to get full denom", () => {
    wrapErrors("address from bech32", () => keeper.parseAccount(creator, bech32Prefix));
    return wrapErrors("validate sub-denom", () => tokenDenom(creator, subdenom));
  });
}
