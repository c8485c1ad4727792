import { isRecord, type JsonValue } from "../../../../../platform/base/json.ts";
import { cellText, column, fieldAt, formatTable } from "../../../../../platform/cli/table.ts";

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
export type DexMessageName = "Deposit" | keyof typeof LINES;

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

function listAt(response: JsonValue, name: string): readonly JsonValue[] {
  const list = fieldAt(response, name);
  return Array.isArray(list) ? list : [];
}

/** Coins as "5untrn"; without a denomination there is no coin. */
function valueText(value: JsonValue): string {
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.map(valueText).join(", ");
  if (!isRecord(value)) return cellText(value);
  const { denom, amount } = value;
  return typeof denom === "string" && denom !== "" ? `${cellText(amount ?? null)}${denom}` : "-";
}
