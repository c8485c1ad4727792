import type { Report, ReportBlock, ReportColumn, Spark } from "../document.ts";

const WIDTH = 100;

/** Formats a report for a terminal: lines of at most 100 characters, tables as wide as they are. */
export function renderText({ title, blocks }: Report): string {
  const parts = [`${printable(title)}\n${"=".repeat(title.length)}`, ...blocks.map(blockText)];
  return `${parts.join("\n\n")}\n`;
}

function blockText(block: ReportBlock): string {
  switch (block.kind) {
    case "heading":
      return `${printable(block.text)}\n${"-".repeat(block.text.length)}`;
    case "text":
      return wrap(printable(block.text), WIDTH);
    case "list":
      return block.items.map((item) => wrap(`- ${printable(item)}`, WIDTH, "  ")).join("\n");
    case "sparks":
      return sparksText(block.lines);
    case "table":
      return tableText(block.columns, block.rows);
  }
}

function sparksText(lines: readonly Spark[]): string {
  const width = Math.max(...lines.map(({ label }) => label.length));
  return lines
    .map(({ label, bars, note }) => `${printable(label).padEnd(width)}  ${bars}  ${printable(note)}`)
    .join("\n");
}

function tableText(columns: readonly ReportColumn[], rows: readonly (readonly string[])[]): string {
  const lines = [columns.map(({ title }) => title), ...rows.map((row) => row.map(printable))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => (line[index] ?? "").length)));
  const format = (line: readonly string[]): string =>
    columns
      .map(({ align }, index) => {
        const [text, width] = [line[index] ?? "", widths[index] ?? 0];
        return align === "right" ? text.padStart(width) : text.padEnd(width);
      })
      .join("  ")
      .trimEnd();
  const [head = [], ...body] = lines;
  return [format(head), widths.map((width) => "-".repeat(width)).join("  "), ...body.map(format)].join("\n");
}

/** Breaks a text at blanks. Later lines begin with `indent`. A longer word gets a line of its own. */
function wrap(text: string, width: number, indent = ""): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (longer.length <= width || line === "") line = longer;
    else {
      lines.push(line);
      line = `${indent}${word}`;
    }
  }
  return [...lines, line].join("\n");
}

/** Replaces control characters: texts of other programs must not control the terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "?");
}
