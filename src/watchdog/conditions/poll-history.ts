import { type Histogram, type NodeObservation, type NodeReading, readingOf } from "../sources/observation.ts";
import type { Observation, PricesReading, Seen, SidecarReading } from "../sources/observation.ts";
import { z } from "zod";
import { advanceUpgrade, seenUpgrade } from "../policy/upgrade-countdown.ts";
import { storedPrices } from "../policy/price-comparison.ts";
import { storedInteger, storedMap, storedPairs } from "../sources/stored-json.ts";

/** The modules that a chain may lack, under the names used in observations. */
const MODULE_NAMES = ["prices", "revenue", "upgrade", "slashing"] as const;

const digits = storedInteger(30);

/** The latest height of a node or chain. `advancedAtMs` is when a poll last saw the height increase, or undefined if no poll has. */
const progress = z.strictObject({
  height: digits.exactOptional(),
  /** The time when a poll first saw a height. */
  firstSeenMs: z.number().exactOptional(),
  advancedAtMs: z.number().exactOptional(),
});

export type Progress = Readonly<z.output<typeof progress>>;

/** The sidecar's last price-update timestamp (`value`), as seen by polls. */
const storedTick = z.strictObject({
  value: z.number(),
  /** The time when a poll first saw this timestamp. */
  sinceMs: z.number(),
  /** False if the sidecar has shown the same timestamp since the first poll. */
  hasChanged: z.boolean(),
});

type Tick = Readonly<z.output<typeof storedTick>>;

const storedWebSocket = z.strictObject({
  reads: digits,
  /** The time when a poll first saw the provider. */
  sinceMs: z.number(),
  lastReadMs: z.number().exactOptional(),
});

export type WebSocketHistory = Readonly<z.output<typeof storedWebSocket>>;

/** A histogram of the durations of a node's calls to its sidecar. */
const callTimes = z.strictObject({
  calls: digits,
  /** The number of calls that took no longer than each bound, by bound in ms. */
  within: storedPairs(z.number(), digits),
});

type CallTimes = Readonly<z.output<typeof callTimes>>;

/** The node's histogram of call times at the last poll that read it. */
const latencyHistory = callTimes.extend({
  /** The calls added at the last poll that saw new calls, and the time of the poll. */
  recent: callTimes.extend({ atMs: z.number() }).exactOptional(),
});

type LatencyHistory = Readonly<z.output<typeof latencyHistory>>;

/** The values that earlier polls recorded about one node and its sidecar. */
const nodeHistory = z.strictObject({
  progress,
  /** The time when the node's page was first read after the last long gap. */
  seenSinceMs: z.number().exactOptional(),
  /** The time when the node's page was last read. */
  seenMs: z.number().exactOptional(),
  success: digits.exactOptional(),
  failure: digits.exactOptional(),
  /** The times when the node's calls last succeeded and last failed. */
  lastGoodMs: z.number().exactOptional(),
  lastBadMs: z.number().exactOptional(),
  latency: latencyHistory.exactOptional(),
  /** The sidecar's last timestamp; 0 if its price loop has not run yet. */
  tick: storedTick.exactOptional(),
  webSockets: storedMap(storedWebSocket),
  /** Prices from the last minute, oldest first, for the pairs whose price is also read from the chain. */
  recentPrices: z.array(storedPrices).readonly().exactOptional(),
});

export type NodeHistory = Readonly<z.output<typeof nodeHistory>>;

/**
 * Values from earlier polls, with the times at which the values last changed (wall clock, in ms). The history is stored so that a
 * watchdog restart does not delay alerts. Without a state file, conditions that need the history are unknown until the second poll.
 */
export const pollHistory = z.strictObject({
  /** Histories of the validator's nodes, by node name. */
  nodes: storedMap(nodeHistory),
  chain: progress,
  /** The most recently seen planned upgrade. Absent if no upgrade was planned, or if the upgrade was cancelled or completed long ago. */
  upgrade: seenUpgrade.exactOptional(),
  /** Time of the last poll, if the clock was not trusted at that time. After a restart, the age of an untrusted poll is unknown. */
  unsureAtMs: z.number().exactOptional(),
  /** The modules that polls have read, which the chain is therefore known to have. Absent if no module has been read. */
  modules: z.array(z.enum(MODULE_NAMES)).readonly().exactOptional(),
});

export type PollHistory = Readonly<z.output<typeof pollHistory>>;

export const EMPTY_HISTORY: PollHistory = { nodes: new Map(), chain: {} };

/** The history of a node that has never been polled. */
export const UNSEEN: NodeHistory = { progress: {}, webSockets: new Map() };

/**
 * Adds one poll's observation to the history. Nodes that are missing from the poll are dropped. If two polls are more than `gapMs`
 * apart, the calls made in between have unknown times.
 */
export function advanceHistory(
  { nodes, chain: chainBefore, upgrade: upgradeBefore, modules: modulesBefore = [] }: PollHistory,
  observation: Observation,
  gapMs: number,
): PollHistory {
  const { atMs, clock } = observation;
  const { head, prices, upgrade: plan } = observation.chain;
  const pairs = (readingOf(prices) ?? []).map(({ pair }) => pair);
  const chain = head.state === "up" ? advanceHeight(chainBefore, head.value.height, atMs) : chainBefore;
  const reading = readingOf(plan);
  const upgrade = advanceUpgrade(upgradeBefore, reading, chain.height, atMs);
  const modules = MODULE_NAMES.filter((name) => {
    const state = observation.chain[name]?.state;
    return state === "up" || (state !== "absent" && modulesBefore.includes(name));
  });
  return {
    nodes: new Map(
      observation.nodes.map((node) => [
        node.name,
        advanceNode(nodes.get(node.name) ?? UNSEEN, node, { atMs, gapMs, pairs }),
      ]),
    ),
    chain,
    ...(upgrade === undefined ? {} : { upgrade }),
    ...(clock === undefined || clock.problem === "" ? {} : { unsureAtMs: atMs }),
    ...(modules.length === 0 ? {} : { modules }),
  };
}

interface PollTime {
  readonly atMs: number;
  readonly gapMs: number;
  /** The pairs for which this poll read the chain's price. */
  readonly pairs: readonly string[];
}

function advanceNode(
  { recentPrices: pricesBefore, ...before }: NodeHistory,
  node: NodeObservation,
  time: PollTime,
): NodeHistory {
  const { metrics, prices, sidecar } = node;
  const { atMs } = time;
  const recentPrices = advanceRecentPrices(pricesBefore, node, time);
  const withCalls = metrics.state === "up" ? advanceCalls(before, metrics.value, time) : before;
  const tick = advanceTick(before.tick, prices, atMs);
  return {
    ...withCalls,
    ...(tick === undefined ? {} : { tick }),
    ...(recentPrices === undefined ? {} : { recentPrices }),
    webSockets: advanceWebSockets(before.webSockets, sidecar, atMs),
  };
}

function advanceCalls(
  { latency: timed, ...before }: NodeHistory,
  { success, failure, height, oracleLatency }: NodeReading,
  { atMs, gapMs }: PollTime,
): NodeHistory {
  // Calls made before the first reading, or during a gap between readings, have unknown times.
  const isRecent = before.seenMs !== undefined && atMs - before.seenMs <= gapMs;
  const latency = advanceLatency(timed, oracleLatency, atMs, isRecent);
  return {
    ...before,
    ...(latency === undefined ? {} : { latency }),
    progress: height === undefined ? before.progress : advanceHeight(before.progress, height, atMs),
    seenSinceMs: isRecent ? (before.seenSinceMs ?? atMs) : atMs,
    seenMs: atMs,
    success,
    failure,
    ...(isRecent && hasGrown(before.success, success) ? { lastGoodMs: atMs } : {}),
    ...(isRecent && hasGrown(before.failure, failure) ? { lastBadMs: atMs } : {}),
  };
}

/** Returns true if a counter has increased, possibly after a reset to zero. */
function hasGrown(before: bigint | undefined, now: bigint): boolean {
  if (before === undefined) return false;
  return now > before || (now < before && now > 0n);
}

function advanceHeight(before: Progress, height: bigint, atMs: number): Progress {
  if (before.height === undefined) return { height, firstSeenMs: atMs };
  return height > before.height ? { ...before, height, advancedAtMs: atMs } : before;
}

function advanceTick(before: Tick | undefined, prices: Seen<PricesReading>, atMs: number): Tick | undefined {
  // Prices derived from metrics have no timestamp.
  if (prices.state !== "up" || prices.value.isDerived) return before;
  const value = prices.value.tickedAtMs ?? 0;
  return before?.value === value ? before : { value, sinceMs: atMs, hasChanged: before !== undefined };
}

function advanceWebSockets(
  before: NodeHistory["webSockets"],
  sidecar: Seen<SidecarReading>,
  atMs: number,
): NodeHistory["webSockets"] {
  if (sidecar.state !== "up") return before;
  const providers = [...sidecar.value.providers].filter(([, { type }]) => type === "websockets");
  return new Map(
    providers.map(([name, { webSocket }]) => {
      const reads = webSocket.get("read_success") ?? 0n;
      const known = before.get(name);
      if (known === undefined) return [name, { reads, sinceMs: atMs }];
      return [name, { ...known, reads, ...(hasGrown(known.reads, reads) ? { lastReadMs: atMs } : {}) }];
    }),
  );
}

/** Adds one poll's prices to the recent prices, for the pairs whose price is also read from the chain. */
function advanceRecentPrices(
  before: NodeHistory["recentPrices"],
  { prices }: NodeObservation,
  { pairs, atMs }: Pick<PollTime, "atMs" | "pairs">,
): NodeHistory["recentPrices"] {
  const kept = (before ?? []).filter((one) => atMs - one.atMs <= RECENT_MS && one.atMs < atMs);
  const reading = prices.state === "up" && !prices.value.isDerived ? prices.value : undefined;
  const now = pairs.flatMap((pair) => {
    const price = reading?.prices.get(pair);
    return price === undefined ? [] : [[pair, price] as const];
  });
  const all = now.length === 0 ? kept : [...kept, { atMs, prices: new Map(now) }];
  return all.length === 0 ? undefined : all.slice(-MAX_RECENT);
}

/** How long prices are stored. The time covers the maximum age of a comparable price and the time before the price's block. */
const RECENT_MS = 60_000;

/** Maximum number of readings to store. Without a limit, polls every 100 ms would use too much memory. */
const MAX_RECENT = 30;

/** Adds one poll's histogram of call times. `isRecent` means that the previous poll is recent enough to date the new calls. */
function advanceLatency(
  before: LatencyHistory | undefined,
  histogram: Histogram | undefined,
  atMs: number,
  isRecent: boolean,
): LatencyHistory | undefined {
  if (histogram === undefined) return undefined;
  const { count: calls, buckets: within } = histogram;
  if (before === undefined || !isRecent) return { calls, within };
  if (calls === before.calls) return { ...before, within };
  const from: CallTimes = hasRestarted(before, { calls, within }) ? { calls: 0n, within: new Map() } : before;
  const grown = [...within].map(([bound, count]) => [bound, count - (from.within.get(bound) ?? 0n)] as const);
  return { calls, within, recent: { atMs, calls: calls - from.calls, within: new Map(grown) } };
}

/**
 * Returns true if a node has restarted and counts from zero. Compares all bounds, because the new process's total may already
 * exceed the old total.
 */
function hasRestarted(before: CallTimes, { calls, within }: CallTimes): boolean {
  const fell = ([bound, count]: readonly [number, bigint]): boolean =>
    count < (before.within.get(bound) ?? 0n);
  return calls < before.calls || [...within].some(fell);
}
