import { Command, Option } from "commander";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import { isRecord } from "../../platform/base/json.ts";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { askDaemon } from "../../platform/cli/daemon-request.ts";
import { daemonUrlOption } from "../../platform/cli/options.ts";
import { formatOptions, printReport, type ReportFormatOptions } from "../../platform/cli/print-report.ts";
import { paragraph } from "../../platform/report/blocks.ts";
import type { Report, ReportOutcome } from "../../platform/report/document.ts";
import { parseRelayerNow, relayerWhyReport } from "../../relayer/report/why-relayer.ts";
import { type OracleOptions, oracleOptions, readNow } from "../../watchdog/cli/oracle-source.ts";
import { whyReport } from "../../watchdog/report/status-report.ts";

type Options = OracleOptions & ReportFormatOptions;

const NAMES = { watchdog: "the oracle watchdog", relayer: "the relayer" } as const;

type DaemonKind = keyof typeof NAMES;

/** `relaywatch why`: reports on the selected daemon or, by default, on the watchdog and the relayer on this machine. */
export function whyCommand(context: CliContext): Command {
  const command = new Command().action((options: Options) => why(options, context));
  for (const option of oracleOptions())
    command.addOption(
      option.long === "--config"
        ? new Option(
            "--config <file>",
            "the configuration of the watchdog or relayer to query; default: both on this machine",
          ).conflicts("url")
        : option,
    );
  command.addOption(daemonUrlOption("--url <url>", "the HTTP API of the watchdog or relayer to query"));
  for (const option of formatOptions()) command.addOption(option);
  return command;
}

async function why(options: Options, context: CliContext): Promise<void> {
  const { url, config, portOffset } = options;
  const ofRelayer = async (at: string, hint: string): Promise<Report> => {
    const asked = { daemon: NAMES.relayer, url: at, path: "/api/status", hint };
    return relayerWhyReport(parseRelayerNow(await askDaemon(asked, context.signal)));
  };
  const ofWatchdog = async (): Promise<Report> => whyReport(await readNow(options, context));
  if (url !== undefined) {
    const hint = "select another with --url";
    const asked = { daemon: "the daemon", url, path: "/api/status", hint };
    const status = await askDaemon(asked, context.signal);
    // A status with queries comes from a relayer.
    const isRelayer = isRecord(status) && Array.isArray(status["queries"]);
    return printReport(
      isRelayer ? relayerWhyReport(parseRelayerNow(status)) : await ofWatchdog(),
      options,
      context,
    );
  }
  if (config !== undefined) {
    const at = await relayerUrlIn(config);
    const hint = `start it with relaywatch relayer start --config ${config}`;
    return printReport(await (at === undefined ? ofWatchdog() : ofRelayer(at, hint)), options, context);
  }
  const ports = portsAt(portOffset);
  const found = await Promise.all([
    whatSays("watchdog", ports.watchdog, ofWatchdog),
    // Skip the relayer if `--validator` is given, because only a watchdog reports on validators.
    ...(options.validator === undefined
      ? [whatSays("relayer", ports.relayer, () => ofRelayer(`http://127.0.0.1:${ports.relayer}`, HINT))]
      : []),
  ]);
  printReport(joined(found), options, context);
}

const HINT =
  "start relaywatch up or relaywatch relayer start, or select another relayer with --url or --config";

/** Returns the relayer's URL from its configuration file, or undefined if the file configures a watchdog. */
async function relayerUrlIn(file: string): Promise<string | undefined> {
  // Import the schemas only when needed, because loading them takes longer than the rest of the command.
  const { kindOf } = await import("./config.ts");
  const { readConfigText } = await import("../../platform/config/config.ts");
  if (kindOf(readConfigText(file)) !== "icq-relayer") return undefined;
  const { configuredUrl } = await import("../../relayer/cli/api-commands.ts");
  return configuredUrl(file);
}

/** A daemon's report, or the error if the daemon did not respond at its default address. */
interface Said {
  readonly kind: DaemonKind;
  readonly host: string;
  readonly report: Report | CliError;
}

async function whatSays(kind: DaemonKind, port: number, read: () => Promise<Report>): Promise<Said> {
  const report = await read().catch((error: unknown) => {
    if (error instanceof CliError && error.facts.exitCode === EXIT.unseen) return error;
    throw error;
  });
  return { kind, host: `127.0.0.1:${port}`, report };
}

/**
 * Joins the daemons' reports into one report, which shows a problem if any of them does. A daemon that does not respond is not
 * treated as a problem, because not every machine runs both daemons.
 */
function joined(all: readonly Said[]): Report {
  const reports = all.flatMap(({ report }) => (report instanceof CliError ? [] : [report]));
  const [first] = reports;
  const [failed] = all;
  if (first === undefined) {
    const texts = all.flatMap(({ report }) => (report instanceof CliError ? [report.message] : []));
    throw new CliError(
      EXIT.unseen,
      texts.join("; "),
      failed?.report instanceof CliError ? { cause: failed.report } : {},
    );
  }
  const outcomes = reports.map(({ outcome }) => outcome);
  const outcome = (["problem", "unseen"] satisfies readonly ReportOutcome[]).find((one) =>
    outcomes.includes(one),
  );
  const asked = all.map(
    ({ kind, host, report }) =>
      `${NAMES[kind]} at ${host}${report instanceof CliError ? `, with no result: ${report.message}` : ""}`,
  );
  return {
    title: first.title,
    outcome: outcome ?? "fine",
    blocks: [...paragraph(`Asked: ${asked.join("; and ")}.`), ...reports.flatMap(({ blocks }) => blocks)],
    data: Object.assign({}, ...reports.map(({ data }) => data), {
      asked: all.map(({ kind, host, report }) => ({
        daemon: kind,
        host,
        error: report instanceof CliError ? report.message : null,
      })),
    }),
    csv: { columns: first.csv.columns, rows: reports.flatMap(({ csv }) => csv.rows) },
  };
}
