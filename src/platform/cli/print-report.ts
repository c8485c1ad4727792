import { Option } from "commander";
import { CheckExit, EXIT, type ExitCode } from "../base/errors.ts";
import { REPORT_FORMATS, type Report, type ReportFormat, type ReportOutcome } from "../report/document.ts";
import { renderReport } from "../report/render/render-report.ts";
import { type CliContext, jsonOption } from "./cli-context.ts";

export interface ReportFormatOptions {
  readonly format: ReportFormat;
  readonly json?: true;
}

/** Creates the hidden options `--format` and `--json`, which users set through the option `-o` that `formattedContext` adds. */
export function formatOptions(): readonly Option[] {
  return [
    new Option("--format <format>", "as -o").choices(REPORT_FORMATS).default("text").hideHelp(),
    jsonOption().conflicts("format"),
  ];
}

const EXIT_CODES: Readonly<Record<ReportOutcome, ExitCode>> = {
  fine: EXIT.ok,
  problem: EXIT.fatal,
  unseen: EXIT.unseen,
};

/**
 * Prints a report. Throws {@link CheckExit} with exit code 1 if the report shows a problem, and with exit code 3 if the report's
 * data is insufficient to tell.
 */
export function printReport(
  report: Report,
  { format, json }: ReportFormatOptions,
  context: CliContext,
): void {
  context.print(renderReport(report, json ? "json" : format).replace(/\r?\n$/, ""));
  if (report.outcome !== "fine") throw new CheckExit(EXIT_CODES[report.outcome]);
}
