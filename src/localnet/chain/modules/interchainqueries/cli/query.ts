import { Command, Option } from "commander";
import {
  QueryLastRemoteHeight,
  QueryParamsRequest,
  QueryRegisteredQueriesRequest,
  QueryRegisteredQueryRequest,
  QueryRegisteredQueryResultRequest,
} from "../../../../../cosmos/proto/gen/neutron/interchainqueries/query.ts";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import {
  moduleQueryCommand,
  type QueryOptions,
  queryModule,
  addPageOptions,
  type PageOptions,
  toPageRequest,
} from "../../../../cli/module-query.ts";
import { queryIdArgument } from "../../../../../platform/cli/query-id.ts";

interface ListOptions extends QueryOptions, PageOptions {
  readonly owners: readonly string[];
  readonly connection_id: string;
}

/** `relaywatch query interchainqueries` (chain-extension-modules.md, "Interchain queries module: queries"). */
export function queryInterchainqueriesCommand(context: CliContext): Command {
  return new Command()
    .addCommand(paramsCommand(context))
    .addCommand(registeredQueriesCommand(context))
    .addCommand(registeredQueryCommand(context))
    .addCommand(queryResultCommand(context))
    .addCommand(lastRemoteHeightCommand(context));
}

function paramsCommand(context: CliContext): Command {
  return moduleQueryCommand("params", "print the module's parameters").action((options: QueryOptions) =>
    query("Params", QueryParamsRequest.encode({}).finish(), options, context),
  );
}

function registeredQueriesCommand(context: CliContext): Command {
  const command = moduleQueryCommand("registered-queries", "list registered queries")
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
    return query("RegisteredQueries", request.finish(), options, context);
  });
}

function registeredQueryCommand(context: CliContext): Command {
  return moduleQueryCommand("registered-query", "print one registered query")
    .addArgument(queryIdArgument())
    .action((queryId: bigint, options: QueryOptions) => {
      const request = QueryRegisteredQueryRequest.encode({ queryId }).finish();
      return query("RegisteredQuery", request, options, context);
    });
}

function queryResultCommand(context: CliContext): Command {
  return moduleQueryCommand("query-result", "print the last result of a KV query")
    .addArgument(queryIdArgument())
    .action((queryId: bigint, options: QueryOptions) => {
      const request = QueryRegisteredQueryResultRequest.encode({ queryId }).finish();
      return query("QueryResult", request, options, context);
    });
}

function lastRemoteHeightCommand(context: CliContext): Command {
  return moduleQueryCommand(
    "query-last-remote-height",
    "print the latest remote height that the light client of a connection knows",
  )
    .argument("<connection-id>", "IBC connection to the remote chain")
    .action((connectionId: string, options: QueryOptions) => {
      const request = QueryLastRemoteHeight.encode({ connectionId }).finish();
      return query("LastRemoteHeight", request, options, context);
    });
}

const SERVICE = "/neutron.interchainqueries.Query";

/** Response types. Their names do not follow from the names of the methods. */
const RESPONSE_TYPES = {
  Params: "neutron.interchainqueries.QueryParamsResponse",
  RegisteredQueries: "neutron.interchainqueries.QueryRegisteredQueriesResponse",
  RegisteredQuery: "neutron.interchainqueries.QueryRegisteredQueryResponse",
  QueryResult: "neutron.interchainqueries.QueryRegisteredQueryResultResponse",
  LastRemoteHeight: "neutron.interchainqueries.QueryLastRemoteHeightResponse",
} as const;

function query(
  rpc: keyof typeof RESPONSE_TYPES,
  request: Uint8Array,
  options: QueryOptions,
  context: CliContext,
): Promise<void> {
  return queryModule(
    { path: `${SERVICE}/${rpc}`, request, responseType: RESPONSE_TYPES[rpc] },
    options,
    context,
  );
}
