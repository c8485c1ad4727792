import { readUint64BigEndian } from "../../../../platform/base/bytes.ts";
import type { PageRequest } from "../../../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import {
  type CodeInfo,
  CodeInfo as CodeInfoCodec,
  type Model,
} from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { orQueryError, toQueryHandler } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { paginate } from "../../runtime/pagination.ts";
import type { ContractHost } from "./call/contract-host.ts";
import { ErrInvalid, ErrNoSuchCode, ErrNoSuchContract } from "./errors.ts";
import { createIndexQueryHandlers } from "./index-queries.ts";
import { codes, contracts, contractStore, statePrefix } from "./keeper.ts";
import { CODE_PREFIX, MODULE_NAME } from "./keys.ts";

const SERVICE = "/cosmwasm.wasm.v1.Query";

/** Parses an address. Throws `QueryError`. */
type ReadAddress = (address: string) => Uint8Array;

/** Queries about codes and contracts, and smart queries. */
export function createQueryHandlers(bech32Prefix: string, host: ContractHost): readonly QueryHandler[] {
  const read: ReadAddress = (address) => orQueryError(() => parseAddress(bech32Prefix, address));
  return [
    ...contractQueries(read, host),
    ...codeQueries,
    ...createIndexQueryHandlers({ bech32Prefix, read, paginate: paginateStore }),
  ];
}

function contractQueries(read: ReadAddress, host: ContractHost): readonly QueryHandler[] {
  return [
    toQueryHandler(
      `${SERVICE}/ContractInfo`,
      { request: wire.QueryContractInfoRequest, response: wire.QueryContractInfoResponse },
      (context, { address }) => {
        const contractInfo = contracts.get(context, read(address));
        if (contractInfo === undefined) throw ErrNoSuchContract(`address ${address}`);
        return { address, contractInfo };
      },
    ),
    toQueryHandler(
      `${SERVICE}/AllContractState`,
      { request: wire.QueryAllContractStateRequest, response: wire.QueryAllContractStateResponse },
      (context, request) => allContractState(context, request, read),
    ),
    toQueryHandler(
      `${SERVICE}/RawContractState`,
      { request: wire.QueryRawContractStateRequest, response: wire.QueryRawContractStateResponse },
      (context, request) => rawContractState(context, request, read),
    ),
    toQueryHandler(
      `${SERVICE}/SmartContractState`,
      { request: wire.QuerySmartContractStateRequest, response: wire.QuerySmartContractStateResponse },
      (context, { address, queryData }) => {
        requireContract(context, address, read);
        return { data: host.query(context, address, queryData) };
      },
    ),
  ];
}

const codeQueries: readonly QueryHandler[] = [
  toQueryHandler(
    `${SERVICE}/Code`,
    { request: wire.QueryCodeRequest, response: wire.QueryCodeResponse },
    queryCode,
  ),
  toQueryHandler(
    `${SERVICE}/Codes`,
    { request: wire.QueryCodesRequest, response: wire.QueryCodesResponse },
    queryCodes,
  ),
];

function allContractState(
  context: Context,
  { address, pagination }: wire.QueryAllContractStateRequest,
  read: ReadAddress,
): wire.QueryAllContractStateResponse {
  const prefix = statePrefix(requireContract(context, address, read));
  const models: Model[] = [];
  const page = paginateStore(context, prefix, pagination, (key, value) => models.push({ key, value }));
  return { models, pagination: page };
}

/** Returns the value of one key of a contract; empty for an absent key. */
function rawContractState(
  context: Context,
  { address, queryData }: wire.QueryRawContractStateRequest,
  read: ReadAddress,
): wire.QueryRawContractStateResponse {
  const store = contractStore(context, requireContract(context, address, read));
  // wasmd answers an empty key with empty data and does not read the store.
  const data = queryData.length === 0 ? undefined : store.get(queryData);
  return { data: data ?? new Uint8Array(0) };
}

/** Returns a code's info without bytes: a TypeScript contract has no WebAssembly. */
function queryCode(context: Context, { codeId }: wire.QueryCodeRequest): wire.QueryCodeResponse {
  if (codeId === 0n) throw ErrInvalid("code id");
  const info = codes.get(context, codeId);
  if (info === undefined) throw ErrNoSuchCode(`code id ${codeId}`);
  return { codeInfo: toCodeInfoResponse(codeId, info), data: new Uint8Array(0) };
}

function queryCodes(context: Context, { pagination }: wire.QueryCodesRequest): wire.QueryCodesResponse {
  const codeInfos: wire.CodeInfoResponse[] = [];
  const page = paginateStore(context, CODE_PREFIX, pagination, (key, value) =>
    codeInfos.push(toCodeInfoResponse(readUint64BigEndian(key), CodeInfoCodec.decode(value))),
  );
  return { codeInfos, pagination: page };
}

function paginateStore(
  context: Context,
  prefix: Uint8Array,
  pagination: PageRequest | undefined,
  onEntry: (key: Uint8Array, value: Uint8Array) => void,
): ReturnType<typeof paginate> {
  return paginate({ store: context.store(MODULE_NAME), prefix }, pagination, onEntry);
}

function toCodeInfoResponse(codeId: bigint, info: CodeInfo): wire.CodeInfoResponse {
  return {
    codeId,
    creator: info.creator,
    dataHash: info.codeHash,
    instantiatePermission: info.instantiateConfig,
  };
}

/** Returns the address bytes of a contract. Throws ErrNoSuchContract. */
function requireContract(context: Context, address: string, read: ReadAddress): Uint8Array {
  const bytes = read(address);
  if (!contracts.has(context, bytes)) throw ErrNoSuchContract(`address ${address}`);
  return bytes;
}
