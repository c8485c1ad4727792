import { Failure } from "../../../../cosmos/proto/gen/neutron/contractmanager/failure.ts";
import * as wire from "../../../../cosmos/proto/gen/neutron/contractmanager/query.ts";
import { toChainTypeUrl } from "../../../../cosmos/proto/type-urls.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { toQueryHandler } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { paginate } from "../../runtime/pagination.ts";
import { getFailure, paramsOf } from "./failures.ts";
import { FAILURES_PREFIX, failuresOf, MODULE_NAME } from "./keys.ts";
import type { ContractManagerOptions } from "./types.ts";
import { ErrKeyNotFound, QueryError, GrpcCode } from "../../runtime/errors.ts";

const MAX_LIMIT = 100n;

/** The queries of the module. Their paths begin with the chain's own name. */
export function createQueryHandlers(options: ContractManagerOptions): readonly QueryHandler[] {
  const path = (rpc: string): string =>
    toChainTypeUrl(`/neutron.contractmanager.Query/${rpc}`, options.chainName);
  const list = { request: wire.QueryFailuresRequest, response: wire.QueryFailuresResponse };
  const listFailures = (context: Context, request: wire.QueryFailuresRequest): wire.QueryFailuresResponse =>
    queryFailures(context, request, options);
  return [
    toQueryHandler(
      path("Params"),
      { request: wire.QueryParamsRequest, response: wire.QueryParamsResponse },
      (context) => ({ params: paramsOf(context) }),
    ),
    toQueryHandler(
      path("AddressFailure"),
      { request: wire.QueryFailureRequest, response: wire.QueryFailureResponse },
      (context, request) => ({ failure: queryFailure(context, request, options) }),
    ),
    toQueryHandler(path("AddressFailures"), list, listFailures),
    toQueryHandler(path("Failures"), list, listFailures),
  ];
}

function queryFailure(
  context: Context,
  { address, failureId }: wire.QueryFailureRequest,
  options: ContractManagerOptions,
): Failure {
  requireAddress(address, `invalid address: ${address}`, options);
  const failure = getFailure(context, address, failureId);
  if (failure !== undefined) return failure;
  const text = `no failure found for contractAddress = ${address} and failureId = ${failureId}`;
  throw new QueryError(GrpcCode.InvalidArgument, ErrKeyNotFound(text).message);
}

/** Lists the failures of a contract, or without an address those of all contracts. */
function queryFailures(
  context: Context,
  { address, pagination }: wire.QueryFailuresRequest,
  options: ContractManagerOptions,
): wire.QueryFailuresResponse {
  if (pagination !== undefined && pagination.limit > MAX_LIMIT)
    throw new QueryError(
      GrpcCode.InvalidArgument,
      `limit is more than maximum allowed (${pagination.limit} > ${MAX_LIMIT})`,
    );
  if (address !== "") requireAddress(address, `failed to parse address: ${address}`, options);
  const prefix = address === "" ? FAILURES_PREFIX : failuresOf(address);
  const failures: Failure[] = [];
  const page = paginate({ store: context.store(MODULE_NAME), prefix }, pagination, (_key, value) => {
    failures.push(Failure.decode(value));
  });
  return { failures, pagination: page };
}

function requireAddress(address: string, text: string, { bech32Prefix }: ContractManagerOptions): void {
  try {
    parseAddress(bech32Prefix, address);
  } catch {
    throw new QueryError(GrpcCode.InvalidArgument, text);
  }
}
