import { stringifyJson } from "../../base/json.ts";
import type { Report, ReportBlock, ReportColumn, ReportFormat } from "../document.ts";
import { renderText } from "./text.ts";

/** Formats a report. The text ends with a line break. */
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

/** File name endings by format. */
export const FILE_ENDINGS: Readonly<Record<ReportFormat, string>> = {
  text: "txt",
  markdown: "md",
  json: "json",
  csv: "csv",
};

/** Formats the main table as CSV (RFC 4180, with a line of titles). */
function renderCsv({ csv }: Report): string {
  return [csv.columns, ...csv.rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function cell(text: string): string {
  // A spreadsheet takes a cell that begins with one of these characters for a formula. Numbers keep their sign.
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d+(?:\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Formats a report as GitHub-flavoured markdown. */
function renderMarkdown({ title, blocks }: Report): string {
  return `${[`# ${escapeMarkdown(title)}`, ...blocks.map(blockText)].join("\n\n")}\n`;
}

function blockText(block: ReportBlock): string {
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
      return tableText(block.columns, block.rows);
  }
}

function tableText(columns: readonly ReportColumn[], rows: readonly (readonly string[])[]): string {
  return [
    line(columns.map(({ title }) => escapeMarkdown(title))),
    line(columns.map(({ align }) => (align === "right" ? "---:" : "---"))),
    ...rows.map((row) => line(row.map(escapeMarkdown))),
  ].join("\n");
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** Escapes what markdown or HTML could read as more than text. */
function escapeMarkdown(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ").replaceAll(/[\\`*_[\]<>|#]/g, (character) => `\\${character}`);
}
