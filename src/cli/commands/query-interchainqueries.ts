import { Command, Option } from "commander";
import {
  QueryLastRemoteHeight,
  QueryParamsRequest,
  QueryRegisteredQueriesRequest,
  QueryRegisteredQueryRequest,
  QueryRegisteredQueryResultRequest,
} from "../../proto/gen/neutron/interchainqueries/query.ts";
import { messageToJson } from "../../proto/json.ts";
import { toChainTypeUrl } from "../../proto/type-urls.ts";
import { addConnectionOptions, type ConnectionOptions, withChain } from "../chain-connection.ts";
import type { CliContext } from "../cli-context.ts";
import { parseUint64 } from "../options.ts";
import { addPageOptions, type PageOptions, toPageRequest } from "../page-request.ts";
import { printAnswer } from "../print-answer.ts";
import { queryIdArgument } from "../query-id.ts";

interface QueryOptions extends ConnectionOptions {
  readonly height: bigint;
}

interface ListOptions extends QueryOptions, PageOptions {
  readonly owners: readonly string[];
  readonly connection_id: string;
}

/** `relaywatch query interchainqueries`: the five queries of the module (spec 000, "Interchain queries module: queries"). */
export function queryInterchainqueriesCommand(context: CliContext): Command {
  return new Command("interchainqueries")
    .alias("icq")
    .description("interchain queries: parameters, registered queries, results")
    .addCommand(paramsCommand(context))
    .addCommand(registeredQueriesCommand(context))
    .addCommand(registeredQueryCommand(context))
    .addCommand(queryResultCommand(context))
    .addCommand(lastRemoteHeightCommand(context));
}

function paramsCommand(context: CliContext): Command {
  return queryCommand("params", "the module's parameters").action((options: QueryOptions) =>
    ask({ rpc: "Params", request: QueryParamsRequest.encode({}).finish() }, options, context),
  );
}

function registeredQueriesCommand(context: CliContext): Command {
  const command = queryCommand("registered-queries", "registered queries, page by page")
    .addOption(
      new Option("--owners <address>", "only queries of this owner; repeat for several")
        .default([], "all")
        .argParser((owner: string, owners: readonly string[]) => [...owners, owner]),
    )
    .addOption(new Option("--connection_id <id>", "only queries over this connection").default("", "all"));
  return addPageOptions(command).action((options: ListOptions) => {
    const request = QueryRegisteredQueriesRequest.encode({
      owners: [...options.owners],
      connectionId: options.connection_id,
      pagination: toPageRequest(options),
    });
    return ask({ rpc: "RegisteredQueries", request: request.finish() }, options, context);
  });
}

function registeredQueryCommand(context: CliContext): Command {
  return queryCommand("registered-query", "one registered query")
    .addArgument(queryIdArgument())
    .action((queryId: bigint, options: QueryOptions) => {
      const request = QueryRegisteredQueryRequest.encode({ queryId }).finish();
      return ask({ rpc: "RegisteredQuery", request }, options, context);
    });
}

function queryResultCommand(context: CliContext): Command {
  return queryCommand("query-result", "the last result of a KV query")
    .addArgument(queryIdArgument())
    .action((queryId: bigint, options: QueryOptions) => {
      const request = QueryRegisteredQueryResultRequest.encode({ queryId }).finish();
      return ask({ rpc: "QueryResult", request }, options, context);
    });
}

function lastRemoteHeightCommand(context: CliContext): Command {
  return queryCommand("query-last-remote-height", "the last height of the remote chain that its client knows")
    .argument("<connection-id>", "connection that leads to the remote chain")
    .action((connectionId: string, options: QueryOptions) => {
      const request = QueryLastRemoteHeight.encode({ connectionId }).finish();
      return ask({ rpc: "LastRemoteHeight", request }, options, context);
    });
}

function queryCommand(name: string, description: string): Command {
  return addConnectionOptions(new Command(name).description(description)).addOption(
    new Option("--height <n>", "height to look at").default(0n, "latest").argParser(parseUint64),
  );
}

const SERVICE = "/neutron.interchainqueries.Query";

/** Types of the answers; their names do not follow from the rpc's. */
const ANSWER_TYPES = {
  Params: "neutron.interchainqueries.QueryParamsResponse",
  RegisteredQueries: "neutron.interchainqueries.QueryRegisteredQueriesResponse",
  RegisteredQuery: "neutron.interchainqueries.QueryRegisteredQueryResponse",
  QueryResult: "neutron.interchainqueries.QueryRegisteredQueryResultResponse",
  LastRemoteHeight: "neutron.interchainqueries.QueryLastRemoteHeightResponse",
} as const;

interface Question {
  readonly rpc: keyof typeof ANSWER_TYPES;
  /** encoded */
  readonly request: Uint8Array;
}

async function ask({ rpc, request }: Question, options: QueryOptions, context: CliContext): Promise<void> {
  const { chainName, height } = options;
  const path = toChainTypeUrl(`${SERVICE}/${rpc}`, chainName);
  const answer = await withChain(options, context, (client) =>
    client.grpcQuery(path, request, context.signal, height),
  );
  printAnswer(messageToJson(ANSWER_TYPES[rpc], answer, chainName), options, context);
}
