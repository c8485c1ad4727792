import { isRecord } from "../base/json.ts";
import { bad, good, type Result } from "../base/result.ts";
import type { WireEvent } from "../client/subscription.ts";

/** One condition of a TX query's filter. */
export interface TxCondition {
  readonly field: string;
  readonly op: "=" | ">" | ">=" | "<" | "<=";
  readonly value: string | bigint;
}

/** CometBFT refuses longer queries. */
const MAX_QUERY_LENGTH = 512;

const OPERATORS: Readonly<Record<string, TxCondition["op"]>> = {
  eq: "=",
  gt: ">",
  gte: ">=",
  lt: "<",
  lte: "<=",
};

/**
 * Reads the JSON filter of a TX query (spec 000, "Transaction filter"): operators in either case, values text or whole
 * numbers. `null` is the empty filter. The fault says which condition is wrong.
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
  const operator = typeof op === "string" ? OPERATORS[op.toLowerCase()] : undefined;
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
 * text that the query language cannot quote, is left to {@link matches}, which checks every condition again.
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
  if (!/^[\w.-]+$/.test(field)) return undefined;
  if (typeof value === "bigint") return value < 0n ? undefined : `${field}${op}${value}`;
  return /^[^'\\\n\r]*$/.test(value) ? `${field}${op}'${value}'` : undefined;
}

/** Whether a transaction meets every condition: each by some attribute of some event, as the node's index has it. */
export function matches(
  conditions: readonly TxCondition[],
  height: bigint,
  events: readonly WireEvent[],
): boolean {
  return conditions.every((condition) =>
    valuesOf(condition.field, height, events).some((value) => holds(condition, value)),
  );
}

function valuesOf(field: string, height: bigint, events: readonly WireEvent[]): readonly string[] {
  if (field === "tx.height") return [height.toString()];
  return events.flatMap((event) =>
    event.attributes.filter(({ key }) => `${event.type}.${key}` === field).map(({ value }) => value),
  );
}

function holds({ op, value }: TxCondition, found: string): boolean {
  if (typeof value === "string" && op === "=") return found === value;
  // Numbers compare with the leading digits of an attribute, as "100untrn" does in the node's index.
  const digits = /^\d+/.exec(found)?.[0];
  const wanted = typeof value === "bigint" ? value : /^\d+$/.test(value) ? BigInt(value) : undefined;
  if (digits === undefined || wanted === undefined) return false;
  return compare(op, BigInt(digits), wanted);
}

function compare(op: TxCondition["op"], a: bigint, b: bigint): boolean {
  switch (op) {
    case "=":
      return a === b;
    case ">":
      return a > b;
    case ">=":
      return a >= b;
    case "<":
      return a < b;
    case "<=":
      return a <= b;
  }
}
