import { unreachable } from "../../platform/base/errors.ts";
import { isRecord, type JsonValue } from "../../platform/base/json.ts";
import { cellText, column, type Column, fieldAt, formatTable } from "../../platform/cli/table.ts";

/** Describes how to print a query's response as a table. `path` is the response field with the record or list of records to print. */
export interface AnswerTable {
  readonly path: string;
  readonly columns: readonly Column[];
  /** Splits a record of the response into table rows. By default, each record is one row. */
  readonly rows?: (record: JsonValue) => readonly JsonValue[];
  /** Paths of a coin's denomination and amount in a record. If set, the table has an additional column with the coin in display units. */
  readonly coin?: { readonly denom: string; readonly amount: string };
  /** Lines below the table, each with a label and a field's path. Lines whose field has no value are not printed. */
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
 * A table's columns as text, such as "CODE code_id, HASH data_hash". Each column has a title and the path of a field in the record.
 * Without a path, the cell shows the record itself. To compute cells, use an object that maps each title to a path or to a function
 * that returns the cell's text.
 */
export type ColumnWords = string | Readonly<Record<string, string | Column["cell"]>>;

export function toColumns(words: ColumnWords): readonly Column[] {
  if (typeof words === "string") return words.split(/,\s+/).map(toColumn);
  return Object.entries(words).map(([title, cell]) =>
    typeof cell === "string" ? column(title, cell) : { title, cell },
  );
}

/** Splits text such as "CODE code_id" into a title without lower-case letters and an optional path with lower-case letters. */
function toColumn(words: string): Column {
  const [, title = "", path = ""] = /^([^a-z]+?)(?: (\S*[a-z]\S*))?$/.exec(words) ?? unreachable(words);
  return column(title, path);
}
