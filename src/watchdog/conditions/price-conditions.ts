import { counted } from "../../platform/base/text.ts";
import { active, cannotSee, clear, type Condition, condition, type Verdict } from "./condition.ts";
import { judgeNodes, latestCalls, type NodeInput, secondsText, verdictOf } from "./judge.ts";

const RESTART =
  "Restart the price sidecar. If prices stay away, check its log, the node's gRPC address and outbound HTTPS.";

const NO_PRICES_IMPACT =
  "A vote without any price is a missed oracle vote on the chain, although the node counts a success. Every such block lowers the month's rate.";

/** Pair that most markets are converted through. */
const CONVERSION_PAIR = "USDT/USD";

const PRICES_NOT_KEPT = { notKept: "prices" };

/** Conditions of the prices that the sidecar serves (chain-extension-modules.md, "Limits"). */
export const PRICE_CONDITIONS: readonly Condition[] = [
  condition({
    name: "all-prices-missing",
    severity: "critical",
    title: "All prices missing",
    when: "the sidecar answers, and no pair has a price",
    description:
      "The sidecar answers without any price. Single missing pairs and logged missing prices are normal; this is not.",
    impact: NO_PRICES_IMPACT,
    action: RESTART,
    for: "5m",
    resolveFor: "30s",
    thresholds: {},
    inhibits: ["empty-prices-counted", "major-pairs-missing"],
    past: PRICES_NOT_KEPT,
    judge: (input) => judgeNodes(input, judgeAllPrices),
  }),
  condition({
    name: "major-pairs-missing",
    severity: "warning",
    title: "Major pairs missing",
    when: "a pair of `alerts.major_pairs` has no price, and other pairs have one",
    description:
      "The chain needs these pairs most: pay is converted with the price of the native token. Other missing pairs are normal.",
    impact: "No block is lost while any pair has a price. When all prices go, every block is.",
    action: RESTART,
    for: "5m",
    resolveFor: "1m",
    thresholds: {},
    inhibits: [],
    past: PRICES_NOT_KEPT,
    judge: (input) => judgeNodes(input, (node) => judgeMajorPairs(node, input.majorPairs)),
  }),
  condition({
    name: "empty-prices-counted",
    severity: "warning",
    title: "Votes without prices count as success",
    when: "the sidecar answers without any price, and the node counts successful calls",
    description:
      "The node's success rate stays at 100 %, but the chain counts each of these votes as missed. The rate on the node's page cannot be trusted now.",
    impact: NO_PRICES_IMPACT,
    action:
      "Check the sidecar's market map: the node's gRPC server must be on, and --market-map-endpoint must name it without http://. Then restart the sidecar.",
    for: "2m",
    resolveFor: "30s",
    thresholds: {},
    inhibits: [],
    past: PRICES_NOT_KEPT,
    judge: (input) => judgeNodes(input, judgeEmptyPrices),
  }),
  condition({
    name: "stale-price-timestamp",
    severity: "critical",
    title: "Prices are frozen",
    when: "the sidecar's timestamp has not changed for `max_age`",
    description:
      "The sidecar updates its timestamp four times a second, also without any price. A timestamp that does not change means that its price loop hangs.",
    impact: "The validator votes for old prices. The blocks count, but the votes are wrong.",
    action: "Restart the price sidecar.",
    for: "30s",
    resolveFor: "30s",
    thresholds: {
      max_age: { unit: "duration", initial: 10_000, description: "age of the timestamp" },
    },
    inhibits: [],
    past: PRICES_NOT_KEPT,
    judge: (input, limit) => judgeNodes(input, (node) => judgeTimestamp(node, limit("max_age"))),
  }),
];

function judgeAllPrices({ node: { prices } }: NodeInput): Verdict {
  if (prices.state !== "up") return cannotSee("the sidecar's prices cannot be read");
  const { length } = prices.value.pairs;
  return length > 0
    ? clear(`${counted(length, "pair has", "pairs have")} a price`)
    : active("the sidecar answers without any price");
}

function judgeMajorPairs({ node: { prices } }: NodeInput, majorPairs: readonly string[]): Verdict {
  if (prices.state !== "up") return cannotSee("the sidecar's prices cannot be read");
  const priced = new Set(prices.value.pairs);
  // All missing is another condition, which mutes this one.
  const missing = majorPairs.filter((pair) => !priced.has(pair));
  if (missing.length === 0)
    return clear(`${counted(majorPairs.length, "major pair has", "major pairs have")} a price`);
  const root = priced.has(CONVERSION_PAIR)
    ? ""
    : `; ${CONVERSION_PAIR} is missing too, and most markets are converted through it`;
  return active(`no price for ${missing.join(", ")}${root}`, missing.length);
}

function judgeEmptyPrices(input: NodeInput): Verdict {
  const { prices } = input.node;
  if (prices.state !== "up") return cannotSee("the sidecar's prices cannot be read");
  if (prices.value.pairs.length > 0) return clear("the sidecar answers with prices");
  const calls = latestCalls(input);
  if (calls === "unknown") return cannotSee("no call of the node was seen lately");
  return verdictOf(
    calls === "good",
    calls === "good"
      ? "the sidecar answers without any price, and the node counts it as success"
      : "the node's calls fail",
  );
}

function judgeTimestamp({ node: { prices }, trail: { tick }, atMs }: NodeInput, maxAgeMs: number): Verdict {
  if (prices.state !== "up" || tick === undefined) return cannotSee("the sidecar's prices cannot be read");
  // The age is the time since the last change that was seen, not the difference of two clocks.
  const ageMs = atMs - tick.sinceMs;
  if (ageMs <= maxAgeMs)
    return tick.hasChanged
      ? clear("the sidecar's timestamp changes")
      : cannotSee("the sidecar's timestamp was seen once only");
  const what = tick.value === 0 ? "the sidecar has had no update" : "the sidecar's timestamp has not changed";
  return active(`${what} for ${secondsText(ageMs)}`, ageMs);
}
