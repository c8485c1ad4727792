import { Argument, Command, Option } from "commander";
import type { Timestamp } from "../../../../../cosmos/proto/gen/google/protobuf/timestamp.ts";
import * as wire from "../../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import { toChainTypeUrl } from "../../../../../cosmos/proto/registry.ts";
import { EXIT } from "../../../../../platform/base/errors.ts";
import { isRecord, type JsonValue } from "../../../../../platform/base/json.ts";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { CliError } from "../../../../../platform/cli/cli-error.ts";
import { cellText, column, fieldAt, formatTable, listAt } from "../../../../../platform/cli/table.ts";
import { txMessageCommand } from "../../../../cli/module-tx.ts";
import { sendMessage } from "../../../../cli/send-message.ts";
import type { TxOptions } from "../../../../cli/tx-options.ts";
import * as parse from "./arguments.ts";

/** `relaywatch tx dex` (dex.md, "CLI"). */
export function txDexCommand(context: CliContext): Command {
  return new Command()
    .addCommand(depositCommand(context))
    .addCommand(withdrawalCommand(context))
    .addCommand(placeLimitOrderCommand(context))
    .addCommand(trancheCommand(context, WITHDRAW_FILLED))
    .addCommand(trancheCommand(context, CANCEL))
    .addCommand(multiHopSwapCommand(context));
}

interface DepositOptions extends TxOptions {
  readonly swapOnDeposit?: true;
}

function depositCommand(context: CliContext): Command {
  return txMessageCommand("deposit", "deposit liquidity into pools; list arguments have one entry per pool")
    .argument("<receiver>", "address that receives the shares")
    .argument("<token-a>", "denomination")
    .argument("<token-b>", "denomination")
    .addArgument(listArgument("<amounts-a>", "amounts of token-a", parse.parseAmounts))
    .addArgument(listArgument("<amounts-b>", "amounts of token-b", parse.parseAmounts))
    .addArgument(listArgument("<tick-indexes>", "centres from a to b, [-5] for -5", parse.parseTicks))
    .addArgument(listArgument("<fees>", "fees in basis points", parse.parseFees))
    .addArgument(listArgument("<disable-autoswap>", "true or false", parse.parseBooleans))
    .addArgument(listArgument("<fail-tx-on-bel>", "true or false", parse.parseBooleans))
    .option("--swap-on-deposit", "swap against better liquidity of the other side first")
    .action((...words: DepositWords) => runDeposit(words, context));
}

type DepositWords = [
  receiver: string,
  tokenA: string,
  tokenB: string,
  amountsA: string[],
  amountsB: string[],
  ticks: bigint[],
  fees: bigint[],
  autoswaps: boolean[],
  fails: boolean[],
  options: DepositOptions,
];

function runDeposit(words: DepositWords, context: CliContext): Promise<void> {
  const [receiver, tokenA, tokenB, amountsA, amountsB, tickIndexesAToB, fees, autoswaps, fails, options] =
    words;
  if (autoswaps.length !== fails.length) {
    throw new CliError(EXIT.usage, "the lists disable-autoswap and fail-tx-on-bel have different lengths");
  }
  const depositOptions = autoswaps.map((disableAutoswap, index) => ({
    disableAutoswap,
    failTxOnBel: fails[index] ?? false,
    swapOnDeposit: options.swapOnDeposit ?? false,
    swapOnDepositSlopToleranceBps: 0n,
  }));
  const body = { receiver, tokenA, tokenB, amountsA, amountsB, tickIndexesAToB, fees };
  const encode = (creator: string): Uint8Array =>
    wire.MsgDeposit.encode({ creator, ...body, options: depositOptions }).finish();
  return send("Deposit", encode, options, context);
}

function withdrawalCommand(context: CliContext): Command {
  return txMessageCommand(
    "withdrawal",
    "withdraw liquidity from pools; list arguments have one entry per pool",
  )
    .argument("<receiver>", "address that receives the coins")
    .argument("<token-a>", "denomination")
    .argument("<token-b>", "denomination")
    .addArgument(listArgument("<shares-to-remove>", "amounts of shares", parse.parseAmounts))
    .addArgument(listArgument("<tick-indexes>", "centres from a to b, [-5] for -5", parse.parseTicks))
    .addArgument(listArgument("<fees>", "fees in basis points", parse.parseFees))
    .action((...words: WithdrawalWords) => runWithdrawal(words, context));
}

type WithdrawalWords = [
  receiver: string,
  tokenA: string,
  tokenB: string,
  shares: string[],
  ticks: bigint[],
  fees: bigint[],
  options: TxOptions,
];

function runWithdrawal(words: WithdrawalWords, context: CliContext): Promise<void> {
  const [receiver, tokenA, tokenB, sharesToRemove, tickIndexesAToB, fees, options] = words;
  const body = { receiver, tokenA, tokenB, sharesToRemove, tickIndexesAToB, fees };
  const encode = (creator: string): Uint8Array => wire.MsgWithdrawal.encode({ creator, ...body }).finish();
  return send("Withdrawal", encode, options, context);
}

interface OrderOptions extends TxOptions {
  readonly maxAmountOut?: string;
  readonly maxAmoutOut?: string;
  readonly price?: string;
  readonly minAverageSellPrice?: string;
}

function placeLimitOrderCommand(context: CliContext): Command {
  return txMessageCommand("place-limit-order", "place a limit order")
    .argument("<receiver>", "address that receives the proceeds and owns the order")
    .argument("<token-in>", "denomination to sell")
    .argument("<token-out>", "denomination to buy")
    .addArgument(
      new Argument("<tick-index>", "tick from in to out, [-5] for -5; 0 with --price").argParser(
        parse.parseTick,
      ),
    )
    .addArgument(new Argument("<amount-in>", "amount to sell").argParser(parse.parseAmount))
    .addArgument(
      new Argument("[order-type]", `one of ${Object.keys(wire.LimitOrderType).join(", ")}`)
        .default(wire.LimitOrderType.GOOD_TIL_CANCELLED, "GOOD_TIL_CANCELLED")
        .argParser(parse.parseOrderType),
    )
    .addArgument(
      new Argument("[expiration-time]", 'UTC, "MM/DD/YYYY HH:MM:SS"; only for GOOD_TIL_TIME').argParser(
        parse.parseExpiration,
      ),
    )
    .addOption(amountOption("--max-amount-out <amount>", "maximum amount to buy; only for taker orders"))
    .addOption(amountOption("--max-amout-out <amount>", "same as --max-amount-out").hideHelp())
    .addOption(priceOption("--price <decimal>", "minimum price, token-out for one token-in"))
    .addOption(priceOption("--min-average-sell-price <decimal>", "minimum average price of the whole trade"))
    .action((...words: OrderWords) => runPlaceLimitOrder(words, context));
}

type OrderWords = [
  receiver: string,
  tokenIn: string,
  tokenOut: string,
  tick: bigint,
  amountIn: string,
  orderType: wire.LimitOrderType,
  expirationTime: Timestamp | undefined,
  options: OrderOptions,
];

function runPlaceLimitOrder(words: OrderWords, context: CliContext): Promise<void> {
  const [receiver, tokenIn, tokenOut, tickIndexInToOut, amountIn, orderType, expirationTime, options] = words;
  const { maxAmountOut, maxAmoutOut, price, minAverageSellPrice } = options;
  if (maxAmountOut !== undefined && maxAmoutOut !== undefined) {
    throw new CliError(EXIT.usage, "give only one of --max-amount-out and --max-amout-out");
  }
  const body = { receiver, tokenIn, tokenOut, tickIndexInToOut, amountIn, orderType, expirationTime };
  const limits = {
    maxAmountOut: maxAmountOut ?? maxAmoutOut ?? "",
    limitSellPrice: price ?? "",
    minAverageSellPrice: minAverageSellPrice ?? "",
  };
  const encode = (creator: string): Uint8Array =>
    wire.MsgPlaceLimitOrder.encode({ creator, ...body, ...limits }).finish();
  return send("PlaceLimitOrder", encode, options, context);
}

interface TrancheMessage {
  readonly command: string;
  readonly description: string;
  readonly message: DexMessageName;
  readonly type: {
    encode(message: { creator: string; trancheKey: string }): { finish(): Uint8Array };
  };
}

const WITHDRAW_FILLED: TrancheMessage = {
  command: "withdraw-filled-limit-order",
  description: "withdraw the proceeds of a limit order",
  message: "WithdrawFilledLimitOrder",
  type: wire.MsgWithdrawFilledLimitOrder,
};

const CANCEL: TrancheMessage = {
  command: "cancel-limit-order",
  description: "cancel a limit order; returns what is not sold and the proceeds",
  message: "CancelLimitOrder",
  type: wire.MsgCancelLimitOrder,
};

function trancheCommand(
  context: CliContext,
  { command, description, message, type }: TrancheMessage,
): Command {
  return txMessageCommand(command, description)
    .argument("<tranche-key>", "key of the order's tranche")
    .action((trancheKey: string, options: TxOptions) =>
      send(message, (creator) => type.encode({ creator, trancheKey }).finish(), options, context),
    );
}

function multiHopSwapCommand(context: CliContext): Command {
  return txMessageCommand("multi-hop-swap", "swap across several pairs")
    .argument("<receiver>", "address that receives the coins")
    .addArgument(new Argument("<routes>", '"A,B,C;A,D,C"').argParser(parse.parseRoutes))
    .addArgument(new Argument("<amount-in>", "amount to sell").argParser(parse.parseAmount))
    .addArgument(
      new Argument("<exit-limit-price>", "minimum of amount out / amount in").argParser(parse.parsePrice),
    )
    .addArgument(
      new Argument("<pick-best-route>", "true: the best route; false: the first that succeeds").argParser(
        parse.parseBoolean,
      ),
    )
    .action((...words: SwapWords) => runSwap(words, context));
}

type SwapWords = [
  receiver: string,
  routes: wire.MultiHopRoute[],
  amountIn: string,
  exitLimitPrice: string,
  pickBestRoute: boolean,
  options: TxOptions,
];

function runSwap(words: SwapWords, context: CliContext): Promise<void> {
  const [receiver, routes, amountIn, exitLimitPrice, pickBestRoute, options] = words;
  const body = { receiver, routes, amountIn, exitLimitPrice, pickBestRoute };
  const encode = (creator: string): Uint8Array => wire.MsgMultiHopSwap.encode({ creator, ...body }).finish();
  return send("MultiHopSwap", encode, options, context);
}

function listArgument(
  name: string,
  description: string,
  parser: (text: string) => readonly unknown[],
): Argument {
  return new Argument(name, `${description}, comma-separated`).argParser(parser);
}

function amountOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser(parse.parseAmount);
}

function priceOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser(parse.parsePrice);
}

/** Sends the message `Msg<name>` and prints its response. With `--dry-run`, the query `Simulate<name>` tells what the message would return. */
function send(
  name: DexMessageName,
  encode: (creator: string) => Uint8Array,
  options: TxOptions,
  context: CliContext,
): Promise<void> {
  const message = {
    typeUrl: toChainTypeUrl(`/neutron.dex.Msg${name}`, options.chainName),
    encode,
    response: {
      type: `neutron.dex.Msg${name}Response`,
      format: (response: JsonValue) => formatDexResponse(name, response),
    },
    simulation: {
      path: `/neutron.dex.Query/Simulate${name}`,
      responseType: `neutron.dex.QuerySimulate${name}Response`,
    },
  };
  return sendMessage(message, options, context);
}

/** A line of a response: its words, and the path of its field. */
type Line = readonly [words: string, path: string];

const PROCEEDS: readonly Line[] = [
  ["proceeds", "taker_coin_out"],
  ["not sold", "maker_coin_out"],
];

/** Lines of the responses with one value for each field. */
const LINES = {
  Withdrawal: [
    ["token0 withdrawn", "reserve0_withdrawn"],
    ["token1 withdrawn", "reserve1_withdrawn"],
    ["shares burned", "shares_burned"],
  ],
  PlaceLimitOrder: [
    ["tranche key", "trancheKey"],
    ["paid in all", "coin_in"],
    ["paid to the book", "taker_coin_in"],
    ["bought from the book", "taker_coin_out"],
  ],
  WithdrawFilledLimitOrder: PROCEEDS,
  CancelLimitOrder: PROCEEDS,
  MultiHopSwap: [
    ["amount out", "coin_out"],
    ["route", "route.hops"],
    ["dust", "dust"],
  ],
} as const satisfies Readonly<Record<string, readonly Line[]>>;

/** Messages of the dex without `Msg`. */
type DexMessageName = "Deposit" | keyof typeof LINES;

/** Formats the response of a message for people. */
export function formatDexResponse(name: DexMessageName, response: JsonValue): string {
  return name === "Deposit" ? depositTable(response) : valueTable(LINES[name], response);
}

const VALUE_COLUMNS = [column("RESULT", "words"), column("VALUE", "value")];

function valueTable(lines: readonly Line[], response: JsonValue): string {
  return formatTable(
    VALUE_COLUMNS,
    lines.map(([words, path]) => ({ words, value: valueText(fieldAt(response, path)) })),
  );
}

const POSITION_COLUMNS = [
  column("POSITION", "position"),
  column("TOKEN0 IN", "in0"),
  column("TOKEN1 IN", "in1"),
  column("ERROR", "error"),
];

/** One row for each position, and the shares of all. */
function depositTable(response: JsonValue): string {
  const [in0, in1, failed] = ["reserve0_deposited", "reserve1_deposited", "failed_deposits"].map((name) =>
    listAt(response, name),
  );
  const errors = new Map(
    failed?.map((each) => [cellText(fieldAt(each, "deposit_idx")), fieldAt(each, "error")]),
  );
  const rows = in0?.map((amount, index) => ({
    position: String(index),
    in0: amount,
    in1: in1?.[index] ?? null,
    error: errors.get(String(index)) ?? null,
  }));
  const shares = valueText(fieldAt(response, "shares_issued"));
  return `${formatTable(POSITION_COLUMNS, rows ?? [])}\nshares issued: ${shares}`;
}

/** Coins as "5untrn"; without a denomination there is no coin. */
function valueText(value: JsonValue): string {
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.map(valueText).join(", ");
  if (!isRecord(value)) return cellText(value);
  const { denom, amount } = value;
  return typeof denom === "string" && denom !== "" ? `${cellText(amount ?? null)}${denom}` : "-";
}
