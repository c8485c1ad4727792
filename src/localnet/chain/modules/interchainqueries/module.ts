import { createProofVerifier } from "../../../../cosmos/merkle/ics23/proof-verifier.ts";
import * as queryTypes from "../../../../cosmos/proto/gen/neutron/interchainqueries/query.ts";
import { QueryResult, Msg } from "../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { Context, ChainModule, MessageHandler, QueryHandler } from "../../runtime/context.ts";
import * as errors from "../../runtime/errors.ts";
import { checkUpdate } from "../../runtime/params-module.ts";
import { messageHandlers, queryHandlers } from "../../runtime/handlers.ts";
import { createMessageBindings, queryBindings } from "./bindings.ts";
import { registerQuery, removeQuery, updateQuery, validateRegisteredKeys } from "./handlers.ts";
import { submitQueryResult } from "./submit-result.ts";
import { requireClientMessage, validateTransactionsFilter } from "./tx-queries.ts";
import type { CustomMessageHandler, CustomQueryHandler } from "../wasm/types.ts";
import { fromHex, toHex } from "../../../../platform/base/bytes.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import { isRecord, type JsonObject, type JsonValue, type JsonField } from "../../../../platform/base/json.ts";
import {
  GenesisState,
  type RegisteredQuery,
} from "../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import type { Params } from "../../../../cosmos/proto/gen/neutron/interchainqueries/params.ts";
import { parseAddress } from "../../runtime/address.ts";
import { GenesisError, genesisField, genesisPart, genesisSchema } from "../../runtime/genesis.ts";
import * as keeper from "./keeper.ts";

export interface InterchainqueriesModule extends ChainModule {
  /** Runs a contract's custom message. Returns undefined if none of this module's bindings handles the message. */
  readonly handleCustomMessage: CustomMessageHandler;
  /** Runs a contract's custom query. Returns undefined if none of this module's bindings handles the query. */
  readonly handleCustomQuery: CustomQueryHandler;
}

export function createInterchainqueriesModule(
  options: keeper.InterchainqueriesOptions,
  deps: keeper.InterchainqueriesDeps,
): InterchainqueriesModule {
  const keepers: keeper.Keepers = { ...options, ...deps, proofs: createProofVerifier() };
  return {
    name: keeper.MODULE_NAME,
    stores: [keeper.MODULE_NAME],
    messages: createMessageHandlers(keepers),
    queries: createQueryHandlers(options.chainName, deps.ibc),
    endBlock: keeper.cleanUpRemovedQueries,
    initGenesis: (context, genesis) => initGenesis(context, genesis, options),
    exportGenesis,
    handleCustomMessage: createMessageBindings(keepers),
    handleCustomQuery: queryBindings,
  };
}

function createMessageHandlers(keepers: keeper.Keepers): readonly MessageHandler[] {
  return messageHandlers(
    Msg,
    {
      RegisterInterchainQuery: (context, message) => registerQuery(context, message, keepers),
      SubmitQueryResult: {
        signers: ({ sender, result }) => {
          // Go unpacks the result's two headers while it decodes the transaction and reads the signers.
          requireClientMessage(result?.block?.header);
          requireClientMessage(result?.block?.nextBlockHeader);
          return [sender];
        },
        handle: (context, message) => submitQueryResult(context, message, keepers),
      },
      RemoveInterchainQuery: (context, message) => removeQuery(context, message, keepers),
      UpdateInterchainQuery: (context, message) => updateQuery(context, message, keepers),
      UpdateParams: keeper.moduleParams.update({
        authority: keepers.authority,
        // For a wrong signer, Go uses ErrInvalidRequest instead of ErrUnauthorized.
        signerError: errors.ErrInvalidRequest,
        check: checkUpdate(keepers.bech32Prefix),
      }),
    },
    keepers.chainName,
  );
}

/** Creates the queries (chain-extension-modules.md, "Interchain queries module: queries"). Query paths start with the chain's name. */
function createQueryHandlers(chainName: string, ibc: keeper.IbcKeeper): readonly QueryHandler[] {
  return queryHandlers(
    queryTypes.Query,
    {
      Params: keeper.moduleParams.query,
      RegisteredQueries: keeper.pageQueries,
      RegisteredQuery: (context, { queryId }) => {
        const words = "failed to get registered query by query id";
        return { registeredQuery: rewrapped(words, () => keeper.getQuery(context, queryId)) };
      },
      // A TX query fails with ErrNoQueryResult, because it has no stored result.
      QueryResult: (context, { queryId }) => {
        if (!keeper.queries.has(context, queryId))
          throw keeper.ErrInvalidQueryID(`query with id ${queryId} doesn't exist`);
        const words = "failed to get query result by query id";
        return { result: rewrapped(words, () => keeper.getResult(context, queryId)) };
      },
      LastRemoteHeight: (context, request) => queryLastRemoteHeight(context, request, ibc),
    },
    chainName,
  );
}

/**
 * Wraps an error like Go's `Wrapf(ErrX, "words: %v", err)`: one wrap contains the complete message of the old error. Two separate
 * wraps would be printed in a different order, because a gRPC status prints wraps in reverse order.
 */
function rewrapped<T>(words: string, work: () => T): T {
  return errors.wrapErrors(({ codespace, code, message, description }) => {
    const text = `${words}: ${message}`;
    return new errors.ModuleError(codespace, code, text, { description, wraps: [text] });
  }, work);
}

/** Returns the latest height of the connection's client. `revision` is always 0, because the Go module never sets it. */
function queryLastRemoteHeight(
  context: Context,
  { connectionId }: queryTypes.QueryLastRemoteHeight,
  ibc: keeper.IbcKeeper,
): queryTypes.QueryLastRemoteHeightResponse {
  const isMalformed = ibc.connectionIdError(connectionId) !== undefined;
  const clientId = isMalformed ? undefined : ibc.connectionClientId(context, connectionId);
  if (clientId === undefined) throw keeper.ErrInvalidConnectionID("connection not found");
  const height = ibc.clientLatestHeight(context, clientId);
  if (height === undefined) throw keeper.ErrProtoUnmarshal("can't unmarshal client state");
  return { height: height.revisionHeight, revision: 0n };
}

const SCHEMA = genesisSchema(keeper.MODULE_NAME, "neutron.interchainqueries.GenesisState", GenesisState);
const RESULT = genesisPart<QueryResult>("neutron.interchainqueries.QueryResult", QueryResult);
const PATH = `app_state.${keeper.MODULE_NAME}`;

/**
 * Reads the module's genesis. As on the deployed chain, the genesis contains `params` and `registered_queries`. Additional optional
 * members are `last_query_id` (default: the highest id), `query_results`, `submitted_txs` (hashes in hex) and `removed_tx_queries`.
 * Without a module genesis, the parameters are the defaults. As in Go, if only `params` is missing, all parameters are zero. Throws
 * `ModuleError` with the same message as Go for an invalid query, and `GenesisError` for any other invalid value.
 */
function initGenesis(
  context: Context,
  genesis: JsonValue | undefined,
  { bech32Prefix, denom }: Pick<keeper.InterchainqueriesOptions, "bech32Prefix" | "denom">,
): void {
  const state = SCHEMA.read(deployedPart(genesis));
  if (state === undefined) return keeper.moduleParams.set(context, keeper.defaultParams(denom));
  const params = state.params ?? keeper.moduleParams.defaults;
  validateQueries(state.registeredQueries, { params, bech32Prefix });
  keeper.moduleParams.set(context, params);
  for (const query of state.registeredQueries) keeper.setQuery(context, query);
  const added = readAddedState(genesisField(keeper.MODULE_NAME, genesis));
  initLastId(context, state.registeredQueries, added.lastQueryId);
  for (const [id, result] of added.results) keeper.results.set(context, id, result);
  for (const tx of added.submittedTxs) keeper.markSubmitted(context, tx);
  for (const id of added.removedTxQueries) keeper.markRemoved(context, id);
}

/** Exports the module's complete state, from which {@link initGenesis} restores the same store. */
function exportGenesis(context: Context): JsonObject {
  const registeredQueries = [...keeper.queries.entries(context)].map(([, query]) => query);
  const deployed = SCHEMA.print({ params: keeper.moduleParams.get(context), registeredQueries });
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

/** Like Go, validates the genesis queries in list order. Throws `ModuleError`. */
function validateQueries(
  queries: readonly RegisteredQuery[],
  { params, bech32Prefix }: { readonly params: Params; readonly bech32Prefix: string },
): void {
  const seen = new Set<bigint>();
  for (const query of queries) {
    if (seen.has(query.id)) throw keeper.ErrInvalidQueryID(`duplicate query id: ${query.id}`);
    seen.add(query.id);
    errors.orThrow(
      () => parseAddress(bech32Prefix, query.owner),
      (reason) => errors.unregisteredError(`Invalid owner address (${reason}): ${reason}`),
    );
    if (query.queryType === "tx")
      validateTransactionsFilter(query.transactionsFilter, params.maxTransactionsFilters);
    else if (query.queryType === "kv") validateRegisteredKeys(query.keys, params.maxKvQueryKeysCount);
    else throw keeper.ErrUnexpectedQueryTypeGenesis(`Unexpected query type: ${query.queryType}`);
  }
}

/** Returns only the members in the deployed schema, because the proto JSON reader rejects all others. */
function deployedPart(genesis: JsonValue | undefined): JsonValue | undefined {
  if (!isRecord(genesis)) return genesis;
  return { params: genesis["params"] ?? null, registered_queries: genesis["registered_queries"] ?? [] };
}

/** Sets the last assigned query id. Like Go, writes no entry for 0, so that a new chain has the same app hash. */
function initLastId(context: Context, queries: readonly RegisteredQuery[], given: bigint | undefined): void {
  const highest = queries.reduce((max, { id }) => (id > max ? id : max), 0n);
  const last = given ?? highest;
  if (last < highest) throw new GenesisError(`${PATH}.last_query_id`, `${last} is below query ${highest}`);
  if (last > 0n) keeper.lastId.set(context, last);
}

/**
 * Reads the genesis members that the deployed schema lacks. Without these members, an export would lose results, and ids would be
 * reused.
 */
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
