import { State } from "../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { TRANSFER_CHANNEL } from "./channel-work.ts";
import type { CycleFailure } from "./courier-error.ts";
import type { ChannelView } from "./ibc-reads.ts";
import type { Trouble } from "./trouble-book.ts";
import type { WorkKind } from "./work.ts";

/** What the courier does and sees. */
export interface CourierStatus {
  /** Wall-clock time of the end of the last cycle without an error, ms; undefined before the first. */
  readonly lastCycleMs: number | undefined;
  /** Why the last cycle failed; undefined when it did not. */
  readonly error: string | undefined;
  /** Failed cycles since the start, by reason. */
  readonly failures: Readonly<Record<CycleFailure, number>>;
  readonly chains: readonly CourierChainStatus[];
}

/** One chain, and the packets that it sent. */
interface CourierChainStatus {
  readonly chainId: string;
  /** Channels of the connection, now. */
  readonly channels: readonly ChannelView[];
  /** Packets of this chain that are on their way: sent and not acknowledged. */
  readonly pending: number;
  /** When the courier first saw the oldest of them, wall-clock ms; undefined without any. */
  readonly oldestPendingMs: number | undefined;
  /** Pending packets whose content or acknowledgement the nodes do not have any more. */
  readonly unreadable: number;
  /** Messages that the courier had included on this chain since its start, by kind. */
  readonly done: Readonly<Record<WorkKind, number>>;
  /** Wall-clock time at which the courier saw its last message in a block of this chain; undefined before the first. */
  readonly lastDoneMs: number | undefined;
  /** How often this chain has refused a message since the start of the courier. */
  readonly refusals: number;
  /** Work that this chain refused. It is tried again. */
  readonly refused: readonly Trouble[];
}

/** A cycle takes at most a few blocks, and an idle courier looks every five seconds. */
const STALE_AFTER_MS = 30_000;

/** What to say about a courier in one word. */
export const COURIER_STATES = ["starting", "carrying", "blocked", "failing"] as const;

/** A state of {@link COURIER_STATES}. */
export type CourierState = (typeof COURIER_STATES)[number];

/**
 * Judges the courier. A status is not good because nothing was tried: without a cycle in the last half minute it fails. Blocked:
 * a chain refuses a packet, or a packet cannot be read.
 */
export function judgeCourier(
  { lastCycleMs, error, chains }: CourierStatus,
  nowMs: number,
): { readonly state: CourierState; readonly reason: string } {
  if (error !== undefined) return { state: "failing", reason: error };
  if (lastCycleMs === undefined) return { state: "starting", reason: "" };
  if (nowMs - lastCycleMs > STALE_AFTER_MS)
    return { state: "failing", reason: `no cycle for ${Math.round((nowMs - lastCycleMs) / 1_000)} s` };
  for (const { chainId, refused, unreadable } of chains) {
    const [first] = refused;
    if (first !== undefined)
      return { state: "blocked", reason: `${chainId} refuses ${first.name}: ${first.reason}` };
    if (unreadable > 0)
      return {
        state: "blocked",
        reason: `the blocks of ${unreadable} packets from ${chainId}, or of their acknowledgements, are pruned`,
      };
  }
  if (!chains.every(({ channels }) => channels.some(isOpenForTransfers)))
    return { state: "starting", reason: "no channel for transfers is open yet" };
  return { state: "carrying", reason: "" };
}

function isOpenForTransfers({ portId, state }: ChannelView): boolean {
  return portId === TRANSFER_CHANNEL.port && state === State.STATE_OPEN;
}

/** Prints the status as `GET /courier` does. */
export function courierJson(status: CourierStatus, nowMs: number): JsonObject {
  const { lastCycleMs, chains } = status;
  return {
    ...judgeCourier(status, nowMs),
    last_cycle_at: timeJson(lastCycleMs),
    chains: chains.map(
      ({ chainId, channels, pending, oldestPendingMs, unreadable, done, lastDoneMs, refused }) => ({
        chain_id: chainId,
        channels: channels.map(channelJson),
        packets: { pending, oldest_pending_since: timeJson(oldestPendingMs), unreadable },
        done: { ...done },
        last_done_at: timeJson(lastDoneMs),
        refused: refused.map(({ name, reason, attempts, retryAtMs }) => ({
          name,
          reason,
          attempts,
          next_attempt_at: timeJson(retryAtMs),
        })),
      }),
    ),
  };
}

function timeJson(atMs: number | undefined): string | null {
  return atMs === undefined ? null : new Date(atMs).toISOString();
}

function channelJson({ portId, channelId, state, counterparty }: ChannelView): JsonObject {
  const name = Object.entries(State).find(([, value]) => value === state)?.[0] ?? "";
  return {
    port_id: portId,
    channel_id: channelId,
    state: name,
    counterparty: { port_id: counterparty.portId, channel_id: counterparty.channelId },
  };
}
