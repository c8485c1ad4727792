import { isRecord } from "../../base/json.ts";
import { bad, good, type Result } from "../../base/result.ts";
import type { WireEvent } from "../../client/events/subscription.ts";

/** One condition of a TX query's filter. */
export interface TxCondition {
  readonly field: string;
  readonly op: "=" | ">" | ">=" | "<" | "<=";
  readonly value: string | bigint;
}

/** CometBFT refuses longer queries. */
const MAX_QUERY_LENGTH = 512;

const OPERATORS: ReadonlyMap<string, TxCondition["op"]> = new Map([
  ["eq", "="],
  ["gt", ">"],
  ["gte", ">="],
  ["lt", "<"],
  ["lte", "<="],
]);

/**
 * Reads the JSON filter of a TX query (spec 000, "Transaction filter"): operators in either case, values text or whole
 * numbers. `null` is the empty filter. The error says which condition is wrong.
 */
export function parseTxFilter(text: string): Result<readonly TxCondition[], string> {
  const items = parseList(text);
  if (items === undefined) return bad("the filter is not a JSON list");
  const conditions: TxCondition[] = [];
  for (const [index, item] of items.entries()) {
    const condition = toCondition(item);
    if (condition === undefined) return bad(`condition ${index} of the filter is not {field, op, value}`);
    conditions.push(condition);
  }
  return good(conditions);
}

function parseList(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value === null ? [] : Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function toCondition(item: unknown): TxCondition | undefined {
  if (!isRecord(item)) return undefined;
  // The module matches names in any case, and of equal names the last wins.
  const fields = new Map(Object.entries(item).map(([name, value]) => [name.toLowerCase(), value]));
  const [field, op, value] = [fields.get("field"), fields.get("op"), fields.get("value")];
  const operator = typeof op === "string" ? OPERATORS.get(op.toLowerCase()) : undefined;
  if (typeof field !== "string" || field === "" || operator === undefined) return undefined;
  if (typeof value === "string") return { field, op: operator, value };
  return typeof value === "number" && Number.isInteger(value)
    ? { field, op: operator, value: BigInt(value) }
    : undefined;
}

/** A range of remote heights, both ends included. */
export interface HeightRange {
  readonly from: bigint;
  readonly to: bigint;
}

/**
 * The search text: the height range, and as many conditions as the node's 512 characters hold. What does not fit, and
 * what the query language cannot say, is left to {@link matches}, which checks every condition again.
 */
export function searchText(conditions: readonly TxCondition[], range: HeightRange): string {
  let text = `tx.height>=${range.from} AND tx.height<=${range.to}`;
  for (const condition of conditions) {
    const part = conditionText(condition);
    if (part !== undefined && text.length + 5 + part.length <= MAX_QUERY_LENGTH) text = `${text} AND ${part}`;
  }
  return text;
}

function conditionText({ field, op, value }: TxCondition): string | undefined {
  // A tag is "type.attribute". A second bound on the height would replace ours in the node's index.
  if (!/^[A-Za-z][\w-]*\.[\w.-]+$/.test(field) || field === "tx.height") return undefined;
  if (typeof value === "bigint") return value < 0n ? undefined : `${field}${op}${value}`;
  // Text has no order in the query language: the node refuses the whole query.
  if (op !== "=") return /^\d+$/.test(value) ? `${field}${op}${value}` : undefined;
  return /^[^'\\\n\r]*$/.test(value) ? `${field}='${value}'` : undefined;
}

/** What a filter is held against. */
export interface FilteredTx {
  readonly height: bigint;
  /** Upper-case hex, as the tag `tx.hash` has it. */
  readonly hash: string;
  readonly events: readonly WireEvent[];
}

/**
 * Whether each condition is met by some attribute of some event. A node's index may ask for more (all conditions in one
 * event); it never asks for less, so nothing that it finds for a whole filter is dropped here.
 */
export function matches(conditions: readonly TxCondition[], tx: FilteredTx): boolean {
  return conditions.every((condition) =>
    valuesOf(condition.field, tx).some((value) => holds(condition, value)),
  );
}

function valuesOf(field: string, { height, hash, events }: FilteredTx): readonly string[] {
  if (field === "tx.height") return [height.toString()];
  if (field === "tx.hash") return [hash];
  return events.flatMap((event) =>
    event.attributes.filter(({ key }) => `${event.type}.${key}` === field).map(({ value }) => value),
  );
}

function holds({ op, value }: TxCondition, found: string): boolean {
  if (typeof value === "string" && op === "=") return found === value;
  const wanted = decimalAtStart(value.toString());
  // Some indexes read the number at the start of "100untrn", others want a number alone: the wider rule holds here.
  const number = decimalAtStart(found);
  return wanted !== undefined && number !== undefined && compare(op, number, wanted);
}

interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/** The decimal number that a text starts with. */
function decimalAtStart(text: string): Decimal | undefined {
  const match = /^([+-]?\d{1,80})(?:\.(\d{1,80}))?/.exec(text);
  if (match === null) return undefined;
  const [, whole = "0", fraction = ""] = match;
  const units = BigInt(`${whole.replace("+", "")}${fraction}`);
  return { units, scale: fraction.length };
}

function compare(op: TxCondition["op"], a: Decimal, b: Decimal): boolean {
  const difference = a.units * 10n ** BigInt(b.scale) - b.units * 10n ** BigInt(a.scale);
  switch (op) {
    case "=":
      return difference === 0n;
    case ">":
      return difference > 0n;
    case ">=":
      return difference >= 0n;
    case "<":
      return difference < 0n;
    case "<=":
      return difference <= 0n;
  }
}
