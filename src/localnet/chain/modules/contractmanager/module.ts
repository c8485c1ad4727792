import { Failure } from "../../../../cosmos/proto/gen/neutron/contractmanager/failure.ts";
import { GenesisState } from "../../../../cosmos/proto/gen/neutron/contractmanager/genesis.ts";
import * as wire from "../../../../cosmos/proto/gen/neutron/contractmanager/query.ts";
import * as tx from "../../../../cosmos/proto/gen/neutron/contractmanager/tx.ts";
import { toChainTypeUrl } from "../../../../cosmos/proto/registry.ts";
import { fromUtf8, utf8 } from "../../../../platform/base/bytes.ts";
import type { JsonField, JsonValue } from "../../../../platform/base/json.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context, ChainModule, QueryHandler } from "../../runtime/context.ts";
import * as errors from "../../runtime/errors.ts";
import { atPath, partOr, genesisSchema } from "../../runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../runtime/handlers.ts";
import { readPage } from "../../runtime/pagination.ts";
import { checkUpdate, type ParamsModuleOptions, requireAddress } from "../../runtime/params-module.ts";
import type { IBCModule } from "../ibc/channel/ibc-module.ts";
import { asUintNumber, customMessages } from "../wasm/custom-json.ts";
import type { CustomMessageHandler, CustomMessageResult } from "../wasm/types.ts";
import * as keeper from "./keeper.ts";

export interface ContractManagerModule extends ChainModule {
  /** Runs a contract's custom message to this module. Returns undefined for messages to other modules. */
  readonly handleCustomMessage: CustomMessageHandler;
  /** Middleware that reports a transfer's outcome to the contract that sent the transfer. */
  readonly callbacksMiddleware: (inner: IBCModule) => IBCModule;
}

export function createContractManagerModule(
  options: ParamsModuleOptions,
  deps: keeper.ContractManagerDeps,
): ContractManagerModule {
  const keepers: keeper.Keepers = { ...options, ...deps };
  const { bech32Prefix } = options;
  return {
    name: keeper.MODULE_NAME,
    stores: [keeper.MODULE_NAME],
    messages: messageHandlers(
      tx.Msg,
      {
        UpdateParams: keeper.moduleParams.update({
          authority: options.authority,
          signerError: errors.ErrInvalidRequest,
          absent: { sudoCallGasLimit: 0n },
          check: checkUpdate(bech32Prefix),
        }),
        ResubmitFailure: (context, message) => resubmitFailure(context, message, keepers),
      },
      options.chainName,
    ),
    queries: createQueryHandlers(options),
    initGenesis: (context, json) => initGenesis(context, json, bech32Prefix),
    exportGenesis,
    handleCustomMessage: customMessages({
      resubmit_failure: (context, sender, fields) => runResubmission(context, sender, fields, keepers),
    }),
    callbacksMiddleware: (inner) => keeper.callbacksMiddleware(inner, keepers),
  };
}

/**
 * MsgResubmitFailure: repeats a failed contract call with the transaction's gas. If the call succeeds, removes the stored failure.
 * Only the contract whose call failed may send this message.
 */
function resubmitFailure(
  context: Context,
  { sender, failureId }: tx.MsgResubmitFailure,
  keepers: keeper.Keepers,
): void {
  errors.wrapErrors("failed to validate MsgResubmitFailure", () =>
    requireAddress(keepers.bech32Prefix, sender, "sender is invalid"),
  );
  if (!keepers.contracts.isContract(context, sender))
    throw keeper.ErrNotContractResubmission("sender in resubmit request is not a smart contract");
  const failure = keeper.failures.get(context, { address: sender, id: failureId });
  if (failure === undefined) throw errors.ErrNotFound("no failure with given FailureId found to resubmit");
  if (failure.sudoPayload.length === 0)
    throw keeper.IncorrectFailureToResubmit(
      `cannot resubmit failure without sudo payload; failureId = ${failureId}`,
    );
  errors.wrapErrors(
    (error) =>
      keeper.FailedToResubmitFailure(
        `cannot resubmit failure; failureId = ${failureId}; err = ${error.message}`,
      ),
    () => keepers.contracts.sudo(context, sender, fromUtf8(failure.sudoPayload)),
  );
  keeper.failures.delete(context, failure);
}

/** Runs a contract's custom message `{"resubmit_failure":{"failure_id":1}}`. */
function runResubmission(
  context: Context,
  sender: string,
  fields: JsonField,
  keepers: keeper.Keepers,
): CustomMessageResult {
  const failureId = asUintNumber(fields.member("failure_id"));
  const failure = requireFailure(context, sender, failureId, keepers);
  errors.wrapErrors("failed to resubmitFailure", () =>
    resubmitFailure(context, { sender, failureId }, keepers),
  );
  // Like the deployed binding, return the failure in the response.
  const typeUrl = toChainTypeUrl("/neutron.contractmanager.QueryFailureResponse", keepers.chainName);
  return {
    data: utf8(`{"failure_id":${failureId}}`),
    response: { typeUrl, response: wire.QueryFailureResponse.encode({ failure }).finish() },
  };
}

/**
 * Reads a failure with the query handler. Therefore, the error text for a missing failure is that of a gRPC status instead of a
 * registered error.
 */
function requireFailure(
  context: Context,
  address: string,
  failureId: bigint,
  keepers: keeper.Keepers,
): Failure {
  try {
    return queryFailure(context, { address, failureId }, keepers);
  } catch (error) {
    if (!(error instanceof errors.QueryError)) throw error;
    throw errors.unregisteredError(
      `no failure with given FailureId found to resubmit: rpc error: code = InvalidArgument desc = ${error.message}`,
    );
  }
}

const MAX_LIMIT = 100n;

/** Creates the query handlers, whose paths start with the chain's name. */
function createQueryHandlers(options: ParamsModuleOptions): readonly QueryHandler[] {
  /** Lists a contract's failures, or the failures of all contracts if no address is given. */
  const listFailures = (context: Context, { address, pagination }: wire.QueryFailuresRequest) => {
    if (pagination !== undefined && pagination.limit > MAX_LIMIT)
      throw new errors.QueryError(
        errors.GrpcCode.InvalidArgument,
        `limit is more than maximum allowed (${pagination.limit} > ${MAX_LIMIT})`,
      );
    if (address !== "") requireQueryAddress(address, `failed to parse address: ${address}`, options);
    const range = keeper.failures.range(context, address === "" ? undefined : keeper.failuresOf(address));
    const page = readPage(range, pagination, (_key, value) => Failure.decode(value));
    return { failures: page.items, pagination: page.pagination };
  };
  return queryHandlers(
    wire.Query,
    {
      Params: keeper.moduleParams.query,
      AddressFailure: (context, request) => ({ failure: queryFailure(context, request, options) }),
      AddressFailures: listFailures,
      Failures: listFailures,
    },
    options.chainName,
  );
}

function queryFailure(
  context: Context,
  { address, failureId }: wire.QueryFailureRequest,
  options: ParamsModuleOptions,
): Failure {
  requireQueryAddress(address, `invalid address: ${address}`, options);
  const failure = keeper.failures.get(context, { address, id: failureId });
  if (failure !== undefined) return failure;
  const text = `no failure found for contractAddress = ${address} and failureId = ${failureId}`;
  throw new errors.QueryError(errors.GrpcCode.InvalidArgument, errors.ErrKeyNotFound(text).message);
}

function requireQueryAddress(address: string, text: string, { bech32Prefix }: ParamsModuleOptions): void {
  try {
    parseAddress(bech32Prefix, address);
  } catch {
    throw new errors.QueryError(errors.GrpcCode.InvalidArgument, text);
  }
}

const SCHEMA = genesisSchema(keeper.MODULE_NAME, "neutron.contractmanager.GenesisState", GenesisState);

/**
 * Stores params and failures. Throws `GenesisError` if a failure's address is invalid, or if a contract has two failures with the
 * same id. Failures keep their ids, because contracts use them in `MsgResubmitFailure`.
 */
function initGenesis(context: Context, json: JsonValue | undefined, bech32Prefix: string): void {
  const state = SCHEMA.read(json);
  keeper.moduleParams.set(context, partOr(json, "params", state?.params, keeper.moduleParams.defaults));
  for (const [index, failure] of (state?.failuresList ?? []).entries()) {
    atPath(`app_state.${keeper.MODULE_NAME}.failures_list[${index}]`, () => {
      parseAddress(bech32Prefix, failure.address);
      if (keeper.failures.get(context, failure) !== undefined)
        throw new Error("duplicated address for failure");
      keeper.failures.set(context, failure, failure);
    });
  }
}

function exportGenesis(context: Context): JsonValue {
  const failuresList = [...keeper.failures.entries(context)].map(([, failure]) => failure);
  return SCHEMA.print({ params: keeper.moduleParams.get(context), failuresList });
}
