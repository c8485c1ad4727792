import type { PageRequest } from "../../../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import type { RegisteredQuery } from "../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import * as wire from "../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { QueryResult } from "../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { toChainTypeUrl } from "../../../../cosmos/proto/registry.ts";
import { toBase64, utf8 } from "../../../../platform/base/bytes.ts";
import type { JsonField } from "../../../../platform/base/json.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInvalidRequest, goPanic, wrapErrors } from "../../runtime/errors.ts";
import type { MessageJson } from "../wasm/contract.ts";
import { asUintNumber, customMessages, customQueries, toUintNumber } from "../wasm/custom-json.ts";
import type { CustomMessageHandler, CustomMessageResult, CustomQueryHandler } from "../wasm/types.ts";
import { registerQuery, removeQuery, updateQuery, type KeyList } from "./handlers.ts";
import { getQuery, getResult, pageQueries, queries, type Keepers } from "./keeper.ts";

/** Creates the handler for `register_interchain_query`, `update_interchain_query` and `remove_interchain_query`. */
export function createMessageBindings(keepers: Keepers): CustomMessageHandler {
  return customMessages({
    register_interchain_query: (context, sender, fields) =>
      wrapTwiceAs("register", () => runRegister(context, sender, fields, keepers)),
    update_interchain_query: (context, sender, fields) =>
      wrapTwiceAs("update", () => {
        const message = {
          queryId: queryId(fields),
          newKeys: keyList(fields.member("new_keys")),
          newUpdatePeriod: asUintNumber(fields.member("new_update_period")),
          newTransactionsFilter: fields.member("new_transactions_filter").asText(),
          sender,
        };
        updateQuery(context, message, keepers);
        return emptyResult("MsgUpdateInterchainQueryResponse", keepers);
      }),
    remove_interchain_query: (context, sender, fields) =>
      wrapTwiceAs("remove", () => {
        removeQuery(context, { queryId: queryId(fields), sender }, keepers);
        return emptyResult("MsgRemoveInterchainQueryResponse", keepers);
      }),
  });
}

/** Wraps an error twice with the same words, because Go's bindings have two layers and each layer wraps the error. */
function wrapTwiceAs(action: string, run: () => CustomMessageResult): CustomMessageResult {
  const words = `failed to ${action} interchain query`;
  return wrapErrors((error) => error.wrap(words).wrap(words), run);
}

function runRegister(
  context: Context,
  sender: string,
  fields: JsonField,
  keepers: Keepers,
): CustomMessageResult {
  const message = {
    queryType: fields.member("query_type").asText(),
    keys: keyList(fields.member("keys")),
    transactionsFilter: fields.member("transactions_filter").asText(),
    connectionId: fields.member("connection_id").asText(),
    updatePeriod: asUintNumber(fields.member("update_period")),
    sender,
  };
  const response = registerQuery(context, message, keepers);
  return {
    data: utf8(`{"id":${response.id}}`),
    response: {
      typeUrl: responseTypeUrl("MsgRegisterInterchainQueryResponse", keepers),
      response: wire.MsgRegisterInterchainQueryResponse.encode(response).finish(),
    },
  };
}

function emptyResult(name: string, keepers: Keepers): CustomMessageResult {
  const typeUrl = responseTypeUrl(name, keepers);
  return { data: utf8("{}"), response: { typeUrl, response: new Uint8Array(0) } };
}

function responseTypeUrl(name: string, { chainName }: Keepers): string {
  return toChainTypeUrl(`/neutron.interchainqueries.${name}`, chainName);
}

/**
 * Reads a KV query's list of keys. A null element becomes undefined, and the key check rejects it. The deployed chain panics in
 * this case.
 */
function keyList(field: JsonField): KeyList {
  return field
    .elements()
    .map((entry) =>
      entry.isPresent()
        ? { path: entry.member("path").asText(), key: entry.member("key").asBase64() }
        : undefined,
    );
}

/**
 * Handles a contract's `interchain_query_result`, `registered_interchain_query` or `registered_interchain_queries`. Unlike in the
 * REST API, integers are JSON numbers with all their digits.
 */
export const queryBindings: CustomQueryHandler = customQueries(
  {
    // As in Go, only the result is read, so an unknown query id fails with ErrNoQueryResult.
    interchain_query_result: (context, fields) => ({
      result: resultJson(getResult(context, queryId(fields))),
    }),
    registered_interchain_query: (context, fields) => ({
      registered_query: queryJson(getQuery(context, queryId(fields))),
    }),
    registered_interchain_queries: (context, fields) => ({
      registered_queries: listQueries(context, fields),
    }),
  },
  (path, expected) => ErrInvalidRequest(`${path}: not ${expected}`),
);

/**
 * Lists queries filtered by owners and connection. An empty filter matches every query. Returns all matches. With the `deployed`
 * profile, returns only one page, like the gRPC query. Like the deployed binding, panics if `pagination` is missing.
 */
function listQueries(context: Context, request: JsonField): MessageJson {
  const pagination = request.member("pagination");
  if (!pagination.isPresent())
    throw goPanic("runtime error: invalid memory address or nil pointer dereference");
  const owners = request
    .member("owners")
    .elements()
    .map((field) => field.asText());
  const connectionId = request.member("connection_id").asText();
  if (context.profile.deployed("icqListQuery")) {
    const page = pageQueries(context, { owners, connectionId, pagination: pageOf(pagination) });
    return page.registeredQueries.map(queryJson);
  }
  return [...queries.entries(context)]
    .map(([, query]) => query)
    .filter(({ owner }) => owners.length === 0 || owners.includes(owner))
    .filter((query) => connectionId === "" || query.connectionId === connectionId)
    .map(queryJson);
}

function pageOf(field: JsonField): PageRequest {
  return {
    key: field.member("key").asBase64(),
    offset: asUintNumber(field.member("offset")),
    limit: asUintNumber(field.member("limit")),
    countTotal: field.member("count_total").asBoolean(),
    reverse: field.member("reverse").asBoolean(),
  };
}

/** Prints a query result for a contract. Like Go's `omitempty`, omits empty and zero members. The key and value are always printed. */
function resultJson({ kvResults, height, revision }: QueryResult): MessageJson {
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

function queryJson(query: RegisteredQuery): MessageJson {
  const remote = query.lastSubmittedResultRemoteHeight;
  return {
    id: toUintNumber(query.id),
    owner: query.owner,
    keys: query.keys.map(({ path, key }) => ({ path, key: toBase64(key) })),
    transactions_filter: query.transactionsFilter,
    query_type: query.queryType,
    connection_id: query.connectionId,
    update_period: toUintNumber(query.updatePeriod),
    last_submitted_result_local_height: toUintNumber(query.lastSubmittedResultLocalHeight),
    ...(remote === undefined
      ? {}
      : {
          last_submitted_result_remote_height: {
            ...numberMember("revision_number", remote.revisionNumber),
            ...numberMember("revision_height", remote.revisionHeight),
          },
        }),
    deposit: query.deposit.map(({ denom, amount }) => ({ denom, amount })),
    submit_timeout: toUintNumber(query.submitTimeout),
    registered_at_height: toUintNumber(query.registeredAtHeight),
  };
}

function numberMember(name: string, value: bigint): Readonly<Record<string, number | bigint>> {
  return value === 0n ? {} : { [name]: toUintNumber(value) };
}

function queryId(request: JsonField): bigint {
  return asUintNumber(request.member("query_id"));
}
