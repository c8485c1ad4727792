import { fromHex } from "../../../../platform/base/bytes.ts";
import { goJsonSyntaxError } from "../../../../platform/base/go-json-syntax.ts";
import type {
  PageRequest,
  PageResponse,
} from "../../../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import { AccessType, ContractCodeHistoryEntry } from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { formatAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { toQueryHandler } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { predictableContractAddress } from "./address.ts";
import { codeIndexPrefix, creatorIndexPrefix, historyPrefix, POSITION_BYTES } from "./contract-index.ts";
import { ErrInvalid } from "./errors.ts";
import { QueryError, GrpcCode } from "../../runtime/errors.ts";

const SERVICE = "/cosmwasm.wasm.v1.Query";
const CHECKSUM_BYTES = 32;
const MAX_SALT_BYTES = 64;

interface IndexQueryDeps {
  readonly bech32Prefix: string;
  /** Parses an address. Throws `QueryError`. */
  readonly read: (address: string) => Uint8Array;
  readonly paginate: (
    context: Context,
    prefix: Uint8Array,
    request: PageRequest | undefined,
    onEntry: (key: Uint8Array, value: Uint8Array) => void,
  ) => PageResponse;
}

/** Queries for lists of contracts, for their history, and for what depends on no contract. */
export function createIndexQueryHandlers(deps: IndexQueryDeps): readonly QueryHandler[] {
  return [...listQueries(deps), ...generalQueries(deps)];
}

function listQueries(deps: IndexQueryDeps): readonly QueryHandler[] {
  const { read, paginate } = deps;
  return [
    toQueryHandler(
      `${SERVICE}/ContractHistory`,
      { request: wire.QueryContractHistoryRequest, response: wire.QueryContractHistoryResponse },
      (context, { address, pagination }) => {
        const entries: ContractCodeHistoryEntry[] = [];
        const page = paginate(context, historyPrefix(read(address)), pagination, (_key, value) =>
          entries.push(ContractCodeHistoryEntry.decode(value)),
        );
        return { entries, pagination: page };
      },
    ),
    toQueryHandler(
      `${SERVICE}/ContractsByCode`,
      { request: wire.QueryContractsByCodeRequest, response: wire.QueryContractsByCodeResponse },
      (context, { codeId, pagination }) => {
        if (codeId === 0n) throw ErrInvalid("code id");
        const { addresses, page } = indexedContracts(context, codeIndexPrefix(codeId), pagination, deps);
        return { contracts: addresses, pagination: page };
      },
    ),
    toQueryHandler(
      `${SERVICE}/ContractsByCreator`,
      { request: wire.QueryContractsByCreatorRequest, response: wire.QueryContractsByCreatorResponse },
      (context, { creatorAddress, pagination }) => {
        const prefix = creatorIndexPrefix(read(creatorAddress));
        const { addresses, page } = indexedContracts(context, prefix, pagination, deps);
        return { contractAddresses: addresses, pagination: page };
      },
    ),
  ];
}

/** Returns one page of an index. Behind the prefix, its keys hold a position and an address. */
function indexedContracts(
  context: Context,
  prefix: Uint8Array,
  request: PageRequest | undefined,
  { bech32Prefix, paginate }: IndexQueryDeps,
): { readonly addresses: string[]; readonly page: PageResponse } {
  const addresses: string[] = [];
  const page = paginate(context, prefix, request, (key) =>
    addresses.push(formatAddress(bech32Prefix, key.subarray(POSITION_BYTES))),
  );
  return { addresses, page };
}

function generalQueries(deps: IndexQueryDeps): readonly QueryHandler[] {
  return [
    toQueryHandler(
      `${SERVICE}/Params`,
      { request: wire.QueryParamsRequest, response: wire.QueryParamsResponse },
      // Codes come from the genesis, and every account may instantiate them.
      () => ({
        params: {
          codeUploadAccess: { permission: AccessType.ACCESS_TYPE_NOBODY, addresses: [] },
          instantiateDefaultPermission: AccessType.ACCESS_TYPE_EVERYBODY,
        },
      }),
    ),
    toQueryHandler(
      `${SERVICE}/PinnedCodes`,
      { request: wire.QueryPinnedCodesRequest, response: wire.QueryPinnedCodesResponse },
      // A TypeScript contract needs no cache of compiled code.
      () => ({ codeIds: [], pagination: { nextKey: new Uint8Array(0), total: 0n } }),
    ),
    toQueryHandler(
      `${SERVICE}/BuildAddress`,
      { request: wire.QueryBuildAddressRequest, response: wire.QueryBuildAddressResponse },
      (_context, request) => ({ address: buildAddress(request, deps) }),
    ),
  ];
}

/** Computes a predictable address, with the checks of wasmd in their order. */
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

/** Decodes hex with the error texts of Go. */
function hexBytes(text: string): Uint8Array {
  const bad = /[^0-9a-fA-F]/u.exec(text)?.[0];
  if (bad !== undefined) {
    const code = (bad.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    throw new QueryError(GrpcCode.Unknown, `encoding/hex: invalid byte: U+${code} '${bad}'`);
  }
  if (text.length % 2 === 1) throw new QueryError(GrpcCode.Unknown, "encoding/hex: odd length hex string");
  return fromHex(text);
}
