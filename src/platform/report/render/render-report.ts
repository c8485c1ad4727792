import { stringifyJson } from "../../base/json.ts";
import type { Report, ReportBlock, ReportColumn, ReportFormat, Spark } from "../document.ts";

/** Renders a report in the given format, with a line break at the end. */
export function renderReport(report: Report, format: ReportFormat): string {
  switch (format) {
    case "text":
      return renderText(report);
    case "markdown":
      return renderMarkdown(report);
    case "json":
      return `${stringifyJson({ title: report.title, verdict: report.outcome, ...report.data }, 2)}\n`;
    case "csv":
      return renderCsv(report);
  }
}

export const FILE_ENDINGS: Readonly<Record<ReportFormat, string>> = {
  text: "txt",
  markdown: "md",
  json: "json",
  csv: "csv",
};

/** Maximum length of a line in a text report, in characters. */
const WIDTH = 100;

/** Formats a report for a terminal, in lines of at most 100 characters, except for tables, which may be wider. */
function renderText({ title, blocks }: Report): string {
  const parts = [`${printable(title)}\n${"=".repeat(title.length)}`, ...blocks.map(textBlock)];
  return `${parts.join("\n\n")}\n`;
}

function textBlock(block: ReportBlock): string {
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
      return textTable(block.columns, block.rows);
  }
}

function sparksText(lines: readonly Spark[]): string {
  const width = Math.max(...lines.map(({ label }) => label.length));
  return lines
    .map(({ label, bars, note }) => `${printable(label).padEnd(width)}  ${bars}  ${printable(note)}`)
    .join("\n");
}

function textTable(columns: readonly ReportColumn[], rows: readonly (readonly string[])[]): string {
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

/** Wraps a text at spaces, with `indent` before later lines. A word longer than a line gets its own line. */
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

/** Replaces control characters with "?", so that text from other programs cannot control the terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "?");
}

/** Formats the main table as CSV (RFC 4180, with a header line). */
function renderCsv({ csv }: Report): string {
  return [csv.columns, ...csv.rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function cell(text: string): string {
  // A spreadsheet reads a cell that begins with one of these characters as a formula. Numbers stay unchanged.
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d+(?:\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Formats a report as GitHub-flavoured markdown. */
function renderMarkdown({ title, blocks }: Report): string {
  return `${[`# ${escapeMarkdown(title)}`, ...blocks.map(markdownBlock)].join("\n\n")}\n`;
}

function markdownBlock(block: ReportBlock): string {
  switch (block.kind) {
    case "heading":
      return `## ${escapeMarkdown(block.text)}`;
    case "text":
      return escapeMarkdown(block.text);
    case "list":
      return block.items.map((item) => `- ${escapeMarkdown(item)}`).join("\n");
    case "sparks":
      return block.lines
        .map(({ label, bars, note }) => `- ${escapeMarkdown(label)} \`${bars}\` ${escapeMarkdown(note)}`)
        .join("\n");
    case "table":
      return markdownTable(block.columns, block.rows);
  }
}

function markdownTable(columns: readonly ReportColumn[], rows: readonly (readonly string[])[]): string {
  return [
    markdownRow(columns.map(({ title }) => escapeMarkdown(title))),
    markdownRow(columns.map(({ align }) => (align === "right" ? "---:" : "---"))),
    ...rows.map((row) => markdownRow(row.map(escapeMarkdown))),
  ].join("\n");
}

function markdownRow(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function escapeMarkdown(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ").replaceAll(/[\\`*_[\]<>|#]/g, (character) => `\\${character}`);
}
