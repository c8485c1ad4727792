import { createProofVerifier } from "../../../../cosmos/merkle/ics23/proof-verifier.ts";
import * as queryTypes from "../../../../cosmos/proto/gen/neutron/interchainqueries/query.ts";
import * as txTypes from "../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInvalidRequest, ModuleError, wrapErrors } from "../../runtime/errors.ts";
import { messageHandlers, queryHandlers } from "../../runtime/handlers.ts";
import type { ChainModule, MessageHandler, QueryHandler } from "../../runtime/module.ts";
import { type CustomMessageResult, handleCustomMessage, handleCustomQuery } from "./bindings.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { registerQuery, removeQuery, updateQuery } from "./handlers.ts";
import { MODULE_NAME } from "./keys.ts";
import { validateUpdateParams } from "./messages.ts";
import { ErrInvalidConnectionID, ErrInvalidQueryID, ErrProtoUnmarshal } from "./errors.ts";
import { submitQueryResult } from "./submit-result.ts";
import { requireClientMessage } from "./tx-proof.ts";
import type { MessageJson } from "../wasm/contract.ts";
import type { Keepers, IbcKeeper, InterchainqueriesDeps, InterchainqueriesOptions } from "./types.ts";
import { cleanUpRemovedQueries, getQuery, getResult, pageQueries, queries } from "./keeper.ts";
import { moduleParams } from "./params.ts";

/** The module and its contract bindings. */
export interface InterchainqueriesModule extends ChainModule {
  /** Runs a contract's custom message. Returns undefined if none of this module's bindings handles it. */
  readonly handleCustomMessage: (
    context: Context,
    contract: string,
    message: unknown,
  ) => CustomMessageResult | undefined;
  /** Runs a contract's custom query. Returns undefined if none of this module's bindings handles it. */
  readonly handleCustomQuery: (
    context: Context,
    request: Readonly<Record<string, unknown>>,
  ) => MessageJson | undefined;
}

/** Creates the `interchainqueries` module. */
export function createInterchainqueriesModule(
  options: InterchainqueriesOptions,
  deps: InterchainqueriesDeps,
): InterchainqueriesModule {
  const keepers: Keepers = { ...options, ...deps, proofs: createProofVerifier() };
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createMessageHandlers(keepers),
    queries: createQueryHandlers(options.chainName, deps.ibc),
    endBlock: cleanUpRemovedQueries,
    initGenesis: (context, genesis) => initGenesis(context, genesis, options),
    exportGenesis,
    handleCustomMessage: (context, contract, message) =>
      handleCustomMessage(context, contract, message, keepers),
    handleCustomQuery,
  };
}

function createMessageHandlers(keepers: Keepers): readonly MessageHandler[] {
  return messageHandlers(
    txTypes.Msg,
    {
      RegisterInterchainQuery: (context, message) => {
        const response = registerQuery(context, message, keepers);
        return response;
      },
      SubmitQueryResult: {
        signers: ({ sender, result }) => {
          // Go unpacks both headers while it decodes the transaction. Signers are read at that point, too.
          requireClientMessage(result?.block?.header);
          requireClientMessage(result?.block?.nextBlockHeader);
          return [sender];
        },
        handle: (context, message) => submitQueryResult(context, message, keepers),
      },
      RemoveInterchainQuery: (context, message) => removeQuery(context, message, keepers),
      UpdateInterchainQuery: (context, message) => updateQuery(context, message, keepers),
      UpdateParams: moduleParams.update({
        authority: keepers.authority,
        // Go fails with ErrInvalidRequest here, not with ErrUnauthorized.
        signerError: ErrInvalidRequest,
        check: (message) => validateUpdateParams(message, keepers),
      }),
    },
    keepers.chainName,
  );
}

/** Creates the queries (chain-extension-modules.md, "Interchain queries module: queries"). Paths start with the chain's name. */
function createQueryHandlers(chainName: string, ibc: IbcKeeper): readonly QueryHandler[] {
  return queryHandlers(
    queryTypes.Query,
    {
      Params: moduleParams.query,
      RegisteredQueries: pageQueries,
      RegisteredQuery: queryRegisteredQuery,
      QueryResult: queryResult,
      LastRemoteHeight: (context, request) => queryLastRemoteHeight(context, request, ibc),
    },
    chainName,
  );
}

function queryRegisteredQuery(
  context: Context,
  { queryId }: queryTypes.QueryRegisteredQueryRequest,
): queryTypes.QueryRegisteredQueryResponse {
  const registeredQuery = wrapErrors(
    (error) => rewrap("failed to get registered query by query id", error),
    () => getQuery(context, queryId),
  );
  return { registeredQuery };
}

/**
 * Wraps an error like Go's `Wrapf(ErrX, "words: %v", err)`: one wrap that contains the complete text of the old error. A gRPC
 * status prints wraps in reverse order, so this differs from wrapErrors twice.
 */
function rewrap(words: string, error: ModuleError): ModuleError {
  const text = `${words}: ${error.message}`;
  return new ModuleError(error.codespace, error.code, text, {
    description: error.description,
    wraps: [text],
  });
}

/** Returns a KV query's stored result. TX queries have no stored results and fail with ErrNoQueryResult. */
function queryResult(
  context: Context,
  { queryId }: queryTypes.QueryRegisteredQueryResultRequest,
): queryTypes.QueryRegisteredQueryResultResponse {
  if (!queries.has(context, queryId)) throw ErrInvalidQueryID(`query with id ${queryId} doesn't exist`);
  const result = wrapErrors(
    (error) => rewrap("failed to get query result by query id", error),
    () => getResult(context, queryId),
  );
  return { result };
}

/** Returns the latest height of the connection's client. `revision` is always 0, because the Go module never sets it. */
function queryLastRemoteHeight(
  context: Context,
  { connectionId }: queryTypes.QueryLastRemoteHeight,
  ibc: IbcKeeper,
): queryTypes.QueryLastRemoteHeightResponse {
  const isMalformed = ibc.connectionIdError(connectionId) !== undefined;
  const clientId = isMalformed ? undefined : ibc.connectionClientId(context, connectionId);
  if (clientId === undefined) throw ErrInvalidConnectionID("connection not found");
  const height = ibc.clientLatestHeight(context, clientId);
  if (height === undefined) throw ErrProtoUnmarshal("can't unmarshal client state");
  return { height: height.revisionHeight, revision: 0n };
}
