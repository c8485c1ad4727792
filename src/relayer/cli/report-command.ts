import { Command, Option } from "commander";
import { DAY_MS } from "../../platform/base/time.ts";
import { systemClock } from "../../platform/base/clock.ts";
import { parseDuration, portOffsetOption } from "../../platform/cli/options.ts";
import { formatOptions, printReport, type ReportFormatOptions } from "../../platform/cli/print-report.ts";
import { relayerReport } from "../report/relayer-report.ts";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import { httpUrl } from "../../platform/config/config-fields.ts";
import { loadDaemonConfig } from "../../platform/config/daemon-config.ts";
import { relayerConfigKind } from "../config/relayer-config.ts";
import {
  parseAttempts,
  parseCosts,
  parseDeadLetters,
  parseKeyCounts,
  parseSummary,
  type RelayerData,
  readRelayerData,
} from "../report/relayer-data.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { askDaemon } from "../../platform/cli/daemon-request.ts";

interface ReportOptions extends ReportFormatOptions {
  readonly config?: string;
  readonly portOffset: number;
  readonly since: number;
}

/** `relaywatch report relayer`. */
export function relayerReportCommand(context: CliContext): Command {
  const command = new Command("relayer")
    .description("the relayer's results, their lateness, cost by owner, dead letters")
    .option("--config <file>", "the relayer's configuration; default: the localnet's relayer on this machine")
    .addOption(portOffsetOption())
    .addOption(
      new Option("--since <duration>", "report length").default(DAY_MS, "24h").argParser(parseDuration),
    );
  for (const option of formatOptions()) command.addOption(option);
  return command.action(async (options: ReportOptions) => {
    const toMs = systemClock.nowMs();
    const data = await readRelayer(options, { fromMs: toMs - options.since, toMs }, context);
    printReport(relayerReport(data), options, context);
  });
}

/** Options that select a relayer. */
interface RelayerPlace {
  readonly config?: string;
  readonly portOffset: number;
}

/** Reads the data of a time range from a relayer. Throws `CliError`, with exit code 3 when the relayer does not respond. */
async function readRelayer(
  place: RelayerPlace,
  range: { readonly fromMs: number; readonly toMs: number },
  context: CliContext,
): Promise<RelayerData> {
  const url = urlOf(place);
  const hint =
    place.config === undefined
      ? "start relaywatch up or relaywatch relayer start, or name another one with --config or --port-offset"
      : `start it with relaywatch relayer start --config ${place.config}`;
  const ask = (path: string): Promise<unknown> =>
    askDaemon({ daemon: "the relayer", url, path, hint }, context.signal);
  return readRelayerData(
    {
      find: async ({ sinceMs = 0, untilMs = range.toMs, limit }) => {
        const [since, until] = [sinceMs, untilMs].map((ms) => new Date(ms).toISOString());
        return parseAttempts(await ask(`/api/attempts?since=${since}&until=${until}&limit=${limit}`));
      },
      summary: async ({ fromMs, toMs, parts }) => {
        const [since, until] = [fromMs, toMs].map((ms) => new Date(ms).toISOString());
        return parseSummary(await ask(`/api/attempts/summary?since=${since}&until=${until}&parts=${parts}`));
      },
      costs: async ({ from, to }) => parseCosts(await ask(`/api/costs?from=${from}&to=${to}`)),
    },
    {
      deadLetters: parseDeadLetters(await ask("/unsuccessful-txs")),
      keys: parseKeyCounts(await ask("/api/queries")),
    },
    range,
  );
}

function urlOf({ config, portOffset }: RelayerPlace): string {
  if (config === undefined) return `http://127.0.0.1:${portsAt(portOffset).relayer}`;
  return httpUrl(loadDaemonConfig(relayerConfigKind(), config).config.http.listen);
}
