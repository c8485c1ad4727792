import { createProofVerifier } from "../../../../cosmos/merkle/ics23/proof-verifier.ts";
import * as queryTypes from "../../../../cosmos/proto/gen/neutron/interchainqueries/query.ts";
import * as txTypes from "../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { Context, ChainModule, MessageHandler, QueryHandler } from "../../runtime/context.ts";
import { ErrInvalidRequest, ModuleError, wrapErrors } from "../../runtime/errors.ts";
import { checkUpdate } from "../../runtime/params-module.ts";
import { messageHandlers, queryHandlers } from "../../runtime/handlers.ts";
import { createMessageBindings, queryBindings } from "./bindings.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { registerQuery, removeQuery, updateQuery } from "./handlers.ts";
import { ErrInvalidConnectionID, ErrInvalidQueryID, ErrProtoUnmarshal } from "./errors.ts";
import { submitQueryResult } from "./submit-result.ts";
import { requireClientMessage } from "./tx-proof.ts";
import type { CustomMessageHandler, CustomQueryHandler } from "../wasm/types.ts";
import type { Keepers, IbcKeeper, InterchainqueriesDeps, InterchainqueriesOptions } from "./types.ts";
import { cleanUpRemovedQueries, getQuery, getResult, pageQueries, queries } from "./keeper.ts";
import { moduleParams, MODULE_NAME } from "./params.ts";

/** The module and its contract bindings. */
export interface InterchainqueriesModule extends ChainModule {
  /** Runs a contract's custom message. Returns undefined if none of this module's bindings handles it. */
  readonly handleCustomMessage: CustomMessageHandler;
  /** Runs a contract's custom query. Returns undefined if none of this module's bindings handles it. */
  readonly handleCustomQuery: CustomQueryHandler;
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
    handleCustomMessage: createMessageBindings(keepers),
    handleCustomQuery: queryBindings,
  };
}

function createMessageHandlers(keepers: Keepers): readonly MessageHandler[] {
  return messageHandlers(
    txTypes.Msg,
    {
      RegisterInterchainQuery: (context, message) => registerQuery(context, message, keepers),
      SubmitQueryResult: {
        signers: ({ sender, result }) => {
          // Go unpacks both headers while decoding the transaction, when it also reads the signers.
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
        check: checkUpdate(keepers.bech32Prefix),
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
      RegisteredQuery: (context, { queryId }) => {
        const words = "failed to get registered query by query id";
        return { registeredQuery: rewrapped(words, () => getQuery(context, queryId)) };
      },
      // TX queries have no stored results and fail with ErrNoQueryResult.
      QueryResult: (context, { queryId }) => {
        if (!queries.has(context, queryId)) throw ErrInvalidQueryID(`query with id ${queryId} doesn't exist`);
        const words = "failed to get query result by query id";
        return { result: rewrapped(words, () => getResult(context, queryId)) };
      },
      LastRemoteHeight: (context, request) => queryLastRemoteHeight(context, request, ibc),
    },
    chainName,
  );
}

/**
 * Wraps an error like Go's `Wrapf(ErrX, "words: %v", err)`: one wrap that contains the complete text of the old error. A gRPC
 * status prints wraps in reverse order, so this differs from wrapErrors twice.
 */
function rewrapped<T>(words: string, work: () => T): T {
  return wrapErrors(({ codespace, code, message, description }) => {
    const text = `${words}: ${message}`;
    return new ModuleError(codespace, code, text, { description, wraps: [text] });
  }, work);
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
