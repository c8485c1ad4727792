import { CodedError } from "../../base/errors.ts";

/** A comparison of CometBFT's query language. */
type QueryOperator = "=" | "<" | "<=" | ">" | ">=" | "CONTAINS";

/** One condition: an event attribute ("transfer.recipient", "tx.height"), an operator, and a text or an integer. */
export type QueryCondition =
  | { readonly key: string; readonly operator: QueryOperator; readonly value: string | bigint }
  | { readonly key: string; readonly operator: "EXISTS" };

/** A condition that the query language cannot express. */
export class QueryTextError extends CodedError<
  | { readonly code: "bad-key"; readonly key: string }
  | { readonly code: "bad-value"; readonly key: string }
  | { readonly code: "too-long"; readonly length: number; readonly limit: number }
  | { readonly code: "empty" }
> {}

/** CometBFT refuses a subscription whose text is longer (`maxQueryLength`); `tx_search` has no such limit. */
const MAX_SUBSCRIPTION_LENGTH = 512;

/** Builds the text of a query: all conditions joined by AND. Texts are quoted, integers are not. */
export function queryText(conditions: readonly QueryCondition[]): string {
  if (conditions.length === 0) throw new QueryTextError({ code: "empty" }, "a query needs a condition");
  return conditions.map(conditionText).join(" AND ");
}

/** Builds the text of a subscription to one kind of event ("Tx", "NewBlockHeader", …). Throws when it is too long. */
export function subscriptionText(event: string, conditions: readonly QueryCondition[] = []): string {
  const built = queryText([{ key: "tm.event", operator: "=", value: event }, ...conditions]);
  if (built.length > MAX_SUBSCRIPTION_LENGTH)
    throw new QueryTextError(
      { code: "too-long", length: built.length, limit: MAX_SUBSCRIPTION_LENGTH },
      `a subscription of ${built.length} characters is longer than the ${MAX_SUBSCRIPTION_LENGTH} that a node accepts`,
    );
  return built;
}

function conditionText(condition: QueryCondition): string {
  const { key } = condition;
  if (!/^[\w./-]+$/.test(key))
    throw new QueryTextError({ code: "bad-key", key }, `${JSON.stringify(key)} cannot stand in a query`);
  if (condition.operator === "EXISTS") return `${key} EXISTS`;
  const { operator, value } = condition;
  const gap = operator === "CONTAINS" ? " " : "";
  return `${key}${gap}${operator}${gap}${valueText(key, value)}`;
}

/** The language has no escapes: a text with a single quote or a control character cannot be written. */
function valueText(key: string, value: string | bigint): string {
  if (typeof value === "bigint") return value.toString();
  if (/['\p{Cc}]/u.test(value))
    throw new QueryTextError(
      { code: "bad-value", key },
      `the value for ${key} holds a quote or a control character, which a query cannot express`,
    );
  return `'${value}'`;
}
