import { Command, Option } from "commander";
import { systemClock } from "../../platform/base/clock.ts";
import { monthStartMs, nextMonthMs } from "../../watchdog/ledger/month.ts";
import { handoverReport } from "../../watchdog/report/handover.ts";
import { monthCloseReport, monthReport } from "../../watchdog/report/month-report.ts";
import { relayerReport } from "../../relayer/report/relayer-report.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { type OracleOptions, oracleOptions, readOracle } from "../../watchdog/cli/oracle-source.ts";
import { parseDuration, portOffsetOption } from "../../platform/cli/options.ts";
import { lastMonth, monthOption } from "../../watchdog/cli/month-option.ts";
import { readRelayer } from "../../relayer/cli/relayer-source.ts";
import { formatOptions, printReport, type ReportFormatOptions } from "../../platform/cli/print-report.ts";

type Options = OracleOptions & ReportFormatOptions;

/** `relaywatch report`. */
export function reportCommand(context: CliContext): Command {
  return new Command()
    .addCommand(
      monthCommand("oracle", "one month of all validators: rate, tier, pay, course", monthReport, context),
    )
    .addCommand(
      monthCommand(
        "month-close",
        "why each validator is paid what it is paid, and what would have changed it",
        monthCloseReport,
        context,
      ),
    )
    .addCommand(handoverCommand(context))
    .addCommand(relayerCommand(context));
}

function monthCommand(
  name: string,
  description: string,
  create: typeof monthReport,
  context: CliContext,
): Command {
  return withOptions(
    new Command(name)
      .description(`${description}; a closed month gives the same bytes each time`)
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
        "what happened on a shift: alerts, restarts, gaps, misses, and what the next one takes over",
      )
      .addOption(
        new Option("--since <duration>", "length of the shift")
          .default(12 * 3_600_000, "12h")
          .argParser(parseDuration),
      ),
  ).action(async (options: Options & { readonly since: number }) => {
    const { validators, range } = await readOracle(options, context, { sinceMs: options.since });
    printReport(handoverReport(validators, range), options, context);
  });
}

interface RelayerOptions extends ReportFormatOptions {
  readonly config?: string;
  readonly portOffset: number;
  readonly since: number;
}

function relayerCommand(context: CliContext): Command {
  const command = new Command("relayer")
    .description("results of the relayer, their lateness, cost by owner, dead letters")
    .option(
      "--config <file>",
      "configuration of the relayer to ask; default: the relayer of the localnet on this machine",
    )
    .addOption(portOffsetOption())
    .addOption(
      new Option("--since <duration>", "length of the report")
        .default(24 * 3_600_000, "24h")
        .argParser(parseDuration),
    );
  for (const option of formatOptions()) command.addOption(option);
  return command.action(async (options: RelayerOptions) => {
    const toMs = systemClock.nowMs();
    const data = await readRelayer(options, { fromMs: toMs - options.since, toMs }, context);
    printReport(relayerReport(data), options, context);
  });
}

function withOptions(command: Command): Command {
  for (const option of [...oracleOptions(), ...formatOptions()]) command.addOption(option);
  return command;
}
