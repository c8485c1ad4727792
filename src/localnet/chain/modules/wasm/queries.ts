import type {
  PageRequest,
  PageResponse,
} from "../../../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import {
  type CodeInfo,
  CodeInfo as CodeInfoCodec,
  ContractCodeHistoryEntry,
  type Model,
} from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { fromHex, readUint64BigEndian } from "../../../../platform/base/bytes.ts";
import { goJsonSyntaxError } from "../../../../platform/base/go-json-syntax.ts";
import { formatAddress, parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { GrpcCode, QueryError } from "../../runtime/errors.ts";
import { createNestedMeter } from "../../runtime/gas.ts";
import { orQueryError, type QueryFunctions, queryHandlers } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { paginate } from "../../runtime/pagination.ts";
import { moduleParams } from "./params.ts";
import { predictableContractAddress } from "./address.ts";
import type { ContractHost } from "./contract-host.ts";
import {
  codeIndexPrefix,
  codes,
  contracts,
  contractStore,
  creatorIndexPrefix,
  findCodeBytes,
  historyPrefix,
  POSITION_BYTES,
  statePrefix,
} from "./keeper.ts";
import {
  CODE_PREFIX,
  PINNED_PREFIX,
  ErrInvalid,
  ErrNoSuchCode,
  ErrNoSuchContract,
  MODULE_NAME,
} from "./keys.ts";

/** Implementations of some of the service's methods. */
type Queries = Partial<QueryFunctions<typeof wire.Query>>;

/** Parses an address. Throws `QueryError`. */
type ReadAddress = (address: string) => Uint8Array;

/** Creates the handlers for code, contract and smart queries. */
export function createQueryHandlers(bech32Prefix: string, host: ContractHost): readonly QueryHandler[] {
  const read: ReadAddress = (address) => orQueryError(() => parseAddress(bech32Prefix, address));
  const deps = { bech32Prefix, read };
  return queryHandlers(wire.Query, {
    ...contractQueries(read, host),
    ...listQueries(deps),
    ...generalQueries(deps),
    Code: queryCode,
    Codes: queryCodes,
    Params: moduleParams.query,
  });
}

/** Gas limit for a smart query, as configured on the deployed nodes. */
const QUERY_GAS = 3_000_000n;

function contractQueries(read: ReadAddress, host: ContractHost) {
  return {
    ContractInfo: (context, { address }) => {
      const contractInfo = contracts.get(context, read(address));
      if (contractInfo === undefined) throw ErrNoSuchContract(`address ${address}`);
      return { address, contractInfo };
    },
    AllContractState: (context, request) => allContractState(context, request, read),
    RawContractState: (context, request) => rawContractState(context, request, read),
    SmartContractState: (context, { address, queryData }) => {
      if (goJsonSyntaxError(queryData) !== undefined)
        throw new QueryError(GrpcCode.InvalidArgument, "invalid query data");
      read(address);
      const gas = createNestedMeter(context.gas, QUERY_GAS);
      try {
        return { data: host.query(context.withGas(gas), address, queryData) };
      } finally {
        // A query's own meter has no limit. A profile of the query needs the sum.
        context.gas.consume(gas.used(), "contract sub-query");
      }
    },
  } satisfies Queries;
}

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

/** Returns the value under one of a contract's keys, or empty bytes if the key is absent. */
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

/** Returns a code's info and bytes. A TypeScript contract has no WebAssembly and therefore no bytes. */
function queryCode(context: Context, { codeId }: wire.QueryCodeRequest): wire.QueryCodeResponse {
  if (codeId === 0n) throw ErrInvalid("code id");
  const info = codes.get(context, codeId);
  if (info === undefined) throw ErrNoSuchCode(`code id ${codeId}`);
  const data = findCodeBytes(context, info.codeHash) ?? new Uint8Array(0);
  return { codeInfo: toCodeInfoResponse(codeId, info), data };
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
  return paginate({ store: context.store(MODULE_NAME), prefix }, pagination ?? FIRST_PAGE, onEntry);
}

/** Page used if a request has no pagination; wasmd then does not count the entries. */
const FIRST_PAGE: PageRequest = {
  key: new Uint8Array(0),
  offset: 0n,
  limit: 100n,
  countTotal: false,
  reverse: false,
};

function toCodeInfoResponse(codeId: bigint, info: CodeInfo): wire.CodeInfoResponse {
  return {
    codeId,
    creator: info.creator,
    dataHash: info.codeHash,
    instantiatePermission: info.instantiateConfig,
  };
}

/** Returns a contract's address bytes. Throws ErrNoSuchContract. */
function requireContract(context: Context, address: string, read: ReadAddress): Uint8Array {
  const bytes = read(address);
  if (!contracts.has(context, bytes)) throw ErrNoSuchContract(`address ${address}`);
  return bytes;
}

const CHECKSUM_BYTES = 32;
const MAX_SALT_BYTES = 64;

interface IndexQueryDeps {
  readonly bech32Prefix: string;
  /** Parses an address. Throws `QueryError`. */
  readonly read: (address: string) => Uint8Array;
}

function listQueries(deps: IndexQueryDeps) {
  const { read } = deps;
  return {
    ContractHistory: (context, { address, pagination }) => {
      const entries: ContractCodeHistoryEntry[] = [];
      const page = paginateStore(context, historyPrefix(read(address)), pagination, (_key, value) =>
        entries.push(ContractCodeHistoryEntry.decode(value)),
      );
      return { entries, pagination: page };
    },
    ContractsByCode: (context, { codeId, pagination }) => {
      if (codeId === 0n) throw ErrInvalid("code id");
      const { addresses, page } = indexedContracts(context, codeIndexPrefix(codeId), pagination, deps);
      return { contracts: addresses, pagination: page };
    },
    ContractsByCreator: (context, { creatorAddress, pagination }) => {
      const prefix = creatorIndexPrefix(read(creatorAddress));
      const { addresses, page } = indexedContracts(context, prefix, pagination, deps);
      return { contractAddresses: addresses, pagination: page };
    },
  } satisfies Queries;
}

/** Returns one page of an index, whose keys contain a position and an address after the prefix. */
function indexedContracts(
  context: Context,
  prefix: Uint8Array,
  request: PageRequest | undefined,
  deps: IndexQueryDeps,
): { readonly addresses: string[]; readonly page: PageResponse } {
  const addresses: string[] = [];
  const page = paginateStore(context, prefix, request, (key) =>
    addresses.push(formatAddress(deps.bech32Prefix, key.subarray(POSITION_BYTES))),
  );
  return { addresses, page };
}

function generalQueries(deps: IndexQueryDeps) {
  return {
    PinnedCodes: (context, { pagination }) => {
      const codeIds: bigint[] = [];
      const page = paginateStore(context, PINNED_PREFIX, pagination, (key) => {
        codeIds.push(readUint64BigEndian(key));
      });
      return { codeIds, pagination: page };
    },
    BuildAddress: (_context, request) => ({ address: buildAddress(request, deps) }),
  } satisfies Queries;
}

/** Computes a predictable address, with wasmd's checks in the same order. */
function buildAddress(
  request: wire.QueryBuildAddressRequest,
  { bech32Prefix, read }: IndexQueryDeps,
): string {
  const checksum = inField("code hash", () => hexBytes(request.codeHash));
  const creator = inField("creator address", () => read(request.creatorAddress));
  const salt = inField("salt", () => hexBytes(request.salt));
  if (salt.length === 0) throw new QueryError(GrpcCode.InvalidArgument, "empty salt");
  const message = request.initArgs;
  if (message.length > 0 && goJsonSyntaxError(message) !== undefined) throw ErrInvalid();
  // wasmd panics for both.
  if (checksum.length !== CHECKSUM_BYTES) throw ErrInvalid("checksum");
  if (salt.length > MAX_SALT_BYTES) throw ErrInvalid("salt");
  return formatAddress(bech32Prefix, predictableContractAddress({ checksum, creator, salt, message }));
}

function inField<T>(name: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof QueryError)
      throw new QueryError(GrpcCode.Unknown, `invalid ${name}: ${error.message}`);
    throw error;
  }
}

/** Decodes hex with Go's error texts. */
function hexBytes(text: string): Uint8Array {
  const bad = /[^0-9a-fA-F]/u.exec(text)?.[0];
  if (bad !== undefined) {
    const code = (bad.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    throw new QueryError(GrpcCode.Unknown, `encoding/hex: invalid byte: U+${code} '${bad}'`);
  }
  if (text.length % 2 === 1) throw new QueryError(GrpcCode.Unknown, "encoding/hex: odd length hex string");
  return fromHex(text);
}
