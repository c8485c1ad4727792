import type { Metadata } from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/bank.ts";
import { IntProto } from "../../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import type { Fee } from "../../../../cosmos/proto/gen/neutron/feerefunder/fee.ts";
import { DenomTrace } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/denomtrace.ts";
import { concat, sha256, utf8 } from "../../../../platform/base/bytes.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInsufficientFunds, wrapErrors } from "../../runtime/errors.ts";
import * as collections from "../../store/collections.ts";
import * as transfer from "./denom.ts";
import type { ChannelEndpoint } from "../ibc/host/packet.ts";
import type { BankKeeper as Keeper } from "../bank/keeper.ts";
import type { ICS4Wrapper } from "../ibc/channel/ibc-module.ts";

export interface TransferOptions {
  readonly bech32Prefix: string;
  /** Bech32 address of the account that may change the params. */
  readonly authority: string;
  /**
   * If set, the chain has its own transfer messages in addition to ibc-go's, and both versions of MsgTransfer return the chain's
   * own response. By default, the chain only has ibc-go's messages.
   */
  readonly ownMessages?: { readonly chainName: string };
}

type BankKeeper = Pick<
  Keeper,
  | "send"
  | "sendToModule"
  | "sendFromModule"
  | "mint"
  | "burn"
  | "requireSendEnabled"
  | "isBlocked"
  | "hasMetadata"
  | "setMetadata"
>;

/** Channel methods that the module calls. `sendPacket` may belong to middleware, such as a rate limiter. */
interface ChannelKeeper extends ICS4Wrapper {
  /** Returns a channel, or undefined for an unknown channel. */
  readonly channel: (context: Context, channel: ChannelEndpoint) => unknown;
  /** Returns the sequence of the next packet to send on a channel, or undefined for an unknown channel. */
  readonly nextSequenceSend: (context: Context, channel: ChannelEndpoint) => bigint | undefined;
}

/** Collects the fees that contracts offer to relayers for delivering their transfers. */
export interface FeeKeeper {
  readonly isContract: (context: Context, address: string) => boolean;
  readonly lockFees: (
    context: Context,
    payer: Uint8Array,
    packet: { readonly source: ChannelEndpoint; readonly sequence: bigint },
    fee: Fee,
  ) => void;
}

export interface TransferDeps {
  readonly bank: BankKeeper;
  readonly channels: ChannelKeeper;
  /** Keeper that collects relayer fees for contracts' transfers, or undefined on a chain without contracts. */
  readonly fees?: FeeKeeper;
}

export interface Keepers extends TransferOptions, TransferDeps {}

const amountCodec = collections.mappedCodec(
  collections.messageCodec<IntProto>(IntProto),
  ({ int }) => BigInt(int),
  (amount: bigint) => ({ int: amount.toString() }),
);

export const port = collections.createItem(transfer.MODULE_NAME, Uint8Array.of(0x01), collections.textCodec);

/** Denomination traces, stored under `0x02 | hash`. */
export const traces = collections.createMap(
  transfer.MODULE_NAME,
  Uint8Array.of(0x02),
  collections.bytesCodec,
  collections.messageCodec<DenomTrace>(DenomTrace),
);

/** Total amount of each denomination in all escrow accounts. The key is `totalEscrowForDenom/{denom}`, and zero totals are not stored. */
export const escrows = collections.createMap(
  transfer.MODULE_NAME,
  utf8("totalEscrowForDenom/"),
  collections.textCodec,
  amountCodec,
);

/** Stores a voucher's trace, and adds the voucher's metadata to the bank. */
export function addTrace(context: Context, bank: BankKeeper, trace: DenomTrace): void {
  const hash = transfer.traceHash(trace);
  if (!traces.has(context, hash)) traces.set(context, hash, trace);
  if (!bank.hasMetadata(context, transfer.localDenom(trace)))
    bank.setMetadata(context, voucherMetadata(trace));
}

/** Returns a voucher's bank metadata. As in ibc-go, the units do not include the `display` denomination. */
function voucherMetadata(trace: DenomTrace): Metadata {
  const display = transfer.fullDenom(trace);
  return {
    description: `IBC token from ${display}`,
    denomUnits: [{ denom: trace.baseDenom, exponent: 0, aliases: [] }],
    base: transfer.localDenom(trace),
    display,
    name: `${display} IBC token`,
    symbol: trace.baseDenom.toUpperCase(),
    uri: "",
    uriHash: "",
  };
}

/** Returns a coin's full denomination, looking up the trace of a voucher ("ibc/HASH"). Throws transfer/6 for an unknown trace. */
export function fullDenomOf(context: Context, denom: string): string {
  const hash = transfer.hashOfVoucher(denom);
  if (hash === undefined) return denom;
  const trace = traces.get(context, transfer.parseTraceHash(hash));
  if (trace === undefined) throw transfer.ErrTraceNotFound(hash);
  return transfer.fullDenom(trace);
}

/** Adds a coin to the total in escrow, or subtracts the coin if `sign` is -1. Throws sdk/5 if the total is too small. */
function changeEscrow(context: Context, { denom, amount }: Coin, sign: 1n | -1n): void {
  const before = escrows.get(context, denom) ?? 0n;
  const total = before + sign * amount;
  // The total can be too small, because coins sent directly to an escrow account are not tracked. Go panics here.
  if (total < 0n) throw ErrInsufficientFunds(`escrowed ${before}${denom} is smaller than ${amount}${denom}`);
  if (total === 0n) escrows.delete(context, denom);
  else escrows.set(context, denom, total);
}

const ADDRESS_BYTES = 20;

/** Returns the address of a channel's escrow account. No private key exists for this account. */
export function escrowAddress({ portId, channelId }: ChannelEndpoint): Uint8Array {
  const preimage = concat(utf8(transfer.VERSION), Uint8Array.of(0), utf8(`${portId}/${channelId}`));
  return sha256(preimage).slice(0, ADDRESS_BYTES);
}

/** Moves a coin to the channel's escrow account and increases the denomination's escrow total. Throws `ModuleError`. */
export function escrowCoin(
  context: Context,
  { bank }: Keepers,
  move: { readonly from: Uint8Array; readonly end: ChannelEndpoint },
  coin: Coin,
): void {
  bank.send(context, move.from, escrowAddress(move.end), [coin]);
  changeEscrow(context, coin, 1n);
}

/** Pays a coin from the channel's escrow account and decreases the denomination's escrow total. Throws `ModuleError`. */
export function unescrowCoin(
  context: Context,
  { bank }: Keepers,
  move: { readonly to: Uint8Array; readonly end: ChannelEndpoint },
  coin: Coin,
): void {
  wrapErrors(
    "unable to unescrow tokens, this may be caused by a malicious counterparty module or a bug: please open an issue on counterparty module",
    () => {
      bank.send(context, escrowAddress(move.end), move.to, [coin]);
      changeEscrow(context, coin, -1n);
    },
  );
}
