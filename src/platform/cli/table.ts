import { isRecord, type JsonValue } from "../base/json.ts";

export interface Column {
  readonly title: string;
  readonly cell: (row: JsonValue) => string;
}

/** Creates a column for the field at `path`, for example "key.fee", which is printed as "-" if it is missing. */
export function column(title: string, path: string): Column {
  return { title, cell: (row) => cellText(fieldAt(row, path)) };
}

/** Returns the field at a dotted path, or null if there is none. An empty path selects the value itself. */
export function fieldAt(value: JsonValue, path: string): JsonValue {
  if (path === "") return value;
  let current: JsonValue = value;
  for (const name of path.split(".")) {
    if (!isRecord(current)) return null;
    current = current[name] ?? null;
  }
  return current;
}

/** Returns the list at a dotted path, or an empty list if the field is missing or not a list. */
export function listAt(value: JsonValue, path: string): readonly JsonValue[] {
  const list = fieldAt(value, path);
  return Array.isArray(list) ? list : [];
}

/** Formats a value for a table cell. Null and empty values become "-", and decimals lose trailing zeros. */
export function cellText(value: JsonValue): string {
  if (value === null || value === "") return "-";
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.map(cellText).join(", ");
  if (typeof value !== "string") return JSON.stringify(value);
  return value.replace(/^(-?\d+\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

/** Formats rows below a line of titles. A column is as wide as its longest cell. If there are no rows, returns only the titles. */
export function formatTable(columns: readonly Column[], rows: readonly JsonValue[]): string {
  const lines = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ cell }) => cell(row))),
  ];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => (line[index] ?? "").length)));
  return lines
    .map((line) =>
      line
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
