import { createScanner, QueryLanguageError, type Scanner, type Token, type TokenKind } from "./scanner.ts";

/** Comparison of a condition. */
type Operator = "=" | "<" | "<=" | ">" | ">=" | "CONTAINS" | "EXISTS";

/** What a condition compares with. Timestamps are ms since the Unix epoch; numbers keep their digits. */
export type Operand =
  | { readonly kind: "string"; readonly text: string }
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "time"; readonly ms: number };

/** One condition: `tag` is "type.attribute"; EXISTS has no operand. */
export interface Condition {
  readonly tag: string;
  readonly operator: Operator;
  readonly operand: Operand | undefined;
}

/** A parsed query: all conditions must hold. */
export interface EventQuery {
  readonly text: string;
  readonly conditions: readonly Condition[];
}

/** Longest query text, as CometBFT accepts it in a subscription. */
export const MAX_QUERY_LENGTH = 512;

/** In the order in which CometBFT lists them in its messages. */
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
 * Parses CometBFT 0.38's event query language: conditions joined by AND over = < <= > >= CONTAINS EXISTS, operands
 * 'string', number, TIME rfc3339, DATE yyyy-mm-dd. Throws {@link QueryLanguageError} with CometBFT's text. The same for
 * subscriptions, tx_search and block_search.
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
  const tag = require(scanner, ["tag"]).text;
  const operator = toOperator(require(scanner, [...OPERATORS.keys()]));
  if (operator === "EXISTS") return { tag, operator, operand: undefined };
  return { tag, operator, operand: toOperand(require(scanner, operandKinds(operator))) };
}

/** The next token, which must be one of these. */
function require(scanner: Scanner, wanted: readonly TokenKind[]): Token {
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
  if (operator === undefined) throw new Error(`this is a bug: ${token.kind} is no operator`);
  return operator;
}

function toOperand(token: Token): Operand {
  if (token.kind === "string") return { kind: "string", text: token.text };
  if (token.kind === "number") return { kind: "number", text: token.text };
  return { kind: "time", ms: Date.parse(token.text) };
}
