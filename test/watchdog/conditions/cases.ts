import { JAIL_CASES } from "./jail-cases.ts";
import { NO_BLOCKS } from "../../../src/watchdog/ledger/ledger-view.ts";
import type { ClockView } from "../../../src/watchdog/sources/observation.ts";
import {
  all,
  type Change,
  failed,
  forecastOf,
  type Frame,
  latencyOf,
  notConfigured,
  provider,
  START_MS,
  up,
  withAssessment,
  withChain,
  withFailingCalls,
  withHeadroom,
  withNode,
  withoutPageValues,
  withPage,
  withPriceDuration,
  withPrices,
  withSidecar,
} from "../../support/watchdog/frames.ts";
import { DEVIATION_CASES } from "./deviation-cases.ts";
import { PAYMENT_CASES } from "./payment-cases.ts";
import { UPGRADE_CASES } from "./upgrade-cases.ts";

/** Cases of one condition. Each changes a healthy frame from {@link BAD_FROM_MS} on. */
export interface Cases {
  /** The condition fires, and is resolved when the change ends. */
  readonly fires: Change;
  /** Other causes of the same. By what it shows. */
  readonly alsoFires?: Readonly<Record<string, Change>>;
  /** Normal, or below the threshold: it must not fire. By what it shows. */
  readonly quiet: Readonly<Record<string, Change>>;
  /** As `fires`, but what the condition needs is missing: it must not fire. By what is missing. */
  readonly missing: Readonly<Record<string, Change>>;
}

/** Time at which the changes begin. */
export const BAD_FROM_MS = START_MS + 300_000;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const noPrices = withPrices(() => ({ pairs: [] }));
const blindPrices = withNode(() => ({ prices: failed() }));
const blindNode = withNode(() => ({ metrics: failed() }));
const blindSidecar = withNode(() => ({ sidecar: failed() }));
const blindChain = withChain(() => ({
  head: failed("timeout"),
  validator: failed("timeout"),
  prices: failed("timeout"),
  revenue: failed("timeout"),
}));
const noChain = withChain(() => ({
  head: notConfigured,
  validator: notConfigured,
  prices: notConfigured,
  revenue: notConfigured,
}));
const failingCalls = withFailingCalls(BAD_FROM_MS);
/** Nine of ten calls fail. */
const mostlyFailingCalls: Change = (frame) => {
  const failure = (blocksSince(frame) * 9n) / 10n;
  return withPage(({ success }) => ({ success: success - failure, failure }))(frame);
};
const noAssessment: Change = (frame) => ({ ...frame, assessment: undefined });

const recent =
  (window: "5m" | "30m", good: bigint, bad: bigint): Change =>
  (frame) => ({ ...frame, recent: { ...frame.recent, [window]: { ...NO_BLOCKS, good, bad } } });

/** Blocks that the changes have lasted. */
function blocksSince({ observation }: Frame): bigint {
  return BigInt(Math.floor((observation.atMs - BAD_FROM_MS) / 1000));
}

const withClock =
  (clock?: ClockView): Change =>
  (frame) => {
    const { clock: _, ...observation } = frame.observation;
    return { ...frame, observation: clock === undefined ? observation : { ...observation, clock } };
  };

/** The node's page without further blocks. */
const nodeStops: Change = (frame) => {
  const blocks = blocksSince(frame);
  return withPage(({ height = 0n, success, lastSignedHeight = 0n }) => ({
    height: height - blocks,
    success: success - blocks,
    lastSignedHeight: lastSignedHeight - blocks,
  }))(frame);
};

const chainStops: Change = (frame) => {
  const blocks = blocksSince(frame);
  return withChain(({ head }) => ({
    head: head.state === "up" ? up({ ...head.value, height: head.value.height - blocks }) : head,
  }))(frame);
};

const noSignature: Change = (frame) => {
  const blocks = blocksSince(frame);
  return all(
    withPage(({ lastSignedHeight = 0n }) => ({ lastSignedHeight: lastSignedHeight - blocks })),
    withChain(() => ({ validator: up({ size: 20, isInSet: true, votingPower: 10n, signedLatest: false }) })),
  )(frame);
};

const noCalls: Change = (frame) => {
  const blocks = blocksSince(frame);
  return withPage(({ success }) => ({ success: success - blocks }))(frame);
};

/** The node's page without metrics of the oracle. */
const votesUnseen = withPage(() => ({ success: 0n, failure: 0n, votesUnseen: "no app_oracle_responses" }));

/** Of ten calls, so many take longer than 512 ms by the node's own histogram. */
const slowCalls =
  (ofTen: bigint): Change =>
  (frame) => {
    const slow = (blocksSince(frame) * ofTen) / 10n;
    return withPage(({ success }) => ({ oracleLatency: latencyOf(success - slow, slow) }))(frame);
  };
/** The histogram of calls that are all quick. */
const quickCalls = withPage(({ success }) => ({ oracleLatency: latencyOf(success, 0n) }));
const derivedPrices = withPrices(() => ({ isDerived: true, tickedAtMs: undefined }));

/** A page that can be read, without the series that the node creates at an event. */
const pageWithoutSeries = all(
  withoutPageValues("height", "clockMs", "lastSignedHeight", "oracleLatency"),
  withPage(() => ({ success: 0n, failure: 0n })),
);

const silentWebSockets = (...names: readonly string[]): Change => {
  return (frame) =>
    withSidecar(({ providers }) => ({
      providers: new Map(
        [...providers].map(([name, page]) => {
          const reads = page.webSocket.get("read_success") ?? 0n;
          return [name, names.includes(name) ? provider(page.type, reads - blocksSince(frame)) : page];
        }),
      ),
    }))(frame);
};
const allWebSocketsSilent = silentWebSockets("binance_ws", "okx_ws");

const frozen: Change = (frame) => withPrices(() => ({ tickedAtMs: BAD_FROM_MS - 100 }))(frame);

/** Seconds to add to the clock of the node's machine. */
const skewed = (seconds: number): Change =>
  withPage(({ clockMs = 0 }) => ({ clockMs: clockMs + seconds * 1000 }));

function rewardCases(boundary: "full" | "none", prefix: string): Readonly<Record<string, Cases>> {
  const low = boundary === "full" ? "proportional" : "none";
  const rate = boundary === "full" ? { good: 97n, total: 100n } : { good: 94n, total: 100n };
  const rateOf = (scale: bigint) => ({ good: rate.good * scale, total: rate.total * scale });
  const lowRate = (scale: bigint): Change => withAssessment(() => ({ rate: rateOf(scale), tier: low }));
  const exact = boundary === "full" ? { good: 98n, total: 100n } : { good: 95n, total: 100n };
  const burning = (rates: Readonly<Record<"1h" | "6h" | "3d", number>>): Change =>
    withHeadroom(boundary, { burnRates: rates });
  /** A third of the blocks of six hours and of three days was bad, and so many of the last 300. */
  const losing = (lostInMs: number, bad: bigint): Change => {
    const third = 1 / 3 / (boundary === "full" ? 0.02 : 0.05);
    const headroom = { lostInMs, burnRates: { "1h": 0, "6h": third, "3d": third } };
    return all(withHeadroom(boundary, headroom), recent("5m", 300n - bad, bad));
  };
  return {
    [`${prefix}-lost`]: {
      fires: withHeadroom(boundary, { state: "lost", misses: -1000n, outageMs: 0 }),
      quiet: {
        "one more block is allowed": withHeadroom(boundary, { misses: 0n, outageMs: 0 }),
        // 1 % of 1,300,000 expected blocks can be wrong.
        "less than the expected blocks can be wrong": withHeadroom(boundary, {
          state: "lost",
          misses: boundary === "full" ? -260n : -650n,
          outageMs: 0,
        }),
      },
      missing: { "the rate": noAssessment, "the headroom": withAssessment(() => ({ headroom: [] })) },
    },
    [`${prefix}-rate-low`]: {
      fires: lowRate(1000n),
      quiet: {
        "exactly the boundary": withAssessment(() => ({
          rate: { good: exact.good * 1000n, total: exact.total * 1000n },
          tier: boundary === "full" ? "full" : "proportional",
        })),
      },
      missing: { "the rate": noAssessment, "most blocks of the month": lowRate(10n) },
    },
    [`${prefix}-at-risk`]: {
      fires: losing(7 * DAY - 1, 100n),
      alsoFires: {
        "the loss of the last hour, with little left": all(
          // 14,399 misses at one a second.
          withHeadroom(boundary, { misses: 14_399n, burnRates: { "1h": boundary === "full" ? 50 : 20 } }),
          recent("5m", 0n, 300n),
        ),
      },
      quiet: {
        "a loss that leaves a week": losing(7 * DAY, 100n),
        "a loss of which hardly a block was missed now": all(losing(HOUR, 1n), recent("30m", 1000n, 800n)),
        "a loss that has ended, with single misses": all(losing(HOUR, 1n), recent("30m", 1790n, 10n)),
        "an outage that is over, with little left": all(
          withHeadroom(boundary, {
            misses: 100n,
            outageMs: 100_000,
            burnRates: { "1h": 15, "6h": 5, "3d": 2 },
          }),
          recent("5m", 300n, 0n),
        ),
        "a forecast that no present loss explains": withAssessment(() => ({ forecast: forecastOf(low) })),
        "a boundary that is safe": all(losing(HOUR, 100n), withHeadroom(boundary, { state: "clinched" })),
        "a boundary that nobody can save": all(losing(HOUR, 100n), withHeadroom(boundary, { state: "lost" })),
      },
      missing: {
        "the rate": noAssessment,
        "the last minutes": all(losing(HOUR, 100n), recent("5m", 0n, 0n)),
        "most blocks of the month": all(
          losing(HOUR, 100n),
          withAssessment(() => ({ rate: rateOf(10n) })),
        ),
      },
    },
    [`${prefix}-headroom-low`]: {
      fires: withHeadroom(boundary, { outageMs: 3 * HOUR }),
      alsoFires: {
        "a loss that the expected blocks can be wrong by": withHeadroom(boundary, {
          state: "lost",
          misses: -1n,
          outageMs: 0,
        }),
      },
      quiet: {
        "headroom above the limit": withHeadroom(boundary, { outageMs: 4 * HOUR }),
        "a tenth of the headroom in the tenth of a month that was watched": all(
          withHeadroom(boundary, { outageMs: 0.4 * HOUR }),
          withAssessment(() => ({
            rate: { good: 200_000n, total: 200_000n },
            remainingBlocks: 59_200n,
          })),
        ),
        "a boundary that is safe": withHeadroom(boundary, { state: "clinched", outageMs: 1000 }),
        "a boundary that is lost": withHeadroom(boundary, { state: "lost", misses: -1000n, outageMs: 0 }),
      },
      missing: {
        "the rate": noAssessment,
        "most blocks of the month": all(
          withHeadroom(boundary, { outageMs: 1000 }),
          withAssessment(() => ({ rate: rateOf(10n) })),
        ),
      },
    },
    [`${prefix}-fast-burn`]: {
      fires: all(burning({ "1h": 20, "6h": 3, "3d": 0.1 }), recent("5m", 0n, 300n)),
      quiet: {
        "a burn that has ended": all(burning({ "1h": 20, "6h": 7, "3d": 0.1 }), recent("5m", 300n, 0n)),
        "a boundary that nobody can save": all(
          withHeadroom(boundary, { state: "lost", burnRates: { "1h": 20, "6h": 7, "3d": 2 } }),
          recent("5m", 0n, 300n),
        ),
        "a slow burn": all(burning({ "1h": 14.3, "6h": 5.9, "3d": 5 }), recent("5m", 0n, 300n)),
      },
      missing: {
        "the rate": noAssessment,
        "the windows": all(withHeadroom(boundary, { burnRates: {} }), recent("5m", 0n, 300n)),
      },
    },
    [`${prefix}-slow-burn`]: {
      fires: burning({ "1h": 0, "6h": 1.5, "3d": 1.2 }),
      quiet: {
        "a burn that has ended": burning({ "1h": 0, "6h": 0.1, "3d": 1.2 }),
        "the allowed burn": burning({ "1h": 10, "6h": 3, "3d": 0.99 }),
        "the allowed burn in hours": burning({ "1h": 10, "6h": 0.99, "3d": 3 }),
      },
      missing: { "the rate": noAssessment, "the windows": withHeadroom(boundary, { burnRates: {} }) },
    },
  };
}

const due = { inARow: 2, inWindow: 2, state: "due", months: ["2026-09", "2026-10"] } as const;
const next = { inARow: 1, inWindow: 1, state: "next", months: ["2026-10"] } as const;

/** Cases of every condition, by its name. */
export const CASES: Readonly<Record<string, Cases>> = {
  ...DEVIATION_CASES,
  ...UPGRADE_CASES,
  ...PAYMENT_CASES,
  "sidecar-down": {
    fires: all(blindPrices, blindSidecar, failingCalls),
    quiet: {
      "prices that only the watchdog cannot read": all(blindPrices, blindSidecar),
      "calls that succeed again": blindSidecar,
      "a sidecar that is back and too slow": all(withPriceDuration(1001), failingCalls),
    },
    missing: {
      "calls that succeed, after the sidecar is back": all(withPriceDuration(1000), failingCalls),
      "the node's page": all(blindPrices, blindNode),
      "the prices' address": all(
        withNode(() => ({ prices: notConfigured })),
        failingCalls,
      ),
    },
  },
  "oracle-calls-failing": {
    fires: all(failingCalls, recent("5m", 30n, 270n)),
    alsoFires: {
      "none has succeeded for a minute and a half": all(failingCalls, recent("5m", 200n, 90n)),
    },
    quiet: {
      "89 % of failed calls": all(mostlyFailingCalls, recent("5m", 33n, 267n)),
      "a single failed call after a long time without any": all(failingCalls, recent("5m", 200n, 9n)),
      "calls that succeed again": recent("5m", 0n, 300n),
    },
    missing: { blocks: recent("5m", 0n, 0n), "enough blocks": recent("5m", 0n, 29n) },
  },
  "sidecar-too-slow": {
    fires: all(withPriceDuration(2001), failingCalls),
    quiet: {
      "as long as the node waits": all(withPriceDuration(2000), failingCalls),
      "calls that succeed": withPriceDuration(3000),
      "a slow query of derived prices": all(derivedPrices, withPriceDuration(3000), failingCalls),
    },
    missing: {
      prices: all(blindPrices, failingCalls),
      "the node's page": all(withPriceDuration(3000), blindNode),
    },
  },
  "sidecar-slow": {
    fires: withPriceDuration(501),
    alsoFires: {
      "the node's own times, while the prices cannot be read": all(blindPrices, slowCalls(5n)),
      "the node's own times, with prices that were derived from metrics": all(derivedPrices, slowCalls(5n)),
    },
    quiet: {
      "half a second": withPriceDuration(500),
      "less than half of the node's calls": all(blindPrices, slowCalls(4n)),
      "slow calls of the node, and a quick response to the watchdog": slowCalls(10n),
      "a slow query of derived prices": all(derivedPrices, withPriceDuration(5000)),
    },
    missing: {
      "the prices and the node's times": all(blindPrices, withoutPageValues("oracleLatency")),
      "the prices and the node's page": all(blindPrices, blindNode),
      "the prices and new calls": all(blindPrices, noCalls, quickCalls),
    },
  },
  "websocket-providers-failing": {
    fires: all(allWebSocketsSilent, recent("30m", 94n, 6n)),
    quiet: {
      "a good success rate": allWebSocketsSilent,
      "one provider that works": all(silentWebSockets("binance_ws"), recent("30m", 0n, 100n)),
      "exactly the rate": all(allWebSocketsSilent, recent("30m", 95n, 5n)),
    },
    missing: {
      "the sidecar's metrics": all(blindSidecar, recent("30m", 0n, 100n)),
      "WebSocket providers": all(
        withSidecar(() => ({ providers: new Map() })),
        recent("30m", 0n, 100n),
      ),
    },
  },
  "all-prices-missing": {
    fires: noPrices,
    quiet: { "one price": withPrices(() => ({ pairs: ["DOGE/USD"] })) },
    missing: { "the prices": all(blindPrices, failingCalls) },
  },
  "major-pairs-missing": {
    fires: withPrices(() => ({ pairs: ["BTC/USD", "NTRN/USD", "USDT/USD"] })),
    quiet: { "other pairs missing": withPrices(() => ({ pairs: ["BTC/USD", "ETH/USD", "NTRN/USD"] })) },
    missing: { "the prices": blindPrices },
  },
  "empty-prices-counted": {
    fires: noPrices,
    quiet: { "calls that fail": all(noPrices, failingCalls) },
    missing: { "the node's page": all(noPrices, blindNode), "the prices": blindPrices },
  },
  "stale-price-timestamp": {
    fires: frozen,
    quiet: {
      "a clock that differs": withPrices(({ tickedAtMs = 0 }) => ({ tickedAtMs: tickedAtMs - 3_600_000 })),
    },
    missing: { "the prices": blindPrices },
  },
  "chain-halted": {
    fires: all(nodeStops, chainStops),
    quiet: { "a node that stops alone": nodeStops, "an API that stops alone": chainStops },
    missing: {
      "every source": all(blindNode, blindChain),
      "the height": all(withoutPageValues("height"), noChain),
    },
  },
  "node-halted": {
    fires: nodeStops,
    quiet: { "the chain that stops": all(nodeStops, chainStops), "an API that stops alone": chainStops },
    missing: { "the node's page": blindNode, "other sources": all(nodeStops, noChain) },
  },
  "node-behind": {
    fires: withPage(({ height = 0n }) => ({ height: height - 11n })),
    alsoFires: {
      "a node that catches up": withPage(({ height = 0n }) => ({ height: height - 1n, isSyncing: true })),
      "a node that catches up, without a height": all(
        withPage(() => ({ isSyncing: true })),
        withoutPageValues("height"),
      ),
    },
    quiet: { "ten blocks": withPage(({ height = 0n }) => ({ height: height - 10n })) },
    missing: {
      "the node's page": blindNode,
      "other sources": all(
        withPage(({ height = 0n }) => ({ height: height - 11n })),
        noChain,
      ),
    },
  },
  "not-in-validator-set": {
    fires: withChain(() => ({ validator: up({ size: 20, isInSet: false, votingPower: 0n }) })),
    quiet: {
      "a member that does not sign": noSignature,
      "a small member": withChain(() => ({ validator: up({ size: 20, isInSet: true, votingPower: 1n }) })),
    },
    missing: { "the chain": blindChain, "the chain's address": noChain },
  },
  "not-signing": {
    fires: noSignature,
    quiet: {
      "five blocks": withPage(({ lastSignedHeight = 0n }) => ({ lastSignedHeight: lastSignedHeight - 5n })),
      "a validator outside the set": all(
        noSignature,
        withChain(() => ({ validator: up({ size: 20, isInSet: false, votingPower: 0n }) })),
      ),
    },
    missing: { "all sources": all(noSignature, blindNode, blindChain) },
  },
  "node-not-voting": {
    fires: noCalls,
    quiet: {
      "failing calls": failingCalls,
      "a node without blocks": nodeStops,
      "a full node": withPage(() => ({ success: 0n, failure: 0n, votingPower: 0n })),
      "a validator outside the set": all(
        noCalls,
        withChain(() => ({ validator: up({ size: 20, isInSet: false, votingPower: 0n }) })),
      ),
    },
    missing: { "the node's page": blindNode, "metrics of the oracle": all(noCalls, votesUnseen) },
  },
  ...JAIL_CASES,
  ...rewardCases("full", "full-reward"),
  ...rewardCases("none", "any-reward"),
  "rotation-risk": {
    fires: withAssessment(() => ({ rotation: due })),
    quiet: {
      "a good month after a bad one": withAssessment(() => ({ rotation: next })),
      "a bad month after good ones": withAssessment(() => ({ tier: "none", forecast: forecastOf("none") })),
    },
    missing: { "the rate": noAssessment },
  },
  "grpc-closed": {
    fires: withNode(() => ({ grpc: failed() })),
    quiet: { "other closed ports": all(blindPrices, blindSidecar) },
    missing: {
      "the node's page": all(
        withNode(() => ({ grpc: failed() })),
        blindNode,
      ),
      "the address": withNode(() => ({ grpc: notConfigured })),
    },
  },
  "egress-closed": {
    fires: withNode(({ egress }) => ({
      egress: new Map([...egress].map(([target]) => [target, failed("timeout")])),
    })),
    quiet: {
      "one closed target": withNode(({ egress }) => ({
        egress: new Map([...egress, ["a.example:443", failed("timeout")]]),
      })),
    },
    missing: { targets: withNode(() => ({ egress: new Map() })) },
  },
  "clock-skew": {
    fires: skewed(4),
    alsoFires: { "a clock that is behind": skewed(-4) },
    quiet: { "one second": skewed(1), "one second behind": skewed(-1) },
    missing: { "the clock": withoutPageValues("clockMs"), "the node's page": blindNode },
  },
  "notifications-lost": {
    fires: (frame) => ({ ...frame, lost: [{ channel: "chat", reason: "no_service" }] }),
    quiet: { "nothing lost": (frame) => ({ ...frame, lost: [] }) },
    missing: { "dead letters": (frame) => frame },
  },
  "clock-not-believed": {
    fires: withClock({ problem: "it is 30 d behind the clock of every source" }),
    quiet: { "a clock that was set a moment ago": withClock({ believedSinceMs: START_MS, problem: "" }) },
    missing: { "the comparison": withClock() },
  },
  "watchdog-slow": {
    fires: (frame) => ({ ...frame, lateMs: 5000 }),
    quiet: { "a second": (frame) => ({ ...frame, lateMs: 1000 }) },
    missing: { "the lateness": (frame) => ({ ...frame, lateMs: undefined }) },
  },
  "cannot-see-votes": {
    fires: all(blindNode, blindChain),
    alsoFires: { "pages without metrics of the oracle": votesUnseen },
    quiet: { "a chain that can be read": blindNode, "a node that can be read": blindChain },
    missing: {
      "series of the node's page": all(pageWithoutSeries, blindChain),
      "the node, and chain sources that are not its place": all(
        blindNode,
        withChain(() => ({ head: failed(), prices: failed(), revenue: failed() })),
      ),
    },
  },
  "cannot-see-node": {
    fires: blindNode,
    alsoFires: {
      "a page without metrics of the oracle": votesUnseen,
      "a page without the height": withoutPageValues("height"),
    },
    quiet: { others: all(blindPrices, blindSidecar, blindChain) },
    missing: {
      "the height, which a node that syncs does not have yet": all(
        pageWithoutSeries,
        withPage(() => ({ isSyncing: true })),
      ),
    },
  },
  "cannot-see-prices": {
    fires: blindPrices,
    quiet: { others: all(blindNode, blindSidecar, blindChain) },
    missing: { "the address": withNode(() => ({ prices: notConfigured })) },
  },
  "cannot-see-sidecar-metrics": {
    fires: blindSidecar,
    quiet: { others: all(blindNode, blindPrices, blindChain) },
    missing: { "the address": withNode(() => ({ sidecar: notConfigured })) },
  },
  "cannot-see-oracle-metrics": {
    fires: withNode(() => ({ oracleMetrics: failed("not-metrics") })),
    quiet: { "a refused connection": withNode(() => ({ oracleMetrics: failed("refused") })) },
    missing: { "the address": withNode(() => ({ oracleMetrics: notConfigured })) },
  },
  "cannot-see-chain": {
    fires: withChain(() => ({ prices: failed("timeout") })),
    quiet: { others: all(blindNode, blindPrices, blindSidecar) },
    missing: { "the address": noChain },
  },
};
