import type { ReportBlock, ReportColumn, Spark } from "./document.ts";

export function heading(text: string): readonly ReportBlock[] {
  return [{ kind: "heading", text }];
}

/** Returns a paragraph, or no block if there is no text. */
export function paragraph(text: string | undefined): readonly ReportBlock[] {
  return text === undefined ? [] : [{ kind: "text", text }];
}

/** Returns a block with these items as a list, or no blocks for an empty list. */
export function list(items: readonly string[]): readonly ReportBlock[] {
  return items.length === 0 ? [] : [{ kind: "list", items }];
}

/** Creates a table block, in which a string in `columns` is the title of a left-aligned column. */
export function table(
  columns: readonly (string | ReportColumn)[],
  rows: readonly (readonly string[])[],
): readonly ReportBlock[] {
  const titled = columns.map((column) => (typeof column === "string" ? { title: column } : column));
  return [{ kind: "table", columns: titled, rows }];
}

export function sparks(lines: readonly Spark[]): readonly ReportBlock[] {
  return [{ kind: "sparks", lines }];
}

export function right(title: string): ReportColumn {
  return { title, align: "right" };
}
