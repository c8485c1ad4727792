import { Command } from "commander";
import { statusReport } from "../report/status-report.ts";
import { forecastReport } from "../report/forecast-report.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { addReportOptions, type OracleOptions, readNow, readOracle } from "./oracle-source.ts";
import { printReport, type ReportFormatOptions } from "../../platform/cli/print-report.ts";

type Options = OracleOptions & ReportFormatOptions;

/** `relaywatch status`. */
export function statusCommand(context: CliContext): Command {
  return addReportOptions(new Command()).action(async (options: Options) =>
    printReport(statusReport(await readNow(options, context)), options, context),
  );
}

/** `relaywatch forecast`. */
export function forecastCommand(context: CliContext): Command {
  return addReportOptions(new Command()).action(async (options: Options) => {
    const { validators } = await readOracle(options, context, undefined);
    printReport(forecastReport(validators), options, context);
  });
}
