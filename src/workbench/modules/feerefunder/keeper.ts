import type { Fee } from "../../../cosmos/proto/gen/neutron/feerefunder/fee.ts";
import { FeeInfo } from "../../../cosmos/proto/gen/neutron/feerefunder/genesis.ts";
import { Params } from "../../../cosmos/proto/gen/neutron/feerefunder/params.ts";
import { concat, uint64BigEndian, utf8 } from "../../../platform/base/bytes.ts";
import { formatAddress, parseAddress } from "../../../localnet/chain/runtime/address.ts";
import { type Coin, formatCoins, parseCoins, sumCoins } from "../../../localnet/chain/runtime/coins.ts";
import type { Context } from "../../../localnet/chain/runtime/context.ts";
import { ErrInsufficientFee, ErrInvalidCoins, wrapErrors } from "../../../localnet/chain/runtime/errors.ts";
import { event } from "../../../localnet/chain/runtime/events.ts";
import { defineParams, type ModuleParams } from "../../../localnet/chain/runtime/params.ts";
import { bytesCodec, createMap, messageCodec } from "../../../localnet/chain/store/collections.ts";
import { ErrChannelNotFound } from "../../../localnet/chain/modules/ibc/host/errors.ts";
import type { ChannelEndpoint } from "../../../localnet/chain/modules/ibc/host/packet.ts";
import { isZero, NO_FEE, validateFee } from "../../../localnet/chain/modules/transfer/packet-fee.ts";

/** Name of the module, its store, and its account, which holds the locked fees. */
export const MODULE_NAME = "feerefunder";

/** The fee of a packet without a reply: `0x01 | channel id | ";" | port id | ";" | sequence (8 bytes)`. */
export const feeInfos = createMap(MODULE_NAME, Uint8Array.of(1), bytesCodec, messageCodec<FeeInfo>(FeeInfo));

/** `min_fee`: the minimum fee that a contract must offer. Genesis stores {@link defaultParams} in the chain's denomination. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(2),
  type: Params,
  defaults: defaultParams("untrn"),
  unset: { minFee: undefined },
  validate: ({ minFee }) => validateFee(minFee ?? NO_FEE),
});

/** 1,000 of the smallest unit for an acknowledgement, and again for a timeout. */
export function defaultParams(denom: string): Params {
  const coins = [{ denom, amount: "1000" }];
  return { minFee: { recvFee: [], ackFee: coins, timeoutFee: coins } };
}

export interface FeeRefunderOptions {
  readonly chainName: string;
  readonly bech32Prefix: string;
  /** Denomination of the default fees. */
  readonly denom: string;
  /** Bech32 address of the account that may change the params. */
  readonly authority: string;
}

interface BankKeeper {
  readonly sendToModule: (context: Context, from: Uint8Array, module: string, coins: readonly Coin[]) => void;
  readonly sendFromModule: (context: Context, module: string, to: Uint8Array, coins: readonly Coin[]) => void;
}

export interface FeeRefunderDeps {
  readonly bank: BankKeeper;
  readonly channels: {
    /** Returns a channel, or undefined if it is unknown. */
    readonly channel: (context: Context, channel: ChannelEndpoint) => unknown;
  };
}

/** A packet that is waiting for its reply. */
export interface PacketId {
  readonly source: ChannelEndpoint;
  readonly sequence: bigint;
}

/** Manages the fees for contracts' packets. */
export interface FeeRefunderKeeper {
  /** Takes a packet's fee from its payer. Throws `ModuleError` if the fee is invalid, too small, or more than the payer has. */
  readonly lockFees: (context: Context, payer: Uint8Array, packet: PacketId, fee: Fee) => void;
  /** Pays the acknowledgement fee to the relayer and refunds the timeout fee. Does nothing if no fee is locked. */
  readonly distributeAcknowledgementFee: (context: Context, relayer: Uint8Array, packet: PacketId) => void;
  /** Pays the timeout fee to the relayer and refunds the acknowledgement fee. Does nothing if no fee is locked. */
  readonly distributeTimeoutFee: (context: Context, relayer: Uint8Array, packet: PacketId) => void;
}

export function createFeeRefunderKeeper(
  { bech32Prefix }: FeeRefunderOptions,
  { bank, channels }: FeeRefunderDeps,
): FeeRefunderKeeper {
  const distribute = (
    kind: "ack" | "timeout",
    context: Context,
    relayer: Uint8Array,
    packet: PacketId,
  ): void => {
    const key = feeKey(packet);
    const info = feeInfos.get(context, key);
    if (info === undefined) return;
    const { ackFee = [], timeoutFee = [] } = info.fee ?? {};
    const [paid, returned] = kind === "ack" ? [ackFee, timeoutFee] : [timeoutFee, ackFee];
    bank.sendFromModule(context, MODULE_NAME, relayer, parseCoins(paid));
    bank.sendFromModule(context, MODULE_NAME, parseAddress(bech32Prefix, info.payer), parseCoins(returned));
    emit(context, `distribute_${kind}_fee`, ["receiver", formatAddress(bech32Prefix, relayer)], packet);
    feeInfos.delete(context, key);
  };
  return {
    lockFees: (context, payer, packet, fee) => {
      const { portId, channelId } = packet.source;
      if (channels.channel(context, packet.source) === undefined)
        throw ErrChannelNotFound(`channel with id ${channelId} and port ${portId} not found`);
      wrapErrors("failed to lock fees", () => requireMinFee(context, fee));
      const address = formatAddress(bech32Prefix, payer);
      const packetId = { channelId, portId, sequence: packet.sequence };
      feeInfos.set(context, feeKey(packet), { payer: address, packetId, fee });
      wrapErrors("failed to send coins during fees locking", () =>
        bank.sendToModule(context, payer, MODULE_NAME, totalOf(fee)),
      );
      emit(context, "distribute_lock_fees", ["payer", address], packet);
    },
    distributeAcknowledgementFee: (context, relayer, packet) => distribute("ack", context, relayer, packet),
    distributeTimeoutFee: (context, relayer, packet) => distribute("timeout", context, relayer, packet),
  };
}

function emit(
  context: Context,
  type: string,
  account: readonly [key: string, address: string],
  { source, sequence }: PacketId,
): void {
  context.emit(
    event(type, [
      account,
      ["port_id", source.portId],
      ["channel_id", source.channelId],
      ["sequence", sequence.toString()],
    ]),
  );
  context.emit(event("message", [["module", MODULE_NAME]]));
}

/** Returns a packet's key in {@link feeInfos}. */
export function feeKey({ source: { channelId, portId }, sequence }: PacketId): Uint8Array {
  return concat(utf8(`${channelId};${portId};`), uint64BigEndian(sequence));
}

function totalOf({ recvFee, ackFee, timeoutFee }: Fee): readonly Coin[] {
  return sumCoins(parseCoins([...recvFee, ...ackFee, ...timeoutFee]));
}

function requireMinFee(context: Context, fee: Fee): void {
  const least = moduleParams.get(context).minFee ?? NO_FEE;
  const pairs = [
    ["timeout", parseCoins(fee.timeoutFee), parseCoins(least.timeoutFee)],
    ["ack", parseCoins(fee.ackFee), parseCoins(least.ackFee)],
  ] as const;
  for (const [name, offered, wanted] of pairs)
    if (
      !offered.some((coin) =>
        wanted.some(({ denom, amount }) => denom === coin.denom && amount <= coin.amount),
      )
    )
      throw ErrInsufficientFee(
        `provided ${name} fee is less than min governance set ${name} fee: ${formatCoins(offered)} < ${formatCoins(wanted)}`,
      );
  for (const [name, offered, wanted] of pairs)
    if (!offered.every((coin) => wanted.some(({ denom }) => denom === coin.denom)))
      throw ErrInvalidCoins(`${name} fee cannot have coins other than in params`);
  if (!isZero(fee.recvFee)) throw ErrInvalidCoins("recv fee must be zero");
}
