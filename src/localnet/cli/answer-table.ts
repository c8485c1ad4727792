import { unreachable } from "../../platform/base/errors.ts";
import { isRecord, type JsonValue } from "../../platform/base/json.ts";
import { cellText, column, type Column, fieldAt, formatTable } from "../../platform/cli/table.ts";

/** How to print a query's response as a table. `path` selects the record or list of records to print. */
export interface AnswerTable {
  readonly path: string;
  readonly columns: readonly Column[];
  /** Splits a record into the rows to print. By default, each record is one row. */
  readonly rows?: (record: JsonValue) => readonly JsonValue[];
  /** Paths to a coin's fields in a record. An additional column shows the coin in display units. */
  readonly coin?: { readonly denom: string; readonly amount: string };
  /** Lines below the table, each with a label and a field's path. A line is omitted if its field has no value. */
  readonly notes?: readonly (readonly [words: string, path: string])[];
}

const NEXT_PAGE = ["next page: --page-key ", "pagination.next_key"] as const;

/** Formats a response as a table, followed by its notes and the key of the next page. */
export function formatAnswer({ path, columns, rows, notes = [] }: AnswerTable, response: JsonValue): string {
  const found = fieldAt(response, path);
  const records = Array.isArray(found) ? found : [found];
  const lines = [...notes, NEXT_PAGE].flatMap(([words, at]) => {
    const value = fieldAt(response, at);
    return value === null ? [] : [words + cellText(value)];
  });
  return [formatTable(columns, rows === undefined ? records : records.flatMap(rows)), ...lines].join("\n");
}

/** Layout for a module's parameters, with one row per parameter. */
export const PARAMS_TABLE: AnswerTable = {
  path: "params",
  columns: [column("PARAMETER", "name"), column("VALUE", "value")],
  rows: (params) =>
    isRecord(params) ? Object.entries(params).map(([name, value]) => ({ name, value })) : [],
};

/**
 * A table's columns as text, such as "CODE code_id, HASH data_hash". Each column has a title and the path of a field in
 * the record; without a path, the cell is the record itself. To format cells with functions, use an object that maps each title to
 * a path or to a function that returns the cell.
 */
export type ColumnWords = string | Readonly<Record<string, string | Column["cell"]>>;

export function toColumns(words: ColumnWords): readonly Column[] {
  if (typeof words === "string") return words.split(/,\s+/).map(toColumn);
  return Object.entries(words).map(([title, cell]) =>
    typeof cell === "string" ? column(title, cell) : { title, cell },
  );
}

/** Splits a column's text into a title, which must not contain lower-case letters, and an optional path, which must. */
function toColumn(words: string): Column {
  const [, title = "", path = ""] = /^([^a-z]+?)(?: (\S*[a-z]\S*))?$/.exec(words) ?? unreachable(words);
  return column(title, path);
}
