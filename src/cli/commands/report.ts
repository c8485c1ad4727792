import { Command, Option } from "commander";
import { HOUR_MS } from "../../platform/base/time.ts";
import { monthStartMs, nextMonthMs } from "../../platform/base/month.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { parseDuration } from "../../platform/cli/options.ts";
import { formatOptions, printReport, type ReportFormatOptions } from "../../platform/cli/print-report.ts";
import { relayerReportCommand } from "../../relayer/cli/report-command.ts";
import {
  lastMonth,
  monthOption,
  oracleOptions,
  type OracleOptions,
  readOracle,
} from "../../watchdog/cli/oracle-source.ts";
import { statusPageCommand } from "../../watchdog/cli/status-page.ts";
import { handoverReport } from "../../watchdog/report/handover.ts";
import { monthCloseReport, monthReport } from "../../watchdog/report/month-report.ts";

type Options = OracleOptions & ReportFormatOptions;

export function reportCommand(context: CliContext): Command {
  return new Command()
    .addCommand(
      monthCommand(
        "oracle",
        "report on one month for all validators: rate, tier, pay, history",
        monthReport,
        context,
      ),
    )
    .addCommand(
      monthCommand(
        "month-close",
        "explain each validator's pay, and what would have changed it",
        monthCloseReport,
        context,
      ),
    )
    .addCommand(handoverCommand(context))
    .addCommand(statusPageCommand(context))
    .addCommand(relayerReportCommand(context));
}

function monthCommand(
  name: string,
  description: string,
  create: typeof monthReport,
  context: CliContext,
): Command {
  return withOptions(
    new Command(name)
      .description(`${description}; for a closed month, the output is always byte-identical`)
      .addOption(monthOption()),
  ).action(async (options: Options & { readonly month?: string }) => {
    const month = options.month ?? lastMonth();
    const fromMs = monthStartMs(month);
    const { validators } = await readOracle(options, context, { fromMs, toMs: nextMonthMs(fromMs) });
    printReport(create(validators, month), options, context);
  });
}

function handoverCommand(context: CliContext): Command {
  return withOptions(
    new Command("handover")
      .description(
        "report on a shift: its alerts, restarts, gaps and misses, and what the next shift takes over",
      )
      .addOption(
        new Option("--since <duration>", "shift length")
          .default(12 * HOUR_MS, "12h")
          .argParser(parseDuration),
      ),
  ).action(async (options: Options & { readonly since: number }) => {
    const { validators, range } = await readOracle(options, context, { sinceMs: options.since });
    printReport(handoverReport(validators, range), options, context);
  });
}

function withOptions(command: Command): Command {
  for (const option of [...oracleOptions(), ...formatOptions()]) command.addOption(option);
  return command;
}
