import { Command, Option } from "commander";
import { request } from "undici";
import { withDeadline } from "../../platform/base/abort.ts";
import { CliError, errorText, EXIT } from "../../platform/base/errors.ts";
import {
  isRecord,
  type JsonObject,
  type JsonValue,
  stringifyJson,
  valueAt,
} from "../../platform/base/json.ts";
import { readTextBody } from "../../platform/base/read-text.ts";
import { type CliContext, jsonOption } from "../../platform/cli/cli-context.ts";
import { logLevelCommand, reloadCommand } from "../../platform/cli/control-output.ts";
import { controlToken, controlTokenFile, readSecret, readTokenFile } from "../../platform/cli/state-home.ts";
import { cellText, column, fieldAt, formatTable } from "../../platform/cli/table.ts";
import { QUERY_STATUSES, type QueryStatus } from "../registry/query-state.ts";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { httpUrl, withoutSecrets } from "../../platform/config/config-fields.ts";
import { loadDaemonConfig } from "../../platform/config/daemon-config.ts";
import { askDaemon, type DaemonRequest } from "../../platform/cli/daemon-request.ts";
import { daemonUrlOption, portOffsetOption } from "../../platform/cli/options.ts";
import { tokenFileIn } from "../../platform/process/private-file.ts";
import { relayerConfigKind } from "../config/relayer-config.ts";

interface QueriesOptions extends RelayerApiOptions {
  readonly state?: QueryStatus;
  readonly overdue?: true;
}

export function queriesCommand(context: CliContext): Command {
  return addRelayerApiOptions(new Command())
    .addOption(new Option("--state <state>", "list only queries in this state").choices(QUERY_STATUSES))
    .option("--overdue", "list only overdue queries")
    .action((options: QueriesOptions) => listQueries(options, context));
}

const QUERY_COLUMNS = [
  column("id", "id"),
  column("type", "type"),
  column("connection", "connection_id"),
  column("period", "update_period"),
  column("local height", "last_local_height"),
  column("remote height", "last_remote_height"),
  column("result age", "result_age_blocks"),
  column("late", "late_blocks"),
  column("results", "results"),
  column("gas", "gas"),
  { title: "owner", cell: (row: JsonValue) => shortAddress(cellText(fieldAt(row, "owner"))) },
  column("state", "state"),
  {
    title: "error",
    cell: (row: JsonValue) =>
      fieldAt(row, "error") === null
        ? "-"
        : `${cellText(fieldAt(row, "error.code"))}: ${cellText(fieldAt(row, "error.reason"))}`,
  },
];

async function listQueries(options: QueriesOptions, context: CliContext): Promise<void> {
  const response = await readRelayer(options, "/api/queries", context.signal);
  const all = Array.isArray(response) ? response.filter(isJson) : [];
  const rows = all.filter(
    (row) =>
      (options.state === undefined || fieldAt(row, "state") === options.state) &&
      (options.overdue === undefined || fieldAt(row, "overdue") === true),
  );
  context.print(options.json ? stringifyJson(rows, 2) : formatTable(QUERY_COLUMNS, rows));
}

function shortAddress(address: string): string {
  return address.length > 20 ? `${address.slice(0, 12)}…${address.slice(-6)}` : address;
}

function isJson(value: unknown): value is JsonValue {
  return isRecord(value);
}

interface ResubmitOptions extends RelayerApiOptions {
  readonly all?: true;
  readonly tokenFile?: string;
}

function ask(
  asked: RelayerRequest,
  options: RelayerControlOptions,
  { signal }: CliContext,
): Promise<unknown> {
  return askRelayer(asked, options, signal);
}

export function relayerReloadCommand(context: CliContext): Command {
  return reloadCommand(addRelayerControlOptions(new Command()), ask, context);
}

export function relayerLogLevelCommand(context: CliContext): Command {
  return logLevelCommand(addRelayerControlOptions(new Command()), ask, context);
}

export function deadLettersCommand(context: CliContext): Command {
  const list = addRelayerApiOptions(new Command("list"))
    .description("list the dead letters, newest first")
    .action((options: RelayerApiOptions) => listLetters(options, context));
  const change = (name: string, description: string, argument: string, work: typeof resubmitLetters) =>
    addRelayerApiOptions(new Command(name))
      .description(description)
      .argument("[tx...]", argument)
      .option("--all", "select all dead letters")
      .option("--token-file <file>", "the file that contains the relayer's bearer token")
      .action((txs: readonly string[], options: ResubmitOptions) => work(txs, options, context));
  const resubmit = change(
    "resubmit",
    "read, prove and send dead letters again",
    "the transactions to send, as <query-id>/<hash>",
    resubmitLetters,
  );
  const acknowledge = change(
    "acknowledge",
    "remove dead letters that do not need to be sent again",
    "the transactions to acknowledge, as <query-id>/<hash>",
    acknowledgeLetters,
  );
  return new Command().addCommand(list).addCommand(resubmit).addCommand(acknowledge);
}

const LETTER_COLUMNS = [
  column("query", "query_id"),
  column("hash", "submitted_tx_hash"),
  column("time", "error_time"),
  column("reason", "message"),
];

/** Prints the dead letters, newest first. Throws `CliError` if the relayer's API cannot be read. */
export async function listLetters(options: RelayerApiOptions, context: CliContext): Promise<void> {
  const letters = await readLetters(options, context);
  context.print(options.json ? stringifyJson(letters, 2) : formatTable(LETTER_COLUMNS, letters));
}

async function readLetters(options: RelayerApiOptions, context: CliContext): Promise<readonly JsonValue[]> {
  const response = await readRelayer(options, "/unsuccessful-txs", context.signal);
  return Array.isArray(response) ? response.filter(isJson) : [];
}

interface TxName {
  readonly query_id: number;
  readonly hash: string;
}

/** Maximum wait for one resubmitted transaction, which is longer than the relayer's own wait. */
const DEADLINE_MS = 180_000;

const MAX_REPLY_BYTES = 1_048_576;

async function resubmitLetters(
  names: readonly string[],
  options: ResubmitOptions,
  context: CliContext,
): Promise<void> {
  const txs = await namedLetters(names, options, context);
  const sent: JsonObject[] = [];
  for (const tx of txs) {
    await sendLetter(tx, { url: relayerUrl(options), tokenFile: options.tokenFile }, context.signal);
    // The hash alone does not identify a dead letter, because two queries may match the same transaction.
    const left = (await readLetters(options, context)).find((letter) => isNamed(letter, tx));
    const reason = left === undefined ? undefined : cellText(fieldAt(left, "message"));
    sent.push({ ...tx, included: reason === undefined, reason: reason ?? null });
    const outcome = reason === undefined ? "included" : `failed again: ${reason}`;
    if (!options.json) context.print(`${tx.query_id}/${tx.hash} ${outcome}`);
  }
  if (options.json) context.print(stringifyJson(sent, 2));
}

async function acknowledgeLetters(
  names: readonly string[],
  options: ResubmitOptions,
  context: CliContext,
): Promise<void> {
  const txs = await namedLetters(names, options, context);
  const place = { url: relayerUrl(options), tokenFile: options.tokenFile };
  if (txs.length > 0) await postLetters("/api/dead-letters/acknowledge", txs, place, context.signal);
  if (options.json) context.print(stringifyJson({ acknowledged: txs.map((tx) => ({ ...tx })) }, 2));
  else for (const { query_id: id, hash } of txs) context.print(`${id}/${hash} acknowledged`);
}

async function namedLetters(
  names: readonly string[],
  options: ResubmitOptions,
  context: CliContext,
): Promise<readonly TxName[]> {
  if ((names.length === 0) === (options.all === undefined))
    throw new CliError(EXIT.usage, "specify transactions as <query-id>/<hash>, or pass --all");
  return options.all === undefined
    ? names.map(parseLetterName)
    : (await readLetters(options, context)).flatMap((letter) => nameOf(letter) ?? []);
}

/** Parses `<query-id>/<hash>`. Throws `CliError`. */
export function parseLetterName(text: string): TxName {
  const match = /^(\d{1,15})\/([0-9a-fA-F]{64})$/.exec(text);
  if (match === null) throw new CliError(EXIT.usage, `expected <query-id>/<hash>, got ${text}`);
  return { query_id: Number(match[1]), hash: (match[2] ?? "").toLowerCase() };
}

function nameOf(letter: JsonValue): TxName | undefined {
  if (!isRecord(letter)) return undefined;
  const { query_id, submitted_tx_hash: hash } = letter;
  return typeof query_id === "number" && typeof hash === "string" ? { query_id, hash } : undefined;
}

function isNamed(letter: JsonValue, tx: TxName): boolean {
  const name = nameOf(letter);
  return name?.query_id === tx.query_id && name.hash === tx.hash;
}

interface LetterPlace {
  readonly url: string;
  readonly tokenFile: string | undefined;
}

/** Resubmits a dead letter and waits until a block includes its transaction. Throws `CliError`. */
export function sendLetter(tx: TxName, place: LetterPlace, signal: AbortSignal): Promise<void> {
  return postLetters("/resubmit-txs", [tx], place, signal);
}

async function postLetters(
  path: string,
  txs: readonly TxName[],
  { url, tokenFile }: LetterPlace,
  signal: AbortSignal,
): Promise<void> {
  const headers =
    tokenFile === undefined ? {} : { authorization: `Bearer ${readTokenFile(tokenFile).reveal()}` };
  const { status, text } = await withDeadline("icq-relayer", DEADLINE_MS, signal, async (inner) => {
    const body = JSON.stringify({ txs });
    const response = await request(`${url}${path}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body,
      signal: inner,
      headersTimeout: DEADLINE_MS,
    });
    return { status: response.statusCode, text: await readTextBody(response.body, MAX_REPLY_BYTES) };
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new CliError(EXIT.unseen, `icq-relayer does not respond: ${errorText(error)}`);
  });
  if (status === 200) return;
  throw new CliError(EXIT.fatal, refusalText(status, text.trim(), tokenFile));
}

/** Returns an error message for the command line, because the response body is written for HTTP clients. */
function refusalText(status: number, text: string, tokenFile: string | undefined): string {
  if (status !== 401 && status !== 403) return text;
  return tokenFile === undefined
    ? "icq-relayer refused /resubmit-txs without a token; pass --token-file with control-token in state_dir, or the file configured as http.token"
    : `icq-relayer refused /resubmit-txs: the token in ${tokenFile} does not match the daemon's`;
}

export interface RelayerApiOptions {
  readonly url?: string;
  /** Port offset of the localnet whose relayer is called if no URL is given. Default: 0. */
  readonly portOffset?: number;
  readonly json?: true;
}

function addRelayerApiOptions(command: Command): Command {
  return command.addOption(urlOption("--url <url>")).addOption(portOffsetOption()).addOption(jsonOption());
}

export function urlOption(
  flags: string,
  description = "the relayer's HTTP API; default: the relayer on this machine",
): Option {
  return daemonUrlOption(flags, description);
}

/** Sends a GET request to the relayer's API. Throws `CliError`. */
export function readRelayer(options: RelayerApiOptions, path: string, signal: AbortSignal): Promise<unknown> {
  return askRelayer({ path }, options, signal);
}

type RelayerRequest = Pick<DaemonRequest, "path" | "method" | "body" | "deadlineMs">;

/** Options for commands that change a running relayer. */
interface RelayerControlOptions extends RelayerApiOptions {
  readonly config?: string;
  readonly tokenFile?: string;
}

function addRelayerControlOptions(command: Command): Command {
  return addRelayerApiOptions(command)
    .option("--config <file>", "the relayer's configuration, from which its address and the token are taken")
    .option(
      "--token-file <file>",
      "the file that contains the relayer's bearer token; default: the one named in --config",
    );
}

/** Sends a request to the relayer's API. A request that changes something carries the token. Throws `CliError`. */
function askRelayer(
  asked: RelayerRequest,
  options: RelayerControlOptions,
  signal: AbortSignal,
): Promise<unknown> {
  const { url, token, tokenHint } = placeOf(options, asked.method !== undefined);
  const place = { daemon: "icq-relayer", url, hint: HINT, tokenHint };
  return askDaemon({ ...asked, ...place, ...(token === undefined ? {} : { token }) }, signal);
}

const HINT = "start it, or select another relayer with --url or --port-offset";

interface Place {
  readonly url: string;
  readonly token?: Secret | undefined;
  readonly tokenHint: string;
}

function placeOf(options: RelayerControlOptions, needsToken: boolean): Place {
  const { config, tokenFile, portOffset = 0 } = options;
  const configured = config === undefined ? undefined : readPlace(config);
  const url = options.url ?? configured?.url ?? relayerUrl(options);
  if (!needsToken) return { url, tokenHint: "" };
  if (tokenFile !== undefined)
    return { url, token: readTokenFile(tokenFile), tokenHint: `--token-file is ${tokenFile}` };
  if (configured !== undefined) return { url, ...configured.token() };
  if (options.url !== undefined) return { url, tokenHint: "pass its file with --token-file" };
  const tokenHint = `the token in ${controlTokenFile(portOffset)} is for the localnet; pass the configuration with --config`;
  return { url, token: controlToken(portOffset), tokenHint };
}

/** Returns the API's URL from a relayer's configuration file. Throws `ConfigError`. */
export function configuredUrl(file: string): string {
  return readPlace(file).url;
}

/** Reads a relayer's URL and token from its configuration, but no other secret. Throws `ConfigError`. */
function readPlace(file: string): { readonly url: string; readonly token: () => Omit<Place, "url"> } {
  const { config, input } = withoutSecrets(() => loadDaemonConfig(relayerConfigKind(), file));
  const { listen } = config.http;
  const isEverywhere = listen.host === "0.0.0.0" || listen.host === "::";
  const token = (): Omit<Place, "url"> => {
    const reference = valueAt(input, ["http", "token"]);
    if (reference !== undefined)
      return {
        token: readSecret(reference, `${file}: http.token`),
        tokenHint: `http.token of ${file} was sent`,
      };
    if (config.state_dir === undefined)
      return { tokenHint: `${file} sets neither http.token nor state_dir; send SIGHUP to reload` };
    const path = tokenFileIn(config.state_dir);
    return { token: readTokenFile(path), tokenHint: `the token in ${path} was sent` };
  };
  return { url: httpUrl(isEverywhere ? { ...listen, host: "127.0.0.1" } : listen), token };
}

/** Returns the given URL, or by default the URL of the localnet's relayer at the port offset. */
function relayerUrl({ url, portOffset = 0 }: RelayerApiOptions): string {
  return url ?? `http://127.0.0.1:${portsAt(portOffset).relayer}`;
}
