import { getQuery, getResult, queries } from "../keeper.ts";
import { toBase64 } from "../../../../../platform/base/bytes.ts";
import {
  isRecord,
  type JsonObject,
  type JsonValue,
  asText,
  elements,
  type JsonField,
  member,
} from "../../../../../platform/base/json.ts";
import type { RegisteredQuery } from "../../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import type { QueryResult } from "../../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { Context } from "../../../runtime/context.ts";
import { ErrInvalidRequest } from "../../../runtime/errors.ts";
import { asUintNumber } from "./json-number.ts";

/**
 * Answers a contract's `interchain_query_result`, `registered_interchain_query` or `registered_interchain_queries`.
 * Integers are JSON numbers, unlike in the REST form. Returns undefined for any other query.
 */
export function handleCustomQuery(context: Context, request: JsonObject): JsonValue | undefined {
  const {
    interchain_query_result: result,
    registered_interchain_query: query,
    registered_interchain_queries: list,
  } = request;
  // As in Go, this does not look up the query: an unknown id fails with ErrNoQueryResult.
  if (isRecord(result)) return { result: resultJson(getResult(context, queryId(root(result)))) };
  if (isRecord(query)) return { registered_query: queryJson(getQuery(context, queryId(root(query)))) };
  if (isRecord(list)) return { registered_queries: listQueries(context, root(list)) };
  return undefined;
}

/**
 * Filters by owners and connection; empty matches all. Returns all matches and ignores `pagination`, unlike the gRPC
 * query.
 */
function listQueries(context: Context, request: JsonField): JsonValue {
  const owners = elements(member(request, "owners")).map(asText);
  const connectionId = asText(member(request, "connection_id"));
  return [...queries.entries(context)]
    .map(([, query]) => query)
    .filter(({ owner }) => owners.length === 0 || owners.includes(owner))
    .filter((query) => connectionId === "" || query.connectionId === connectionId)
    .map(queryJson);
}

/** Leaves out empty and zero members, as Go's `omitempty` tags do. Key and value are never left out. */
function resultJson({ kvResults, height, revision }: QueryResult): JsonObject {
  const values = kvResults.map(({ storagePrefix, key, value }) => ({
    ...(storagePrefix === "" ? {} : { storage_prefix: storagePrefix }),
    key: toBase64(key),
    value: toBase64(value),
  }));
  return {
    ...(values.length === 0 ? {} : { kv_results: values }),
    ...numberMember("height", height),
    ...numberMember("revision", revision),
  };
}

function queryJson(query: RegisteredQuery): JsonObject {
  const remote = query.lastSubmittedResultRemoteHeight;
  return {
    id: Number(query.id),
    owner: query.owner,
    keys: query.keys.map(({ path, key }) => ({ path, key: toBase64(key) })),
    transactions_filter: query.transactionsFilter,
    query_type: query.queryType,
    connection_id: query.connectionId,
    update_period: Number(query.updatePeriod),
    last_submitted_result_local_height: Number(query.lastSubmittedResultLocalHeight),
    ...(remote === undefined
      ? {}
      : {
          last_submitted_result_remote_height: {
            ...numberMember("revision_number", remote.revisionNumber),
            ...numberMember("revision_height", remote.revisionHeight),
          },
        }),
    deposit: query.deposit.map(({ denom, amount }) => ({ denom, amount })),
    submit_timeout: Number(query.submitTimeout),
    registered_at_height: Number(query.registeredAtHeight),
  };
}

function numberMember(name: string, value: bigint): JsonObject {
  return value === 0n ? {} : { [name]: Number(value) };
}

function queryId(request: JsonField): bigint {
  return asUintNumber(member(request, "query_id"));
}

function root(value: unknown): JsonField {
  return { value, path: "", error: fieldError };
}

function fieldError(path: string, expected: string): Error {
  return ErrInvalidRequest(`${path}: not ${expected}`);
}
