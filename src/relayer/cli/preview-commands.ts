import pc from "picocolors";
import { Command } from "commander";
import { toBase64 } from "../../platform/base/bytes.ts";
import { CheckExit, CliError, errorText, EXIT } from "../../platform/base/errors.ts";
import { isRecord, type JsonObject, type JsonValue, stringifyJson } from "../../platform/base/json.ts";
import { type CliContext, jsonOption } from "../../platform/cli/cli-context.ts";
import { printResponse } from "../../platform/cli/print-response.ts";
import { queryIdArgument } from "../../platform/cli/options.ts";
import { cellText, column, fieldAt, formatTable } from "../../platform/cli/table.ts";
import { type Finding, matrixText } from "../doctor/endpoint-matrix.ts";
import { runDoctor } from "../doctor/run-doctor.ts";
import { openPreview, type Preview, servedQueries } from "../preview/open-preview.ts";
import {
  type Comparison,
  type KvPreview,
  previewKv,
  previewTx,
  type TxComparison,
  type TxPreview,
} from "../preview/preview-results.ts";
import {
  addRelayerConfigOptions,
  queryIdsOption,
  type RelayerConfigOptions,
  relayerContext,
  selectRelayerConfig,
} from "./relayer-config-options.ts";
import { readRelayer, type RelayerApiOptions, urlOption } from "./api-commands.ts";

interface DryRunOptions extends RelayerConfigOptions {
  readonly query?: readonly bigint[];
  readonly json?: true;
}

export function dryRunCommand(context: CliContext): Command {
  return addRelayerConfigOptions(new Command())
    .addOption(queryIdsOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Does everything except broadcast, so it can run beside another relayer. "before" compares with the other relayer's results.
For a KV query, it compares the last result on the chain with the remote state at its height. For a TX query, it checks which of the found transactions the chain has received; "differs" means that one is missing although a later one was received. "same" means that this relayer would have sent the same. Exits 1 if a query cannot be answered or differs.`,
    )
    .action((options: DryRunOptions) => dryRun(options, context));
}

/** Runs `work` with a preview of the selected configuration, then closes the preview. */
async function withPreview<T>(
  options: RelayerConfigOptions,
  context: CliContext,
  work: (preview: Preview) => Promise<T>,
): Promise<T> {
  const selected = await selectRelayerConfig(options, context);
  const preview = await openPreview(selected.config, await relayerContext(selected, "error", context));
  try {
    return await work(preview);
  } finally {
    preview.close();
  }
}

function dryRun(options: DryRunOptions, context: CliContext): Promise<void> {
  return withPreview(options, context, async (preview) => {
    const rows = await previewAll(preview, options.query ?? [], context.signal);
    context.print(options.json ? stringifyJson(rows, 2) : formatTable(PREVIEW_COLUMNS, rows));
    const bad = rows.filter(
      ({ outcome, before }) => (outcome !== "accepted" && outcome !== "answered") || before === "differs",
    ).length;
    if (bad > 0)
      throw new CliError(EXIT.fatal, `${bad} of ${rows.length} queries differ or cannot be answered`);
  });
}

const PREVIEW_COLUMNS = [
  column("id", "id"),
  column("type", "type"),
  column("connection", "connection_id"),
  column("remote height", "remote_height"),
  column("outcome", "outcome"),
  column("results", "results"),
  column("gas", "gas"),
  column("callback", "callback_gas"),
  column("before", "before"),
  column("reason", "reason"),
];

type PreviewRow = ReturnType<typeof kvPreviewJson> | ReturnType<typeof txPreviewJson>;

async function previewAll(
  preview: Preview,
  ids: readonly bigint[],
  signal: AbortSignal,
): Promise<readonly (PreviewRow & JsonValue)[]> {
  const rows: (PreviewRow & JsonValue)[] = [];
  for (const connection of preview.connections) {
    const queries = await servedQueries(preview, connection.id, ids, signal);
    const kv: readonly KvPreview[] = await previewKv(
      preview,
      connection,
      queries.filter(({ type }) => type === "kv"),
      signal,
    );
    rows.push(...kv.map(kvPreviewJson));
    for (const query of queries.filter(({ type }) => type === "tx")) {
      const one: TxPreview = await previewTx(preview, connection, query, signal);
      rows.push(txPreviewJson(one));
    }
  }
  return rows;
}

interface InspectOptions extends Omit<RelayerApiOptions, "portOffset">, RelayerConfigOptions {
  readonly verbose?: true;
}

export function inspectCommand(context: CliContext): Command {
  return addRelayerConfigOptions(new Command())
    .addOption(urlOption("--url <url>"))
    .addOption(jsonOption())
    .addArgument(queryIdArgument())
    .option("--verbose", "also print the query's keys, ten attempts and the proven values")
    .addHelpText(
      "after",
      `
"state" and "attempts" come from the running relayer (--url). "proof" is created now from the configuration and is not sent. Exits 1 if there is neither a state nor a proof.`,
    )
    .action((id: bigint, options: InspectOptions) => inspect(id, options, context));
}

async function inspect(id: bigint, options: InspectOptions, context: CliContext): Promise<void> {
  const [state, attempts, proof] = await Promise.all([
    readPart(() => readRelayer(options, `/api/queries/${id}`, context.signal), context.signal),
    readPart(
      () => readRelayer(options, `/api/attempts?query_id=${id}&limit=10`, context.signal),
      context.signal,
    ),
    readPart(() => previewOne(id, options, context), context.signal),
  ]);
  const output = { id: `${id}`, state, attempts, proof };
  if (options.json) context.print(stringifyJson(output, 2));
  else if (options.verbose) printResponse(JSON.parse(stringifyJson(output)), {}, context);
  else context.print(inspectText(JSON.parse(stringifyJson(output))));
  if (isFailed(state) && isFailed(proof)) throw new CheckExit(EXIT.fatal);
}

/** Number of attempts shown without --verbose. */
const SHOWN_ATTEMPTS = 3;

/** Formats a query's state with its reason, the query's last attempts, and its proof. */
function inspectText(output: JsonValue): string {
  const at = (path: string, part: JsonValue = output): string => cellText(fieldAt(part, path));
  const has = (path: string): boolean => !["-", ""].includes(at(path));
  const state = has("state.id")
    ? [
        `query ${at("id")}: ${at("state.state")}${at("state.overdue") === "true" ? ", overdue" : ""}`,
        ...(has("state.error.code")
          ? [
              `reason: ${at("state.error.code")}: ${at("state.error.reason")}; failures: ${at("state.failures")}, next try in ${at("state.retry_in_ms")} ms`,
            ]
          : []),
        ...(has("state.unanswerable") && at("state.late_blocks") !== "0"
          ? [`no result is possible: ${at("state.unanswerable")}`]
          : []),
        `late: ${at("state.late_blocks")} blocks (limit ${at("state.overdue_limit_blocks")}), ${at("state.late_seconds")} s`,
        `last result: local height ${at("state.last_local_height")}, remote height ${at("state.last_remote_height")}, ${at("state.result_age_blocks")} blocks ago`,
        `query: ${at("state.type")} over ${at("state.connection_id")}, every ${at("state.update_period")} blocks, owner ${at("state.owner")}`,
        `since startup: ${at("state.results")} results, ${at("state.gas")} gas, fee ${at("state.fee")}`,
      ]
    : [`query ${at("id")}: state unknown: ${at("state.error")}`];
  const attempts = fieldAt(output, "attempts");
  const lines = Array.isArray(attempts)
    ? attempts
        .slice(0, SHOWN_ATTEMPTS)
        .map((one: JsonValue) =>
          withReason(
            `  ${at("started_at", one)} ${at("outcome", one)}, block ${at("local_height", one)}, ${at("gas", one)} gas, fee ${at("fee", one)}`,
            at("reason", one),
          ),
        )
    : [`  ${at("attempts.error")}`];
  const proof = has("proof.outcome")
    ? withReason(
        `${at("proof.outcome")} at remote height ${at("proof.remote_height")}, ${at("proof.gas")} gas, ${at("proof.callback_gas")} of it the callback, last result: ${at("proof.before")}`,
        at("proof.reason"),
      )
    : at("proof.error");
  return [...state, lines.length === 0 ? "attempts: none" : "attempts:", ...lines, `proof: ${proof}`].join(
    "\n",
  );
}

function withReason(text: string, reason: string): string {
  return reason === "-" ? text : `${text}, ${reason}`;
}

function isFailed(part: unknown): boolean {
  return isRecord(part) && "error" in part && Object.keys(part).length === 1;
}

/** Reads one part of the output. Returns `{ error }` instead of rejecting, so that the command still shows the other parts. */
async function readPart(read: () => Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    signal.throwIfAborted();
    return { error: errorText(error) };
  }
}

function previewOne(id: bigint, options: InspectOptions, context: CliContext): Promise<JsonObject> {
  return withPreview(options, context, async (preview) => {
    for (const connection of preview.connections) {
      const [query] = await servedQueries(preview, connection.id, [id], context.signal);
      if (query?.type === "tx")
        return txPreviewJson(await previewTx(preview, connection, query, context.signal));
      const [kv] = query === undefined ? [] : await previewKv(preview, connection, [query], context.signal);
      if (kv !== undefined) return kvPreviewJson(kv);
    }
    return { error: "the configuration does not serve this query; check connections, owners and ids" };
  });
}

/** Converts a KV preview to JSON for `relayer dry-run` and `relayer inspect`. */
function kvPreviewJson({ query, at, outcome, other }: KvPreview) {
  const isAccepted = outcome.kind === "accepted";
  return {
    id: `${query.id}`,
    type: query.type,
    connection_id: query.connectionId,
    remote_height: `${at.height}`,
    outcome: outcome.kind,
    results: isAccepted ? 1 : 0,
    gas: isAccepted ? `${outcome.gas}` : null,
    callback_gas: isAccepted && outcome.callbackGas !== undefined ? `${outcome.callbackGas}` : null,
    bytes: isAccepted ? outcome.bytes : null,
    values: isAccepted
      ? outcome.values.map(({ storagePrefix, key, value }) => ({
          path: storagePrefix,
          key: toBase64(key),
          value: toBase64(value),
        }))
      : [],
    before: other.kind,
    before_height: other.kind === "none" ? null : `${other.at.height}`,
    reason: isAccepted ? comparisonText(other) : outcome.reason,
  };
}

function comparisonText(other: Comparison): string | null {
  if (other.kind === "unreadable") return `the last result cannot be compared: ${other.reason}`;
  if (other.kind !== "differs") return null;
  return `the last result, from remote height ${other.at.height}, differs in ${other.keys} keys`;
}

function txPreviewJson({ query, from, to, txs, other, reason }: TxPreview) {
  const sent = txs.filter((tx) => tx.reason === undefined);
  const failed = txs.find((tx) => tx.reason !== undefined);
  const isAccepted = reason === undefined && failed === undefined;
  return {
    id: `${query.id}`,
    type: query.type,
    connection_id: query.connectionId,
    remote_height: `${to}`,
    outcome: isAccepted ? "accepted" : "refused",
    results: sent.length,
    gas: `${sent.reduce((sum, { gas }) => sum + (gas ?? 0n), 0n)}`,
    searched_from: `${from}`,
    txs: txs.map((tx) => ({
      hash: tx.hash,
      height: `${tx.height}`,
      gas: tx.gas === undefined ? null : `${tx.gas}`,
      reason: tx.reason ?? null,
      received: tx.received ?? null,
    })),
    before: other.kind,
    reason: reason ?? (failed === undefined ? txComparisonText(other) : `${failed.hash}: ${failed.reason}`),
  };
}

function txComparisonText(other: TxComparison): string | null {
  if (other.kind === "unreadable")
    return `the chain's received transactions cannot be compared: ${other.reason}`;
  if (other.kind !== "differs") return null;
  const [first] = other.missing;
  return `the chain has later transactions but is missing ${other.missing.length} earlier ones, e.g. ${first}`;
}

interface DoctorOptions extends RelayerConfigOptions {
  readonly json?: true;
}

export function doctorCommand(context: CliContext): Command {
  return addRelayerConfigOptions(new Command())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nSends nothing. Exits 0 if no problem was found, 1 if there is a problem, and 3 if something could not be read.",
    )
    .action((options: DoctorOptions) => printFindings(options, context));
}

function printFindings(options: DoctorOptions, context: CliContext): Promise<void> {
  return withPreview(options, context, async (preview) => {
    const { findings, matrix } = await runDoctor(preview, context.signal);
    if (options.json) context.print(stringifyJson(findings.map(findingJson), 2));
    else {
      for (const finding of findings) context.print(findingText(finding, context.isTerminal));
      context.print(`\n${matrixText(matrix)}`);
    }
    requireHealthy(findings);
  });
}

function requireHealthy(findings: readonly Finding[]): void {
  const count = (outcome: Finding["outcome"]): number =>
    findings.filter((finding) => finding.outcome === outcome).length;
  const [problems, unseen] = [count("problem"), count("unseen")];
  if (problems > 0)
    throw new CliError(EXIT.fatal, `${problems} of ${findings.length} checks found a problem`);
  if (unseen > 0)
    throw new CliError(EXIT.unseen, `${unseen} of ${findings.length} checks could not be completed`);
}

function findingText({ subject, outcome, text, advice }: Finding, colours: boolean): string {
  const paint = pc.createColors(colours);
  const marks = {
    good: paint.green("good   "),
    advice: paint.yellow("advice "),
    problem: paint.red("PROBLEM"),
    unseen: paint.yellow("unseen "),
  };
  return `${marks[outcome]}  ${subject}: ${text}${advice === undefined ? "" : `\n         → ${advice}`}`;
}

function findingJson({ subject, outcome, text, advice }: Finding) {
  return { subject, verdict: outcome, text, advice: advice ?? null };
}
