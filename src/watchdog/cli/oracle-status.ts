import { Command, Option } from "commander";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import { formatRoundedDuration } from "../../platform/base/text.ts";
import { forecastReport, type Scenario, whatIfReport } from "../report/forecast-report.ts";
import { statusReport } from "../report/status-report.ts";
import { outageMisses, restartMisses } from "../policy/what-if.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { addReportOptions, type OracleOptions, readNow, readOracle } from "./oracle-source.ts";
import { parseDuration } from "../../platform/cli/options.ts";
import { printReport, type ReportFormatOptions } from "../../platform/cli/print-report.ts";

type Options = OracleOptions & ReportFormatOptions;

export function statusCommand(context: CliContext): Command {
  return addReportOptions(new Command()).action(async (options: Options) =>
    printReport(statusReport(await readNow(options, context)), options, context),
  );
}

export function forecastCommand(context: CliContext): Command {
  return addReportOptions(new Command()).action(async (options: Options) => {
    const { validators } = await readOracle(options, context, undefined);
    printReport(forecastReport(validators), options, context);
  });
}

interface WhatIfOptions extends OracleOptions, ReportFormatOptions {
  readonly outage?: number;
  readonly sidecarRestart?: number;
}

/** Creates the command `relaywatch what-if`, as in `relaywatch what-if --outage 4h` or `relaywatch what-if --sidecar-restart 25s`. */
export function whatIfCommand(context: CliContext): Command {
  const lasting = "the length of a sidecar restart, until the sidecar listens again";
  const restart = new Option("--sidecar-restart <duration>", lasting);
  const command = new Command()
    .option(
      "--outage <duration>",
      "the length of an outage that starts now, during which no oracle votes are sent",
      parseDuration,
    )
    .addOption(restart.argParser(parseDuration).conflicts("outage"));
  return addReportOptions(command).action(async (options: WhatIfOptions) => {
    const scenario = scenarioOf(options);
    const { validators } = await readOracle(options, context, undefined);
    printReport(whatIfReport(validators, scenario), options, context);
  });
}

function scenarioOf({ outage, sidecarRestart, config }: WhatIfOptions): Scenario {
  if (outage !== undefined)
    return {
      name: `an outage of ${formatRoundedDuration(outage)}`,
      misses: ({ assessment }) =>
        assessment.blockTimeMs === undefined ? undefined : outageMisses(outage, assessment.blockTimeMs),
    };
  if (sidecarRestart === undefined)
    throw new CliError(EXIT.usage, "specify --outage or --sidecar-restart, e.g. --outage 4h");
  // If there is no configuration, the chain is a localnet with a single validator, so each block waits for this validator's vote.
  const chainWaits = config === undefined;
  return {
    name: `a sidecar restart of ${formatRoundedDuration(sidecarRestart)}`,
    misses: ({ assessment: { blockTimeMs } }) =>
      blockTimeMs === undefined
        ? undefined
        : restartMisses({ downMs: sidecarRestart, blockTimeMs, chainWaits }),
  };
}
