import { CodedError } from "../../../platform/base/errors.ts";

/** Kinds of tokens, under the names of CometBFT's error messages. */
export type TokenKind =
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

/** A token of the event query language. */
export interface Token {
  readonly kind: TokenKind;
  /** Without quotes, and without the keyword of a time. */
  readonly text: string;
  /** UTF-8 bytes from the start of the query, as CometBFT counts them in its messages. */
  readonly offset: number;
}

/** A query that does not parse. The message is CometBFT's ("offset 10: got = operator, wanted …"). */
export class QueryLanguageError extends CodedError<{ readonly code: "bad-query"; readonly offset: number }> {}

/** Reads the tokens of one query. */
export interface Scanner {
  /** The next token; undefined at the end. Throws {@link QueryLanguageError} on invalid input. */
  readonly next: () => Token | undefined;
  /** The offset at which the last `next` began, in bytes. */
  readonly offset: () => number;
}

const SPACE = /\s/u;
const DIGIT = /[0-9]/;
const TAG = /[\p{L}\p{Nd}._-]/u;
const TIME_CHARACTER = /[0-9TZ:.+-]/;
const KEYWORDS: ReadonlyMap<string, TokenKind> = new Map([
  ["AND", "AND operator"],
  ["CONTAINS", "CONTAINS operator"],
  ["EXISTS", "EXISTS operator"],
]);

/** Creates a scanner of one query. Linear. */
export function createScanner(query: string): Scanner {
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
  return { next, offset: () => start };
}

/** RFC 3339 with a zone and an existing date. CometBFT allows only the years 1900 to 2999. */
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
