import { concat } from "../../../base/bytes.ts";
import { errorText } from "../../../base/errors.ts";
import type { PageRequest } from "../../../proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import * as wire from "../../../proto/gen/cosmwasm/wasm/v1/query.ts";
import {
  type CodeInfo,
  CodeInfo as CodeInfoCodec,
  type Model,
} from "../../../proto/gen/cosmwasm/wasm/v1/types.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { QueryError, type QueryHandler } from "../../runtime/module.ts";
import { paginate } from "../../runtime/pagination.ts";
import { noSuchCode, noSuchContract } from "./errors.ts";
import type { ContractHost } from "./call/contract-host.ts";
import { codes, contracts, contractStore, statePrefix } from "./keeper.ts";
import { CODE_PREFIX, MODULE_NAME } from "./keys.ts";
import { readUint64BigEndian } from "../../../base/bytes.ts";

const SERVICE = "/cosmwasm.wasm.v1.Query";

/** Queries about codes and contracts, and to contracts. */
export function createQueryHandlers(bech32Prefix: string, host: ContractHost): readonly QueryHandler[] {
  const read = (address: string): Uint8Array => readAddress(bech32Prefix, address);
  return [
    handler("ContractInfo", (context, request) => contractInfo(context, request, read)),
    handler("AllContractState", (context, request) => allContractState(context, request, read)),
    handler("RawContractState", (context, request) => rawContractState(context, request, read)),
    handler("SmartContractState", (context, request) => {
      const { address, queryData } = wire.QuerySmartContractStateRequest.decode(request);
      requireContract(context, address, read(address));
      const data = host.query(context, address, queryData);
      return wire.QuerySmartContractStateResponse.encode({ data }).finish();
    }),
    handler("Code", queryCode),
    handler("Codes", queryCodes),
  ];
}

function handler(rpc: string, query: QueryHandler["query"]): QueryHandler {
  return { path: `${SERVICE}/${rpc}`, query };
}

type ReadAddress = (address: string) => Uint8Array;

function contractInfo(context: Context, request: Uint8Array, read: ReadAddress): Uint8Array {
  const { address } = wire.QueryContractInfoRequest.decode(request);
  const info = contracts.get(context, read(address));
  if (info === undefined) throw noSuchContract(`address ${address}`);
  return wire.QueryContractInfoResponse.encode({ address, contractInfo: info }).finish();
}

function allContractState(context: Context, request: Uint8Array, read: ReadAddress): Uint8Array {
  const { address, pagination } = wire.QueryAllContractStateRequest.decode(request);
  const bytes = read(address);
  requireContract(context, address, bytes);
  const models: Model[] = [];
  const page = paginateStore(context, statePrefix(bytes), pagination, (key, value) =>
    models.push({ key, value }),
  );
  return wire.QueryAllContractStateResponse.encode({ models, pagination: page }).finish();
}

function rawContractState(context: Context, request: Uint8Array, read: ReadAddress): Uint8Array {
  const { address, queryData } = wire.QueryRawContractStateRequest.decode(request);
  const bytes = read(address);
  requireContract(context, address, bytes);
  const data = queryData.length === 0 ? undefined : contractStore(context, bytes).get(queryData);
  return wire.QueryRawContractStateResponse.encode({ data: data ?? new Uint8Array(0) }).finish();
}

/** The code's bytes are empty: there is no WebAssembly behind it. */
function queryCode(context: Context, request: Uint8Array): Uint8Array {
  const { codeId } = wire.QueryCodeRequest.decode(request);
  if (codeId === 0n) throw new QueryError(3, "code id");
  const info = codes.get(context, codeId);
  if (info === undefined) throw noSuchCode(`code id ${codeId}`);
  return wire.QueryCodeResponse.encode({
    codeInfo: toResponse(codeId, info),
    data: new Uint8Array(0),
  }).finish();
}

function queryCodes(context: Context, request: Uint8Array): Uint8Array {
  const { pagination } = wire.QueryCodesRequest.decode(request);
  const codeInfos: wire.CodeInfoResponse[] = [];
  const page = paginateStore(context, CODE_PREFIX, pagination, (key, value) =>
    codeInfos.push(toResponse(readUint64BigEndian(key), CodeInfoCodec.decode(value))),
  );
  return wire.QueryCodesResponse.encode({ codeInfos, pagination: page }).finish();
}

function paginateStore(
  context: Context,
  prefix: Uint8Array,
  pagination: PageRequest | undefined,
  onEntry: (key: Uint8Array, value: Uint8Array) => void,
): ReturnType<typeof paginate> {
  return paginate({ store: context.store(MODULE_NAME), prefix: concat(prefix) }, pagination, onEntry);
}

function toResponse(codeId: bigint, info: CodeInfo): wire.CodeInfoResponse {
  return {
    codeId,
    creator: info.creator,
    dataHash: info.codeHash,
    instantiatePermission: info.instantiateConfig,
  };
}

function requireContract(context: Context, address: string, bytes: Uint8Array): void {
  if (!contracts.has(context, bytes)) throw noSuchContract(`address ${address}`);
}

function readAddress(prefix: string, address: string): Uint8Array {
  try {
    return parseAddress(prefix, address);
  } catch (error) {
    throw new QueryError(2, errorText(error));
  }
}
