import { NS_PER_SECOND } from "../../../../platform/base/time.ts";

/** A packet's direction, as seen from this chain. */
export type Direction = "in" | "out";

/** A path's limits within a window, as percentages (0 to 100) of the denomination's supply. */
export interface Quota {
  readonly name: string;
  readonly maxPercentageSend: number;
  readonly maxPercentageRecv: number;
  /** Window length in seconds. */
  readonly duration: bigint;
  /**
   * Supply of the denomination at the window's first transfer, or undefined before the first transfer. The supply is kept when the
   * flow is reset.
   */
  readonly channelValue: bigint | undefined;
}

/** Amounts received and sent in the current window. */
export interface Flow {
  readonly inflow: bigint;
  readonly outflow: bigint;
  /** Time at which the current window ends, in nanoseconds since the Unix epoch. */
  readonly periodEnd: bigint;
}

export interface RateLimit {
  readonly quota: Quota;
  readonly flow: Flow;
}

export interface Transfer {
  readonly direction: Direction;
  readonly amount: bigint;
  /** Supply of the denomination on this chain. If a voucher is sent, its amount has already been burned and is not included. */
  readonly supply: bigint;
  /** Local denomination: native, or `ibc/…` for a voucher. */
  readonly denom: string;
  /** Block time, in nanoseconds since the Unix epoch. */
  readonly nowNs: bigint;
}

/**
 * Result of {@link allow}. If the transfer is allowed, contains the new quota and flow. Otherwise, contains the amount used so far
 * and the capacity that the transfer would exceed.
 */
type TransferCheck =
  | { readonly ok: true; readonly limit: RateLimit }
  | { readonly ok: false; readonly used: bigint; readonly max: bigint; readonly periodEnd: bigint };

export const MAX_UINT256 = (1n << 256n) - 1n;
const MAX_PERCENTAGE = 100;

/** Creates a quota, caps its percentages at 100, and leaves `channelValue` undefined until the first transfer. */
export function createQuota(
  name: string,
  duration: bigint,
  [send, receive]: readonly [send: number, receive: number],
): Quota {
  return {
    name,
    maxPercentageSend: Math.min(send, MAX_PERCENTAGE),
    maxPercentageRecv: Math.min(receive, MAX_PERCENTAGE),
    duration,
    channelValue: undefined,
  };
}

/** Creates an empty flow whose window starts now. */
export function newFlow(duration: bigint, nowNs: bigint): Flow {
  return { inflow: 0n, outflow: 0n, periodEnd: nowNs + duration * NS_PER_SECOND };
}

/** Returns the maximum net outflow and inflow within a window, which are 0 until `channelValue` is set. */
export function capacities({ maxPercentageSend, maxPercentageRecv, channelValue = 0n }: Quota): {
  readonly out: bigint;
  readonly in: bigint;
} {
  return {
    out: (channelValue * BigInt(maxPercentageSend)) / 100n,
    in: (channelValue * BigInt(maxPercentageRecv)) / 100n,
  };
}

/** Returns the net flow in one direction, or 0 if more flowed in the other direction. */
export function netFlow({ inflow, outflow }: Flow, direction: Direction): bigint {
  const net = direction === "in" ? inflow - outflow : outflow - inflow;
  return net > 0n ? net : 0n;
}

/**
 * Counts a transfer toward a quota. After a window ends, the next transfer starts a new window, so windows do not follow a fixed
 * interval. Checks only the transfer's own direction, and allows a net flow equal to the capacity.
 */
export function allow({ quota, flow }: RateLimit, transfer: Transfer): TransferCheck {
  const { direction, amount, nowNs } = transfer;
  // The error message reports the amount used before this transfer, even if the window has ended since then.
  const used = netFlow(flow, direction);
  const isOver = flow.periodEnd < nowNs;
  const open = isOver ? newFlow(quota.duration, nowNs) : flow;
  const next = add(open, direction, amount);
  const valued =
    isOver || quota.channelValue === undefined ? { ...quota, channelValue: valueOf(transfer) } : quota;
  const max = capacities(valued)[direction];
  return netFlow(next, direction) > max
    ? { ok: false, used, max, periodEnd: next.periodEnd }
    : { ok: true, limit: { quota: valued, flow: next } };
}

/** Subtracts a failed transfer's amount from the outflow. The time window and `channelValue` stay the same. */
export function undo({ quota, flow }: RateLimit, amount: bigint): RateLimit {
  return { quota, flow: { ...flow, outflow: flow.outflow > amount ? flow.outflow - amount : 0n } };
}

function add(flow: Flow, direction: Direction, amount: bigint): Flow {
  return direction === "in"
    ? { ...flow, inflow: saturated(flow.inflow + amount) }
    : { ...flow, outflow: saturated(flow.outflow + amount) };
}

function saturated(value: bigint): bigint {
  return value > MAX_UINT256 ? MAX_UINT256 : value;
}

/** Returns the denomination's supply before the transfer. A sent voucher has already been burned, so its amount is added back. */
function valueOf({ direction, denom, supply, amount }: Transfer): bigint {
  return direction === "out" && denom.startsWith("ibc") ? supply + amount : supply;
}
