import { Command, Option } from "commander";
import { DAY_MS } from "../../platform/base/time.ts";
import { systemClock } from "../../platform/base/clock.ts";
import { parseDuration, portOffsetOption } from "../../platform/cli/options.ts";
import { formatOptions, printReport, type ReportFormatOptions } from "../../platform/cli/print-report.ts";
import { COST_GROUPS, type CostGroup, parseSpending, unitOf } from "../costs/spending-view.ts";
import { relayerReport } from "../report/relayer-report.ts";
import { spendingReport } from "../report/spending-text.ts";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import { httpUrl } from "../../platform/config/config-fields.ts";
import { loadDaemonConfig } from "../../platform/config/daemon-config.ts";
import { relayerConfigKind } from "../config/relayer-config.ts";
import {
  ATTEMPTS,
  COSTS,
  DEAD_LETTERS,
  parseKeyCounts,
  readRelayerData,
  type RelayerData,
  SUMMARY,
} from "../report/relayer-data.ts";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { askDaemon } from "../../platform/cli/daemon-request.ts";

interface ReportOptions extends ReportFormatOptions {
  readonly config?: string;
  readonly portOffset: number;
  readonly since: number;
  readonly by?: CostGroup;
}

export function relayerReportCommand(context: CliContext): Command {
  const command = new Command("relayer")
    .description("report on results, lateness, cost by owner and dead letters")
    .option("--config <file>", "the relayer's configuration; default: the localnet's relayer on this machine")
    .addOption(portOffsetOption())
    .addOption(
      new Option("--since <duration>", "the period that the report covers, up to now")
        .default(DAY_MS, "24h")
        .argParser(parseDuration),
    );
  command.addOption(
    new Option(
      "--by <group>",
      "report spending instead: who pays, each owner's or query's cost in the last hour, day, week, 30 days and month, and the forecast",
    ).choices(COST_GROUPS),
  );
  for (const option of formatOptions()) command.addOption(option);
  return command.action(async (options: ReportOptions) => {
    if (options.by !== undefined) return printSpending(options, options.by, context);
    const toMs = systemClock.nowMs();
    const data = await readRelayer(options, { fromMs: toMs - options.since, toMs }, context);
    printReport(relayerReport(data), options, context);
  });
}

async function printSpending(options: ReportOptions, by: CostGroup, context: CliContext): Promise<void> {
  const response = await asker(options, context)(`/api/spending?by=${by}`);
  printReport(spendingReport(parseSpending(response)), options, context);
}

interface RelayerPlace {
  readonly config?: string;
  readonly portOffset: number;
}

/** Reads a relayer's data for a time range. Throws `CliError`, whose exit code is 3 if the relayer does not respond. */
async function readRelayer(
  place: RelayerPlace,
  range: { readonly fromMs: number; readonly toMs: number },
  context: CliContext,
): Promise<RelayerData> {
  const ask = asker(place, context);
  return readRelayerData(
    {
      find: async ({ sinceMs = 0, untilMs = range.toMs, limit }) => {
        const [since, until] = [sinceMs, untilMs].map((ms) => new Date(ms).toISOString());
        return ATTEMPTS.parse(await ask(`/api/attempts?since=${since}&until=${until}&limit=${limit}`));
      },
      summary: async ({ fromMs, toMs, parts }) => {
        const [since, until] = [fromMs, toMs].map((ms) => new Date(ms).toISOString());
        return SUMMARY.parse(await ask(`/api/attempts/summary?since=${since}&until=${until}&parts=${parts}`));
      },
      costs: async ({ from, to }) => COSTS.parse(await ask(`/api/costs?from=${from}&to=${to}`)),
    },
    {
      deadLetters: DEAD_LETTERS.parse(await ask("/unsuccessful-txs")),
      keys: parseKeyCounts(await ask("/api/queries")),
      ...(await readUnit(ask)),
    },
    range,
  );
}

/** Reads the fee denom and its display unit. An older relayer reports no denom, so its report shows plain numbers. */
async function readUnit(
  ask: (path: string) => Promise<unknown>,
): Promise<Pick<RelayerData, "denom" | "unit">> {
  const spending = await ask("/api/spending")
    .then(parseSpending)
    .catch((error: unknown) => {
      if (error instanceof CliError && error.facts.exitCode === EXIT.fatal) return undefined;
      throw error;
    });
  return spending === undefined ? {} : { denom: spending.denom, unit: unitOf(spending) };
}

function asker(place: RelayerPlace, context: CliContext): (path: string) => Promise<unknown> {
  const url = urlOf(place);
  const hint =
    place.config === undefined
      ? "start relaywatch up or relaywatch relayer start, or select another relayer with --config or --port-offset"
      : `start it with relaywatch relayer start --config ${place.config}`;
  return (path) => askDaemon({ daemon: "the relayer", url, path, hint }, context.signal);
}

function urlOf({ config, portOffset }: RelayerPlace): string {
  if (config === undefined) return `http://127.0.0.1:${portsAt(portOffset).relayer}`;
  return httpUrl(loadDaemonConfig(relayerConfigKind(), config).config.http.listen);
}
