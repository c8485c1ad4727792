import type { DescMessage } from "@bufbuild/protobuf";
import { Command, Option } from "commander";
import { requireService } from "../../cosmos/proto/service-descriptor.ts";
import { unreachable } from "../../platform/base/errors.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { parseUint64 } from "../../platform/cli/options.ts";
import { type AnswerTable, type ColumnWords, PARAMS_TABLE, toColumns } from "./answer-table.ts";
import { addInputs, type FieldTable, type Inputs, nestFields, PAGES } from "./command-inputs.ts";
import { addConnectionOptions } from "./connection-options.ts";
import { addPageOptions, pageJson, type PageOptions } from "./page-options.ts";
import type { QueryOptions } from "./run-query.ts";

/** One gRPC service's queries on the command line: what its definition does not say. */
export interface QueryGroup {
  /** Name under the canonical chain name: `neutron.dex.Query`. */
  readonly service: string;
  /** Words for the arguments that `FIELD_WORDS` has not, or has otherwise. */
  readonly fields?: FieldTable;
  /** By name, with other names that the deployed command line has: `total-supply|total`. */
  readonly queries: Readonly<Record<string, Query>>;
}

/** A query's inputs and the table for its response. */
interface QueryMore extends Inputs, Partial<Omit<AnswerTable, "columns">> {
  /** Absent: parameters are printed one by one, other responses as YAML. `path` is by default the response's first field. */
  readonly columns?: ColumnWords;
  /** Parameters that are printed as YAML. */
  readonly isYaml?: true;
  /** A list without page options. */
  readonly isShort?: true;
}

interface Query extends QueryMore {
  readonly rpc: string;
  readonly description: string;
}

/** Describes a query. Its arguments and its pages are those of the request. A text is the title of the only column. */
export function query(rpc: string, description: string, more: QueryMore | string = {}): Query {
  return { rpc, description, ...(typeof more === "string" ? { columns: more } : more) };
}

/** Returns what creates one command for each query. It prints a table, or with `--json` the REST API's JSON. */
export function queryCommands(group: QueryGroup): (context: CliContext) => Command {
  return (context) => {
    const parent = new Command();
    for (const name of Object.keys(group.queries)) parent.addCommand(queryCommand(group, name, context));
    return parent;
  };
}

/** Creates the command of one query. */
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

/** Returns the table of a query. Undefined: its response is printed as YAML. */
export function answerTable(group: QueryGroup, words: string): AnswerTable | undefined {
  const { more, output } = find(group, words);
  return tableOf(more, output);
}

function find(group: QueryGroup, words: string) {
  const more = group.queries[words] ?? unreachable(`no query ${words}`);
  const { methods } = requireService(group.service);
  const { input, output } =
    methods.find(({ name }) => name === more.rpc) ?? unreachable(`no query ${more.rpc} of ${group.service}`);
  return { input, output, path: `/${group.service}/${more.rpc}`, more };
}

function tableOf(more: QueryMore, { fields }: DescMessage): AnswerTable | undefined {
  const { path = fields[0]?.name ?? "", columns, isYaml } = more;
  if (columns !== undefined) return { ...more, path, columns: toColumns(columns) };
  return !isYaml && fields.some(({ name }) => name === PARAMS_TABLE.path) ? PARAMS_TABLE : undefined;
}
