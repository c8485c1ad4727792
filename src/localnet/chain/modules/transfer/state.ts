import { IntProto } from "../../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import { DenomTrace } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/denomtrace.ts";
import { Params } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/transfer.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import {
  bytesCodec,
  type Codec,
  createItem,
  createMap,
  messageCodec,
  textCodec,
} from "../../store/collections.ts";
import { ErrTraceNotFound } from "./errors.ts";
import { fullDenom, hashOfVoucher, parseTraceHash, traceHash } from "./denom.ts";
import { ESCROW_PREFIX, MODULE_NAME, PARAMS_KEY, PORT_KEY, TRACES_PREFIX } from "./keys.ts";

/** Default params: both directions are open. */
export const DEFAULT_PARAMS: Params = { sendEnabled: true, receiveEnabled: true };

const amountCodec: Codec<bigint> = {
  encode: (amount) => IntProto.encode({ int: amount.toString() }).finish(),
  decode: (bytes) => BigInt(IntProto.decode(bytes).int),
};

export const port = createItem(MODULE_NAME, PORT_KEY, textCodec);
export const storedParams = createItem(MODULE_NAME, PARAMS_KEY, messageCodec<Params>(Params));

/** Traces by hash. */
export const traces = createMap(MODULE_NAME, TRACES_PREFIX, bytesCodec, messageCodec<DenomTrace>(DenomTrace));

/** Coins in all escrow accounts, by denomination. An amount of zero has no entry. */
export const escrows = createMap(MODULE_NAME, ESCROW_PREFIX, textCodec, amountCodec);

/** Returns the params, or the default params before any are stored. */
export function paramsOf(context: Context): Params {
  return storedParams.get(context) ?? DEFAULT_PARAMS;
}

/** Notes the trace of a voucher. */
export function addTrace(context: Context, trace: DenomTrace): void {
  const hash = traceHash(trace);
  if (!traces.has(context, hash)) traces.set(context, hash, trace);
}

/** Returns the full denomination of a coin: that of its trace for "ibc/HASH". Throws transfer/6 for an unknown trace. */
export function fullDenomOf(context: Context, denom: string): string {
  const hash = hashOfVoucher(denom);
  if (hash === undefined) return denom;
  const trace = traces.get(context, parseTraceHash(hash));
  if (trace === undefined) throw ErrTraceNotFound(hash);
  return fullDenom(trace);
}

/** Adds to the coins in escrow, or subtracts with `sign` -1. */
export function changeEscrow(context: Context, { denom, amount }: Coin, sign: 1n | -1n): void {
  const total = (escrows.get(context, denom) ?? 0n) + sign * amount;
  if (total === 0n) escrows.delete(context, denom);
  else escrows.set(context, denom, total);
}
