import { RegisteredQuery } from "../../../proto/gen/neutron/interchainqueries/genesis.ts";
import * as wire from "../../../proto/gen/neutron/interchainqueries/query.ts";
import { toChainTypeUrl } from "../../../proto/type-urls.ts";
import type { Context } from "../../runtime/context.ts";
import { QueryError, type QueryHandler } from "../../runtime/module.ts";
import { paginateFiltered } from "../../runtime/pagination.ts";
import { ModuleError } from "../../runtime/module-error.ts";
import { wrapErrors } from "../../runtime/wrap-errors.ts";
import { connectionIdError } from "./connection-id.ts";
import { invalidConnectionId, invalidQueryId, protoUnmarshal } from "./errors.ts";
import { getParams, getQuery, getResult, queries } from "./keeper.ts";
import { MODULE_NAME, QUERY_PREFIX } from "./keys.ts";
import type { IbcKeeper } from "./types.ts";

const SERVICE = "/neutron.interchainqueries.Query";

/** The five queries (spec 000, "Interchain queries module: queries"), with paths of this chain's name. */
export function createQueryHandlers(chainName: string, ibc: IbcKeeper): readonly QueryHandler[] {
  const handler = (rpc: string, query: QueryHandler["query"]): QueryHandler => ({
    path: toChainTypeUrl(`${SERVICE}/${rpc}`, chainName),
    query,
  });
  return [
    handler("Params", queryParams),
    handler("RegisteredQueries", queryRegisteredQueries),
    handler("RegisteredQuery", queryRegisteredQuery),
    handler("QueryResult", queryResult),
    handler("LastRemoteHeight", (context, request) => queryLastRemoteHeight(context, request, ibc)),
  ];
}

function queryParams(context: Context): Uint8Array {
  return wire.QueryParamsResponse.encode({ params: getParams(context) }).finish();
}

/** Owners and connection narrow the list when they are given; ids ascend. */
function queryRegisteredQueries(context: Context, request: Uint8Array): Uint8Array {
  const { owners, connectionId, pagination } = wire.QueryRegisteredQueriesRequest.decode(request);
  const registeredQueries: RegisteredQuery[] = [];
  const matches = (query: RegisteredQuery): boolean =>
    (owners.length === 0 || owners.includes(query.owner)) &&
    (connectionId === "" || connectionId === query.connectionId);
  const paged = { store: context.store(MODULE_NAME), prefix: QUERY_PREFIX };
  const page = inPaging(() =>
    paginateFiltered(paged, pagination, (_key, value, onPage) => {
      const query = RegisteredQuery.decode(value);
      const hit = matches(query);
      if (hit && onPage) registeredQueries.push(query);
      return hit;
    }),
  );
  return wire.QueryRegisteredQueriesResponse.encode({ registeredQueries, pagination: page }).finish();
}

function inPaging<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof QueryError ? new QueryError(13, `paginate: ${error.message}`) : error;
  }
}

function queryRegisteredQuery(context: Context, request: Uint8Array): Uint8Array {
  const { queryId } = wire.QueryRegisteredQueryRequest.decode(request);
  const registeredQuery = wrapErrors(
    (error) => withWholeText(error, "failed to get registered query by query id"),
    () => getQuery(context, queryId),
  );
  return wire.QueryRegisteredQueryResponse.encode({ registeredQuery }).finish();
}

/** The deployed chain makes a new error of these words and the old error's whole text, which its gRPC status shows. */
function withWholeText(error: ModuleError, words: string): ModuleError {
  const text = `${words}: ${error.message}`;
  return new ModuleError(error.codespace, error.code, text, {
    description: error.description,
    wraps: [text],
  });
}

/** Only KV queries have stored results; for a TX query there never is one. */
function queryResult(context: Context, request: Uint8Array): Uint8Array {
  const { queryId } = wire.QueryRegisteredQueryResultRequest.decode(request);
  if (!queries.has(context, queryId)) throw invalidQueryId(`query with id ${queryId} doesn't exist`);
  const result = wrapErrors(
    (error) => withWholeText(error, "failed to get query result by query id"),
    () => getResult(context, queryId),
  );
  return wire.QueryRegisteredQueryResultResponse.encode({ result }).finish();
}

/** The height that the connection's client knows last; `revision` is 0 as on the deployed chain. */
function queryLastRemoteHeight(context: Context, request: Uint8Array, ibc: IbcKeeper): Uint8Array {
  const { connectionId } = wire.QueryLastRemoteHeight.decode(request);
  const clientId =
    connectionIdError(connectionId) === undefined ? ibc.connectionClientId(context, connectionId) : undefined;
  if (clientId === undefined) throw invalidConnectionId("connection not found");
  const height = ibc.clientLatestHeight(context, clientId);
  if (height === undefined) throw protoUnmarshal("can't unmarshal client state");
  return wire.QueryLastRemoteHeightResponse.encode({ height: height.revisionHeight, revision: 0n }).finish();
}
