import { type Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { parseActiveAlerts } from "../report/active-alerts.ts";
import { type DataRange, parseValidatorData } from "../report/report-data.ts";
import type { OracleNow } from "../report/status-report.ts";
import type { ValidatorData } from "../report/validator-data.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { askDaemon, type DaemonRequest } from "../../platform/cli/daemon-request.ts";
import { portOffsetOption } from "../../platform/cli/options.ts";
import { controlToken, controlTokenFile, readTokenFile } from "../../platform/cli/state-home.ts";
import { formatOptions } from "../../platform/cli/print-report.ts";
import { tokenFileIn } from "../../platform/process/private-file.ts";
import type { WatchdogDaemonConfig } from "../config/config.ts";
import { systemClock } from "../../platform/base/clock.ts";
import { monthOf, monthsBefore } from "../../platform/base/month.ts";

export interface OracleOptions {
  readonly config?: string;
  /** The base URL of the watchdog's API, as an alternative to a configuration file. */
  readonly url?: string;
  readonly portOffset: number;
  /** The validator to report on. The default is all validators. */
  readonly validator?: string;
}

export function oracleOptions(): readonly Option[] {
  return [
    ...placeOptions(),
    new Option("--validator <name>", "validator to select; default: all validators"),
  ];
}

/** Adds the options that select a watchdog, a validator and the output format. */
export function addReportOptions(command: Command): Command {
  for (const option of [...oracleOptions(), ...formatOptions()]) command.addOption(option);
  return command;
}

/** Returns the options `--config` and `--port-offset`, which select a watchdog. */
export function placeOptions(): readonly Option[] {
  return [
    new Option(
      "--config <file>",
      "the configuration of the watchdog to query; default: the localnet's watchdog on this machine",
    ),
    portOffsetOption(),
  ];
}

/** Returns the URL and the token of the selected watchdog, with hints for error messages. */
async function placeOf({ config, url, portOffset }: OracleOptions) {
  if (url !== undefined) return { url, token: () => undefined, tokenHint: "", hint: "or pass another --url" };
  if (config === undefined)
    return {
      url: `http://127.0.0.1:${portsAt(portOffset).watchdog}`,
      token: () => controlToken(portOffset),
      tokenHint: `the token in ${controlTokenFile(portOffset)} is for the localnet; pass the configuration with --config`,
      hint: "start relaywatch up or relaywatch watchdog start, or select another watchdog with --config or --port-offset",
    };
  const { listen, token, stateDir } = await watchdogConfig(config);
  const host = listen.host.includes(":") ? `[${listen.host}]` : listen.host;
  return {
    url: `http://${UNSPECIFIED.has(host) ? "127.0.0.1" : host}:${listen.port}`,
    token: () => token ?? (stateDir === undefined ? undefined : readTokenFile(tokenFileIn(stateDir))),
    tokenHint: tokenHintOf(config, token, stateDir),
    hint: `start it with relaywatch watchdog start --config ${config}`,
  };
}

/** Reads the watchdog's configuration file. If `file` is undefined, returns the default configuration. */
export async function watchdogConfig(file: string | undefined): Promise<WatchdogDaemonConfig> {
  // Import the schema on demand, because the import takes longer than the rest of the command.
  const { watchdogConfigKind, watchdogConfigSchema } = await import("../config/config.ts");
  if (file === undefined) return watchdogConfigSchema.parse({});
  const { loadDaemonConfig } = await import("../../platform/config/daemon-config.ts");
  return loadDaemonConfig(watchdogConfigKind, file).config;
}

function tokenHintOf(file: string, token: Secret | undefined, stateDir: string | undefined): string {
  if (token !== undefined) return `http.token from ${file} was sent`;
  if (stateDir !== undefined) return `the token in ${tokenFileIn(stateDir)} was sent`;
  return `${file} sets neither http.token nor state_dir`;
}

/** Wildcard addresses, on which a server listens for connections to any of the machine's addresses. */
const UNSPECIFIED: ReadonlySet<string> = new Set(["0.0.0.0", "[::]"]);

export type WatchdogCall = Pick<DaemonRequest, "path" | "method" | "body" | "accepts" | "deadlineMs">;

/** Sends a request to the watchdog. Requests that make changes include the token. Throws `CliError` if the request fails. */
export async function askWatchdog(
  call: WatchdogCall,
  options: OracleOptions,
  context: CliContext,
): Promise<unknown> {
  const { url, token, tokenHint, hint } = await placeOf(options);
  const secret = call.method === undefined ? undefined : token();
  const sent = { ...call, ...(secret === undefined ? {} : { token: secret }) };
  return askDaemon({ ...sent, daemon: "the oracle watchdog", url, hint, tokenHint }, context.signal);
}

/** The watchdog's data for a report. All times come from the watchdog's clock. */
export interface OracleState extends Omit<OracleNow, "alerts"> {
  readonly range: DataRange;
}

const dataReply = z.object({
  now: z.number(),
  polled_at: z.number().nullable(),
  // Older watchdogs don't send `store_error`.
  store_error: z.string().nullable().default(null),
  from: z.number(),
  to: z.number(),
  validators: z.array(z.unknown()),
});

/**
 * Reads the watchdog's data for a range. The default range is the current month. Throws `CliError` with exit code 3 if the watchdog
 * is unreachable or has no validators yet, or with exit code 2 if the validator is unknown.
 */
export async function readOracle(
  options: OracleOptions,
  context: CliContext,
  range: DataRange | { readonly sinceMs: number } | undefined,
): Promise<OracleState> {
  const path = `/api/report-data${queryOf(range)}`;
  const reply = dataReply.parse(await askWatchdog({ path }, options, context));
  const all = reply.validators.map(parseValidatorData);
  return {
    nowMs: reply.now,
    polledAtMs: reply.polled_at ?? undefined,
    storeProblem: reply.store_error ?? undefined,
    range: { fromMs: reply.from, toMs: reply.to },
    validators: selected(all, options.validator),
  };
}

function queryOf(range: DataRange | { readonly sinceMs: number } | undefined): string {
  if (range === undefined) return "";
  return "sinceMs" in range ? `?since=${range.sinceMs}` : `?from=${range.fromMs}&to=${range.toMs}`;
}

function selected(all: readonly ValidatorData[], wanted: string | undefined): readonly ValidatorData[] {
  if (all.length === 0)
    throw new CliError(
      EXIT.unseen,
      "the oracle watchdog has not read a node yet; see the sources on its page",
    );
  const validators = all.filter(({ ledger }) => (wanted ?? ledger.validator) === ledger.validator);
  if (validators.length > 0) return validators;
  const names = all.map(({ ledger }) => ledger.validator).join(", ");
  throw new CliError(EXIT.usage, `the oracle watchdog has no validator ${wanted}; it has ${names}`);
}

/** Reads the current month's data and the pending and firing alerts. */
export async function readNow(options: OracleOptions, context: CliContext): Promise<OracleNow> {
  const alerts = parseActiveAlerts(await askWatchdog({ path: "/api/alerts" }, options, context));
  const state = await readOracle(options, context, undefined);
  return {
    ...state,
    alerts: alerts.filter(({ validator }) => validator === (options.validator ?? validator)),
  };
}

/** Creates the option `--month MONTH`, which accepts months such as "2026-10". If the option is absent, callers use {@link lastMonth}. */
export function monthOption(): Option {
  return new Option("--month <month>", "the month, e.g. 2026-10; default: the last closed month").argParser(
    (text) => {
      if (/^20\d\d-(?:0[1-9]|1[0-2])$/.test(text)) return text;
      throw new InvalidArgumentError("expected a month, e.g. 2026-10");
    },
  );
}

/** Returns the calendar month before the current month (UTC), such as "2026-10". */
export function lastMonth(): string {
  const now = monthOf(systemClock.nowMs());
  return monthsBefore(now, 1)[0] ?? now;
}
