import { Command, InvalidArgumentError, Option } from "commander";
import { onAbort, withTimeout } from "../../platform/base/abort.ts";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import type { LogLevel } from "../../platform/base/logger.ts";
import { supervise, throwFirst } from "../../platform/base/service.ts";
import { counted } from "../../platform/base/text.ts";
import { type CliContext, jsonOption } from "../../platform/cli/cli-context.ts";
import { printResult } from "../../platform/cli/print-response.ts";
import { logLevelOption } from "../../platform/cli/options.ts";
import { parseDurationMs } from "../../platform/config/setting-texts.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import { createMetricsRegistry } from "../../platform/process/metrics.ts";
import { createRelayer, type Relayer } from "../create-relayer.ts";
import type { QueryView } from "../health/relayer-status.ts";
import {
  addRelayerConfigOptions,
  queryIdsOption,
  type RelayerConfigOptions,
  relayerContext,
  selectRelayerConfig,
} from "./relayer-config-options.ts";

interface Options extends RelayerConfigOptions {
  readonly query?: readonly bigint[];
  readonly timeout: number;
  readonly logLevel: LogLevel;
  readonly json?: true;
}

export function onceCommand(context: CliContext): Command {
  return addRelayerConfigOptions(new Command())
    .addOption(queryIdsOption())
    .addOption(
      new Option("--timeout <duration>", "how long the command may take")
        .default(120_000, "2m")
        .argParser((text) => {
          const ms = parseDurationMs(text);
          if (ms === undefined) throw new InvalidArgumentError('expected a duration, e.g. "2m"');
          return ms;
        }),
    )
    .addOption(logLevelOption("warn"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Answers each query once, even if it is not due. A connection's KV queries share one remote height. Prints one line per query. Exits 0 if every query has a result, 1 if a query failed, and 75 if a query was not answered in time.`,
    )
    .action((options: Options) => runOnce(options, context));
}

const POLL_MS = 50;

async function runOnce(options: Options, context: CliContext): Promise<void> {
  const selected = await selectRelayerConfig(options, context);
  const { config } = selected;
  const daemon = await relayerContext(selected, options.logLevel, context);
  const ids = options.query ?? config.queries.ids;
  // Use a free port, because a daemon with a different state directory may already use the configured port.
  const http = { ...config.http, listen: { host: "127.0.0.1", port: 0 } };
  const once = { ...config, http, queries: { ...config.queries, ids: [...ids] } };
  const metrics = createMetricsRegistry({
    build: daemon.build,
    program: "icq-relayer",
    processMetrics: false,
  });
  const relayer = await createRelayer(once, metrics, daemon);
  const stop = new AbortController();
  const unwatch = onAbort(context.signal, (reason) => stop.abort(reason));
  const ended = supervise(relayer.services, stop.signal, daemon.logger);
  try {
    // An invalid setting makes a service fail, which ends the run.
    const failed = ended.then(throwFirst);
    await Promise.race([
      answerAll(relayer, ids, { ...daemon, signal: stop.signal }, options.timeout),
      failed,
    ]);
    report(relayer, options, context);
  } finally {
    unwatch();
    stop.abort(DONE);
    await ended;
    await relayer.close();
  }
}

/** Answers every query once, or as many queries as the timeout allows. */
async function answerAll(
  relayer: Relayer,
  ids: readonly bigint[],
  { clock, signal }: DaemonContext,
  timeoutMs: number,
): Promise<void> {
  await withTimeout(timeoutMs, clock, signal, async (inner) => {
    while (!relayer.status().loaded) await clock.sleep(POLL_MS, inner);
    requireServed(relayer, ids);
    relayer.request(relayer.status().queries.map(({ id }) => id));
    const startMs = clock.monotonicMs();
    while (relayer.status().queries.some(({ isRequested, error }) => isRequested && error === undefined)) {
      // Leases are shorter than `STANDBY_MS`, so a dead process's lease has expired by now.
      if (isStandby(relayer) && clock.monotonicMs() - startMs > STANDBY_MS) return;
      await clock.sleep(POLL_MS, inner);
    }
  });
}

/** Maximum time that a standby waits for another process's lease to expire. */
const STANDBY_MS = 15_000;

function isStandby(relayer: Relayer): boolean {
  return relayer.status().gate.role === "standby";
}

const DONE = new Error("every query was tried once");

function requireServed(relayer: Relayer, ids: readonly bigint[]): void {
  const known = new Set(relayer.status().queries.map(({ id }) => id));
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length === 0) return;
  throw new CliError(
    EXIT.fatal,
    `not served: ${unknown.join(", ")}; check the ids, and the configuration's connections, owners and types`,
  );
}

function report(relayer: Relayer, options: Options, context: CliContext): void {
  const { queries } = relayer.status();
  const outcomes = queries.map((query) => ({
    id: query.id.toString(),
    failed: query.error !== undefined,
    outcome: outcomeOf(query),
  }));
  const text = outcomes.map(({ id, outcome }) => `query ${id}: ${outcome}`).join("\n");
  if (outcomes.length > 0 || options.json) printResult({ value: outcomes, text }, options, context);
  const failed = queries.filter(({ error }) => error !== undefined).length;
  if (failed > 0) throw new CliError(EXIT.fatal, `${failed} of ${queries.length} queries failed`);
  const open = queries.filter(({ isRequested, error }) => isRequested && error === undefined).length;
  if (open > 0 && isStandby(relayer))
    throw new CliError(
      EXIT.tryAgain,
      `another process has this signer's lease and submits its results: ${relayer.status().gate.holder ?? "name unknown"}; stop it first, or let it answer the queries`,
    );
  if (open > 0 || !relayer.status().loaded)
    throw new CliError(EXIT.tryAgain, `${open} of ${queries.length} queries had no result in time`);
}

function outcomeOf({ type, results, lastRemoteHeight, error, isRequested }: QueryView): string {
  if (error !== undefined) return `failed: ${error.code}: ${error.reason}`;
  if (isRequested) return "no result in time";
  if (type === "kv" && results === 0) return "answered by another relayer";
  return type === "kv"
    ? `answered at remote height ${lastRemoteHeight}`
    : `searched, ${counted(results, "transaction")} relayed`;
}
