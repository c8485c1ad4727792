import {
  type GoJson,
  GoJsonError,
  parseGoJson,
  formatGoFloat,
  printGoValue,
} from "../../../../../platform/base/go-json.ts";
import { decodeFilter } from "./filter-decoding.ts";
import type { FilterItem } from "./filter-decoding.ts";
import { ErrInvalidTransactionsFilter } from "../errors.ts";

const OPERATORS: readonly string[] = ["eq", "gt", "gte", "lt", "lte"];
const FORBIDDEN: readonly string[] = ["\t", "\n", "\r", "\\", "(", ")", '"', "'", "=", ">", "<"];

/**
 * Checks a `transactions_filter`: a JSON array of `{field, op, value}` with at most `maxFilters` items, or null. The
 * module stores the text unchanged and never evaluates it (chain-extension-modules.md, "Errors", known behaviour 2).
 * Throws ErrInvalidTransactionsFilter.
 */
export function validateTransactionsFilter(text: string, maxFilters: bigint): void {
  const items = readFilter(text);
  if (BigInt(items.length) > maxFilters)
    throw ErrInvalidTransactionsFilter(
      `too many transactions filters, provided=${items.length}, max=${maxFilters}`,
    );
  for (const [index, item] of items.entries()) {
    const error = itemError(item);
    if (error !== undefined)
      throw ErrInvalidTransactionsFilter(`transactions filter condition idx=${index} is invalid: ${error}`);
  }
}

function readFilter(text: string): readonly FilterItem[] {
  try {
    return decodeFilter(parseGoJson(text));
  } catch (error) {
    if (!(error instanceof GoJsonError)) throw error;
    throw ErrInvalidTransactionsFilter(`failed to unmarshal transactions filter: ${error.message}`);
  }
}

function itemError(item: FilterItem): string | undefined {
  if (FORBIDDEN.some((character) => item.field.includes(character)))
    return `special symbols ${FORBIDDEN.join("")} are not allowed`;
  if (item.field === "") return "field couldn't be empty";
  return valueError(item.value) ?? operatorError(item.op);
}

function valueError(value: GoJson): string | undefined {
  if (value.kind === "string") return undefined;
  if (value.kind !== "number")
    // "on of" is Go's own spelling.
    return `value '${printGoValue(value)}' is expected to be on of: string, number`;
  const number = Number(value.text);
  return isInt64(number) ? undefined : `value ${formatGoFloat(number)} can't be a decimal number`;
}

/** Whether a float64 equals its conversion to int64. Go compares `value == float64(int64(value))`. */
function isInt64(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;
}

function operatorError(op: string): string | undefined {
  if (OPERATORS.includes(op.toLowerCase())) return undefined;
  return `op '${op}' is expected to be one of: ${OPERATORS.join(", ")}`;
}
