import { NS_PER_SECOND } from "../../../../platform/base/time.ts";

/** Direction of a packet, seen from this chain. */
export type Direction = "in" | "out";

/** Limit of a path within a window. Percentages are 0 to 100. */
export interface Quota {
  readonly name: string;
  readonly maxPercentageSend: number;
  readonly maxPercentageRecv: number;
  /** Length of a window, seconds. */
  readonly duration: bigint;
  /** Supply of the denomination at the first transfer of the window; undefined before the first one. */
  readonly channelValue: bigint | undefined;
}

/** Amounts that passed in the present window. */
export interface Flow {
  readonly inflow: bigint;
  readonly outflow: bigint;
  /** End of the window, nanoseconds since the Unix epoch. */
  readonly periodEnd: bigint;
}

/** A quota with its flow. */
export interface RateLimit {
  readonly quota: Quota;
  readonly flow: Flow;
}

/** A transfer that is checked. */
export interface Transfer {
  readonly direction: Direction;
  readonly amount: bigint;
  /** Supply of the denomination on this chain. For a voucher that is being sent, the amount is burned already. */
  readonly supply: bigint;
  /** Local denomination: native, or `ibc/…` for a voucher. */
  readonly denom: string;
  /** Block time, nanoseconds since the Unix epoch. */
  readonly nowNs: bigint;
}

/** Result of {@link allow}: the new state, or the used amount and the capacity that the transfer would exceed. */
type TransferCheck =
  | { readonly ok: true; readonly limit: RateLimit }
  | { readonly ok: false; readonly used: bigint; readonly max: bigint; readonly periodEnd: bigint };

export const MAX_UINT256 = (1n << 256n) - 1n;
const MAX_PERCENTAGE = 100;

/** Creates a quota with percentages cut to 100 and without a channel value. */
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

/** An empty flow of a window that begins now. */
export function newFlow(duration: bigint, nowNs: bigint): Flow {
  return { inflow: 0n, outflow: 0n, periodEnd: nowNs + duration * NS_PER_SECOND };
}

/** Returns the most that may flow out and in, net, within a window. 0 before the channel value is known. */
export function capacities({ maxPercentageSend, maxPercentageRecv, channelValue = 0n }: Quota): {
  readonly out: bigint;
  readonly in: bigint;
} {
  return {
    out: (channelValue * BigInt(maxPercentageSend)) / 100n,
    in: (channelValue * BigInt(maxPercentageRecv)) / 100n,
  };
}

/** Returns the net flow in one direction; 0 when more flowed in the other. */
export function netFlow({ inflow, outflow }: Flow, direction: Direction): bigint {
  const net = direction === "in" ? inflow - outflow : outflow - inflow;
  return net > 0n ? net : 0n;
}

/**
 * Adds a transfer to a quota. When the window is over, a new one starts with the transfer, not at a fixed interval. Only the
 * direction of the transfer is checked, and reaching the capacity exactly is allowed.
 */
export function allow({ quota, flow }: RateLimit, transfer: Transfer): TransferCheck {
  const { direction, amount, nowNs } = transfer;
  // The error text contains the amount used before the transfer, even if that was in a window that is over.
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

/** Takes a sent amount back. Neither the window nor the channel value changes. */
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

/** Returns the supply before the transfer. A voucher that is being sent was burned before this check. */
function valueOf({ direction, denom, supply, amount }: Transfer): bigint {
  return direction === "out" && denom.startsWith("ibc") ? supply + amount : supply;
}
