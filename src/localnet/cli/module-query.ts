import { Command, Option } from "commander";
import type { PageRequest } from "../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import { requireService } from "../../cosmos/proto/registry.ts";
import { fromBase64, toBase64 } from "../../platform/base/bytes.ts";
import { CliError, EXIT, unreachable } from "../../platform/base/errors.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { parseUint64 } from "../../platform/cli/options.ts";
import { type AnswerTable, type ColumnWords, PARAMS_TABLE, toColumns } from "./answer-table.ts";
import { addInputs, type FieldTable, type Inputs, nestFields, PAGES, parsing } from "./command-inputs.ts";
import { addConnectionOptions } from "./connection-options.ts";
import type { QueryOptions } from "./run-query.ts";

/** Command names, arguments and tables for a gRPC service's queries, which supplement the protobuf definition. */
export interface QueryGroup {
  /** Service name with the canonical chain name, such as `neutron.dex.Query`. */
  readonly service: string;
  /** Names and help for arguments that `FIELD_WORDS` does not contain or describes differently. */
  readonly fields?: FieldTable;
  /** Queries, keyed by the deployed program's command name and aliases, such as `total-supply|total`. */
  readonly queries: Readonly<Record<string, Query>>;
}

/** A query's inputs, and the table layout for its response. */
interface QueryMore extends Inputs, Partial<Omit<AnswerTable, "columns">> {
  /**
   * Table columns. If undefined, parameters are printed as one row each, and any other response is printed as YAML. `path` defaults
   * to the response's first field.
   */
  readonly columns?: ColumnWords;
  /** If true, the command prints parameters as YAML instead of one row per parameter. */
  readonly isYaml?: true;
  /** If true, the command has no pagination options. */
  readonly isShort?: true;
}

export interface Query extends QueryMore {
  readonly rpc: string;
  readonly description: string;
}

/**
 * Describes a query. The request type determines the arguments and the pagination options. If `more` is a string, it contains the
 * `columns`.
 */
export function query(rpc: string, description: string, more: QueryMore | string = {}): Query {
  return { rpc, description, ...(typeof more === "string" ? { columns: more } : more) };
}

/** Returns a function that creates a command for each query. Commands print a table or, with `-o json`, the REST API's JSON. */
export function queryCommands(group: QueryGroup): (context: CliContext) => Command {
  return (context) => {
    const parent = new Command();
    for (const name of Object.keys(group.queries)) parent.addCommand(queryCommand(group, name, context));
    return parent;
  };
}

export function queryCommand(group: QueryGroup, words: string, context: CliContext): Command {
  const { input, output, path, more } = find(group, words);
  const [name = "", ...aliases] = words.split("|");
  const command = addConnectionOptions(new Command(name).description(more.description))
    .aliases(aliases)
    .addOption(
      new Option("--height <n>", "state height to read").default(0n, "latest").argParser(parseUint64),
    );
  const read = addInputs(command, more, { message: input, words: group.fields });
  const isList = more.isShort !== true && input.fields.some((field) => field.name === PAGES);
  if (isList) addPageOptions(command);
  return command.action(async () => {
    const pages = isList ? { [PAGES]: pageJson(command.opts<PageOptions>()) } : {};
    const { runQuery } = await import("./run-query.ts");
    const request = nestFields({ ...read(), ...pages });
    const types = { requestType: input.typeName, responseType: output.typeName };
    await runQuery(
      { path, ...types, request, table: answerTable(group, words) },
      command.opts<QueryOptions>(),
      context,
    );
  });
}

/** Returns the table layout for a query, or undefined if the command prints the response as YAML. */
export function answerTable(group: QueryGroup, words: string): AnswerTable | undefined {
  const { more, output } = find(group, words);
  const { path = output.fields[0]?.name ?? "", columns, isYaml } = more;
  if (columns !== undefined) return { ...more, path, columns: toColumns(columns) };
  return !isYaml && output.fields.some(({ name }) => name === PARAMS_TABLE.path) ? PARAMS_TABLE : undefined;
}

function find(group: QueryGroup, words: string) {
  const more = group.queries[words] ?? unreachable(`no query ${words}`);
  const { methods } = requireService(group.service);
  const { input, output } =
    methods.find(({ name }) => name === more.rpc) ?? unreachable(`no query ${more.rpc} of ${group.service}`);
  return { input, output, path: `/${group.service}/${more.rpc}`, more };
}

/** Pagination options, as in a Cosmos SDK program. */
export interface PageOptions {
  readonly page: bigint;
  readonly pageKey?: Uint8Array;
  readonly offset: bigint;
  readonly limit: bigint;
  readonly countTotal?: true;
  readonly reverse?: true;
  /** SDK 0.50's names for the options offset, limit, count-total and reverse. */
  readonly pageOffset?: bigint;
  readonly pageLimit?: bigint;
  readonly pageCountTotal?: true;
  readonly pageReverse?: true;
}

export function addPageOptions(command: Command): Command {
  return command
    .addOption(number("--page <n>", "page number, from 1", 1n))
    .addOption(
      new Option("--page-key <base64>", "next_key from the previous page").argParser((text) =>
        parsing(() => fromBase64(text), "expected base64"),
      ),
    )
    .addOption(number("--offset <n>", "number of entries to skip; also --page-offset", 0n))
    .addOption(number("--limit <n>", "maximum number of entries; also --page-limit", 100n))
    .option("--count-total", "count all entries as well; same as --page-count-total")
    .option("--reverse", "list in descending order; same as --page-reverse")
    .addOption(hidden("--page-offset <n>").argParser(parseUint64))
    .addOption(hidden("--page-limit <n>").argParser(parseUint64))
    .addOption(hidden("--page-count-total"))
    .addOption(hidden("--page-reverse"));
}

/** Converts the options to a page request. Throws a `CliError` if mutually exclusive options are set. */
export function toPageRequest(options: PageOptions): PageRequest {
  const { page, pageKey } = options;
  const offset = options.pageOffset ?? options.offset;
  const limit = options.pageLimit ?? options.limit;
  if (page < 1n) throw new CliError(EXIT.usage, "--page starts at 1");
  const given = [page > 1n, pageKey !== undefined, offset > 0n].filter(Boolean).length;
  if (given > 1) throw new CliError(EXIT.usage, "specify only one of --page, --page-key and --offset");
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

/** Like {@link toPageRequest}, but returns the page request as proto JSON. */
function pageJson(options: PageOptions): JsonObject {
  const { key, offset, limit, countTotal, reverse } = toPageRequest(options);
  return {
    key: toBase64(key),
    offset: offset.toString(),
    limit: limit.toString(),
    count_total: countTotal,
    reverse,
  };
}
