import type { JsonValue } from "../../src/platform/base/json.ts";
import { formatAnswer } from "../../src/localnet/cli/answer-table.ts";
import { answerTable, type QueryGroup } from "../../src/localnet/cli/module-query.ts";

/** The table that a query prints for a response. */
export function tableText(group: QueryGroup, query: string, response: JsonValue): string {
  const table = answerTable(group, query);
  if (table === undefined) throw new Error(`${query} prints no table`);
  return formatAnswer(table, response);
}
