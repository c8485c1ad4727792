import { concat } from "../../../../platform/base/bytes.ts";
import type {
  PageRequest,
  PageResponse,
} from "../../../../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import type { Context } from "../../runtime/context.ts";
import { toQueryHandler, type WireType } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { QueryError } from "../../runtime/errors.ts";
import { type FilterEntry, paginateFiltered } from "../../runtime/pagination.ts";
import * as keys from "./keys.ts";
import { parsePairId, sideSelling } from "./pair-id.ts";

/** The gRPC service under the canonical chain name. */
export const SERVICE = "/neutron.dex.Query";

const NOT_FOUND = 5;
const INTERNAL = 13;

type Answer<Request, Response> = (context: Context, request: Request) => Response;

/** Declares the query `rpc` over decoded messages. */
export function query<Request, Response>(
  rpc: string,
  request: WireType<Request>,
  response: WireType<Response>,
  answer: Answer<Request, Response>,
): QueryHandler {
  return toQueryHandler(`${SERVICE}/${rpc}`, { request, response }, answer);
}

/** Returns a value. Throws QueryError 5 for undefined. */
export function found<T>(value: T | undefined, text = "not found"): T {
  if (value === undefined) throw new QueryError(NOT_FOUND, text);
  return value;
}

/** The records of one side of a pair. `tokenIn` is the denomination that the side sells. */
export function sidePrefix({
  pairId,
  tokenIn,
}: {
  readonly pairId: string;
  readonly tokenIn: string;
}): Uint8Array {
  return concat(keys.TICK_LIQUIDITY_PREFIX, keys.sideKey(sideSelling(parsePairId(pairId), tokenIn)));
}

/** A request of a list query. */
export interface PagedRequest {
  readonly pagination: PageRequest | undefined;
}

/** Pages through all records below `prefix`. */
export function pageRecords<T>(
  context: Context,
  prefix: Uint8Array,
  request: PagedRequest,
  type: { decode(bytes: Uint8Array): T },
): { readonly records: T[]; readonly pagination: PageResponse } {
  const records: T[] = [];
  const pagination = page(context, prefix, request, (_key, value, onPage) => {
    if (onPage) records.push(type.decode(value));
    return true;
  });
  return { records, pagination };
}

/** Pages through the store below `prefix`. Go wraps every failure of the paging as Internal. */
export function page(
  context: Context,
  prefix: Uint8Array,
  { pagination }: PagedRequest,
  onEntry: FilterEntry,
): PageResponse {
  try {
    return paginateFiltered({ store: context.store(keys.MODULE_NAME), prefix }, pagination, onEntry);
  } catch (thrown) {
    throw thrown instanceof QueryError ? new QueryError(INTERNAL, thrown.message) : thrown;
  }
}
