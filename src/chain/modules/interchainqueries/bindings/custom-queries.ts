import { toBase64 } from "../../../../base/bytes.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../../../base/json.ts";
import type { RegisteredQuery } from "../../../../proto/gen/neutron/interchainqueries/genesis.ts";
import type { QueryResult } from "../../../../proto/gen/neutron/interchainqueries/tx.ts";
import type { Context } from "../../../runtime/context.ts";
import { ErrInvalidRequest } from "../../../runtime/sdk-errors.ts";
import { getQuery, getResult, queries } from "../keeper.ts";

/**
 * Answers a contract's own question about queries: `interchain_query_result`, `registered_interchain_query` or
 * `registered_interchain_queries`; numbers are JSON numbers here. Undefined when the question is none of these.
 */
export function answerBinding(context: Context, request: JsonObject): JsonValue | undefined {
  const {
    interchain_query_result: result,
    registered_interchain_query: query,
    registered_interchain_queries: list,
  } = request;
  // Whether the query is registered is not asked here: an unknown id has no result.
  if (isRecord(result)) return { result: resultJson(getResult(context, queryId(result))) };
  if (isRecord(query)) return { registered_query: queryJson(getQuery(context, queryId(query))) };
  if (isRecord(list)) return { registered_queries: listQueries(context, list) };
  return undefined;
}

/** Owners and connection narrow the list; it always has all matches, without pages. */
function listQueries(context: Context, request: Readonly<Record<string, unknown>>): JsonValue {
  const owners: unknown = request["owners"] ?? [];
  const connectionId: unknown = request["connection_id"] ?? "";
  if (!Array.isArray(owners)) throw ErrInvalidRequest("owners: a list was expected");
  return [...queries.entries(context)]
    .map(([, query]) => query)
    .filter(({ owner }) => owners.length === 0 || owners.includes(owner))
    .filter((query) => connectionId === "" || query.connectionId === connectionId)
    .map(queryJson);
}

/** Empty and zero members are left out, as Go's `omitempty` does; key and value never are. */
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

function queryId(request: Readonly<Record<string, unknown>>): bigint {
  const id: unknown = request["query_id"] ?? 0;
  if (typeof id === "number" && Number.isSafeInteger(id) && id >= 0) return BigInt(id);
  throw ErrInvalidRequest("query_id: an unsigned integer was expected");
}
