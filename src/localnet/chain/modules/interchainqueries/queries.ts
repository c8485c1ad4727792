import { RegisteredQuery } from "../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import * as wire from "../../../../cosmos/proto/gen/neutron/interchainqueries/query.ts";
import { toChainTypeUrl } from "../../../../cosmos/proto/type-urls.ts";
import type { Context } from "../../runtime/context.ts";
import { toQueryHandler } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { paginateFiltered } from "../../runtime/pagination.ts";
import { ErrInvalidConnectionID, ErrInvalidQueryID, ErrProtoUnmarshal } from "./errors.ts";
import { getParams, getQuery, getResult, queries } from "./keeper.ts";
import { MODULE_NAME, QUERY_PREFIX } from "./keys.ts";
import type { IbcKeeper } from "./types.ts";
import { ModuleError, QueryError, wrapErrors, GrpcCode } from "../../runtime/errors.ts";

/**
 * All queries of the module (chain-extension-modules.md, "Interchain queries module: queries"). Paths begin with the
 * chain's own name.
 */
export function createQueryHandlers(chainName: string, ibc: IbcKeeper): readonly QueryHandler[] {
  const path = (rpc: string): string => toChainTypeUrl(`/neutron.interchainqueries.Query/${rpc}`, chainName);
  return [
    toQueryHandler(
      path("Params"),
      { request: wire.QueryParamsRequest, response: wire.QueryParamsResponse },
      (context) => ({ params: getParams(context) }),
    ),
    toQueryHandler(
      path("RegisteredQueries"),
      { request: wire.QueryRegisteredQueriesRequest, response: wire.QueryRegisteredQueriesResponse },
      queryRegisteredQueries,
    ),
    toQueryHandler(
      path("RegisteredQuery"),
      { request: wire.QueryRegisteredQueryRequest, response: wire.QueryRegisteredQueryResponse },
      queryRegisteredQuery,
    ),
    toQueryHandler(
      path("QueryResult"),
      { request: wire.QueryRegisteredQueryResultRequest, response: wire.QueryRegisteredQueryResultResponse },
      queryResult,
    ),
    toQueryHandler(
      path("LastRemoteHeight"),
      { request: wire.QueryLastRemoteHeight, response: wire.QueryLastRemoteHeightResponse },
      (context, request) => queryLastRemoteHeight(context, request, ibc),
    ),
  ];
}

/** Lists queries in ascending order of ids. Owners and connection filter the list; empty matches all. */
function queryRegisteredQueries(
  context: Context,
  { owners, connectionId, pagination }: wire.QueryRegisteredQueriesRequest,
): wire.QueryRegisteredQueriesResponse {
  const registeredQueries: RegisteredQuery[] = [];
  const matches = (query: RegisteredQuery): boolean =>
    (owners.length === 0 || owners.includes(query.owner)) &&
    (connectionId === "" || connectionId === query.connectionId);
  const paged = { store: context.store(MODULE_NAME), prefix: QUERY_PREFIX };
  const page = wrapPagingErrors(() =>
    paginateFiltered(paged, pagination, (_key, value, onPage) => {
      const query = RegisteredQuery.decode(value);
      const isMatch = matches(query);
      if (isMatch && onPage) registeredQueries.push(query);
      return isMatch;
    }),
  );
  return { registeredQueries, pagination: page };
}

function wrapPagingErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof QueryError
      ? new QueryError(GrpcCode.Internal, `paginate: ${error.message}`)
      : error;
  }
}

function queryRegisteredQuery(
  context: Context,
  { queryId }: wire.QueryRegisteredQueryRequest,
): wire.QueryRegisteredQueryResponse {
  const registeredQuery = wrapErrors(
    (error) => rewrap("failed to get registered query by query id", error),
    () => getQuery(context, queryId),
  );
  return { registeredQuery };
}

/**
 * Wraps an error as Go's `Wrapf(ErrX, "words: %v", err)`: one wrap that contains the old error's complete text. A gRPC
 * status prints wraps in reverse order, so that this differs from wrapping twice.
 */
function rewrap(words: string, error: ModuleError): ModuleError {
  const text = `${words}: ${error.message}`;
  return new ModuleError(error.codespace, error.code, text, {
    description: error.description,
    wraps: [text],
  });
}

/** Returns the stored result of a KV query. TX queries have no stored results, and fail with ErrNoQueryResult. */
function queryResult(
  context: Context,
  { queryId }: wire.QueryRegisteredQueryResultRequest,
): wire.QueryRegisteredQueryResultResponse {
  if (!queries.has(context, queryId)) throw ErrInvalidQueryID(`query with id ${queryId} doesn't exist`);
  const result = wrapErrors(
    (error) => rewrap("failed to get query result by query id", error),
    () => getResult(context, queryId),
  );
  return { result };
}

/** Returns the latest height of the connection's client. `revision` is always 0: the Go module never sets it. */
function queryLastRemoteHeight(
  context: Context,
  { connectionId }: wire.QueryLastRemoteHeight,
  ibc: IbcKeeper,
): wire.QueryLastRemoteHeightResponse {
  const isMalformed = ibc.connectionIdError(connectionId) !== undefined;
  const clientId = isMalformed ? undefined : ibc.connectionClientId(context, connectionId);
  if (clientId === undefined) throw ErrInvalidConnectionID("connection not found");
  const height = ibc.clientLatestHeight(context, clientId);
  if (height === undefined) throw ErrProtoUnmarshal("can't unmarshal client state");
  return { height: height.revisionHeight, revision: 0n };
}
