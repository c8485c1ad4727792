import { type Histogram, type NodeObservation, type NodeReading, readingOf } from "../sources/observation.ts";
import type { Observation, PricesReading, Seen, SidecarReading } from "../sources/observation.ts";
import { z } from "zod";
import { advanceUpgrade, seenUpgrade } from "../policy/upgrade-countdown.ts";
import { storedPrices } from "../policy/price-comparison.ts";
import { storedInteger, storedMap, storedPairs } from "../sources/stored-json.ts";

/** Modules that a chain may lack, by the names used in an observation. */
const MODULE_NAMES = ["prices", "revenue", "upgrade", "slashing"] as const;

const digits = storedInteger(30);

/** A height and when it last increased. `advancedAtMs` is undefined until the first increase. */
const progress = z.strictObject({
  height: digits.exactOptional(),
  /** When a height was first shown. */
  firstSeenMs: z.number().exactOptional(),
  advancedAtMs: z.number().exactOptional(),
});

export type Progress = Readonly<z.output<typeof progress>>;

/** A sidecar timestamp. */
const storedTick = z.strictObject({
  value: z.number(),
  /** When this value was first shown. */
  sinceMs: z.number(),
  /** True if polls saw the value change to this one, rather than finding it already there. */
  hasChanged: z.boolean(),
});

type Tick = Readonly<z.output<typeof storedTick>>;

const storedWebSocket = z.strictObject({
  reads: digits,
  /** When the provider was first shown. */
  sinceMs: z.number(),
  lastReadMs: z.number().exactOptional(),
});

export type WebSocketHistory = Readonly<z.output<typeof storedWebSocket>>;

/** Counts of a node's calls to its sidecar, by duration. */
const callTimes = z.strictObject({
  calls: digits,
  /** Number of calls that took no longer than this many ms. */
  within: storedPairs(z.number(), digits),
});

type CallTimes = Readonly<z.output<typeof callTimes>>;

/** Previous polls' readings of the node's own call histogram. */
const latencyHistory = callTimes.extend({
  /** The calls between the last two polls that showed new calls, and the time of the second poll. */
  recent: callTimes.extend({ atMs: z.number() }).exactOptional(),
});

type LatencyHistory = Readonly<z.output<typeof latencyHistory>>;

/** Previous polls' results for one node and its sidecar. */
const nodeHistory = z.strictObject({
  progress,
  /** First successful poll of the node's page since the last long gap. */
  seenSinceMs: z.number().exactOptional(),
  /** Last successful poll of the node's page. */
  seenMs: z.number().exactOptional(),
  success: digits.exactOptional(),
  failure: digits.exactOptional(),
  /** When the node's calls last succeeded and last failed. */
  lastGoodMs: z.number().exactOptional(),
  lastBadMs: z.number().exactOptional(),
  latency: latencyHistory.exactOptional(),
  /** The last value of the sidecar's timestamp; 0 if the sidecar has not ticked. */
  tick: storedTick.exactOptional(),
  webSockets: storedMap(storedWebSocket),
  /** Prices from the last minute for pairs whose on-chain price is read, oldest first. */
  recentPrices: z.array(storedPrices).readonly().exactOptional(),
});

export type NodeHistory = Readonly<z.output<typeof nodeHistory>>;

/**
 * Previous polls' results: when values last changed, in wall-clock ms. Stored in the state, so that a watchdog restart delays
 * no alerts. Without a state file, the conditions that need it are unknown until the second poll.
 */
export const pollHistory = z.strictObject({
  /** Keyed by node name. */
  nodes: storedMap(nodeHistory),
  chain: progress,
  /** The most recently seen planned upgrade. Absent if there was none, it was cancelled, or it was completed long ago. */
  upgrade: seenUpgrade.exactOptional(),
  /** Time of the last poll while the clock is not trusted: after a restart, the poll's age is unknown. Absent otherwise. */
  unsureAtMs: z.number().exactOptional(),
  /** Chain modules that have been read. Absent if there are none. */
  modules: z.array(z.enum(MODULE_NAMES)).readonly().exactOptional(),
});

export type PollHistory = Readonly<z.output<typeof pollHistory>>;

/** The history before the first poll. */
export const EMPTY_HISTORY: PollHistory = { nodes: new Map(), chain: {} };

/** The history of a node that has never been polled. */
export const UNSEEN: NodeHistory = { progress: {}, webSockets: new Map() };

/**
 * Adds one poll. Nodes missing from the poll are dropped. `gapMs` is the longest time between two polls for which the time of a
 * change between them is still known.
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
  /** Pairs whose on-chain price was read. */
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
  // The first reading and a reading after a gap don't tell when their calls were made.
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

/** Treats a counter that has fallen as reset to zero. */
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

/** Adds the prices from one poll to the prices from the last minute, for the pairs whose on-chain price is read. */
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

/** How long prices are remembered: the maximum age of a comparable price, plus the time before its block. */
const RECENT_MS = 60_000;

/** Limits memory, since polls may run every 100 ms. */
const MAX_RECENT = 30;

/** Adds the histogram from one poll. `isRecent` means the previous poll is recent enough to date the calls made since. */
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

/** Returns true if a node has restarted and counts from zero. It may have made more calls since then than before. */
function hasRestarted(before: CallTimes, { calls, within }: CallTimes): boolean {
  const fell = ([bound, count]: readonly [number, bigint]): boolean =>
    count < (before.within.get(bound) ?? 0n);
  return calls < before.calls || [...within].some(fell);
}
