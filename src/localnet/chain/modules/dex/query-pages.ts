import { responseTypeOf, toCanonicalTypeUrl } from "../../../../cosmos/proto/registry.ts";
import { GrpcCode, ModuleError, QueryError } from "../../runtime/errors.ts";
import { orPanic } from "./errors.ts";
import type {
  PageRequest,
  PageResponse,
} from "../../../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import type { Query } from "../../../../cosmos/proto/gen/neutron/dex/query.ts";
import { concat } from "../../../../platform/base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
import type { QueryFunctions } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { type FilterEntry, paginateFiltered } from "../../runtime/pagination.ts";
import * as errors from "./errors.ts";
import * as keys from "./keys.ts";
import type { PairId, TradePairId } from "./types.ts";

/** Implementations of some of the service's methods. */
export type Queries = Partial<QueryFunctions<typeof Query>>;

/** Returns the value. Throws QueryError 5 if it is undefined. */
export function found<T>(value: T | undefined, text = "not found"): T {
  if (value === undefined) throw new QueryError(GrpcCode.NotFound, text);
  return value;
}

/** Returns the key prefix for records on one side of a pair. `tokenIn` is the denomination that this side sells. */
export function sidePrefix({
  pairId,
  tokenIn,
}: {
  readonly pairId: string;
  readonly tokenIn: string;
}): Uint8Array {
  return concat(keys.TICK_LIQUIDITY_PREFIX, keys.sideKey(sideSelling(parsePairId(pairId), tokenIn)));
}

/** The request of a list query. */
export interface PagedRequest {
  readonly pagination: PageRequest | undefined;
}

/** Type of the records below a prefix. */
interface RecordType<T> {
  /** Canonical full name. */
  readonly name: string;
  readonly type: { decode(bytes: Uint8Array): T };
}

/** Decodes a stored record, whose field numbers depend on the chain's profile. */
export function decodeRecord<T>({ profile }: Context, { name, type }: RecordType<T>, value: Uint8Array): T {
  return type.decode(profile.proto?.decode(name, value) ?? value);
}

/** Pages through all records below `prefix`. */
export function pageRecords<T>(
  context: Context,
  prefix: Uint8Array,
  request: PagedRequest,
  type: RecordType<T>,
): { readonly records: T[]; readonly pagination: PageResponse } {
  const records: T[] = [];
  const pagination = page(context, prefix, request, (_key, value, onPage) => {
    if (onPage) records.push(decodeRecord(context, type, value));
    return true;
  });
  return { records, pagination };
}

/** Pages through the store below `prefix`. Go wraps every paging error as Internal. */
export function page(
  context: Context,
  prefix: Uint8Array,
  { pagination }: PagedRequest,
  onEntry: FilterEntry,
): PageResponse {
  try {
    return paginateFiltered({ store: context.store(keys.MODULE_NAME), prefix }, pagination, onEntry);
  } catch (thrown) {
    throw thrown instanceof QueryError ? new QueryError(GrpcCode.Internal, thrown.message) : thrown;
  }
}

/** Parses "A<>B" with the tokens in either order. Throws dex/1119 for any other text and dex/1102 for equal tokens. */
export function parsePairId(text: string): PairId {
  const [first, second, ...more] = text.split("<>");
  if (first === undefined || second === undefined || more.length > 0) throw errors.ErrInvalidPairIdStr(text);
  if (first === second) throw errors.ErrInvalidTradingPair(text);
  return first < second ? { token0: first, token1: second } : { token0: second, token1: first };
}

/** Returns the side of the pair that sells `makerDenom`. If the pair does not include it, the taker denom is token0. */
export function sideSelling({ token0, token1 }: PairId, makerDenom: string): TradePairId {
  return { makerDenom, takerDenom: makerDenom === token0 ? token1 : token0 };
}

/** Encodes a query's response with the field numbers of the chain's profile, and converts errors to the deployed module's. */
export function asDeployed({ path, query }: QueryHandler, chainName: string): QueryHandler {
  const responseType = responseTypeOf(toCanonicalTypeUrl(path, chainName) ?? path);
  return {
    path,
    query: (context, request) => {
      const response = withGoErrors(() => query(context, request));
      return context.profile.proto?.encode(responseType, response) ?? response;
    },
  };
}

/** Go returns an error without a registered code unchanged, and reports a recovered panic as Internal. */
function withGoErrors<T>(work: () => T): T {
  try {
    return orPanic(work);
  } catch (thrown) {
    if (!(thrown instanceof ModuleError)) throw thrown;
    if (thrown.codespace === "undefined") throw new QueryError(GrpcCode.Unknown, thrown.message);
    if (thrown.code === 111_222) throw new QueryError(GrpcCode.Internal, thrown.message);
    throw thrown;
  }
}
