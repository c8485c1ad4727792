import { Command, Option } from "commander";
import { request } from "undici";
import { withDeadline } from "../../platform/base/abort.ts";
import { errorText, EXIT } from "../../platform/base/errors.ts";
import { isRecord, type JsonObject, type JsonValue, stringifyJson } from "../../platform/base/json.ts";
import { readTextBody } from "../../platform/base/read-text.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import { logLevelCommand, reloadCommand } from "../../platform/cli/control-output.ts";
import { readTokenFile } from "../../platform/cli/state-home.ts";
import { cellText, column, fieldAt, formatTable } from "../../platform/cli/table.ts";
import { QUERY_STATUSES, type QueryStatus } from "../registry/query-state.ts";
import {
  addRelayerApiOptions,
  addRelayerControlOptions,
  askRelayer,
  readRelayer,
  type RelayerApiOptions,
  type RelayerControlOptions,
  type RelayerRequest,
  relayerUrl,
} from "./relayer-api-options.ts";

interface QueriesOptions extends RelayerApiOptions {
  readonly state?: QueryStatus;
  readonly overdue?: true;
}

export function queriesCommand(context: CliContext): Command {
  return addRelayerApiOptions(new Command())
    .addOption(new Option("--state <state>", "only queries in this state").choices(QUERY_STATUSES))
    .option("--overdue", "only queries that are overdue")
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
    .description("list them, newest first")
    .action((options: RelayerApiOptions) => listLetters(options, context));
  const change = (name: string, description: string, argument: string, work: typeof resubmitLetters) =>
    addRelayerApiOptions(new Command(name))
      .description(description)
      .argument("[tx...]", argument)
      .option("--all", "all dead letters")
      .option("--token-file <file>", "file that contains the relayer's bearer token")
      .action((txs: readonly string[], options: ResubmitOptions) => work(txs, options, context));
  const resubmit = change(
    "resubmit",
    "read, prove and send dead letters again",
    "transactions to send: <query-id>/<hash>",
    resubmitLetters,
  );
  const acknowledge = change(
    "acknowledge",
    "remove dead letters that don't need to be sent again",
    "transactions: <query-id>/<hash>",
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

/** Prints the dead letters, newest first. Throws `CliError`. */
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

/** Maximum wait for one transaction. The wait exceeds the relayer's own limit. */
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
    // The hash alone does not identify a dead letter, because two queries may have matched the same transaction.
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

/** Resubmits a dead letter and waits for its block. Throws `CliError`. */
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

/** Returns the command's own text for a rejection. The response's body addresses programs that send HTTP requests. */
function refusalText(status: number, text: string, tokenFile: string | undefined): string {
  if (status !== 401 && status !== 403) return text;
  return tokenFile === undefined
    ? "icq-relayer refused /resubmit-txs without a token; pass --token-file with control-token in state_dir, or the file configured as http.token"
    : `icq-relayer refused /resubmit-txs: the token in ${tokenFile} does not match the daemon's`;
}
