import { Command } from "commander";
import { statusReport } from "../report/status-report.ts";
import { forecastReport } from "../report/forecast-report.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { type OracleOptions, oracleOptions, readNow, readOracle } from "./oracle-source.ts";
import { formatOptions, printReport, type ReportFormatOptions } from "../../platform/cli/print-report.ts";

type Options = OracleOptions & ReportFormatOptions;

/** `relaywatch status`. */
export function statusCommand(context: CliContext): Command {
  return oracleCommand(async (options: Options) =>
    printReport(statusReport(await readNow(options, context)), options, context),
  );
}

/** `relaywatch forecast`. */
export function forecastCommand(context: CliContext): Command {
  return oracleCommand(async (options: Options) => {
    const { validators } = await readOracle(options, context, undefined);
    printReport(forecastReport(validators), options, context);
  });
}

function oracleCommand(action: (options: Options) => Promise<void>): Command {
  const command = new Command().action(action);
  for (const option of [...oracleOptions(), ...formatOptions()]) command.addOption(option);
  return command;
}
