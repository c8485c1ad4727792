import type { ConditionInput } from "../../../src/watchdog/conditions/condition.ts";
import { NO_BLOCKS } from "../../../src/watchdog/ledger/ledger-view.ts";
import type {
  ChainObservation,
  Histogram,
  NodeObservation,
  NodeReading,
  Observation,
  PricesReading,
  ProviderReading,
  Seen,
  SidecarReading,
  SourceFailureCode,
} from "../../../src/watchdog/sources/observation.ts";
import type { Payment } from "../../../src/watchdog/sources/payment-result.ts";
import type { SidecarPrices } from "../../../src/watchdog/policy/price-comparison.ts";
import type {
  SharedMisses,
  SigningInfo,
  SlashingReading,
} from "../../../src/watchdog/sources/standing-readings.ts";
import { type Assessment, type Headroom, SPECIFIED_POLICY } from "../../../src/watchdog/policy/assessment.ts";

/** What the conditions see at one time, without the history. */
export interface Frame {
  readonly observation: Observation;
  readonly recent: ConditionInput["recent"];
  readonly assessment: Assessment | undefined;
  readonly lateMs: number | undefined;
  readonly lost?: NonNullable<ConditionInput["lost"]>;
  readonly peers: readonly SidecarPrices[];
  readonly payments: readonly Payment[];
}

/** Changes a frame. */
export type Change = (frame: Frame) => Frame;

/** Start of all frames: a middle day of a month. */
export const START_MS = Date.UTC(2026, 10, 15, 12);

/** Returns a source that responded within 5 ms. */
export function up<T>(value: T, durationMs = 5): Seen<T> {
  return { state: "up", value, durationMs };
}

/** Returns a source that could not be read. */
export function failed(code: SourceFailureCode = "refused"): Seen<never> {
  return { state: "error", failure: { code, text: `${code} by a test` }, durationMs: 5 };
}

const NOT_CONFIGURED = { state: "not-configured" } as const;

/** A validator with one node, all well: one block a second since an hour before {@link START_MS}. */
export function healthyFrame(atMs: number): Frame {
  const blocks = BigInt(Math.floor((atMs - START_MS) / 1000) + 3600);
  return {
    observation: {
      validator: "default",
      atMs,
      nodes: [healthyNode(atMs, blocks)],
      chain: healthyChain(atMs, blocks),
      clock: { believedSinceMs: START_MS - 3_600_000, problem: "" },
    },
    recent: { "5m": { ...NO_BLOCKS, good: 300n }, "30m": { ...NO_BLOCKS, good: 1800n } },
    assessment: healthyAssessment(),
    lateMs: 0,
    peers: ["b", "c"].map((validator) => ({
      validator,
      node: "node",
      atMs,
      prices: new Map([["BTC/USD", BTC_USD]]),
      decimals: new Map(),
    })),
    payments: [
      {
        month: "2026-10",
        outcome: "paid",
        searchedMs: START_MS,
        height: 1n,
        timeMs: Date.UTC(2026, 10, 1),
        amount: { amount: 5n, denom: "untrn" },
        expected: 5n,
      },
    ],
  };
}

/** BTC/USD of the recorded sidecar and chain, with 5 decimals. */
export const BTC_USD = 9_712_345_000n;

function healthyNode(atMs: number, blocks: bigint): NodeObservation {
  return {
    name: "node",
    metrics: up({
      chainId: "test-1",
      success: blocks,
      failure: 0n,
      height: blocks,
      clockMs: Math.floor(atMs / 1000) * 1000,
      clockReadAtMs: atMs,
      isSyncing: false,
      votingPower: 10n,
      lastSignedHeight: blocks,
      sharedVotes: { seen: 30, missed: 0, others: 19, missing: 0 },
      oracleLatency: latencyOf(blocks, 0n),
    }),
    prices: up({
      pairs: ["BTC/USD", "ETH/USD", "NTRN/USD", "USDT/USD"],
      prices: new Map([["BTC/USD", BTC_USD]]),
      tickedAtMs: atMs - 100,
      version: "v1.2.2",
      url: "http://sidecar/",
    }),
    oracleMetrics: failed("refused"),
    sidecar: up({
      systemUpdates: blocks * 4n,
      tickerUpdates: new Map(),
      marketProviders: new Map(),
      providers: new Map([
        ["binance_ws", provider("websockets", blocks)],
        ["okx_ws", provider("websockets", blocks)],
        ["kraken_api", provider("api", 0n)],
      ]),
    }),
    grpc: up({ target: "127.0.0.1:9090" }),
    egress: new Map([
      ["a.example:443", up({ target: "a.example:443" })],
      ["b.example:443", up({ target: "b.example:443" })],
    ]),
  };
}

/** The node's histogram of its calls: quick ones, and ones that took longer than 512 ms. */
export function latencyOf(quick: bigint, slow: bigint): Histogram {
  const buckets = new Map([
    [256, quick],
    [512, quick],
  ]);
  return { count: quick + slow, sum: 0, buckets };
}

/** A provider whose WebSocket has read this many messages. */
export function provider(type: ProviderReading["type"], reads: bigint): ProviderReading {
  return { type, responses: reads, failures: new Map(), webSocket: new Map([["read_success", reads]]) };
}

function healthyChain(atMs: number, height: bigint): ChainObservation {
  return {
    head: up({ chainId: "test-1", height, blockTimeMs: atMs - 1000 }),
    validator: up({ size: 20, isInSet: true, votingPower: 10n, signedLatest: true }),
    prices: up([{ pair: "BTC/USD", height, blockTimeMs: atMs - 1000, price: BTC_USD, decimals: 5 }]),
    revenue: { state: "absent", durationMs: 1 },
    upgrade: up({ plan: undefined }),
    slashing: up(healthySlashing(height)),
  };
}

/** A window of 10,000 blocks, of which 9,500 can be missed. */
function healthySlashing(height: bigint): SlashingReading {
  return {
    params: { windowBlocks: 10_000n, minSigned: 50_000_000_000_000_000n },
    info: {
      startHeight: height - 50_000n,
      indexOffset: 50_000n,
      missedBlocks: 12n,
      jailedUntilMs: 0,
      isTombstoned: false,
    },
    isJailed: false,
    growth: { missed: 0n, blocks: 60n },
  };
}

function healthyAssessment(): Assessment {
  const rate = { good: 999_000n, total: 1_000_000n };
  return {
    month: "2026-11",
    policy: SPECIFIED_POLICY,
    counts: { good: 999_000n, bad: 1000n, unknown: 0n },
    estimated: NO_BLOCKS,
    rate,
    bounds: { low: rate, high: rate },
    tier: "full",
    rewardCents: 300_000n,
    blockTimeMs: 1000,
    remainingBlocks: 1_300_000n,
    headroom: [openHeadroom("full"), openHeadroom("none")],
    forecast: forecastOf("full"),
    rotation: { inARow: 0, inWindow: 0, state: "none", months: [] },
  };
}

function openHeadroom(boundary: Headroom["boundary"]): Headroom {
  return {
    boundary,
    state: "open",
    misses: 45_000n,
    outageMs: 45_000_000,
    lostInMs: undefined,
    requiredRate: 0.96,
    burnRates: { "1h": 0.05, "6h": 0.05, "3d": 0.05 },
  };
}

/** A forecast whose three outcomes are in one tier. */
export function forecastOf(tier: "full" | "proportional" | "none"): NonNullable<Assessment["forecast"]> {
  const percent = { full: 99n, proportional: 96n, none: 90n }[tier];
  const rate = { good: percent, total: 100n };
  return {
    low: rate,
    middle: rate,
    high: rate,
    tiers: { low: tier, middle: tier, high: tier },
    rewardCents: { low: 0n, middle: 0n, high: 0n },
    basis: "recent days",
    regimes: [],
  };
}

/** Changes the first node. */
export function withNode(change: (node: NodeObservation) => Partial<NodeObservation>): Change {
  return (frame) => {
    const { observation } = frame;
    const nodes = observation.nodes.map((node, index) => (index === 0 ? { ...node, ...change(node) } : node));
    return { ...frame, observation: { ...observation, nodes } };
  };
}

/** Changes the first node's metrics page. */
export function withPage(change: (page: NodeReading) => Partial<NodeReading>): Change {
  return withNode(({ metrics }) => ({ metrics: changed(metrics, change) }));
}

/** Removes optional values of the first node's metrics page. */
export function withoutPageValues(
  ...names: readonly ("height" | "clockMs" | "lastSignedHeight" | "oracleLatency" | "sharedVotes")[]
): Change {
  return withNode(({ metrics }) => {
    if (metrics.state !== "up") return { metrics };
    const { height, clockMs, lastSignedHeight, oracleLatency, sharedVotes, ...required } = metrics.value;
    const optional = { height, clockMs, lastSignedHeight, oracleLatency, sharedVotes };
    const kept = Object.entries(optional).filter(
      ([name, value]) => value !== undefined && !names.some((removed) => removed === name),
    );
    return { metrics: { ...metrics, value: { ...required, ...Object.fromEntries(kept) } } };
  });
}

/** Changes the duration of the price response. */
export function withPriceDuration(durationMs: number): Change {
  return withNode(({ prices }) => ({ prices: prices.state === "up" ? { ...prices, durationMs } : prices }));
}

/** Changes the sidecar's prices. */
export function withPrices(change: (page: PricesReading) => Partial<PricesReading>): Change {
  return withNode(({ prices }) => ({ prices: changed(prices, change) }));
}

/** Changes the sidecar's metrics page. */
export function withSidecar(change: (page: SidecarReading) => Partial<SidecarReading>): Change {
  return withNode(({ sidecar }) => ({ sidecar: changed(sidecar, change) }));
}

/** Changes what the chain shows. */
export function withChain(change: (chain: ChainObservation) => Partial<ChainObservation>): Change {
  return (frame) => {
    const { observation } = frame;
    return {
      ...frame,
      observation: { ...observation, chain: { ...observation.chain, ...change(observation.chain) } },
    };
  };
}

/** Changes what the slashing module shows. */
export function withSlashing(change: (reading: SlashingReading) => Partial<SlashingReading>): Change {
  return withChain(({ slashing }) =>
    slashing?.state === "up"
      ? { slashing: { ...slashing, value: { ...slashing.value, ...change(slashing.value) } } }
      : {},
  );
}

/** Removes optional values of the slashing module's reading. */
export function withoutSlashing(...names: readonly ("info" | "isJailed" | "growth")[]): Change {
  return withChain(({ slashing }) => {
    if (slashing?.state !== "up") return {};
    const { params, ...optional } = slashing.value;
    const kept = Object.entries(optional).filter(([name]) => !names.some((removed) => removed === name));
    return { slashing: { ...slashing, value: { params, ...Object.fromEntries(kept) } } };
  });
}

/** Changes the validator's signing info. */
export function withSigningInfo(change: Partial<SigningInfo>): Change {
  return withSlashing(({ info }) => (info === undefined ? {} : { info: { ...info, ...change } }));
}

/** Changes who misses votes. */
export function withSharedVotes(change: Partial<SharedMisses>): Change {
  return withPage(({ sharedVotes }) =>
    sharedVotes === undefined ? {} : { sharedVotes: { ...sharedVotes, ...change } },
  );
}

/** Changes the assessment. */
export function withAssessment(change: (assessment: Assessment) => Partial<Assessment>): Change {
  return (frame) =>
    frame.assessment === undefined
      ? frame
      : { ...frame, assessment: { ...frame.assessment, ...change(frame.assessment) } };
}

/** Changes the headroom to one boundary. */
export function withHeadroom(boundary: Headroom["boundary"], change: Partial<Headroom>): Change {
  return withAssessment(({ headroom }) => ({
    headroom: headroom.map((one) => (one.boundary === boundary ? { ...one, ...change } : one)),
  }));
}

/** Makes every call of the node fail from `sinceMs` on. */
export function withFailingCalls(sinceMs: number): Change {
  return (frame) => {
    const failedCalls = BigInt(Math.floor((frame.observation.atMs - sinceMs) / 1000));
    return withPage(({ success }) => ({ success: success - failedCalls, failure: failedCalls }))(frame);
  };
}

/** Applies changes in order. */
export function all(...changes: readonly Change[]): Change {
  return (frame) => changes.reduce((result, change) => change(result), frame);
}

/** A source that is not in the configuration. */
export const notConfigured: Seen<never> = NOT_CONFIGURED;

function changed<T>(seen: Seen<T>, change: (value: T) => Partial<T>): Seen<T> {
  return seen.state === "up" ? { ...seen, value: { ...seen.value, ...change(seen.value) } } : seen;
}
