import { isRecord } from "../../platform/base/json.ts";
import { bad, good, type Result } from "../../platform/base/errors.ts";
import type { BlockRange } from "../../cosmos/client/chain-client.ts";
import type { TextEvent } from "../../cosmos/comet/rpc-blocks.ts";

export interface TxCondition {
  /** Event type and attribute, for example "transfer.recipient", or one of "tx.height" and "tx.hash". */
  readonly field: string;
  readonly op: "=" | ">" | ">=" | "<" | "<=";
  readonly value: string | bigint;
}

/** Maximum length of a search query, in characters. CometBFT rejects longer queries. */
const MAX_QUERY_LENGTH = 512;

const OPERATORS: ReadonlyMap<string, TxCondition["op"]> = new Map([
  ["eq", "="],
  ["gt", ">"],
  ["gte", ">="],
  ["lt", "<"],
  ["lte", "<="],
]);

/**
 * Parses a TX query's JSON filter (`docs/spec/chain-extension-modules.md`, "Transaction filter"). Operators may be in upper or
 * lower case, and values are strings or integers. The JSON text `null` is an empty filter. The returned error names the invalid
 * condition.
 */
export function parseTxFilter(text: string): Result<readonly TxCondition[], string> {
  const items = parseList(text);
  if (items === undefined) return bad("the filter must be a JSON array");
  const conditions: TxCondition[] = [];
  for (const [index, item] of items.entries()) {
    const condition = toCondition(item);
    if (condition === undefined) return bad(`filter condition ${index} must be {field, op, value}`);
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
  // Go's encoding/json ignores the case of field names and uses the last of several equal names.
  const fields = new Map(Object.entries(item).map(([name, value]) => [name.toLowerCase(), value]));
  const [field, op, value] = [fields.get("field"), fields.get("op"), fields.get("value")];
  const operator = typeof op === "string" ? OPERATORS.get(op.toLowerCase()) : undefined;
  if (typeof field !== "string" || field === "" || operator === undefined) return undefined;
  if (typeof value === "string") return { field, op: operator, value };
  return typeof value === "number" && Number.isInteger(value)
    ? { field, op: operator, value: BigInt(value) }
    : undefined;
}

/**
 * Returns a CometBFT query with the height range and as many conditions as fit in 512 characters. Omits conditions that CometBFT's
 * query language cannot express. The search may therefore find too many transactions, so filter the results with {@link matches}.
 */
export function searchText(conditions: readonly TxCondition[], range: BlockRange): string {
  let text = `tx.height>=${range.from} AND tx.height<=${range.to}`;
  for (const condition of conditions) {
    const part = conditionText(condition);
    // 5 is the length of " AND ".
    if (part !== undefined && text.length + 5 + part.length <= MAX_QUERY_LENGTH) text = `${text} AND ${part}`;
  }
  return text;
}

/** Returns true if {@link searchText} expresses every condition. */
export function isWholeText(conditions: readonly TxCondition[], range: BlockRange): boolean {
  const parts = conditions.map(conditionText);
  const size = parts.reduce((sum, part) => sum + 5 + (part ?? "").length, searchText([], range).length);
  return size <= MAX_QUERY_LENGTH && parts.every((part) => part !== undefined);
}

function conditionText({ field, op, value }: TxCondition): string | undefined {
  // An event tag is "type.attribute". CometBFT's indexer uses only one height range, so a second bound might replace the range.
  if (!/^[A-Za-z][\w-]*\.[\w.-]+$/.test(field) || field === "tx.height") return undefined;
  if (typeof value === "bigint") return value < 0n ? undefined : `${field}${op}${value}`;
  // CometBFT's query language can order only numbers. A node rejects the entire query if a string follows "<" or ">".
  if (op !== "=") return /^\d+$/.test(value) ? `${field}${op}${value}` : undefined;
  // The query language has no way to escape a quote in a string.
  return /^[^'\\\n\r]*$/.test(value) ? `${field}='${value}'` : undefined;
}

/** A transaction in the format that {@link matches} compares with a filter. */
export interface FilteredTx {
  readonly height: bigint;
  /** SHA-256 in upper-case hex, as in the event tag `tx.hash`. */
  readonly hash: string;
  readonly events: readonly TextEvent[];
}

/**
 * Returns true if each condition matches at least one attribute of at least one event.
 *
 * Some nodes require that a single event matches all conditions. `matches` is less strict and accepts every transaction that a node
 * finds for the complete filter.
 */
export function matches(conditions: readonly TxCondition[], tx: FilteredTx): boolean {
  return conditions.every((condition) =>
    valuesOf(condition.field, tx).some((value) => matchesValue(condition, value)),
  );
}

function valuesOf(field: string, { height, hash, events }: FilteredTx): readonly string[] {
  if (field === "tx.height") return [height.toString()];
  if (field === "tx.hash") return [hash];
  return events.flatMap((event) =>
    event.attributes.filter(({ key }) => `${event.type}.${key}` === field).map(({ value }) => value),
  );
}

function matchesValue({ op, value }: TxCondition, found: string): boolean {
  if (typeof value === "string" && op === "=") return found === value;
  const wanted = decimalAtStart(value.toString());
  // Parse "100untrn" as 100, as some indexers do. Other indexers accept only a bare number.
  const number = decimalAtStart(found);
  return wanted !== undefined && number !== undefined && compare(op, number, wanted);
}

interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/** Parses the decimal number at the start of a string; undefined if there is none. */
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
