import {
  formatGoFloat,
  type GoJson,
  GoJsonError,
  parseGoJson,
  printGoValue,
} from "../../../../platform/base/go-json.ts";
import { ErrInvalidTransactionsFilter } from "./errors.ts";

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

/** Returns whether converting a float64 to int64 leaves it unchanged. Go compares `value == float64(int64(value))`. */
function isInt64(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;
}

function operatorError(op: string): string | undefined {
  if (OPERATORS.includes(op.toLowerCase())) return undefined;
  return `op '${op}' is expected to be one of: ${OPERATORS.join(", ")}`;
}

/** One decoded, unchecked condition. Absent members are empty or null, like Go's zero values. */
interface FilterItem {
  readonly field: string;
  readonly op: string;
  readonly value: GoJson;
}

const NULL: GoJson = { kind: "null" };
const EMPTY: FilterItem = { field: "", op: "", value: NULL };
const LIST = "value of type types.TransactionsFilter";

/**
 * Decodes a filter as Go's `encoding/json` fills a slice of structs: member names match in any case, unknown members are ignored,
 * the last occurrence of a repeated member wins, and null leaves a text unchanged. Null decodes to no conditions. Throws {@link
 * GoJsonError} with Go's text for the first error.
 */
function decodeFilter(json: GoJson): readonly FilterItem[] {
  if (json.kind === "null") return [];
  if (json.kind !== "array") throw typeMismatch(json.kind, LIST);
  return json.items.map(decodeItem);
}

function decodeItem(json: GoJson): FilterItem {
  if (json.kind === "null") return EMPTY;
  if (json.kind !== "object") throw typeMismatch(json.kind, `${LIST}Item`);
  return json.members.reduce((item, [name, value]) => withMember(item, name, value), EMPTY);
}

function withMember(item: FilterItem, name: string, value: GoJson): FilterItem {
  switch (name.toLowerCase()) {
    case "field":
      return { ...item, field: decodeText("field", value, item.field) };
    case "op":
      return { ...item, op: decodeText("op", value, item.op) };
    case "value":
      requireFiniteNumbers(value);
      return { ...item, value };
    default:
      return item;
  }
}

function decodeText(member: string, value: GoJson, previous: string): string {
  if (value.kind === "null") return previous;
  if (value.kind === "string") return value.value;
  throw typeMismatch(value.kind, `struct field TransactionsFilterItem.${member} of type string`);
}

/**
 * Rejects numbers outside the float64 range, at any depth and in document order, as Go does for `value any`. Uses a work list,
 * since recursion could overflow the stack: values may nest 10,000 levels deep.
 */
function requireFiniteNumbers(value: GoJson): void {
  const work: GoJson[] = [value];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    if (next.kind === "array") work.push(...next.items.toReversed());
    if (next.kind === "object") work.push(...next.members.map(([, inner]) => inner).toReversed());
    if (next.kind === "number" && !Number.isFinite(Number(next.text)))
      throw typeMismatch(`number ${next.text}`, "struct field TransactionsFilterItem.value of type float64");
  }
}

function typeMismatch(source: string, target: string): GoJsonError {
  return new GoJsonError(`json: cannot unmarshal ${source} into Go ${target}`);
}
