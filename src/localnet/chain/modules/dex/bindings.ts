import { wrapErrors, ErrUnknownRequest, unregisteredError } from "../../runtime/errors.ts";
import type { ChainNames, FindMessage, Context } from "../../runtime/context.ts";
import * as tx from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import { toChainTypeUrl } from "../../../../cosmos/proto/registry.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { parsePrecDec } from "../../../../platform/base/decimal.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { isRecord, type JsonField } from "../../../../platform/base/json.ts";
import type { WireType } from "../../runtime/handlers.ts";
import type { MessageJson } from "../wasm/contract.ts";
import { asInteger, asUintNumber, customFields, toUintNumber } from "../wasm/custom-json.ts";
import { printMessageJson } from "../wasm/message-json.ts";
import type { CustomMessageResult } from "../wasm/types.ts";
import { ErrInvalidOrderType } from "./errors.ts";

/** Converts a contract's JSON message to one of the module's messages, and prints the response as Go does. */
interface Binding<Message, Response> {
  readonly read: (fields: JsonField, creator: string) => Message;
  readonly print: (response: Response) => MessageJson;
}

interface BindingDeps extends Pick<ChainNames, "chainName"> {
  readonly findMessage: FindMessage;
}

type RunBinding = (
  context: Context,
  message: { readonly sender: string; readonly fields: JsonField },
  deps: BindingDeps,
) => CustomMessageResult;

/** Creates a function that converts a contract's message and runs the result with the contract as the message's creator. */
function binding<Message, Response>(
  method: {
    readonly typeUrl: string;
    readonly request: WireType<Message>;
    readonly response: WireType<Response>;
  },
  { read, print }: Binding<Message, Response>,
): RunBinding {
  const name = method.typeUrl.split(".").at(-1);
  return (context, { sender, fields }, { chainName, findMessage }) => {
    const bytes = method.request.encode(read(fields, sender)).finish();
    const typeUrl = toChainTypeUrl(method.typeUrl, chainName);
    const handler = findMessage(typeUrl);
    if (handler === undefined) throw ErrUnknownRequest(typeUrl);
    const result = wrapErrors(`failed to execute *types.${name}`, () => handler.handle(context, bytes));
    const response = method.response.decode(result.response);
    return { data: utf8(printMessageJson(print(response))), response: result };
  };
}

/**
 * Conversions for the two messages that cancel a limit order or withdraw from it. The responses to both messages contain the coins
 * paid out.
 */
const OF_TRANCHE = {
  read: (fields: JsonField, creator: string) => ({ creator, trancheKey: text(fields, "tranche_key") }),
  print: ({ takerCoinOut, makerCoinOut }: tx.MsgCancelLimitOrderResponse) => ({
    taker_coin_out: coin(takerCoinOut),
    maker_coin_out: coin(makerCoinOut),
  }),
};

/**
 * Bindings, keyed by the field name under `dex`. As in Go, if a message sets several fields, only the first field in this order is
 * used.
 */
const BINDINGS: Readonly<Record<string, RunBinding>> = {
  deposit: binding(tx.Msg.methods.Deposit, {
    read: (fields, creator) => ({
      creator,
      receiver: text(fields, "receiver"),
      tokenA: text(fields, "token_a"),
      tokenB: text(fields, "token_b"),
      amountsA: integers(fields, "amounts_a"),
      amountsB: integers(fields, "amounts_b"),
      tickIndexesAToB: ticks(fields),
      fees: fees(fields),
      options: fields.member("options").elements().map(depositOptions),
    }),
    print: (response) => ({
      reserve0_deposited: orNull(response.reserve0Deposited),
      reserve1_deposited: orNull(response.reserve1Deposited),
      ...(response.failedDeposits.length === 0
        ? {}
        : { failed_deposits: response.failedDeposits.map(failedDeposit) }),
      shares_issued: response.sharesIssued.map(coin),
    }),
  }),
  withdrawal: binding(tx.Msg.methods.Withdrawal, {
    read: (fields, creator) => ({
      creator,
      receiver: text(fields, "receiver"),
      tokenA: text(fields, "token_a"),
      tokenB: text(fields, "token_b"),
      sharesToRemove: integers(fields, "shares_to_remove"),
      tickIndexesAToB: ticks(fields),
      fees: fees(fields),
    }),
    print: (response) => ({
      reserve0_withdrawn: response.reserve0Withdrawn,
      reserve1_withdrawn: response.reserve1Withdrawn,
      shares_burned: response.sharesBurned.map(coin),
    }),
  }),
  place_limit_order: binding(tx.Msg.methods.PlaceLimitOrder, {
    read: (fields, creator) => ({
      creator,
      receiver: text(fields, "receiver"),
      tokenIn: text(fields, "token_in"),
      tokenOut: text(fields, "token_out"),
      tickIndexInToOut: signed(fields.member("tick_index_in_to_out")),
      amountIn: integer(fields.member("amount_in")),
      orderType: orderType(text(fields, "order_type")),
      expirationTime: expiration(fields.member("expiration_time")),
      maxAmountOut: fields.member("max_amount_out").isPresent()
        ? integer(fields.member("max_amount_out"))
        : "",
      limitSellPrice: limitPrice(text(fields, "limit_sell_price")),
      minAverageSellPrice: "",
    }),
    print: (response) => ({
      ...(response.trancheKey === "" ? {} : { trancheKey: response.trancheKey }),
      coin_in: coin(response.coinIn),
      taker_coin_out: coin(response.takerCoinOut),
      taker_coin_in: coin(response.takerCoinIn),
    }),
  }),
  cancel_limit_order: binding(tx.Msg.methods.CancelLimitOrder, OF_TRANCHE),
  withdraw_filled_limit_order: binding(tx.Msg.methods.WithdrawFilledLimitOrder, OF_TRANCHE),
  multi_hop_swap: binding(tx.Msg.methods.MultiHopSwap, {
    read: (fields, creator) => ({
      creator,
      receiver: text(fields, "receiver"),
      routes: fields.member("routes").elements().map(readRoute),
      amountIn: integer(fields.member("amount_in")),
      exitLimitPrice: exitPrice(fields.member("exit_limit_price")),
      pickBestRoute: fields.member("pick_best_route").asBoolean(),
    }),
    print: ({ coinOut, route, dust }) => ({
      coin_out: coin(coinOut),
      ...(route === undefined ? {} : { route: route.hops.length === 0 ? {} : { hops: route.hops } }),
      dust: dust.map(coin),
    }),
  }),
};

/** Runs a contract's dex message, such as `{"dex":{"deposit":{…}}}`. Returns undefined for messages to other modules. */
export function handleDexMessage(
  context: Context,
  sender: string,
  message: unknown,
  deps: BindingDeps,
): CustomMessageResult | undefined {
  const dex = isRecord(message) ? message["dex"] : undefined;
  if (!isRecord(dex)) return undefined;
  const known = Object.entries(BINDINGS).find(([name]) => isRecord(dex[name]));
  if (known === undefined) throw ErrUnknownRequest();
  const [name, run] = known;
  return run(context, { sender, fields: customFields(dex).member(name) }, deps);
}

function text(fields: JsonField, name: string): string {
  return fields.member(name).asText();
}

function integer(field: JsonField): string {
  return asInteger(field).toString();
}

function integers(fields: JsonField, name: string): string[] {
  return fields.member(name).elements().map(integer);
}

/** Reads a signed integer from a JSON number. Throws if the value is a string. */
function signed(field: JsonField): bigint {
  if (typeof field.value === "string") throw field.error(field.path, "an integer");
  return field.asInt64();
}

function ticks(fields: JsonField): bigint[] {
  return fields.member("tick_indexes_a_to_b").elements().map(signed);
}

function readRoute(fields: JsonField): tx.MultiHopRoute {
  const hops = fields.member("hops").elements();
  return { hops: hops.map((each) => each.asText()) };
}

function fees(fields: JsonField): bigint[] {
  return fields.member("fees").elements().map(asUintNumber);
}

function depositOptions(fields: JsonField): tx.DepositOptions {
  return {
    disableAutoswap: fields.member("disable_autoswap").asBoolean(),
    failTxOnBel: fields.member("fail_tx_on_bel").asBoolean(),
    swapOnDeposit: fields.member("swap_on_deposit").asBoolean(),
    swapOnDepositSlopToleranceBps: asUintNumber(fields.member("swap_on_deposit_slop_tolerance_bps")),
  };
}

function orderType(name: string): tx.LimitOrderType {
  const known = Object.entries(tx.LimitOrderType).find(([each]) => each === name);
  if (known !== undefined) return known[1];
  // Go lists the order types in random order, so the order in this error text is arbitrary.
  throw ErrInvalidOrderType(
    `got "${name}", expected one of ${Object.keys(tx.LimitOrderType).slice(0, 5).join(", ")}`,
  );
}

function expiration(field: JsonField): tx.MsgPlaceLimitOrder["expirationTime"] {
  return field.isPresent() ? { seconds: BigInt.asIntN(64, asUintNumber(field)), nanos: 0 } : undefined;
}

/** Parses a price such as "1.5" or "15e-1". An empty string means that no price is set. */
function limitPrice(price: string): string {
  if (price === "") return "";
  try {
    const [, sign = "", whole = "", fraction = "", exponent = "0"] =
      /^([+-]?)(\d+)(?:\.(\d+))?[eE]([+-]?\d{1,3})$/.exec(price) ?? [];
    if (whole === "") return parsePrecDec(price).toString();
    return parsePrecDec(`${sign}${shifted(whole, fraction, Number(exponent))}`).toString();
  } catch (error) {
    throw unregisteredError(`cannot parse string ${price} for limit price: ${errorText(error)}`);
  }
}

/** Moves a number's decimal point to the right, or to the left if `places` is negative. */
function shifted(whole: string, fraction: string, places: number): string {
  const digits = `${"0".repeat(Math.max(0, -places))}${whole}${fraction}${"0".repeat(Math.max(0, places))}`;
  const point = Math.max(0, -places) + whole.length + places;
  const tail = digits.slice(point);
  return tail === "" ? digits : `${digits.slice(0, point) || "0"}.${tail}`;
}

function exitPrice(field: JsonField): string {
  try {
    return parsePrecDec(field.asText()).toString();
  } catch {
    throw field.error(field.path, "a decimal as text");
  }
}

function coin(amount: { readonly denom: string; readonly amount: string } | undefined): MessageJson {
  return { denom: amount?.denom ?? "", amount: amount?.amount ?? "0" };
}

/** Prints an empty list as null, like Go prints a nil slice. */
function orNull(amounts: readonly string[]): MessageJson {
  return amounts.length === 0 ? null : amounts;
}

function failedDeposit({ depositIdx, error }: tx.FailedDeposit): MessageJson {
  return {
    ...(depositIdx === 0n ? {} : { deposit_idx: toUintNumber(depositIdx) }),
    ...(error === "" ? {} : { error }),
  };
}
