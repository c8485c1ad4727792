import { createProofVerifier } from "../../../merkle/ics23/proof-verifier.ts";
import * as wire from "../../../proto/gen/neutron/interchainqueries/tx.ts";
import { toChainTypeUrl } from "../../../proto/type-urls.ts";
import type { Context } from "../../runtime/context.ts";
import { toAnsweringHandler, type WireType } from "../../runtime/handler-forms.ts";
import type { ChainModule, MessageHandler } from "../../runtime/module.ts";
import type { JsonObject, JsonValue } from "../../../base/json.ts";
import { answerBinding } from "./bindings/custom-queries.ts";
import { type BindingResult, handleBinding } from "./bindings/custom-messages.ts";
import { cleanUpRemovedQueries } from "./cleanup.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import type { Environment } from "./handlers.ts";
import { registerQuery, removeQuery, updateParams, updateQuery } from "./handlers.ts";
import { requireClientMessage } from "./submission/block-headers.ts";
import { MODULE_NAME } from "./keys.ts";
import { createQueryHandlers } from "./queries.ts";
import { submitQueryResult } from "./submission/submit-query-result.ts";
import type { InterchainqueriesDeps, InterchainqueriesOptions } from "./types.ts";

/** The module, and what it offers to contracts beside its messages and queries. */
export interface InterchainqueriesModule extends ChainModule {
  /** Runs a contract's custom message about queries; undefined when it is none. */
  readonly handleBinding: (
    context: Context,
    contract: string,
    message: JsonValue,
  ) => BindingResult | undefined;
  /** Answers a contract's custom query about queries; undefined when it is none. */
  readonly answerBinding: (context: Context, request: JsonObject) => JsonValue | undefined;
}

/** The module `interchainqueries` with its messages, queries, end of block and genesis. */
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
    handleBinding: (context, contract, message) => handleBinding(context, contract, message, environment),
    answerBinding,
  };
}

interface Handling<M, R> {
  readonly request: WireType<M>;
  readonly response: WireType<R>;
  readonly signer: (message: M) => string;
  readonly handle: (context: Context, message: M, environment: Environment) => R;
}

function messageHandlers(environment: Environment): readonly MessageHandler[] {
  const handler = <M, R>(name: string, handling: Handling<M, R>): MessageHandler =>
    toAnsweringHandler({
      typeUrl: toChainTypeUrl(`/neutron.interchainqueries.${name}`, environment.chainName),
      type: handling.request,
      signers: (message) => [handling.signer(message)],
      handle: (context, message) =>
        handling.response.encode(handling.handle(context, message, environment)).finish(),
    });
  return [
    handler("MsgRegisterInterchainQuery", {
      request: wire.MsgRegisterInterchainQuery,
      response: wire.MsgRegisterInterchainQueryResponse,
      signer: ({ sender }) => sender,
      handle: registerQuery,
    }),
    handler("MsgSubmitQueryResult", {
      request: wire.MsgSubmitQueryResult,
      response: wire.MsgSubmitQueryResultResponse,
      signer: submitter,
      handle: answeringEmpty(submitQueryResult),
    }),
    handler("MsgRemoveInterchainQueryRequest", {
      request: wire.MsgRemoveInterchainQueryRequest,
      response: wire.MsgRemoveInterchainQueryResponse,
      signer: ({ sender }) => sender,
      handle: answeringEmpty(removeQuery),
    }),
    handler("MsgUpdateInterchainQueryRequest", {
      request: wire.MsgUpdateInterchainQueryRequest,
      response: wire.MsgUpdateInterchainQueryResponse,
      signer: ({ sender }) => sender,
      handle: answeringEmpty(updateQuery),
    }),
    handler("MsgUpdateParams", {
      request: wire.MsgUpdateParams,
      response: wire.MsgUpdateParamsResponse,
      signer: ({ authority }) => authority,
      handle: answeringEmpty(updateParams),
    }),
  ];
}

/** Headers are unpacked when a transaction is decoded: an unknown type fails there. */
function submitter({ sender, result }: wire.MsgSubmitQueryResult): string {
  requireClientMessage(result?.block?.header);
  requireClientMessage(result?.block?.nextBlockHeader);
  return sender;
}

function answeringEmpty<M>(
  handle: (context: Context, message: M, environment: Environment) => void,
): Handling<M, Record<string, never>>["handle"] {
  return (context, message, environment) => {
    handle(context, message, environment);
    return {};
  };
}
