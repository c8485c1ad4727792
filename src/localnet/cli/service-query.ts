import { type Argument, Command, Option } from "commander";
import { toBase64 } from "../../platform/base/bytes.ts";
import { unreachable } from "../../platform/base/errors.ts";
import type { JsonObject, JsonValue } from "../../platform/base/json.ts";
import { messageFromJson } from "../../cosmos/proto/json.ts";
import { findService } from "../../cosmos/proto/registry.ts";
import { type AnswerTable, formatAnswer } from "./answer-table.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { fetchModule, moduleQueryCommand, type QueryOptions } from "./module-query.ts";
import { addPageOptions, type PageOptions, toPageRequest } from "./page-request.ts";
import { printAnswer } from "../../platform/cli/print-answer.ts";

/** One gRPC service's queries on the command line. */
export interface QueryService<Field extends string, Rpc extends string> {
  /** Name under the canonical chain name: `neutron.dex.Query`. */
  readonly service: string;
  /** Arguments by the request field that they set. */
  readonly arguments: Readonly<Record<Field, () => Argument>>;
  /** Table layout for each response. */
  readonly tables: Readonly<Record<Rpc, AnswerTable>>;
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
  /** An option, and the request field that its value sets. */
  readonly option?: { readonly flags: string; readonly field: string; readonly description: string };
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

function queryCommand<Field extends string, Rpc extends string>(
  service: QueryService<Field, Rpc>,
  query: ServiceQuery<Field, Rpc>,
  context: CliContext,
): Command {
  const fields = query.arguments ?? [];
  const command = moduleQueryCommand(query.name, query.description);
  if (query.alias !== undefined) command.alias(query.alias);
  for (const field of fields) command.addArgument(service.arguments[field]());
  if (query.option !== undefined) command.option(query.option.flags, query.option.description);
  if (query.isList) addPageOptions(command);
  return command.action((...words: readonly unknown[]) => {
    const given = Object.fromEntries(fields.map((field, index) => [field, toJson(words[index])]));
    const request = { ...given, ...optionField(query, command), ...pageField(query, command) };
    const { rpc } = query;
    const target = { service: service.service, rpc, table: service.tables[rpc] };
    return run(target, request, command.opts<QueryOptions>(), context);
  });
}

/** An argument is text, or its parsed value: an enum number, a 64-bit integer, or a list of strings. */
function toJson(value: unknown): JsonValue {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === "number" ? value : String(value);
}

function optionField({ option }: Pick<ServiceQuery<string, string>, "option">, command: Command): JsonObject {
  if (option === undefined) return {};
  const value: unknown = command.getOptionValue(new Option(option.flags).attributeName());
  return value === true || typeof value === "string" ? { [option.field]: value } : {};
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
  readonly table: AnswerTable;
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
  if (options.json) printAnswer(response, options, context);
  else context.print(formatAnswer(table, response));
}
