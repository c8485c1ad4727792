import type { GoJson } from "../../../../../platform/base/go-json.ts";
import { GoJsonError } from "../../../../../platform/base/go-json.ts";

/** One decoded and unchecked condition. Absent members are empty or null, as Go's zero values. */
export interface FilterItem {
  readonly field: string;
  readonly op: string;
  readonly value: GoJson;
}

const NULL: GoJson = { kind: "null" };
const EMPTY: FilterItem = { field: "", op: "", value: NULL };
const LIST = "value of type types.TransactionsFilter";

/**
 * Decodes a filter as Go's `encoding/json` fills a slice of structs: member names match in any case, unknown members are
 * ignored, the last of a repeated member wins, and null leaves a text unchanged. Null decodes to no conditions. Throws
 * {@link GoJsonError} with Go's text of the first error.
 */
export function decodeFilter(json: GoJson): readonly FilterItem[] {
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
 * Rejects numbers outside the range of float64, at any depth and in document order, as Go does for `value any`. Uses a
 * work list: values may nest 10,000 levels deep, which could overflow the stack.
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
