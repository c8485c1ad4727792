import type { GoJson } from "../../../../base/go-json/parse.ts";
import { GoJsonError } from "../../../../base/go-json/parse.ts";

/** One condition as decoded, not yet checked; what was absent is empty or null. */
export interface FilterItem {
  readonly field: string;
  readonly op: string;
  readonly value: GoJson;
}

const NULL: GoJson = { kind: "null" };
const EMPTY: FilterItem = { field: "", op: "", value: NULL };
const LIST = "value of type types.TransactionsFilter";

/**
 * Decodes as Go's `encoding/json` fills a slice of structs: member names in any case, unknown members ignored, the last
 * of a repeated member wins, null leaves text as it was. Throws {@link GoJsonError} with Go's text of the first error.
 */
export function decodeFilter(json: GoJson): readonly FilterItem[] {
  if (json.kind === "null") return [];
  if (json.kind !== "array") throw mismatch(json.kind, LIST);
  return json.items.map(decodeItem);
}

function decodeItem(json: GoJson): FilterItem {
  if (json.kind === "null") return EMPTY;
  if (json.kind !== "object") throw mismatch(json.kind, `${LIST}Item`);
  return json.members.reduce((item, [name, value]) => withMember(item, name, value), EMPTY);
}

function withMember(item: FilterItem, name: string, value: GoJson): FilterItem {
  switch (name.toLowerCase()) {
    case "field":
      return { ...item, field: text("field", value, item.field) };
    case "op":
      return { ...item, op: text("op", value, item.op) };
    case "value":
      requireFiniteNumbers(value);
      return { ...item, value };
    default:
      return item;
  }
}

function text(member: string, value: GoJson, before: string): string {
  if (value.kind === "null") return before;
  if (value.kind === "string") return value.value;
  throw mismatch(value.kind, `struct field TransactionsFilterItem.${member} of type string`);
}

/** Go refuses a number outside float64 wherever it stands inside `value`. Not recursive. */
function requireFiniteNumbers(value: GoJson): void {
  const work: GoJson[] = [value];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    if (next.kind === "array") work.push(...next.items.toReversed());
    if (next.kind === "object") work.push(...next.members.map(([, inner]) => inner).toReversed());
    if (next.kind === "number" && !Number.isFinite(Number(next.text)))
      throw mismatch(`number ${next.text}`, "struct field TransactionsFilterItem.value of type float64");
  }
}

function mismatch(what: string, target: string): GoJsonError {
  return new GoJsonError(`json: cannot unmarshal ${what} into Go ${target}`);
}
