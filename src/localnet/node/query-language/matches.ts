import type { ChainEvent } from "../../chain/runtime/events.ts";
import type { Condition, EventQuery, Operand } from "./parse-query.ts";

/** Values by tag ("type.attribute"): a subscription's events, merged without regard to event boundaries. */
export type TagValues = ReadonlyMap<string, readonly string[]>;

/**
 * Returns true if a subscription's query matches: every condition must hold for some value of its tag. As in CometBFT's
 * `Query.Matches`, different conditions may be satisfied by different events.
 */
export function matchesTags(query: EventQuery, tags: TagValues): boolean {
  return query.conditions.every((condition) => holdsForSome(condition, tags.get(condition.tag) ?? []));
}

/** Flattens events into values by tag, in order, and appends `base`. As in CometBFT, attributes need no index flag. */
export function tagsOf(events: readonly ChainEvent[], base: Iterable<readonly [string, string]>): TagValues {
  const tags = new Map<string, string[]>();
  const add = (tag: string, value: string): void => {
    const values = tags.get(tag);
    if (values === undefined) tags.set(tag, [value]);
    else values.push(value);
  };
  for (const event of events) {
    if (event.type === "") continue;
    for (const attribute of event.attributes) {
      if (attribute.key !== "") add(`${event.type}.${attribute.key}`, attribute.value);
    }
  }
  for (const [tag, value] of base) add(tag, value);
  return tags;
}

/**
 * Returns true if a transaction or block matches a search. `fixed` contains the item's own tags (tx.height, tx.hash,
 * block.height). All other conditions must hold within one event, because CometBFT's kv indexer joins them by the event's
 * sequence number. Attributes without an index flag are ignored.
 */
export function matchesSearch(
  query: EventQuery,
  fixed: ReadonlyMap<string, string>,
  events: readonly ChainEvent[],
): boolean {
  const ofEvent: Condition[] = [];
  for (const condition of query.conditions) {
    const value = fixed.get(condition.tag);
    if (value === undefined) ofEvent.push(condition);
    else if (!holds(condition, value)) return false;
  }
  if (ofEvent.length === 0) return true;
  return events.some((event) =>
    ofEvent.every((condition) => holdsForSome(condition, valuesOf(event, condition.tag))),
  );
}

function valuesOf(event: ChainEvent, tag: string): readonly string[] {
  return event.attributes
    .filter((attribute) => attribute.index && `${event.type}.${attribute.key}` === tag)
    .map((attribute) => attribute.value);
}

function holdsForSome(condition: Condition, values: readonly string[]): boolean {
  return values.some((value) => holds(condition, value));
}

/** Returns true if a value satisfies a condition. A value of a different kind than the operand never does. */
export function holds(condition: Condition, value: string): boolean {
  const { operand, operator } = condition;
  if (operand === undefined) return true;
  if (operator === "CONTAINS") return operand.kind === "string" && value.includes(operand.text);
  const order = compare(value, operand);
  if (order === undefined) return false;
  switch (operator) {
    case "=":
      return order === 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
    case "EXISTS":
      return true;
  }
}

/** Compares a value with an operand, as `sort` does. Returns undefined if the value is of a different kind. */
function compare(value: string, operand: Operand): number | undefined {
  if (operand.kind === "string") return value === operand.text ? 0 : value < operand.text ? -1 : 1;
  if (operand.kind === "time") {
    const ms = Date.parse(value);
    return Number.isNaN(ms) ? undefined : ms - operand.ms;
  }
  // CometBFT reads the leading number of a value, so an amount with its denom ("100untrn") compares as 100.
  const number = /^\d+(\.\d+)?/.exec(value)?.[0];
  return number === undefined ? undefined : compareDecimals(number, operand.text);
}

/** Compares two unsigned decimal numbers of any length, as `sort` does. */
function compareDecimals(a: string, b: string): number {
  const [wholeA = "", fractionA = ""] = a.split(".");
  const [wholeB = "", fractionB = ""] = b.split(".");
  const digits = Math.max(fractionA.length, fractionB.length);
  const left = BigInt(wholeA + fractionA.padEnd(digits, "0"));
  const right = BigInt(wholeB + fractionB.padEnd(digits, "0"));
  return left === right ? 0 : left < right ? -1 : 1;
}
