import { createScanner, QueryLanguageError, type Scanner, type Token, type TokenKind } from "./scanner.ts";

type Operator = "=" | "<" | "<=" | ">" | ">=" | "CONTAINS" | "EXISTS";

/** The right-hand side of a condition. Times are ms since the Unix epoch. Numbers keep their digits. */
export type Operand =
  | { readonly kind: "string"; readonly text: string }
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "time"; readonly ms: number };

/** A condition. `tag` is "type.attribute". EXISTS has no operand. */
export interface Condition {
  readonly tag: string;
  readonly operator: Operator;
  readonly operand: Operand | undefined;
}

/** A parsed query. All conditions must hold. */
export interface EventQuery {
  readonly text: string;
  readonly conditions: readonly Condition[];
}

/** CometBFT's maximum length of a query (`rpc/core`, `maxQueryLength`). */
export const MAX_QUERY_LENGTH = 512;

/** In the order of CometBFT's error messages. */
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
 * Parses a query of subscriptions, `tx_search` and `block_search` in CometBFT 0.38's language: conditions joined by AND,
 * with = < <= > >= CONTAINS EXISTS and the operands 'string', number, TIME rfc3339, DATE yyyy-mm-dd.
 * Throws {@link QueryLanguageError} with CometBFT's text.
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

/** Returns the next token. Throws when it is not of one of these kinds. */
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
  if (operator === undefined) throw new Error(`this is a bug: ${token.kind} is no operator`);
  return operator;
}

function toOperand(token: Token): Operand {
  if (token.kind === "string") return { kind: "string", text: token.text };
  if (token.kind === "number") return { kind: "number", text: token.text };
  return { kind: "time", ms: Date.parse(token.text) };
}
