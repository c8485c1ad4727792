import { z } from "zod";
import { State } from "../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { jsonView, words } from "../../platform/http/json-view.ts";
import { getJson } from "../../platform/http/route-about.ts";
import { isTransferChannel } from "./channel-work.ts";
import type { RefusedWork } from "./deliver.ts";
import type { CycleFailure } from "./errors.ts";
import type { ChannelEnd, ChannelView } from "./ibc-reads.ts";
import type { WorkKind } from "./work.ts";
import { enumName } from "../../platform/base/text.ts";

/** The IBC relayer's status for the API and the metrics: the results of past cycles, and the packets of both chains. */
export interface IbcRelayerStatus {
  /** Time at which the last successful cycle ended, in wall-clock ms, or undefined before the first successful cycle. */
  readonly lastCycleMs: number | undefined;
  /** The reason why the last cycle failed, or undefined if the last cycle succeeded. */
  readonly error: string | undefined;
  /** Number of failed cycles since startup, by reason. */
  readonly failures: Readonly<Record<CycleFailure, number>>;
  readonly chains: readonly IbcChainStatus[];
}

/** Status of a chain: its channels, the packets that it has sent, and the IBC relayer's messages to it. */
interface IbcChainStatus {
  readonly chainId: string;
  /** The connection's channels in the chain's latest state. */
  readonly channels: readonly ChannelView[];
  /** Number of packets in flight, i.e. packets that this chain has sent and that are not yet acknowledged. */
  readonly pending: number;
  /** Time at which the IBC relayer first saw the oldest packet in flight, in wall-clock ms, or undefined if no packet is in flight. */
  readonly oldestPendingMs: number | undefined;
  /** Number of pending packets that cannot be relayed, because the nodes have pruned the packet or its acknowledgement. */
  readonly unreadable: number;
  /** Number of the IBC relayer's messages included on this chain since startup, by kind. */
  readonly done: Readonly<Record<WorkKind, number>>;
  /**
   * Time at which the IBC relayer last saw one of its messages in a block of this chain, in wall-clock ms, or undefined if it has
   * not seen any.
   */
  readonly lastDoneMs: number | undefined;
  /** Number of messages rejected by this chain since startup. */
  readonly refusals: number;
  /** Messages that this chain rejected and that the IBC relayer will retry. */
  readonly refused: readonly RefusedWork[];
}

/**
 * If the last successful cycle ended longer ago than this time, the IBC relayer's state is `failing`. A cycle takes a few blocks at
 * most, and an idle IBC relayer starts a cycle at least every five seconds.
 */
const STALE_AFTER_MS = 30_000;

/** Health states of an IBC relayer, as shown in the API and the metrics. */
export const IBC_RELAYER_STATES = ["starting", "carrying", "blocked", "failing"] as const;

export type IbcRelayerState = (typeof IBC_RELAYER_STATES)[number];

/**
 * Returns the health state and the reason. The state is `failing` after an error or without a successful cycle for 30 s, and
 * `blocked` if a packet cannot be relayed.
 */
export function ibcRelayerHealth(
  { lastCycleMs, error, chains }: IbcRelayerStatus,
  nowMs: number,
): { readonly state: IbcRelayerState; readonly reason: string } {
  if (error !== undefined) return { state: "failing", reason: error };
  if (lastCycleMs === undefined) return { state: "starting", reason: "" };
  if (nowMs - lastCycleMs > STALE_AFTER_MS)
    return { state: "failing", reason: `no cycle for ${Math.round((nowMs - lastCycleMs) / 1_000)} s` };
  for (const { chainId, refused, unreadable } of chains) {
    const [first] = refused;
    if (first !== undefined)
      return { state: "blocked", reason: `${chainId} rejects ${first.name}: ${first.reason}` };
    if (unreadable > 0)
      return {
        state: "blocked",
        reason: `the blocks of ${unreadable} packets from ${chainId}, or of their acknowledgements, are pruned`,
      };
  }
  if (!chains.every(({ channels }) => channels.some(isOpenTransferChannel)))
    return { state: "starting", reason: "no channel for transfers is open yet" };
  return { state: "carrying", reason: "" };
}

const isOpenTransferChannel = (channel: ChannelView): boolean =>
  isTransferChannel(channel) && channel.state === State.STATE_OPEN;

const channelEnd = jsonView<ChannelEnd>(({ value }) => ({
  port_id: value(words, ({ portId }) => portId),
  channel_id: value(words, ({ channelId }) => channelId),
}));

const channelView = jsonView<ChannelView>(({ value, part }) => ({
  ...channelEnd.within((channel) => channel),
  state: value(words, ({ state }) => enumName(State, state)),
  counterparty: part(channelEnd, ({ counterparty }) => counterparty),
}));

const packetsView = jsonView<IbcChainStatus>(({ value, timeOrNull }) => ({
  pending: value(z.int(), ({ pending }) => pending),
  oldest_pending_since: timeOrNull(({ oldestPendingMs }) => oldestPendingMs),
  unreadable: value(z.int(), ({ unreadable }) => unreadable),
}));

const refusedView = jsonView<RefusedWork>(({ value, timeOrNull }) => ({
  name: value(words, ({ name }) => name),
  reason: value(words, ({ reason }) => reason),
  attempts: value(z.int(), ({ attempts }) => attempts),
  next_attempt_at: timeOrNull(({ retryAtMs }) => retryAtMs),
}));

const chainView = jsonView<IbcChainStatus>(({ value, part, list, timeOrNull }) => ({
  chain_id: value(words, ({ chainId }) => chainId),
  channels: list(channelView, ({ channels }) => channels),
  packets: part(packetsView, (chain) => chain),
  done: value(z.record(z.string(), z.int()), ({ done }) => done),
  last_done_at: timeOrNull(({ lastDoneMs }) => lastDoneMs),
  refused: list(refusedView, ({ refused }) => refused),
}));

const statusView = jsonView<IbcRelayerStatus & ReturnType<typeof ibcRelayerHealth>>(
  ({ value, list, timeOrNull }) => ({
    state: value(z.enum(IBC_RELAYER_STATES), ({ state }) => state),
    reason: value(words, ({ reason }) => reason),
    last_cycle_at: timeOrNull(({ lastCycleMs }) => lastCycleMs),
    chains: list(chainView, ({ chains }) => chains),
  }),
);

export const IBC_RELAYER_ROUTE = getJson(
  "/ibc-relayer",
  "the IBC relayer's state, its channels, packets in flight and delivered messages",
  statusView.schema,
);

export function ibcRelayerJson(status: IbcRelayerStatus, nowMs: number): JsonObject {
  return statusView.json({ ...status, ...ibcRelayerHealth(status, nowMs) });
}
