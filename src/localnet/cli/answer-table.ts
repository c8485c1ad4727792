import { isRecord, type JsonValue } from "../../platform/base/json.ts";
import { cellText, type Column, column, fieldAt, formatTable } from "../../platform/cli/table.ts";

/** How a response is shown to people: the path of its record or list of records, and their columns. */
export interface AnswerTable {
  readonly path: string;
  readonly columns: readonly Column[];
  /** Splits a record into several rows. */
  readonly rows?: (record: JsonValue) => readonly JsonValue[];
  /** Lines below the table: words, and the path of a field. A line without a value is left out. */
  readonly notes?: readonly (readonly [words: string, path: string])[];
}

const NEXT_PAGE = ["next page: --page-key ", "pagination.next_key"] as const;

/** Formats a response as a table. Below it are its notes and the key of the next page. */
export function formatAnswer({ path, columns, rows, notes = [] }: AnswerTable, response: JsonValue): string {
  const found = fieldAt(response, path);
  const records = Array.isArray(found) ? found : [found];
  const lines = [...notes, NEXT_PAGE].flatMap(([words, at]) => {
    const value = fieldAt(response, at);
    return value === null ? [] : [words + cellText(value)];
  });
  return [formatTable(columns, rows === undefined ? records : records.flatMap(rows)), ...lines].join("\n");
}

/** The form of a module's parameters: one line for each. */
export const PARAMS_TABLE: AnswerTable = {
  path: "params",
  columns: [column("PARAMETER", "name"), column("VALUE", "value")],
  rows: (params) =>
    isRecord(params) ? Object.entries(params).map(([name, value]) => ({ name, value })) : [],
};
