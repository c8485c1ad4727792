import { stringifyJson } from "../../base/json.ts";
import type { Report, ReportFormat } from "../document.ts";
import { renderCsv } from "./csv.ts";
import { renderMarkdown } from "./markdown.ts";
import { renderText } from "./text.ts";

/** Formats a report. The text ends with a line break. */
export function renderReport(report: Report, format: ReportFormat): string {
  switch (format) {
    case "text":
      return renderText(report);
    case "markdown":
      return renderMarkdown(report);
    case "json":
      return `${stringifyJson({ title: report.title, verdict: report.verdict, ...report.data }, 2)}\n`;
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
