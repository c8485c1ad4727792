import { CodedError } from "../../../platform/base/errors.ts";
import type { ChainEvent } from "../../chain/runtime/context.ts";

/** Token kinds, named as in CometBFT's error messages. */
type TokenKind =
  | "tag"
  | "string"
  | "number"
  | "timestamp"
  | "datestamp"
  | "AND operator"
  | "CONTAINS operator"
  | "EXISTS operator"
  | "= operator"
  | "< operator"
  | "<= operator"
  | "> operator"
  | ">= operator";

interface Token {
  readonly kind: TokenKind;
  /** The token's text, without quotes and without the keyword `TIME` or `DATE`. */
  readonly text: string;
  /** The token's offset in UTF-8 bytes, as in CometBFT's error messages. */
  readonly offset: number;
}

/** Thrown if a query cannot be parsed, with CometBFT's message, such as "offset 10: got = operator, wanted …". */
export class QueryLanguageError extends CodedError<{ readonly code: "bad-query"; readonly offset: number }> {}

type Scanner = ReturnType<typeof createScanner>;

const SPACE = /\s/u;
const DIGIT = /[0-9]/;
const TAG = /[\p{L}\p{Nd}._-]/u;
const TIME_CHARACTER = /[0-9TZ:.+-]/;
const KEYWORDS: ReadonlyMap<string, TokenKind> = new Map([
  ["AND", "AND operator"],
  ["CONTAINS", "CONTAINS operator"],
  ["EXISTS", "EXISTS operator"],
]);

/** Creates a scanner that splits a query into tokens in linear time. */
function createScanner(query: string) {
  const runes = Array.from(query);
  let at = 0;
  let bytes = 0;
  let start = 0;
  const fail = (reason: string): never => {
    throw new QueryLanguageError({ code: "bad-query", offset: start }, `offset ${start}: ${reason}`);
  };
  const advance = (): string => {
    const rune = runes[at] ?? "";
    at += 1;
    bytes += Buffer.byteLength(rune);
    return rune;
  };
  const takeWhile = (accepts: RegExp): string => {
    let text = "";
    while (at < runes.length && accepts.test(runes[at] ?? "")) text += advance();
    return text;
  };
  const token = (kind: TokenKind, text: string): Token => ({ kind, text, offset: start });
  const scanString = (): Token => {
    advance();
    let text = "";
    for (;;) {
      if (at >= runes.length) return fail("EOF");
      const rune = advance();
      if (rune === "'") return token("string", text);
      text += rune;
    }
  };
  const scanNumber = (): Token => {
    const whole = takeWhile(DIGIT);
    if (runes[at] !== ".") return token("number", whole);
    return token("number", whole + advance() + takeWhile(DIGIT));
  };
  const scanComparison = (): Token => {
    const first = advance();
    if (first === "=") return token("= operator", "=");
    const orEqual = runes[at] === "=";
    if (orEqual) advance();
    if (first === "<") return token(orEqual ? "<= operator" : "< operator", orEqual ? "<=" : "<");
    return token(orEqual ? ">= operator" : "> operator", orEqual ? ">=" : ">");
  };
  const scanWord = (): Token => {
    const word = takeWhile(TAG);
    if (runes[at] === " " && (word === "TIME" || word === "DATE")) return scanMoment(word);
    return token(KEYWORDS.get(word) ?? "tag", word);
  };
  const scanMoment = (word: "TIME" | "DATE"): Token => {
    advance();
    const text = takeWhile(TIME_CHARACTER);
    const valid = word === "TIME" ? isTimestamp(text) : isDatestamp(text);
    if (!valid) return fail(`invalid ${word} value: parsing time "${text}"`);
    return token(word === "TIME" ? "timestamp" : "datestamp", text);
  };
  const next = (): Token | undefined => {
    takeWhile(SPACE);
    start = bytes;
    const rune = runes[at];
    if (rune === undefined) return undefined;
    if (DIGIT.test(rune)) return scanNumber();
    if (TAG.test(rune)) return scanWord();
    if (rune === "'") return scanString();
    if (rune === "<" || rune === ">" || rune === "=") return scanComparison();
    return fail(`invalid input '${rune}' at offset ${bytes + Buffer.byteLength(rune)}`);
  };
  return {
    /** Returns the next token, or undefined at the end of the query. Throws {@link QueryLanguageError} on invalid input. */
    next,
    /** Returns the byte offset at which the last call to `next` started. */
    offset: (): number => start,
  };
}

/** Returns true for an RFC 3339 time with a zone and a valid date. CometBFT accepts only years from 1900 to 2999. */
function isTimestamp(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text)) &&
    isYearInRange(text)
  );
}

function isDatestamp(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && isYearInRange(text);
}

function isYearInRange(text: string): boolean {
  const year = Number(text.slice(0, 4));
  return year >= 1900 && year <= 2999;
}

type Operator = "=" | "<" | "<=" | ">" | ">=" | "CONTAINS" | "EXISTS";

/** The value on the right of a condition's operator. Times are in ms since the Unix epoch, and numbers are decimal strings. */
type Operand =
  | { readonly kind: "string"; readonly text: string }
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "time"; readonly ms: number };

/** A condition of an event query, such as `tx.height > 5`. `tag` is "type.attribute". A condition with EXISTS has no operand. */
export interface Condition {
  readonly tag: string;
  readonly operator: Operator;
  readonly operand: Operand | undefined;
}

/** A parsed query, which matches if all its conditions hold. */
export interface EventQuery {
  readonly text: string;
  readonly conditions: readonly Condition[];
}

/** Maximum query length in CometBFT (`maxQueryLength` in `rpc/core`). */
export const MAX_QUERY_LENGTH = 512;

/** Operators, in the order in which CometBFT's error messages list them. */
const OPERATORS: ReadonlyMap<TokenKind, Operator> = new Map([
  ["< operator", "<"],
  ["<= operator", "<="],
  ["> operator", ">"],
  [">= operator", ">="],
  ["= operator", "="],
  ["CONTAINS operator", "CONTAINS"],
  ["EXISTS operator", "EXISTS"],
]);
const ORDERED: readonly TokenKind[] = ["number", "timestamp", "datestamp"];

/**
 * Parses a query in the language of CometBFT 0.38, as used by subscriptions, `tx_search` and `block_search`. A query is a list of
 * conditions joined by AND. The operators are =, <, <=, >, >=, CONTAINS and EXISTS. An operand is a quoted string, number, time or
 * date. Throws {@link QueryLanguageError} with CometBFT's message.
 */
export function parseQuery(text: string): EventQuery {
  const scanner = createScanner(text);
  const conditions = [parseCondition(scanner)];
  for (;;) {
    const joint = scanner.next();
    if (joint === undefined) return { text, conditions };
    if (joint.kind !== "AND operator") throw unexpected(joint, ["AND operator"]);
    conditions.push(parseCondition(scanner));
  }
}

function parseCondition(scanner: Scanner): Condition {
  const tag = expect(scanner, ["tag"]).text;
  const operator = toOperator(expect(scanner, [...OPERATORS.keys()]));
  if (operator === "EXISTS") return { tag, operator, operand: undefined };
  return { tag, operator, operand: toOperand(expect(scanner, operandKinds(operator))) };
}

/** Reads the query's next token. Throws {@link QueryLanguageError} if the query ends or the token's kind is not in `wanted`. */
function expect(scanner: Scanner, wanted: readonly TokenKind[]): Token {
  const token = scanner.next();
  if (token === undefined) {
    const offset = scanner.offset();
    throw new QueryLanguageError({ code: "bad-query", offset }, `offset ${offset}: EOF`);
  }
  if (!wanted.includes(token.kind)) throw unexpected(token, wanted);
  return token;
}

function unexpected(got: Token, wanted: readonly TokenKind[]): QueryLanguageError {
  const last = wanted.at(-1) ?? "";
  const label = wanted.length === 1 ? last : `${wanted.slice(0, -1).join(", ")} or ${last}`;
  return new QueryLanguageError(
    { code: "bad-query", offset: got.offset },
    `offset ${got.offset}: got ${got.kind}, wanted ${label}`,
  );
}

function operandKinds(operator: Exclude<Operator, "EXISTS">): readonly TokenKind[] {
  if (operator === "CONTAINS") return ["string"];
  return operator === "=" ? [...ORDERED, "string"] : ORDERED;
}

function toOperator(token: Token): Operator {
  const operator = OPERATORS.get(token.kind);
  if (operator === undefined) throw new Error(`this is a bug: ${token.kind} is not an operator`);
  return operator;
}

function toOperand(token: Token): Operand {
  if (token.kind === "string") return { kind: "string", text: token.text };
  if (token.kind === "number") return { kind: "number", text: token.text };
  return { kind: "time", ms: Date.parse(token.text) };
}

/** All events' attribute values, keyed by tag ("type.attribute"). */
export type TagValues = ReadonlyMap<string, readonly string[]>;

/**
 * Returns true if a subscription's query matches, i.e. if each condition holds for at least one value of its tag. As in CometBFT's
 * `Query.Matches`, different events may satisfy different conditions.
 */
export function matchesTags(query: EventQuery, tags: TagValues): boolean {
  return query.conditions.every((condition) => holdsForSome(condition, tags.get(condition.tag) ?? []));
}

/** Collects attribute values by tag, in event order, and then adds `base`. Like CometBFT, includes attributes without an index flag. */
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
 * Returns true if a search matches a transaction or block. `fixed` contains the tags of the transaction or block itself (tx.height,
 * tx.hash, block.height). Conditions on event attributes must all hold in the same event, because CometBFT's kv indexer joins conditions by
 * event. Event attributes whose `index` flag is false never match.
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

/** Returns true if a value satisfies a condition. If the value is not of the operand's kind, the condition is false. */
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

/**
 * Compares a value with an operand, like a comparator for `sort`. Returns undefined if the value's kind differs from the operand's.
 */
function compare(value: string, operand: Operand): number | undefined {
  if (operand.kind === "string") return value === operand.text ? 0 : value < operand.text ? -1 : 1;
  if (operand.kind === "time") {
    const ms = Date.parse(value);
    return Number.isNaN(ms) ? undefined : ms - operand.ms;
  }
  // CometBFT reads a value's leading number, so an amount with its denomination ("100untrn") compares as 100.
  const number = /^\d+(\.\d+)?/.exec(value)?.[0];
  return number === undefined ? undefined : compareDecimals(number, operand.text);
}

/** Compares two unsigned decimals of any length, like a comparator for `sort`. */
function compareDecimals(a: string, b: string): number {
  const [wholeA = "", fractionA = ""] = a.split(".");
  const [wholeB = "", fractionB = ""] = b.split(".");
  const digits = Math.max(fractionA.length, fractionB.length);
  const left = BigInt(wholeA + fractionA.padEnd(digits, "0"));
  const right = BigInt(wholeB + fractionB.padEnd(digits, "0"));
  return left === right ? 0 : left < right ? -1 : 1;
}
