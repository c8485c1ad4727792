import { Command, Option } from "commander";
import { createMetricsRegistry } from "../../ops/metrics.ts";
import { onAbort, withTimeout } from "../../base/abort.ts";
import { EXIT } from "../../base/exit-codes.ts";
import type { LogLevel } from "../../base/logger.ts";
import { supervise } from "../../base/service.ts";
import { createRelayer, type Relayer } from "../../relayer/create-relayer.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { logLevelOption } from "../options.ts";
import { queryIdsOption } from "../query-ids-option.ts";
import {
  addRelayerConfigOptions,
  type RelayerConfigOptions,
  relayerContext,
  selectRelayerConfig,
} from "../relayer-config-options.ts";
import { parseDurationMs } from "../../ops/config-fields.ts";
import { InvalidArgumentError } from "commander";

interface Options extends RelayerConfigOptions {
  readonly query?: readonly bigint[];
  readonly timeout: number;
  readonly logLevel: LogLevel;
}

/** `relaywatch relayer once`. */
export function onceCommand(context: CliContext): Command {
  return addRelayerConfigOptions(new Command())
    .addOption(queryIdsOption())
    .addOption(
      new Option("--timeout <duration>", "longest run")
        .default(120_000, "2m")
        .argParser((text) => {
          const ms = parseDurationMs(text);
          if (ms === undefined) throw new InvalidArgumentError('a duration such as "2m" was expected');
          return ms;
        }),
    )
    .addOption(logLevelOption("warn"))
    .addHelpText(
      "after",
      `
Answers each query once, also one that is not due yet. KV queries of a connection share one remote height. Prints one line for
each query. Exits 0 when all have a result, 1 when one failed, and 75 when one is not answered in time.`,
    )
    .action((options: Options) => runOnce(options, context));
}

const POLL_MS = 50;

async function runOnce(options: Options, context: CliContext): Promise<void> {
  const selected = await selectRelayerConfig(options, context);
  const { config } = selected;
  const daemon = await relayerContext(selected, options.logLevel, context);
  const ids = options.query ?? config.queries.ids;
  // A free port: the daemon of this configuration may be running.
  const http = { ...config.http, listen: { host: "127.0.0.1", port: 0 } };
  const once = { ...config, http, queries: { ...config.queries, ids: [...ids] } };
  const metrics = createMetricsRegistry({ build: daemon.build, program: "icq-relayer", processMetrics: false });
  const relayer = await createRelayer(once, metrics, daemon);
  const stop = new AbortController();
  const unwatch = onAbort(context.signal, (reason) => stop.abort(reason));
  const done = supervise(relayer.services, stop.signal, daemon.logger);
  try {
    const answered = await withTimeout(options.timeout, daemon.clock, stop.signal, async (signal) => {
      const wanted = await whenLoaded(relayer, ids, () => daemon.clock.sleep(POLL_MS, signal));
      relayer.request(wanted);
      while (!isEnded(relayer, wanted)) await daemon.clock.sleep(POLL_MS, signal);
      return wanted;
    });
    report(relayer, answered ?? relayer.status().queries.map(({ id }) => id), context);
  } finally {
    unwatch();
    stop.abort(DONE);
    const [first] = await done;
    await relayer.close();
    if (first !== undefined) throw first.error;
  }
}

const DONE = new Error("every query was tried once");

/** Waits for the list of queries. Returns the ids to answer. Throws `CliError` for an id that is not served. */
async function whenLoaded(
  relayer: Relayer,
  ids: readonly bigint[],
  wait: () => Promise<void>,
): Promise<readonly bigint[]> {
  while (!relayer.status().loaded) await wait();
  const known = new Set(relayer.status().queries.map(({ id }) => id));
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0)
    throw new CliError(
      EXIT.fatal,
      `not served: ${unknown.join(", ")}; check the ids, and connections, owners and types of the configuration`,
    );
  return [...known];
}

/** Whether every query has a result of this run, or a failure. */
function isEnded(relayer: Relayer, ids: readonly bigint[]): boolean {
  const wanted = new Set(ids);
  return relayer
    .status()
    .queries.filter(({ id }) => wanted.has(id))
    .every((query) => query.results > 0 || query.error !== undefined || (query.type === "tx" && !query.isRequested));
}

function report(relayer: Relayer, ids: readonly bigint[], context: CliContext): void {
  const wanted = new Set(ids);
  const queries = relayer.status().queries.filter(({ id }) => wanted.has(id));
  let [failed, open] = [0, 0];
  for (const { id, type, results, lastRemoteHeight, error, isRequested } of queries) {
    if (error !== undefined) failed += 1;
    else if (isRequested) open += 1;
    const height = lastRemoteHeight === undefined ? "" : ` at remote height ${lastRemoteHeight}`;
    const outcome =
      error !== undefined
        ? `failed: ${error.code}: ${error.reason}`
        : isRequested
          ? "not answered in time"
          : type === "kv"
            ? `answered${height}`
            : `searched, ${results} transactions relayed`;
    context.print(`query ${id}: ${outcome}`);
  }
  if (failed > 0) throw new CliError(EXIT.fatal, `${failed} of ${queries.length} queries failed`);
  if (open > 0) throw new CliError(EXIT.tryAgain, `${open} of ${queries.length} queries were not answered in time`);
}
