import { fromHex, toHex } from "../../../base/bytes.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { GenesisState, type RegisteredQuery } from "../../../proto/gen/neutron/interchainqueries/genesis.ts";
import type { Params } from "../../../proto/gen/neutron/interchainqueries/params.ts";
import { QueryResult } from "../../../proto/gen/neutron/interchainqueries/tx.ts";
import { messageFromJson, messageToJson } from "../../../proto/json.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { ModuleError } from "../../runtime/module-error.ts";
import { invalidQueryId, unexpectedQueryTypeGenesis } from "./errors.ts";
import { validateTransactionsFilter } from "./validation/transactions-filter.ts";
import * as keeper from "./keeper.ts";
import { validateRegisteredKeys } from "./validation/key-list.ts";
import { defaultParams, ZERO_PARAMS } from "./params.ts";
import type { InterchainqueriesOptions } from "./types.ts";

const GENESIS_TYPE = "neutron.interchainqueries.GenesisState";
const RESULT_TYPE = "neutron.interchainqueries.QueryResult";

/** What the deployed genesis forgets, kept beside it so that an export loses nothing. */
interface OwnState {
  readonly lastQueryId: bigint | undefined;
  readonly results: readonly (readonly [queryId: bigint, result: QueryResult])[];
  readonly submittedTxs: readonly keeper.SubmittedTx[];
  readonly removedTxQueries: readonly bigint[];
}

/**
 * Reads the module's genesis: `params` and `registered_queries` as on the deployed chain, and, when they are there,
 * `last_query_id`, `query_results`, `submitted_txs` (hash in hex) and `removed_tx_queries`. Without `last_query_id` the
 * highest id counts; without a genesis the parameters are the defaults. Throws with the path of what is wrong.
 */
export function initGenesis(
  context: Context,
  genesis: JsonValue | undefined,
  { bech32Prefix, denom }: Pick<InterchainqueriesOptions, "bech32Prefix" | "denom">,
): void {
  if (genesis === undefined) return keeper.setParams(context, defaultParams(denom));
  if (!isRecord(genesis)) throw new Error("interchainqueries: an object was expected");
  const state = GenesisState.decode(messageFromJson(GENESIS_TYPE, deployedPart(genesis)));
  const params = state.params ?? ZERO_PARAMS;
  validateQueries(state.registeredQueries, { params, bech32Prefix });
  const own = parseOwnState(genesis);
  keeper.setParams(context, params);
  for (const query of state.registeredQueries) keeper.setQuery(context, query);
  const highest = state.registeredQueries.reduce((max, { id }) => (id > max ? id : max), 0n);
  const last = own.lastQueryId ?? highest;
  if (last < highest) throw new Error(`interchainqueries.last_query_id: ${last} is below query ${highest}`);
  if (last > 0n) keeper.lastId.set(context, last);
  for (const [id, result] of own.results) keeper.results.set(context, id, result);
  for (const tx of own.submittedTxs) keeper.markSubmitted(context, tx);
  for (const id of own.removedTxQueries) keeper.markRemoved(context, id);
}

/** The whole state of the module; {@link initGenesis} of it gives the same store again. */
export function exportGenesis(context: Context): JsonObject {
  const registeredQueries = [...keeper.queries.entries(context)].map(([, query]) => query);
  const bytes = GenesisState.encode({ params: keeper.getParams(context), registeredQueries }).finish();
  const deployed = messageToJson(GENESIS_TYPE, bytes);
  if (!isRecord(deployed)) throw new Error("this is a bug: a genesis state prints as an object");
  return {
    params: deployed["params"] ?? null,
    registered_queries: deployed["registered_queries"] ?? [],
    last_query_id: (keeper.lastId.get(context) ?? 0n).toString(),
    query_results: [...keeper.results.entries(context)].map(([id, result]) => ({
      query_id: id.toString(),
      result: messageToJson(RESULT_TYPE, QueryResult.encode(result).finish()),
    })),
    submitted_txs: [...keeper.submittedTxs.entries(context)].map(([{ queryId, hash }]) => ({
      query_id: queryId.toString(),
      hash: toHex(hash),
    })),
    removed_tx_queries: [...keeper.removedTxQueries.entries(context)].map(([id]) => id.toString()),
  };
}

/** The checks of the deployed genesis, query by query in the order of the list. Throws `ModuleError`. */
function validateQueries(
  queries: readonly RegisteredQuery[],
  { params, bech32Prefix }: { readonly params: Params; readonly bech32Prefix: string },
): void {
  const seen = new Set<bigint>();
  for (const query of queries) {
    if (seen.has(query.id)) throw invalidQueryId(`duplicate query id: ${query.id}`);
    seen.add(query.id);
    checkOwner(bech32Prefix, query.owner);
    if (query.queryType === "tx")
      validateTransactionsFilter(query.transactionsFilter, params.maxTransactionsFilters);
    else if (query.queryType === "kv") validateRegisteredKeys(query.keys, params.maxKvQueryKeysCount);
    else throw unexpectedQueryTypeGenesis(`Unexpected query type: ${query.queryType}`);
  }
}

function checkOwner(bech32Prefix: string, owner: string): void {
  try {
    parseAddress(bech32Prefix, owner);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ModuleError("undefined", 1, `Invalid owner address (${reason}): ${reason}`);
  }
}

function deployedPart(genesis: Readonly<Record<string, unknown>>): unknown {
  return { params: genesis["params"] ?? null, registered_queries: genesis["registered_queries"] ?? [] };
}

function parseOwnState(genesis: Readonly<Record<string, unknown>>): OwnState {
  const last = genesis["last_query_id"];
  return {
    lastQueryId: last === undefined ? undefined : parseId(last, "last_query_id"),
    results: parseList(genesis, "query_results", (entry, path) => {
      const fields = parseObject(entry, path);
      const bytes = messageFromJson(RESULT_TYPE, fields["result"]);
      return [parseId(fields["query_id"], `${path}.query_id`), QueryResult.decode(bytes)] as const;
    }),
    submittedTxs: parseList(genesis, "submitted_txs", (entry, path) => {
      const fields = parseObject(entry, path);
      return {
        queryId: parseId(fields["query_id"], `${path}.query_id`),
        hash: parseHash(fields["hash"], path),
      };
    }),
    removedTxQueries: parseList(genesis, "removed_tx_queries", parseId),
  };
}

function parseList<T>(
  genesis: Readonly<Record<string, unknown>>,
  name: string,
  parse: (entry: unknown, path: string) => T,
): readonly T[] {
  const list: unknown = genesis[name] ?? [];
  if (!Array.isArray(list)) throw new Error(`interchainqueries.${name}: a list was expected`);
  return list.map((entry: unknown, index) => parse(entry, `${name}[${index}]`));
}

function parseObject(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw new Error(`interchainqueries.${path}: an object was expected`);
}

function parseId(value: unknown, path: string): bigint {
  if (typeof value === "string" && /^\d{1,20}$/.test(value) && BigInt(value) < 2n ** 64n)
    return BigInt(value);
  throw new Error(`interchainqueries.${path}: a decimal uint64 as text was expected`);
}

function parseHash(value: unknown, path: string): Uint8Array {
  if (typeof value === "string" && /^[0-9a-f]{64}$/.test(value)) return fromHex(value);
  throw new Error(`interchainqueries.${path}.hash: 64 lower-case hex digits were expected`);
}
