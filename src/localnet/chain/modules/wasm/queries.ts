import type { PageRequest } from "../../../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import { CodeInfo, ContractCodeHistoryEntry } from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { fromHex, readUint64BigEndian } from "../../../../platform/base/bytes.ts";
import { goJsonSyntaxError } from "../../../../platform/base/go-json-syntax.ts";
import { formatAddress, parseAddress } from "../../runtime/address.ts";
import type { Context, QueryHandler } from "../../runtime/context.ts";
import { GrpcCode, QueryError } from "../../runtime/errors.ts";
import { createNestedMeter } from "../../runtime/gas.ts";
import { orQueryError, queryHandlers } from "../../runtime/handlers.ts";
import { readPage } from "../../runtime/pagination.ts";
import * as keeper from "./keeper.ts";
import type { ContractHost } from "./contract-host.ts";
import { ErrInvalid, ErrNoSuchCode, ErrNoSuchContract, MODULE_NAME } from "./keys.ts";

interface QueryDeps {
  readonly bech32Prefix: string;
  /** Parses a bech32 address with this chain's prefix. Throws `QueryError` for any other text. */
  readonly read: (address: string) => Uint8Array;
}

/** Creates the handlers for code, contract and smart queries. */
export function createQueryHandlers(bech32Prefix: string, host: ContractHost): readonly QueryHandler[] {
  const read = (address: string): Uint8Array => orQueryError(() => parseAddress(bech32Prefix, address));
  /** Returns an existing contract's address bytes. Throws `QueryError`, or ErrNoSuchContract if no contract has the address. */
  const requireContract = (context: Context, address: string): Uint8Array => {
    const bytes = read(address);
    if (!keeper.contracts.has(context, bytes)) throw ErrNoSuchContract(`address ${address}`);
    return bytes;
  };
  // Index keys contain a position and an address after the prefix.
  const addressesIn = (context: Context, prefix: Uint8Array, request: PageRequest | undefined) =>
    pageOf({ store: context.store(MODULE_NAME), prefix }, request, (key) =>
      formatAddress(bech32Prefix, key.subarray(keeper.POSITION_BYTES)),
    );
  return queryHandlers(wire.Query, {
    ContractInfo: (context, { address }) => {
      const contractInfo = keeper.contracts.get(context, read(address));
      if (contractInfo === undefined) throw ErrNoSuchContract(`address ${address}`);
      return { address, contractInfo };
    },
    AllContractState: (context, { address, pagination }) => {
      const prefix = keeper.statePrefix(requireContract(context, address));
      const range = { store: context.store(MODULE_NAME), prefix };
      const page = pageOf(range, pagination, (key, value) => ({ key, value }));
      return { models: page.items, pagination: page.pagination };
    },
    RawContractState: (context, { address, queryData }) => {
      const store = keeper.contractStore(context, requireContract(context, address));
      // Like wasmd, return empty data for an empty key without reading the store.
      const data = queryData.length === 0 ? undefined : store.get(queryData);
      return { data: data ?? new Uint8Array(0) };
    },
    SmartContractState: (context, { address, queryData }) => {
      if (goJsonSyntaxError(queryData) !== undefined)
        throw new QueryError(GrpcCode.InvalidArgument, "invalid query data");
      read(address);
      const gas = createNestedMeter(context.gas, QUERY_GAS);
      try {
        return { data: host.query(context.withGas(gas), address, queryData) };
      } finally {
        // Charge the query's gas, so that gas profiles include the query. This charge cannot fail, because a query's gas meter has
        // no limit.
        context.gas.consume(gas.used(), "contract sub-query");
      }
    },
    ContractHistory: (context, { address, pagination }) => {
      const page = pageOf(keeper.histories.range(context, read(address)), pagination, (_key, value) =>
        ContractCodeHistoryEntry.decode(value),
      );
      return { entries: page.items, pagination: page.pagination };
    },
    ContractsByCode: (context, { codeId, pagination }) => {
      if (codeId === 0n) throw ErrInvalid("code id");
      const page = addressesIn(context, keeper.codeIndexPrefix(codeId), pagination);
      return { contracts: page.items, pagination: page.pagination };
    },
    ContractsByCreator: (context, { creatorAddress, pagination }) => {
      const page = addressesIn(context, keeper.creatorIndexPrefix(read(creatorAddress)), pagination);
      return { contractAddresses: page.items, pagination: page.pagination };
    },
    // A TypeScript contract has no bytes, because it has no WebAssembly.
    Code: (context, { codeId }) => {
      if (codeId === 0n) throw ErrInvalid("code id");
      const info = keeper.codes.get(context, codeId);
      if (info === undefined) throw ErrNoSuchCode(`code id ${codeId}`);
      const data = keeper.findCodeBytes(context, info.codeHash) ?? new Uint8Array(0);
      return { codeInfo: toCodeInfoResponse(codeId, info), data };
    },
    Codes: (context, { pagination }) => {
      const page = pageOf(keeper.codes.range(context), pagination, (key, value) =>
        toCodeInfoResponse(readUint64BigEndian(key), CodeInfo.decode(value)),
      );
      return { codeInfos: page.items, pagination: page.pagination };
    },
    PinnedCodes: (context, { pagination }) => {
      const page = pageOf(keeper.pinned.range(context), pagination, (key) => readUint64BigEndian(key));
      return { codeIds: page.items, pagination: page.pagination };
    },
    Params: keeper.moduleParams.query,
    BuildAddress: (_context, request) => ({ address: buildAddress(request, { bech32Prefix, read }) }),
  });
}

/** Gas limit of a smart query, which is the same as on the deployed chain's nodes. */
const QUERY_GAS = 3_000_000n;

function toCodeInfoResponse(codeId: bigint, info: CodeInfo): wire.CodeInfoResponse {
  return {
    codeId,
    creator: info.creator,
    dataHash: info.codeHash,
    instantiatePermission: info.instantiateConfig,
  };
}

/** The page that is returned if a request has no pagination. As in wasmd, the entries are not counted. */
const FIRST_PAGE: PageRequest = {
  key: new Uint8Array(0),
  offset: 0n,
  limit: 100n,
  countTotal: false,
  reverse: false,
};

const pageOf: typeof readPage = (range, request, read) => readPage(range, request ?? FIRST_PAGE, read);

const CHECKSUM_BYTES = 32;
const MAX_SALT_BYTES = 64;

/** Computes a predictable address, with wasmd's checks in the same order. */
function buildAddress(request: wire.QueryBuildAddressRequest, { bech32Prefix, read }: QueryDeps): string {
  const checksum = inField("code hash", () => hexBytes(request.codeHash));
  const creator = inField("creator address", () => read(request.creatorAddress));
  const salt = inField("salt", () => hexBytes(request.salt));
  if (salt.length === 0) throw new QueryError(GrpcCode.InvalidArgument, "empty salt");
  const message = request.initArgs;
  if (message.length > 0 && goJsonSyntaxError(message) !== undefined) throw ErrInvalid();
  // Return an error if the length of the checksum or salt is invalid. wasmd panics in this case.
  if (checksum.length !== CHECKSUM_BYTES) throw ErrInvalid("checksum");
  if (salt.length > MAX_SALT_BYTES) throw ErrInvalid("salt");
  return formatAddress(bech32Prefix, keeper.predictableContractAddress({ checksum, creator, salt, message }));
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

/** Decodes hex. Throws `QueryError` with the error message of Go's `encoding/hex`. */
function hexBytes(text: string): Uint8Array {
  const bad = /[^0-9a-fA-F]/u.exec(text)?.[0];
  if (bad !== undefined) {
    const code = (bad.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    throw new QueryError(GrpcCode.Unknown, `encoding/hex: invalid byte: U+${code} '${bad}'`);
  }
  if (text.length % 2 === 1) throw new QueryError(GrpcCode.Unknown, "encoding/hex: odd length hex string");
  return fromHex(text);
}
