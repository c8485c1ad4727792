import { createProofVerifier } from "../../../../cosmos/merkle/ics23/proof-verifier.ts";
import * as wire from "../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { toChainTypeUrl } from "../../../../cosmos/proto/type-urls.ts";
import type { Context } from "../../runtime/context.ts";
import { toMessageHandler } from "../../runtime/handlers.ts";
import type { ChainModule, MessageHandler } from "../../runtime/module.ts";
import type { JsonObject, JsonValue } from "../../../../platform/base/json.ts";
import { type CustomMessageResult, handleCustomMessage } from "./bindings/custom-messages.ts";
import { handleCustomQuery } from "./bindings/custom-queries.ts";
import { cleanUpRemovedQueries } from "./cleanup.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { registerQuery, removeQuery, updateParams, updateQuery } from "./handlers.ts";
import { MODULE_NAME } from "./keys.ts";
import { createQueryHandlers } from "./queries.ts";
import { requireClientMessage } from "./submission/block-headers.ts";
import { submitQueryResult } from "./submission/submit-query-result.ts";
import type { Environment, InterchainqueriesDeps, InterchainqueriesOptions } from "./types.ts";

/** The module with its contract bindings. */
export interface InterchainqueriesModule extends ChainModule {
  /** Runs a contract's custom message; undefined when the message belongs to no binding of this module. */
  readonly handleCustomMessage: (
    context: Context,
    contract: string,
    message: JsonValue,
  ) => CustomMessageResult | undefined;
  /** Answers a contract's custom query; undefined when the query belongs to no binding of this module. */
  readonly handleCustomQuery: (context: Context, request: JsonObject) => JsonValue | undefined;
}

/** Creates the module `interchainqueries`. */
export function createInterchainqueriesModule(
  options: InterchainqueriesOptions,
  deps: InterchainqueriesDeps,
): InterchainqueriesModule {
  const environment: Environment = { ...options, ...deps, proofs: createProofVerifier() };
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: messageHandlers(environment),
    queries: createQueryHandlers(options.chainName, deps.ibc),
    endBlock: cleanUpRemovedQueries,
    initGenesis: (context, genesis) => initGenesis(context, genesis, options),
    exportGenesis,
    handleCustomMessage: (context, contract, message) =>
      handleCustomMessage(context, contract, message, environment),
    handleCustomQuery,
  };
}

function messageHandlers(environment: Environment): readonly MessageHandler[] {
  const typeUrl = (name: string): string =>
    toChainTypeUrl(`/neutron.interchainqueries.${name}`, environment.chainName);
  return [
    toMessageHandler({
      typeUrl: typeUrl("MsgRegisterInterchainQuery"),
      type: wire.MsgRegisterInterchainQuery,
      signers: ({ sender }) => [sender],
      handle: (context, message) => {
        const response = registerQuery(context, message, environment);
        return wire.MsgRegisterInterchainQueryResponse.encode(response).finish();
      },
    }),
    toMessageHandler({
      typeUrl: typeUrl("MsgSubmitQueryResult"),
      type: wire.MsgSubmitQueryResult,
      signers: ({ sender, result }) => {
        // Go unpacks both headers while it decodes the transaction. Signers are read at that point, too.
        requireClientMessage(result?.block?.header);
        requireClientMessage(result?.block?.nextBlockHeader);
        return [sender];
      },
      handle: (context, message) => submitQueryResult(context, message, environment),
    }),
    toMessageHandler({
      typeUrl: typeUrl("MsgRemoveInterchainQueryRequest"),
      type: wire.MsgRemoveInterchainQueryRequest,
      signers: ({ sender }) => [sender],
      handle: (context, message) => removeQuery(context, message, environment),
    }),
    toMessageHandler({
      typeUrl: typeUrl("MsgUpdateInterchainQueryRequest"),
      type: wire.MsgUpdateInterchainQueryRequest,
      signers: ({ sender }) => [sender],
      handle: (context, message) => updateQuery(context, message, environment),
    }),
    toMessageHandler({
      typeUrl: typeUrl("MsgUpdateParams"),
      type: wire.MsgUpdateParams,
      signers: ({ authority }) => [authority],
      handle: (context, message) => updateParams(context, message, environment),
    }),
  ];
}
