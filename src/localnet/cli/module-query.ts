import { type Argument, Command, InvalidArgumentError, Option } from "commander";
import { readDisplayUnit } from "../../cosmos/client/denom-metadata.ts";
import { ClientError } from "../../cosmos/client/errors.ts";
import type { PageRequest } from "../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import { messageFromJson, messageToJson } from "../../cosmos/proto/json.ts";
import { findService, toChainTypeUrl } from "../../cosmos/proto/registry.ts";
import { fromBase64, toBase64 } from "../../platform/base/bytes.ts";
import { parseDec18 } from "../../platform/base/decimal.ts";
import { type DisplayUnit, formatUnits } from "../../platform/base/display-unit.ts";
import { EXIT, unreachable } from "../../platform/base/errors.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../platform/base/json.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import { parseUint64 } from "../../platform/cli/options.ts";
import { printResponse } from "../../platform/cli/print-response.ts";
import { cellText, column, type Column, fieldAt, formatTable } from "../../platform/cli/table.ts";
import { profileNamed } from "../chain/deviations/profile-named.ts";
import { addConnectionOptions, type ConnectionOptions, withChain } from "./chain-connection.ts";

/** Options of every query command. */
interface QueryOptions extends ConnectionOptions {
  /** State height to read; 0 for the latest. */
  readonly height: bigint;
}

/** A chain module's gRPC query. */
interface ModuleQuery {
  /** gRPC path: `/neutron.interchainqueries.Query/Params`. */
  readonly path: string;
  /** Encoded request message. */
  readonly request: Uint8Array;
  /** Response type name: `neutron.interchainqueries.QueryParamsResponse`. */
  readonly responseType: string;
}

/** Creates a command with the options of {@link QueryOptions}. */
function moduleQueryCommand(name: string, description: string): Command {
  return addConnectionOptions(new Command(name).description(description)).addOption(
    new Option("--height <n>", "state height to read").default(0n, "latest").argParser(parseUint64),
  );
}

/** Sends a query to the chain and returns the response as REST API JSON. `path` and `responseType` use the canonical chain name. */
async function fetchModule(
  query: ModuleQuery,
  options: QueryOptions,
  context: CliContext,
): Promise<JsonValue> {
  const { chainName, height } = options;
  const path = toChainTypeUrl(query.path, chainName);
  const response = await withChain(options, context, (client) =>
    client.grpcQuery(path, query.request, context.signal, height),
  );
  // Some messages have other field numbers on the deployed chain, and on local chains with its profile.
  const { proto } = profileNamed("deployed");
  const isDeployed = proto?.recognizes(query.responseType, response) === true;
  const bytes = isDeployed ? proto.decode(query.responseType, response) : response;
  return messageToJson(query.responseType, bytes, chainName);
}

/** Pagination options, as a Cosmos SDK binary has them. */
export interface PageOptions {
  readonly page: bigint;
  readonly pageKey?: Uint8Array;
  readonly offset: bigint;
  readonly limit: bigint;
  readonly countTotal?: true;
  readonly reverse?: true;
  /** The same under the names that programs of SDK 0.50 have. */
  readonly pageOffset?: bigint;
  readonly pageLimit?: bigint;
  readonly pageCountTotal?: true;
  readonly pageReverse?: true;
}

/** Adds the options of {@link PageOptions} to a command. */
export function addPageOptions(command: Command): Command {
  return command
    .addOption(number("--page <n>", "page number, from 1", 1n))
    .addOption(new Option("--page-key <base64>", "the previous page's next_key").argParser(parseKey))
    .addOption(number("--offset <n>", "number of entries to skip; also --page-offset", 0n))
    .addOption(number("--limit <n>", "maximum number of entries; also --page-limit", 100n))
    .option("--count-total", "also count all entries; also --page-count-total")
    .option("--reverse", "descending order; also --page-reverse")
    .addOption(hidden("--page-offset <n>").argParser(parseUint64))
    .addOption(hidden("--page-limit <n>").argParser(parseUint64))
    .addOption(hidden("--page-count-total"))
    .addOption(hidden("--page-reverse"));
}

/** Converts the options to a page request. Throws `CliError` when they exclude each other. */
export function toPageRequest(options: PageOptions): PageRequest {
  const { page, pageKey } = options;
  const offset = options.pageOffset ?? options.offset;
  const limit = options.pageLimit ?? options.limit;
  if (page < 1n) throw new CliError(EXIT.usage, "--page starts at 1");
  const given = [page > 1n, pageKey !== undefined, offset > 0n].filter(Boolean).length;
  if (given > 1) throw new CliError(EXIT.usage, "give only one of --page, --page-key and --offset");
  return {
    key: pageKey ?? new Uint8Array(),
    offset: offset + (page - 1n) * limit,
    limit,
    countTotal: options.pageCountTotal ?? options.countTotal ?? false,
    reverse: options.pageReverse ?? options.reverse ?? false,
  };
}

function hidden(flags: string): Option {
  return new Option(flags).hideHelp();
}

function number(flags: string, description: string, preset: bigint): Option {
  return new Option(flags, description).default(preset, preset.toString()).argParser(parseUint64);
}

function parseKey(text: string): Uint8Array {
  try {
    return fromBase64(text);
  } catch {
    throw new InvalidArgumentError("base64 was expected");
  }
}

/** Table layout of a response: the path of its record or record list, and the columns. */
export interface AnswerTable {
  readonly path: string;
  readonly columns: readonly Column[];
  /** Splits a record into several rows. */
  readonly rows?: (record: JsonValue) => readonly JsonValue[];
  /** Paths of a record's coin, which then has a column in display units too. */
  readonly coin?: { readonly denom: string; readonly amount: string };
  /** Lines below the table: a label, and a field's path. Lines without a value are omitted. */
  readonly notes?: readonly (readonly [words: string, path: string])[];
}

const NEXT_PAGE = ["next page: --page-key ", "pagination.next_key"] as const;

/** Formats a response as a table. Below it are its notes and the next page's key. */
export function formatAnswer({ path, columns, rows, notes = [] }: AnswerTable, response: JsonValue): string {
  const found = fieldAt(response, path);
  const records = Array.isArray(found) ? found : [found];
  const lines = [...notes, NEXT_PAGE].flatMap(([words, at]) => {
    const value = fieldAt(response, at);
    return value === null ? [] : [words + cellText(value)];
  });
  return [formatTable(columns, rows === undefined ? records : records.flatMap(rows)), ...lines].join("\n");
}

/** Layout of a module's parameters: one line each. */
export const PARAMS_TABLE: AnswerTable = {
  path: "params",
  columns: [column("PARAMETER", "name"), column("VALUE", "value")],
  rows: (params) =>
    isRecord(params) ? Object.entries(params).map(([name, value]) => ({ name, value })) : [],
};

/** One gRPC service's queries on the command line. */
interface QueryService<Field extends string, Rpc extends string> {
  /** Name under the canonical chain name: `neutron.dex.Query`. */
  readonly service: string;
  /** Arguments by the request field that they set. */
  readonly arguments: Readonly<Record<Field, () => Argument>>;
  /** Table layout for each response. Absent: responses are printed as YAML. */
  readonly tables?: Readonly<Record<Rpc, AnswerTable>>;
  readonly queries: readonly ServiceQuery<Field, Rpc>[];
}

/** One query. */
export interface ServiceQuery<Field extends string, Rpc extends string> {
  readonly name: string;
  /** Another name that the deployed command line has. */
  readonly alias?: string;
  readonly description: string;
  readonly rpc: Rpc;
  readonly arguments?: readonly Field[];
  /** Options by the request field that they set. */
  readonly options?: Readonly<Record<string, () => Option>>;
  readonly isList?: boolean;
}

/** Creates one command for each query. It prints a table, or with `--json` the REST API's JSON. */
export function serviceQueryCommands<Field extends string, Rpc extends string>(
  service: QueryService<Field, Rpc>,
  context: CliContext,
): Command {
  const group = new Command();
  for (const query of service.queries) group.addCommand(queryCommand(service, query, context));
  return group;
}

/** Creates the command of one query. */
export function queryCommand<Field extends string, Rpc extends string>(
  service: Omit<QueryService<Field, Rpc>, "queries">,
  query: ServiceQuery<Field, Rpc>,
  context: CliContext,
): Command {
  const fields = query.arguments ?? [];
  const command = moduleQueryCommand(query.name, query.description);
  if (query.alias !== undefined) command.alias(query.alias);
  for (const field of fields) command.addArgument(service.arguments[field]());
  for (const option of Object.values(query.options ?? {})) command.addOption(option());
  if (query.isList) addPageOptions(command);
  return command.action((...words: readonly unknown[]) => {
    const given = Object.fromEntries(fields.map((field, index) => [field, toJson(words[index])]));
    const request = { ...given, ...optionFields(query, command), ...pageField(query, command) };
    const { rpc } = query;
    const target = { service: service.service, rpc, table: service.tables?.[rpc] };
    return run(target, request, command.opts<QueryOptions>(), context);
  });
}

/** An argument is text, or its parsed value: an enum number, a 64-bit integer, or a list of strings. */
function toJson(value: unknown): JsonValue {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === "number" ? value : String(value);
}

/** Returns the request fields of the given options: `true` for a flag, a text, or a list of texts. */
function optionFields(
  { options = {} }: Pick<ServiceQuery<string, string>, "options">,
  command: Command,
): JsonObject {
  const given = Object.entries(options).map(([field, option]) => {
    const value: unknown = command.getOptionValue(option().attributeName());
    return [field, Array.isArray(value) ? value.map(String) : value] as const;
  });
  return Object.fromEntries(given.filter(isGiven));
}

function isGiven(entry: readonly [string, unknown]): entry is readonly [string, JsonValue] {
  return entry[1] !== undefined;
}

function pageField({ isList }: Pick<ServiceQuery<string, string>, "isList">, command: Command): JsonObject {
  if (!isList) return {};
  const { key, offset, limit, countTotal, reverse } = toPageRequest(command.opts<PageOptions>());
  return {
    pagination: {
      key: toBase64(key),
      offset: offset.toString(),
      limit: limit.toString(),
      count_total: countTotal,
      reverse,
    },
  };
}

interface Target {
  readonly service: string;
  readonly rpc: string;
  readonly table: AnswerTable | undefined;
}

async function run(
  { service, rpc, table }: Target,
  request: JsonObject,
  options: QueryOptions,
  context: CliContext,
): Promise<void> {
  const method =
    findService(service)?.methods.find(({ name }) => name === rpc) ?? unreachable(`no query ${rpc}`);
  const { path, requestType, responseType } = method;
  const encoded = messageFromJson(requestType, request);
  const response = await fetchModule({ path, request: encoded, responseType }, options, context);
  if (options.json || options.output === "yaml" || table === undefined)
    printResponse(response, options, context);
  else context.print(formatAnswer(await withDisplayUnits(table, response, options, context), response));
}

/** Denominations whose metadata a table reads. */
const MAX_UNITS = 100;

/** Adds a column with the coins in display units, where the chain has metadata of any of them that name one. */
async function withDisplayUnits(
  table: AnswerTable,
  response: JsonValue,
  options: QueryOptions,
  context: CliContext,
): Promise<AnswerTable> {
  const { coin, path, columns } = table;
  if (coin === undefined) return table;
  const found = fieldAt(response, path);
  const denoms = (Array.isArray(found) ? found : [found]).map((record) => fieldAt(record, coin.denom));
  const names = [...new Set(denoms.flatMap((denom) => (typeof denom === "string" ? [denom] : [])))];
  const units = await readUnits(names.slice(0, MAX_UNITS), options, context);
  if (units.size === 0) return table;
  const cell = (record: JsonValue): string => {
    const unit = units.get(cellText(fieldAt(record, coin.denom)));
    return unit === undefined ? "-" : displayText(cellText(fieldAt(record, coin.amount)), unit);
  };
  return { ...table, columns: [...columns, { title: "DISPLAY", cell }] };
}

/** A whole amount, or a price with decimals of the base unit. */
function displayText(amount: string, unit: DisplayUnit): string {
  if (/^\d{1,78}$/.test(amount)) return formatUnits(BigInt(amount), unit);
  if (!/^\d{1,60}\.\d{1,18}$/.test(amount)) return "-";
  return formatUnits(parseDec18(amount), { name: unit.name, exponent: unit.exponent + DEC18_PLACES });
}

/** Fractional digits of a `Dec18`. */
const DEC18_PLACES = 18;

/** The coins are the response, and their units only an addition: a node that does not return them is no error. */
function readUnits(
  denoms: readonly string[],
  options: QueryOptions,
  context: CliContext,
): Promise<ReadonlyMap<string, DisplayUnit>> {
  const { signal } = context;
  return withChain(options, context, async (client) => {
    const units = await Promise.all(
      denoms.map((denom) =>
        readDisplayUnit(client, denom, signal).catch((error: unknown) => {
          signal.throwIfAborted();
          if (error instanceof ClientError) return undefined;
          throw error;
        }),
      ),
    );
    return new Map(units.flatMap((unit) => (unit === undefined ? [] : [[unit.denom, unit] as const])));
  });
}
