import type { Packet as WirePacket } from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import { concat, sha256, uint64BigEndian } from "../../../../../platform/base/bytes.ts";
import { type ModuleError, wrapErrors } from "../../../runtime/errors.ts";
import { ErrInvalidPacket, ErrTimeoutElapsed, ErrTimeoutNotReached } from "./errors.ts";
import { compareHeights, formatHeight, isZeroHeight, ZERO_HEIGHT } from "./height.ts";
import { validateChannelId, validatePortId } from "./identifiers.ts";

/** One end of a channel, identified by its port and channel ids. */
export interface ChannelEndpoint {
  readonly portId: string;
  readonly channelId: string;
}

/** The height and time at which the receiving chain stops accepting a packet. A zero height or timestamp means no limit. */
export interface Timeout {
  readonly height: Height;
  /** Timeout in nanoseconds since the Unix epoch. */
  readonly timestamp: bigint;
}

export interface Packet {
  readonly sequence: bigint;
  readonly source: ChannelEndpoint;
  readonly destination: ChannelEndpoint;
  readonly data: Uint8Array;
  readonly timeout: Timeout;
}

/** Returns a message's packet. As in Go, a missing packet is replaced by a packet with zero values. */
export function packetOf({ packet }: { readonly packet: WirePacket | undefined }): Packet {
  return {
    sequence: packet?.sequence ?? 0n,
    source: { portId: packet?.sourcePort ?? "", channelId: packet?.sourceChannel ?? "" },
    destination: { portId: packet?.destinationPort ?? "", channelId: packet?.destinationChannel ?? "" },
    data: packet?.data ?? new Uint8Array(0),
    timeout: {
      height: packet?.timeoutHeight ?? ZERO_HEIGHT,
      timestamp: packet?.timeoutTimestamp ?? 0n,
    },
  };
}

/** Performs the stateless checks of a packet (`ValidateBasic`), in ibc-go's order. Throws `ModuleError`. */
export function validatePacket({ source, destination, sequence, timeout, data }: Packet): void {
  wrapErrors("invalid source port ID", () => validatePortId(source.portId));
  wrapErrors("invalid destination port ID", () => validatePortId(destination.portId));
  wrapErrors("invalid source channel ID", () => validateChannelId(source.channelId));
  wrapErrors("invalid destination channel ID", () => validateChannelId(destination.channelId));
  if (sequence === 0n) throw ErrInvalidPacket("packet sequence cannot be 0");
  if (isZeroHeight(timeout.height) && timeout.timestamp === 0n) {
    throw ErrInvalidPacket("packet timeout height and packet timeout timestamp cannot both be 0");
  }
  if (data.length === 0) throw ErrInvalidPacket("packet data bytes cannot be empty");
}

/**
 * Returns the 32-byte hash that the sending chain stores for a packet. The hash covers the timeout and the data's hash (ICS-4).
 */
export function packetCommitment({ timeout, data }: Packet): Uint8Array {
  const { revisionNumber, revisionHeight } = timeout.height;
  return sha256(
    concat(
      uint64BigEndian(timeout.timestamp),
      uint64BigEndian(revisionNumber),
      uint64BigEndian(revisionHeight),
      sha256(data),
    ),
  );
}

/** Returns whether the timeout has passed at a given height and time on the receiving chain. */
export function hasElapsed(timeout: Timeout, height: Height, timestamp: bigint): boolean {
  return heightElapsed(timeout, height) || (timeout.timestamp !== 0n && timestamp >= timeout.timestamp);
}

/** Creates the error for a timeout that has passed. */
export function timeoutElapsedError(timeout: Timeout, height: Height, timestamp: bigint): ModuleError {
  return ErrTimeoutElapsed(
    heightElapsed(timeout, height)
      ? heightText(timeout, height)
      : `current timestamp: ${timestamp}, timeout timestamp ${timeout.timestamp}`,
  );
}

/** Creates the error for a timeout that has not passed yet. */
export function timeoutNotReachedError(timeout: Timeout, height: Height, timestamp: bigint): ModuleError {
  return ErrTimeoutNotReached(
    !isZeroHeight(timeout.height) && !heightElapsed(timeout, height)
      ? heightText(timeout, height)
      : `current timestamp: ${timestamp}, timeout timestamp ${timeout.timestamp}`,
  );
}

function heightElapsed(timeout: Timeout, height: Height): boolean {
  return !isZeroHeight(timeout.height) && compareHeights(height, timeout.height) >= 0;
}

function heightText(timeout: Timeout, height: Height): string {
  return `current height: ${formatHeight(height)}, timeout height ${formatHeight(timeout.height)}`;
}
