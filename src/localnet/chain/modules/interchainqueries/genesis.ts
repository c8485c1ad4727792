import { orThrow, unregisteredError } from "../../runtime/errors.ts";
import { fromHex, toHex } from "../../../../platform/base/bytes.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import { isRecord, type JsonObject, type JsonValue, type JsonField } from "../../../../platform/base/json.ts";
import {
  GenesisState,
  type RegisteredQuery,
} from "../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import type { Params } from "../../../../cosmos/proto/gen/neutron/interchainqueries/params.ts";
import { QueryResult } from "../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import {
  GenesisError,
  genesisField,
  genesisPart,
  type GenesisSchema,
  printGenesis,
  readGenesis,
} from "../../runtime/genesis.ts";
import { ErrInvalidQueryID, ErrUnexpectedQueryTypeGenesis } from "./errors.ts";
import * as keeper from "./keeper.ts";
import type { InterchainqueriesOptions } from "./types.ts";
import { validateRegisteredKeys } from "./messages.ts";
import { validateTransactionsFilter } from "./transactions-filter.ts";
import { defaultParams, moduleParams, MODULE_NAME } from "./params.ts";

const SCHEMA: GenesisSchema<GenesisState> = {
  module: MODULE_NAME,
  typeName: "neutron.interchainqueries.GenesisState",
  type: GenesisState,
};
const RESULT = genesisPart<QueryResult>("neutron.interchainqueries.QueryResult", QueryResult);
const PATH = `app_state.${MODULE_NAME}`;

/**
 * Reads the module's genesis: `params` and `registered_queries` as on the deployed chain, and optionally `last_query_id`,
 * `query_results`, `submitted_txs` (hash in hex) and `removed_tx_queries`. `last_query_id` defaults to the highest query id. If
 * the genesis is absent, the default parameters apply; if only `params` is absent, all parameters are zero, as in Go. Throws
 * `GenesisError`, or `ModuleError` with Go's error for an invalid query.
 */
export function initGenesis(
  context: Context,
  genesis: JsonValue | undefined,
  { bech32Prefix, denom }: Pick<InterchainqueriesOptions, "bech32Prefix" | "denom">,
): void {
  const state = readGenesis(SCHEMA, deployedPart(genesis));
  if (state === undefined) return moduleParams.set(context, defaultParams(denom));
  const params = state.params ?? moduleParams.defaults;
  validateQueries(state.registeredQueries, { params, bech32Prefix });
  moduleParams.set(context, params);
  for (const query of state.registeredQueries) keeper.setQuery(context, query);
  const added = readAddedState(genesisField(MODULE_NAME, genesis));
  initLastId(context, state.registeredQueries, added.lastQueryId);
  for (const [id, result] of added.results) keeper.results.set(context, id, result);
  for (const tx of added.submittedTxs) keeper.markSubmitted(context, tx);
  for (const id of added.removedTxQueries) keeper.markRemoved(context, id);
}

/** Exports the module's complete state, from which {@link initGenesis} restores the same store. */
export function exportGenesis(context: Context): JsonObject {
  const registeredQueries = [...keeper.queries.entries(context)].map(([, query]) => query);
  const deployed = printGenesis(SCHEMA, { params: moduleParams.get(context), registeredQueries });
  if (!isRecord(deployed)) return unreachable("a genesis state prints as an object");
  return {
    params: deployed["params"] ?? null,
    registered_queries: deployed["registered_queries"] ?? [],
    last_query_id: (keeper.lastId.get(context) ?? 0n).toString(),
    query_results: [...keeper.results.entries(context)].map(([id, result]) => ({
      query_id: id.toString(),
      result: RESULT.print(result),
    })),
    submitted_txs: [...keeper.submittedTxs.entries(context)].map(([{ queryId, hash }]) => ({
      query_id: queryId.toString(),
      hash: toHex(hash),
    })),
    removed_tx_queries: [...keeper.removedTxQueries.entries(context)].map(([id]) => id.toString()),
  };
}

/** Performs Go's genesis checks, in list order. Throws `ModuleError`. */
function validateQueries(
  queries: readonly RegisteredQuery[],
  { params, bech32Prefix }: { readonly params: Params; readonly bech32Prefix: string },
): void {
  const seen = new Set<bigint>();
  for (const query of queries) {
    if (seen.has(query.id)) throw ErrInvalidQueryID(`duplicate query id: ${query.id}`);
    seen.add(query.id);
    orThrow(
      () => parseAddress(bech32Prefix, query.owner),
      (reason) => unregisteredError(`Invalid owner address (${reason}): ${reason}`),
    );
    if (query.queryType === "tx")
      validateTransactionsFilter(query.transactionsFilter, params.maxTransactionsFilters);
    else if (query.queryType === "kv") validateRegisteredKeys(query.keys, params.maxKvQueryKeysCount);
    else throw ErrUnexpectedQueryTypeGenesis(`Unexpected query type: ${query.queryType}`);
  }
}

/** Returns the members defined by the deployed schema; the proto JSON reader rejects all others. */
function deployedPart(genesis: JsonValue | undefined): JsonValue | undefined {
  if (!isRecord(genesis)) return genesis;
  return { params: genesis["params"] ?? null, registered_queries: genesis["registered_queries"] ?? [] };
}

/** Sets the last id. Like Go, writes no entry for 0, so that a new chain's store has the same app hash. */
function initLastId(context: Context, queries: readonly RegisteredQuery[], given: bigint | undefined): void {
  const highest = queries.reduce((max, { id }) => (id > max ? id : max), 0n);
  const last = given ?? highest;
  if (last < highest) throw new GenesisError(`${PATH}.last_query_id`, `${last} is below query ${highest}`);
  if (last > 0n) keeper.lastId.set(context, last);
}

/** Reads the parts that the deployed genesis schema does not cover. Without it, an export would lose results and reuse ids. */
function readAddedState(genesis: JsonField) {
  const last = genesis.member("last_query_id");
  return {
    lastQueryId: last.isPresent() ? last.asUint64() : undefined,
    results: genesis
      .member("query_results")
      .elements()
      .map((entry) => [asQueryId(entry), RESULT.read(entry.member("result"))] as const),
    submittedTxs: genesis
      .member("submitted_txs")
      .elements()
      .map((entry) => ({
        queryId: asQueryId(entry),
        hash: txHash(entry.member("hash").required()),
      })),
    removedTxQueries: genesis
      .member("removed_tx_queries")
      .elements()
      .map((id) => id.required().asUint64()),
  };
}

function asQueryId(entry: JsonField): bigint {
  return entry.member("query_id").required().asUint64();
}

function txHash(field: JsonField): Uint8Array {
  const text = field.asText();
  if (!/^[0-9a-f]{64}$/.test(text)) throw field.error(field.path, "a SHA-256 hash in lower-case hex");
  return fromHex(text);
}
