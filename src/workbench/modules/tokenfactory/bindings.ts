import type { Metadata } from "../../../cosmos/proto/gen/cosmos/bank/v1beta1/bank.ts";
import type { JsonField } from "../../../platform/base/json.ts";
import { formatAddress } from "../../../localnet/chain/runtime/address.ts";
import type { Context } from "../../../localnet/chain/runtime/context.ts";
import { goPanic, wrapErrors } from "../../../localnet/chain/runtime/errors.ts";
import {
  asInteger,
  customMessages,
  customQueries,
} from "../../../localnet/chain/modules/wasm/custom-json.ts";
import type {
  CustomMessageHandler,
  CustomMessageResult,
  CustomQueryHandler,
} from "../../../localnet/chain/modules/wasm/types.ts";
import { tokenDenom } from "./denom.ts";
import * as handlers from "./handlers.ts";
import { adminOf, beforeSendHook, type Keepers, parseAccount } from "./keeper.ts";

/** `read` decodes the message, and `run` handles it. Error prefixes: `inner` for errors from `run`, `outer` for all errors. */
interface Binding<T> {
  readonly inner: string;
  readonly outer: string;
  readonly read: (fields: JsonField, sender: string) => T;
  readonly run: (context: Context, message: T, keepers: Keepers) => unknown;
}

/** Creates the handler of contracts' messages. As in Go, there is no response. */
export function createMessageBindings(keepers: Keepers): CustomMessageHandler {
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

function account(field: JsonField, { bech32Prefix }: Keepers): string {
  const bytes = wrapErrors("address from bech32", () => parseAccount(field.asText(), bech32Prefix));
  return formatAddress(bech32Prefix, bytes);
}

/** As for a nil amount in Go, an absent amount is invalid. */
function coinOf(fields: JsonField): { denom: string; amount: string } | undefined {
  const amount = fields.member("amount");
  if (!amount.isPresent()) return undefined;
  return { denom: fields.member("denom").asText(), amount: asInteger(amount).toString() };
}

/** The deployed binding converts the amount to a 64-bit integer. */
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

/** Creates the handler of contracts' queries. */
export function createQueryBindings({ bech32Prefix }: Keepers): CustomQueryHandler {
  return customQueries({
    full_denom: (_context, fields) => ({ denom: nameFor(fields, bech32Prefix) }),
    // The member `subdenom` contains the whole denomination.
    denom_admin: (context, fields) => ({ admin: adminOf(context, fields.member("subdenom").asText()) }),
    before_send_hook: (context, fields) => ({
      contract_addr: beforeSendHook(context, fields.member("denom").asText()),
    }),
  });
}

function nameFor(fields: JsonField, bech32Prefix: string): string {
  const creator = fields.member("creator_addr").asText();
  const subdenom = fields.member("subdenom").asText();
  return wrapErrors("unable to get full denom", () => {
    wrapErrors("address from bech32", () => parseAccount(creator, bech32Prefix));
    return wrapErrors("validate sub-denom", () => tokenDenom(creator, subdenom));
  });
}
