import type { Metadata } from "../../../cosmos/proto/gen/cosmos/bank/v1beta1/bank.ts";
import { isRecord, type JsonField } from "../../../platform/base/json.ts";
import { formatAddress } from "../../../localnet/chain/runtime/address.ts";
import type { Context } from "../../../localnet/chain/runtime/context.ts";
import { goPanic, wrapErrors } from "../../../localnet/chain/runtime/errors.ts";
import type { MessageJson } from "../../../localnet/chain/modules/wasm/contract.ts";
import { asInteger, customFields } from "../../../localnet/chain/modules/wasm/custom-json.ts";
import type { CustomMessageResult } from "../../../localnet/chain/modules/wasm/types.ts";
import { tokenDenom } from "./denom.ts";
import * as handlers from "./handlers.ts";
import { adminOf, beforeSendHook, type Keepers, parseAccount, type TokenFactoryOptions } from "./keeper.ts";

/** A message and its sender, which is always the calling contract. */
interface CustomMessage {
  readonly sender: string;
  readonly fields: JsonField;
}

type Binding = (context: Context, message: CustomMessage, keepers: Keepers) => void;

/** `read` decodes the message, and `run` handles it. Error prefixes: `inner` for errors from `run`, `outer` for all errors. */
interface BindingOf<T> {
  readonly inner: string;
  readonly outer: string;
  readonly read: (message: CustomMessage, keepers: Keepers) => T;
  readonly run: (context: Context, message: T, keepers: Keepers) => unknown;
}

function binding<T>({ inner, outer, read, run }: BindingOf<T>): Binding {
  return (context, message, keepers) =>
    wrapErrors(outer, () => {
      const decoded = read(message, keepers);
      wrapErrors(inner, () => run(context, decoded, keepers));
    });
}

/** Handlers by message name. As in Go, if a message contains several of these members, the first one in this order wins. */
const BINDINGS: Readonly<Record<string, Binding>> = {
  create_denom: binding({
    inner: "creating denom",
    outer: "perform create denom",
    read: ({ sender, fields }) => ({ sender, subdenom: fields.member("subdenom").asText() }),
    run: handlers.createDenom,
  }),
  mint_tokens: binding({
    inner: "minting coins from message",
    outer: "perform mint",
    read: ({ sender, fields }, keepers) => ({
      sender,
      mintToAddress: account(fields.member("mint_to_address"), keepers),
      amount: coinOf(fields),
    }),
    run: handlers.mint,
  }),
  set_before_send_hook: binding({
    inner: "set before send from message",
    outer: "failed to perform set before send hook",
    read: ({ sender, fields }) => ({
      sender,
      denom: fields.member("denom").asText(),
      contractAddr: fields.member("contract_addr").asText(),
    }),
    run: handlers.setBeforeSendHook,
  }),
  change_admin: binding({
    inner: "failed changing admin from message",
    outer: "failed to change admin",
    read: ({ sender, fields }, keepers) => ({
      sender,
      denom: fields.member("denom").asText(),
      newAdmin: account(fields.member("new_admin_address"), keepers),
    }),
    run: handlers.changeAdmin,
  }),
  burn_tokens: binding({
    inner: "burning coins from message",
    outer: "perform burn",
    read: ({ sender, fields }) => ({
      sender,
      amount: coinOf(fields),
      burnFromAddress: fields.member("burn_from_address").asText(),
    }),
    run: handlers.burn,
  }),
  force_transfer: binding({
    inner: "forcing transfer",
    outer: "perform force transfer",
    read: ({ sender, fields }) => ({
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
    read: ({ sender, fields }) => ({ sender, metadata: metadataOf(fields) }),
    run: handlers.setDenomMetadata,
  }),
};

/** Runs a contract's message. Returns undefined for another module's message. As in Go, there is no response. */
export function handleCustomMessage(
  context: Context,
  sender: string,
  message: unknown,
  keepers: Keepers,
): CustomMessageResult | undefined {
  if (!isRecord(message)) return undefined;
  const known = Object.entries(BINDINGS).find(([name]) => isRecord(message[name]));
  if (known === undefined) return undefined;
  const [name, run] = known;
  run(context, { sender, fields: customFields(message[name]) }, keepers);
  return {};
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

/** Answers a contract's `full_denom`, `denom_admin` or `before_send_hook`. Returns undefined for any other query. */
export function handleCustomQuery(
  context: Context,
  request: Readonly<Record<string, unknown>>,
  { bech32Prefix }: TokenFactoryOptions,
): MessageJson | undefined {
  const { full_denom: fullDenom, denom_admin: denomAdmin, before_send_hook: hook } = request;
  if (isRecord(fullDenom)) return { denom: nameFor(customFields(fullDenom), bech32Prefix) };
  // The member `subdenom` contains the whole denomination.
  if (isRecord(denomAdmin))
    return { admin: adminOf(context, customFields(denomAdmin).member("subdenom").asText()) };
  if (isRecord(hook))
    return { contract_addr: beforeSendHook(context, customFields(hook).member("denom").asText()) };
  return undefined;
}

function nameFor(fields: JsonField, bech32Prefix: string): string {
  const creator = fields.member("creator_addr").asText();
  const subdenom = fields.member("subdenom").asText();
  return wrapErrors("unable to get full denom", () => {
    wrapErrors("address from bech32", () => parseAccount(creator, bech32Prefix));
    return wrapErrors("validate sub-denom", () => tokenDenom(creator, subdenom));
  });
}
