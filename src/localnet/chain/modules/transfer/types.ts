import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";

export interface TransferOptions {
  /** Prefix of account addresses. */
  readonly bech32Prefix: string;
  /** The account that may change the params, bech32. */
  readonly authority: string;
  /** Type URL of the response to MsgTransfer with number and channel. Absent: the response of ibc-go, with the number. */
  readonly ownResponse?: string;
}

interface BankKeeper {
  readonly send: (context: Context, from: Uint8Array, to: Uint8Array, coins: readonly Coin[]) => void;
  readonly sendToModule: (context: Context, from: Uint8Array, module: string, coins: readonly Coin[]) => void;
  readonly sendFromModule: (context: Context, module: string, to: Uint8Array, coins: readonly Coin[]) => void;
  readonly mint: (context: Context, module: string, coins: readonly Coin[]) => void;
  readonly burn: (context: Context, module: string, coins: readonly Coin[]) => void;
  /** Throws `ModuleError` when messages may not send one of the denominations. */
  readonly requireSendEnabled: (context: Context, coins: readonly Coin[]) => void;
  readonly isBlocked: (address: Uint8Array) => boolean;
}

/** One end of a channel. */
export interface ChannelEnd {
  readonly portId: string;
  readonly channelId: string;
}

interface Height {
  readonly revisionNumber: bigint;
  readonly revisionHeight: bigint;
}

/** The way to the channel. It may lead through middleware. */
interface ChannelKeeper {
  /** Returns the number of the next packet of a channel; undefined for an unknown channel. */
  readonly nextSequenceSend: (context: Context, channel: ChannelEnd) => bigint | undefined;
  /** Sends a packet and returns its number. Throws `ModuleError`. */
  readonly sendPacket: (
    context: Context,
    packet: {
      readonly source: ChannelEnd;
      readonly timeout: { readonly height: Height; readonly timestamp: bigint };
      readonly data: Uint8Array;
    },
  ) => bigint;
}

export interface TransferDeps {
  readonly bank: BankKeeper;
  readonly channels: ChannelKeeper;
}

/** Options and keepers of other modules. */
export interface Environment extends TransferOptions, TransferDeps {}
