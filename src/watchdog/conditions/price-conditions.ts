import { counted } from "../../platform/base/text.ts";
import { call, continued, NO_PRICE, pricedPairs, TICKS, UPDATES, VALIDATOR } from "./raw-metrics.ts";
import { active, cannotSee, clear, condition, threshold } from "./condition.ts";
import type { Condition, ConditionInput, ConditionResult } from "./condition.ts";
import { eachNode, latestCalls, secondsText } from "./evaluate-nodes.ts";
import type { AlertCase } from "../../platform/monitoring/alerts/alert-spec.ts";
import {
  compareWithChain,
  compareWithSidecars,
  deviationBps,
  exceeds,
  formatBps,
  formatPrice,
  type PriceComparison,
} from "../policy/price-comparison.ts";

const RESTART =
  "Restart the price sidecar. If prices do not return, check its log, the node's gRPC address and outbound HTTPS.";

const NO_PRICES_IMPACT =
  "The chain counts a vote without any price as missed, although the node counts it as a success. Each such vote lowers the month's rate.";

/** The pair whose price is used to convert most markets from USDT to USD. */
const CONVERSION_PAIR = "USDT/USD";

const PRICES_NOT_STORED = { notStored: "prices" };

const UNREADABLE = cannotSee("the sidecar's prices cannot be read");

/** Test case: the sidecar runs without prices, but the node's calls succeed. */
const empty: AlertCase = {
  fires: [{ series: TICKS, step: 240 }, { series: UPDATES("btc/usd"), from: 7 }, call("Success", 60)],
  clears: [continued(UPDATES("btc/usd"), 240)],
};

const deviationThresholds = {
  max_deviation: threshold(
    "percent",
    2,
    "maximum deviation, in steps of 0.01; pair_max_deviation overrides it for individual pairs",
  ),
  max_age: threshold("duration", 30_000, "maximum age of compared prices; more than a minute is not useful"),
} as const;

/** The fields that both price-deviation conditions share. */
const deviation = {
  severity: "warning",
  impact:
    "The chain also pays for votes with wrong prices, so no pay is lost. But the chain's price is the stake-weighted median: with enough stake behind a wrong price, it is wrong too.",
  end: "3 prices are at most 0.06 % apart",
  for: "5m",
  resolveFor: "1m",
  thresholds: deviationThresholds,
  past: { notStored: "prices" },
} as const;

/** Conditions about the sidecar's prices and their deviation from other sources (chain-extension-modules.md, "Limits"). */
export const PRICE_CONDITIONS: readonly Condition[] = [
  condition({
    name: "all-prices-missing",
    severity: "critical",
    title: "All prices missing",
    end: "38 pairs have a price",
    when: "the sidecar responds, but no pair has a price",
    description:
      "The sidecar responds, but its response contains no prices. A single missing pair is normal, but a response without any price is not.",
    impact: NO_PRICES_IMPACT,
    action: RESTART,
    for: "5m",
    inhibits: ["empty-prices-counted", "major-pairs-missing", "websocket-providers-failing"],
    past: PRICES_NOT_STORED,
    others: "votes",
    raw: { expr: () => NO_PRICE, value: "The sidecar is running, but updates no prices.", example: empty },
    evaluate: eachNode(({ node: { prices } }) => {
      if (prices.state !== "up") return UNREADABLE;
      const { length } = prices.value.pairs;
      return length > 0
        ? clear(`${counted(length, "pair has", "pairs have")} a price`)
        : active("the sidecar responds without any price");
    }),
  }),
  condition({
    name: "major-pairs-missing",
    severity: "critical",
    title: "Major pairs missing",
    end: "3 major pairs have a price",
    when: "a pair in `alerts.major_pairs` has no price, while other pairs have prices",
    description:
      "A major pair has no price. The chain needs these pairs most: it converts the pay with the native token's price. Other missing pairs are normal.",
    impact: "None while any pair has a price. If all prices are missing, every block is lost.",
    action: RESTART,
    for: "5m",
    resolveFor: "1m",
    past: PRICES_NOT_STORED,
    raw: {
      expr: (times) =>
        `validator:sidecar_priced_pairs:count > 0 unless ${pricedPairs(times, 'id=~"btc/usd|eth/usd|ntrn/usd"')} >= 3`,
      value: "{{ $value }} pairs have prices, but at least one of btc/usd, eth/usd and ntrn/usd has none.",
      example: {
        fires: [
          { series: UPDATES("btc/usd"), step: 240 },
          { series: UPDATES("eth/usd"), step: 240 },
          { series: UPDATES("ntrn/usd"), from: 9 },
        ],
        clears: [continued(UPDATES("ntrn/usd"), 240)],
      },
    },
    evaluate: eachNode(({ node: { prices }, whole: { majorPairs } }) => {
      if (prices.state !== "up") return UNREADABLE;
      const priced = new Set(prices.value.pairs);
      // If all prices are missing, all-prices-missing is active and mutes this alert.
      const missing = majorPairs.filter((pair) => !priced.has(pair));
      if (missing.length === 0)
        return clear(`${counted(majorPairs.length, "major pair has", "major pairs have")} a price`);
      const root = priced.has(CONVERSION_PAIR)
        ? ""
        : `; ${CONVERSION_PAIR}, through which most markets are converted, is missing too`;
      return active(`the sidecar has no price for ${missing.join(", ")}${root}`, missing.length);
    }),
  }),
  condition({
    name: "empty-prices-counted",
    severity: "warning",
    title: "Votes without prices are recorded as success",
    end: "the sidecar responds with prices",
    when: "the sidecar responds without any price, but the node counts successful calls",
    description:
      "The node counts a vote without prices as a success, but the chain counts it as missed. Do not trust the node's success rate until this alert ends.",
    impact: NO_PRICES_IMPACT,
    action:
      "Check the sidecar's market map: the node's gRPC server must be enabled, and --market-map-endpoint must name it without http://. Then restart the sidecar.",
    for: "5m",
    past: PRICES_NOT_STORED,
    others: "votes",
    raw: {
      expr: (times) =>
        `${NO_PRICE} and sum ${VALIDATOR} (increase(app_oracle_responses{status="Success"}[${times("1m")}])) > 0`,
      value: "The sidecar updates no prices, but the node counts successes.",
      example: empty,
    },
    evaluate: eachNode((input) => {
      const { prices } = input.node;
      if (prices.state !== "up") return UNREADABLE;
      if (prices.value.pairs.length > 0) return clear("the sidecar responds with prices");
      const calls = latestCalls(input);
      if (calls === "unknown") return cannotSee("the node has made no oracle call recently");
      return calls === "good"
        ? active("the sidecar responds without any price, but the node counts it as a success")
        : clear("the node's calls fail");
    }),
  }),
  condition({
    name: "stale-price-timestamp",
    severity: "critical",
    title: "Prices are frozen",
    end: "the sidecar's timestamp changes",
    when: "the sidecar's timestamp has not changed for `max_age`",
    description:
      "The sidecar updates its timestamp four times a second, even without any price. If the timestamp stops changing, the price loop has hung.",
    impact: "No block is lost while there are prices, but the validator votes with outdated prices.",
    action: "Restart the price sidecar.",
    for: "30s",
    thresholds: { max_age: threshold("duration", 10_000, "age of the timestamp") },
    inhibits: [
      "all-prices-missing",
      "major-pairs-missing",
      "empty-prices-counted",
      "websocket-providers-failing",
      "prices-differ-from-chain",
      "prices-differ-from-sidecars",
    ],
    past: PRICES_NOT_STORED,
    raw: {
      expr: () => "validator:sidecar_ticks:rate1m == 0",
      value: "The sidecar's price loop has not run for a minute.",
      example: { fires: [{ series: TICKS, from: 100 }], clears: [continued(TICKS, 240)] },
    },
    evaluate: eachNode(({ node: { prices }, history: { tick }, atMs }, limit) => {
      if (prices.state !== "up" || tick === undefined) return UNREADABLE;
      // Measure the age from the last observed change, because the sidecar's and the watchdog's clocks may differ.
      const ageMs = atMs - tick.sinceMs;
      if (ageMs <= limit("max_age"))
        return tick.hasChanged
          ? clear("the sidecar's timestamp changes")
          : cannotSee("the sidecar's timestamp has been read only once");
      const what =
        tick.value === 0 ? "the sidecar has had no update" : "the sidecar's timestamp has not changed";
      return active(`${what} for ${secondsText(ageMs)}`, ageMs);
    }),
  }),
  condition({
    ...deviation,
    name: "prices-differ-from-chain",
    title: "Prices differ from the chain's",
    when: "the sidecar's price for a pair in `chain.pairs` differs by more than `max_deviation` from the price that the chain stores, which is no older than `max_age`",
    description:
      "For several minutes, the sidecar's price for a pair has been far from the chain's price, which is the median across all validators. The sidecar's price is probably the wrong one.",
    action:
      "Compare the price with one from an exchange. If the sidecar is wrong, check its providers for the pair and restart it.",
    evaluate: (input, limit) => {
      const { prices } = input.observation.chain;
      if (prices.state === "not-configured") return cannotSee("no chain prices are configured");
      if (prices.state === "absent") return cannotSee("the chain has no price module");
      if (prices.state === "error") return cannotSee("the chain's prices cannot be read");
      return evaluateDeviation(input, compareWithChain, limit);
    },
  }),
  condition({
    ...deviation,
    name: "prices-differ-from-sidecars",
    title: "Sidecar prices differ",
    when: "the sidecar's price for a pair in `chain.pairs` or `alerts.major_pairs` differs by more than `max_deviation` from the median of all sidecars that the watchdog reads on this chain",
    description:
      "For several minutes, the sidecar's price for a pair has been far from the other sidecars' prices. With only two sidecars, the comparison cannot show which price is wrong.",
    action:
      "Compare the price with one from an exchange. Check the wrong sidecar's providers and restart it.",
    evaluate: (input, limit) => evaluateDeviation(input, compareWithSidecars, limit),
  }),
];

/** Maximum number of pairs named in a reason. */
const MAX_NAMED = 5;

function evaluateDeviation(
  { observation, history, peers = [], majorPairs: pairs, pairDeviations }: ConditionInput,
  compare: typeof compareWithChain,
  limit: (key: keyof typeof deviationThresholds) => number,
): ConditionResult {
  const maxAgeMs = limit("max_age");
  const { comparisons, notCompared } = compare({ observation, history, peers, pairs, maxAgeMs });
  const isFar = (one: PriceComparison): boolean => {
    const maxPercent = pairDeviations?.get(one.pair) ?? limit("max_deviation");
    // `exceeds` expects basis points: 1 % equals 100 basis points.
    return exceeds(one, BigInt(Math.round(maxPercent * 100)));
  };
  const far = comparisons.filter(isFar).toSorted(byDeviation);
  const several = observation.nodes.length > 1;
  if (far.length > 0) {
    const named = far.slice(0, MAX_NAMED).map((one) => comparisonText(one, several));
    const more = far.length > MAX_NAMED ? `; and ${far.length - MAX_NAMED} more` : "";
    return active(`${named.join("; ")}${more}`, Number(worstBps(far)));
  }
  if (comparisons.length === 0) {
    const [first] = notCompared;
    return cannotSee(
      first === undefined ? "the sidecar's prices cannot be read" : `${first.pair}: ${first.reason}`,
    );
  }
  const blind = notCompared.length === 0 ? "" : `; ${notCompared.length} cannot be compared`;
  return clear(
    `${counted(comparisons.length, "price is", "prices are")} at most ${formatBps(worstBps(comparisons))} apart${blind}`,
  );
}

/** Describes a pair, its two prices and the difference between the prices. */
function comparisonText(one: PriceComparison, withNode: boolean): string {
  const { node, pair, reference, own, other, decimals, sidecars } = one;
  const place =
    reference === "chain"
      ? "on the chain"
      : sidecars === 2
        ? "at the other sidecar"
        : `as the median of ${sidecars} sidecars`;
  return `${pair}${withNode ? ` of ${node}` : ""}: ${formatPrice(own, decimals)} here, ${formatPrice(other, decimals)} ${place}, ${formatBps(deviationBps(one))} apart`;
}

function worstBps(comparisons: readonly PriceComparison[]): bigint {
  return comparisons.map(deviationBps).reduce((a, b) => (a > b ? a : b), 0n);
}

function byDeviation(a: PriceComparison, b: PriceComparison): number {
  return Number(deviationBps(b) - deviationBps(a));
}
