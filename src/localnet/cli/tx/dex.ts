import { Argument, Option } from "commander";
import { timestampToText } from "../../../cosmos/proto/field-formats.ts";
import { LimitOrderType } from "../../../cosmos/proto/gen/neutron/dex/tx.ts";
import { CliError, EXIT } from "../../../platform/base/errors.ts";
import { isRecord, type JsonValue } from "../../../platform/base/json.ts";
import { cellText, column, fieldAt, formatTable, listAt } from "../../../platform/cli/table.ts";
import type { Fields } from "../command-inputs.ts";
import { message, messageCommands } from "../module-tx.ts";
import * as parse from "../dex-arguments.ts";

/** `relaywatch tx dex`: sends the dex's messages, with the arguments and options specified in dex.md, "CLI". */
export const txDexCommand = messageCommands({
  service: "neutron.dex.Msg",
  fields: {
    receiver: "<receiver> address that receives the coins",
    token_a: "<token-a> one denomination of the pools' pair",
    token_b: "<token-b> the pair's other denomination",
    amounts_a: ["<amounts-a> token-a amounts, comma-separated", parse.parseAmounts],
    amounts_b: ["<amounts-b> token-b amounts, comma-separated", parse.parseAmounts],
    shares_to_remove: ["<shares-to-remove> share amounts, comma-separated", parse.parseAmounts],
    tick_indexes_a_to_b: [
      "<tick-indexes> comma-separated centre ticks from a to b; write [-5] for -5",
      parse.parseTicks,
    ],
    fees: ["<fees> comma-separated fees in basis points", parse.parseFees],
    disable_autoswap: [
      "<disable-autoswap> comma-separated true or false: whether to deposit without autoswap",
      parse.parseBooleans,
    ],
    fail_tx_on_bel: [
      "<fail-tx-on-bel> comma-separated true or false: whether a deposit behind enemy lines fails the transaction",
      parse.parseBooleans,
    ],
    token_in: "<token-in> denomination to sell",
    token_out: "<token-out> denomination to buy",
    tick_index_in_to_out: [
      "<tick-index> tick from token-in to token-out; write [-5] for -5, or 0 if --price is set",
      parse.parseTick,
    ],
    amount_in: ["<amount-in> amount to sell", parse.parseAmount],
    order_type: orderTypeArgument,
    expiration_time: [
      '[expiration-time] expiration in UTC, "MM/DD/YYYY HH:MM:SS"; only for GOOD_TIL_TIME orders',
      (text) => timestampToText(parse.parseExpiration(text)),
    ],
    tranche_key: "<tranche-key> the order's tranche key",
    routes: ['<routes> routes as lists of denominations, e.g. "A,B,C;A,D,C"', parse.parseRoutes],
    exit_limit_price: ["<exit-limit-price> minimum price (amount out / amount in)", price],
    pick_best_route: [
      "<pick-best-route> true: use the best route; false: use the first route that succeeds",
      parse.parseBoolean,
    ],
  },
  messages: {
    deposit: dexMessage("Deposit", "deposit liquidity into pools; list arguments have one entry per pool", {
      fields: { receiver: "<receiver> address that receives the shares" },
      takes: [
        "receiver",
        "token_a",
        "token_b",
        "amounts_a",
        "amounts_b",
        "tick_indexes_a_to_b",
        "fees",
        "disable_autoswap",
        "fail_tx_on_bel",
      ],
      options: {
        swap_on_deposit: ["--swap-on-deposit", "swap against better liquidity on the other side first"],
      },
      complete: withDepositOptions,
    }),
    withdrawal: dexMessage(
      "Withdrawal",
      "withdraw liquidity from pools; list arguments have one entry per pool",
    ),
    "place-limit-order": dexMessage("PlaceLimitOrder", "place a limit order", {
      fields: { receiver: "<receiver> address that receives the proceeds and owns the order" },
      options: {
        max_amount_out: [
          "--max-amount-out <amount>",
          "maximum amount to buy; only taker orders accept it",
          parse.parseAmount,
        ],
        max_amout_out: () =>
          new Option("--max-amout-out <amount>", "same as --max-amount-out")
            .argParser(parse.parseAmount)
            .hideHelp(),
        limit_sell_price: ["--price <decimal>", "minimum price in units of token-out per token-in", price],
        min_average_sell_price: [
          "--min-average-sell-price <decimal>",
          "minimum average price for the entire trade",
          price,
        ],
      },
      complete: withOneMaximum,
    }),
    "withdraw-filled-limit-order": dexMessage(
      "WithdrawFilledLimitOrder",
      "withdraw the proceeds of a limit order",
    ),
    "cancel-limit-order": dexMessage(
      "CancelLimitOrder",
      "cancel a limit order and get back its unsold coins and proceeds",
    ),
    "multi-hop-swap": dexMessage("MultiHopSwap", "swap across several pairs", {
      takes: ["receiver", "routes", "amount_in", "exit_limit_price", "pick_best_route"],
    }),
  },
});

/** Describes `Msg<name>`. The command prints the message's response or, with `--dry-run`, the query `Simulate<name>`'s response. */
function dexMessage(name: DexMessageName, description: string, more: Parameters<typeof message>[2] = {}) {
  return message(name, description, {
    ...more,
    sending: {
      response: {
        type: `neutron.dex.Msg${name}Response`,
        format: (response) => formatDexResponse(name, response),
      },
      simulation: {
        path: `/neutron.dex.Query/Simulate${name}`,
        responseType: `neutron.dex.QuerySimulate${name}Response`,
      },
    },
  });
}

function orderTypeArgument(): Argument {
  return new Argument("[order-type]", `one of ${Object.keys(LimitOrderType).join(", ")}`)
    .default(LimitOrderType.GOOD_TIL_CANCELLED, "GOOD_TIL_CANCELLED")
    .argParser(parse.parseOrderType);
}

function price(text: string): string {
  parse.parsePrice(text);
  return text;
}

/** Converts the lists `disable_autoswap` and `fail_tx_on_bel`, with one flag per deposit, to the message's list of deposit options. */
function withDepositOptions({ disable_autoswap, fail_tx_on_bel, swap_on_deposit, ...given }: Fields): Fields {
  const [autoswaps, fails] = [disable_autoswap, fail_tx_on_bel].map((flags) =>
    Array.isArray(flags) ? flags : [],
  );
  if (autoswaps?.length !== fails?.length)
    throw new CliError(EXIT.usage, "disable-autoswap and fail-tx-on-bel must have the same length");
  const options = autoswaps?.map((disabled, index) => ({
    disable_autoswap: disabled,
    fail_tx_on_bel: fails?.[index] ?? false,
    swap_on_deposit: swap_on_deposit ?? false,
  }));
  return { ...given, options };
}

function withOneMaximum({ max_amout_out: misspelt, ...given }: Fields): Fields {
  if (misspelt === undefined) return given;
  if (given["max_amount_out"] === undefined) return { ...given, max_amount_out: misspelt };
  throw new CliError(EXIT.usage, "specify only one of --max-amount-out and --max-amout-out");
}

type Line = readonly [words: string, path: string];

const PROCEEDS: readonly Line[] = [
  ["proceeds", "taker_coin_out"],
  ["not sold", "maker_coin_out"],
];

/** Lines to print for each message's response, as pairs of a label and a field path. Deposits print a table instead. */
const LINES = {
  Withdrawal: [
    ["token0 withdrawn", "reserve0_withdrawn"],
    ["token1 withdrawn", "reserve1_withdrawn"],
    ["shares burned", "shares_burned"],
  ],
  PlaceLimitOrder: [
    ["tranche key", "trancheKey"],
    ["paid in total", "coin_in"],
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

/** Names of the dex's messages without the prefix `Msg`, such as "Deposit". */
type DexMessageName = "Deposit" | keyof typeof LINES;

/** Formats a message's response as human-readable text. */
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

/** Formats a table with one row per deposit, followed by the total shares issued. */
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

/** Formats a coin, for example as "5untrn", or a list of coins. A coin without a denomination becomes "-". */
function valueText(value: JsonValue): string {
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.map(valueText).join(", ");
  if (!isRecord(value)) return cellText(value);
  const { denom, amount } = value;
  return typeof denom === "string" && denom !== "" ? `${cellText(amount ?? null)}${denom}` : "-";
}
