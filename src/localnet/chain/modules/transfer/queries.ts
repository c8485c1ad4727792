import {
  type DenomTrace,
  DenomTrace as DenomTraceCodec,
} from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/denomtrace.ts";
import * as wire from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/query.ts";
import { upperHex } from "../../../../platform/base/bytes.ts";
import { formatAddress } from "../../runtime/address.ts";
import { isDenom } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { toQueryHandler } from "../../runtime/handlers.ts";
import type { QueryHandler } from "../../runtime/module.ts";
import { paginate } from "../../runtime/pagination.ts";
import { fullDenom, hashOfVoucher, parseTrace, parseTraceHash, traceHash } from "./denom.ts";
import { ErrTraceNotFound } from "./errors.ts";
import { escrowAddress } from "./escrow.ts";
import { MODULE_NAME, TRACES_PREFIX } from "./keys.ts";
import { escrows, paramsOf, traces } from "./state.ts";
import { ModuleError, QueryError, GrpcCode } from "../../runtime/errors.ts";

const SERVICE = "/ibc.applications.transfer.v1.Query";

/** All queries of `ibc.applications.transfer.v1.Query`. */
export function createQueryHandlers(bech32Prefix: string): readonly QueryHandler[] {
  return [
    toQueryHandler(
      `${SERVICE}/Params`,
      { request: wire.QueryParamsRequest, response: wire.QueryParamsResponse },
      (context) => ({ params: paramsOf(context) }),
    ),
    toQueryHandler(
      `${SERVICE}/DenomTraces`,
      { request: wire.QueryDenomTracesRequest, response: wire.QueryDenomTracesResponse },
      queryTraces,
    ),
    toQueryHandler(
      `${SERVICE}/DenomTrace`,
      { request: wire.QueryDenomTraceRequest, response: wire.QueryDenomTraceResponse },
      (context, { hash }) => ({ denomTrace: traceOf(context, hash) }),
    ),
    toQueryHandler(
      `${SERVICE}/DenomHash`,
      { request: wire.QueryDenomHashRequest, response: wire.QueryDenomHashResponse },
      (context, { trace }) => {
        const hash = traceHash(parseTrace(trace));
        if (!traces.has(context, hash))
          throw new QueryError(GrpcCode.NotFound, ErrTraceNotFound(trace).message);
        return { hash: upperHex(hash) };
      },
    ),
    toQueryHandler(
      `${SERVICE}/EscrowAddress`,
      { request: wire.QueryEscrowAddressRequest, response: wire.QueryEscrowAddressResponse },
      (_context, end) => ({ escrowAddress: formatAddress(bech32Prefix, escrowAddress(end)) }),
    ),
    toQueryHandler(
      `${SERVICE}/TotalEscrowForDenom`,
      { request: wire.QueryTotalEscrowForDenomRequest, response: wire.QueryTotalEscrowForDenomResponse },
      (context, { denom }) => {
        if (!isDenom(denom)) throw new QueryError(GrpcCode.InvalidArgument, `invalid denom: ${denom}`);
        return { amount: { denom, amount: (escrows.get(context, denom) ?? 0n).toString() } };
      },
    ),
  ];
}

/** Pages follow the order of the hashes; within a page, the traces are in the order of their denominations. */
function queryTraces(
  context: Context,
  { pagination }: wire.QueryDenomTracesRequest,
): wire.QueryDenomTracesResponse {
  const denomTraces: DenomTrace[] = [];
  const paged = { store: context.store(MODULE_NAME), prefix: TRACES_PREFIX };
  const page = paginate(paged, pagination, (_key, value) => denomTraces.push(DenomTraceCodec.decode(value)));
  denomTraces.sort((a, b) => (fullDenom(a) < fullDenom(b) ? -1 : 1));
  return { denomTraces, pagination: page };
}

/** Accepts a hash in either case, with or without "ibc/" in front. */
function traceOf(context: Context, text: string): DenomTrace {
  const trace = traces.get(context, hashOf(hashOfVoucher(text) ?? text));
  if (trace === undefined) throw new QueryError(GrpcCode.NotFound, ErrTraceNotFound(text).message);
  return trace;
}

function hashOf(text: string): Uint8Array {
  try {
    return parseTraceHash(text);
  } catch (error) {
    if (!(error instanceof ModuleError)) throw error;
    // The hash is missing in the text of ibc-go.
    throw new QueryError(GrpcCode.InvalidArgument, `invalid denom trace hash: , error: ${error.message}`);
  }
}
