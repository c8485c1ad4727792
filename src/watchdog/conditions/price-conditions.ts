import { counted } from "../../platform/base/text.ts";
import { active, cannotSee, clear, type Condition, condition, type ConditionResult } from "./condition.ts";
import { evaluateNodes, latestCalls, type NodeInput, secondsText, resultOf } from "./evaluate-nodes.ts";
import { NO_PRICE, TICKS, UPDATES, VALIDATOR, call, continued, pricedPairs } from "./raw-metrics.ts";
import { check, see } from "../../platform/monitoring/alerts/runbook-spec.ts";
import { HEALTHY_PRICES, CALLS } from "./sidecar-conditions.ts";
import type { AlertCase } from "../../platform/monitoring/alerts/alert-spec.ts";

const RESTART =
  "Restart the price sidecar. If prices stay away, check its log, the node's gRPC address and outbound HTTPS.";

const NO_PRICES_IMPACT =
  "A vote without any price is a missed oracle vote on the chain, although the node counts a success. Every such block lowers the month's rate.";

/** Pair that most markets are converted through. */
const CONVERSION_PAIR = "USDT/USD";

const PRICES_NOT_STORED = { notStored: "prices" };

/** A sidecar that runs without a price, and a node that counts successes. */
const empty: AlertCase = {
  fires: [{ series: TICKS, step: 240 }, { series: UPDATES("btc/usd"), from: 7 }, call("Success", 60)],
  clears: [continued(UPDATES("btc/usd"), 240)],
};

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
    past: PRICES_NOT_STORED,
    runbook: {
      reason: "the sidecar answers without any price",
      fault: "all-prices-missing",
      checks: [
        see(
          "`{}` with a timestamp that changes: the price loop runs without a result.",
          "prices",
          '{"prices":{},"timestamp":"2026-11-22T05:53:59.751Z","version":"v1.2.2"}',
        ),
        check(
          "Which of the two causes is it? Every provider fails: the network. No provider is queried at all: the market map is empty, because the node's gRPC server is off or `--market-map-endpoint` is wrong.",
        ),
        see("The node still counts successes. That number cannot be trusted now.", "calls", CALLS),
      ],
      fix: [
        "Restart the sidecar: `systemctl restart connect`.",
        "Market map empty: set `[grpc] enable = true` in the node's app.toml, and `--market-map-endpoint` to its host and port without http://.",
        "Providers fail: see [websocket-providers-failing](websocket-providers-failing.md).",
      ],
      after: [
        "These blocks are lost on the chain although the node counted successes. Compare with the chain's own count in the month's report.",
      ],
    },
    raw: { expr: () => NO_PRICE, value: "The sidecar runs, and updates no price.", example: empty },
    evaluate: (input) => evaluateNodes(input, evaluateAllPrices),
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
    past: PRICES_NOT_STORED,
    runbook: {
      reason:
        "no price for BTC/USD, ETH/USD; USDT/USD is missing too, and most markets are converted through it",
      fault: "major-pairs-missing",
      checks: [
        see(
          "Is USDT/USD missing? Most markets are converted through it, so it is the root when many are gone.",
          "prices",
          HEALTHY_PRICES,
        ),
        check(
          "Fewer providers than the market's minimum (3 for most, 2 for NTRN/USD, 1 for USDT/USD): the dashboard's providers of a market names the markets below it.",
        ),
      ],
      fix: [
        "Restart the sidecar once. When the same pairs stay away, its providers for them fail: read its log for their names.",
        "A provider that changed its API needs a newer sidecar.",
        "No block is lost while one pair has a price: do not restart the node.",
      ],
      after: [
        "Tell the other validators when a provider fails for everybody: prices stop for the chain below two thirds of the power.",
      ],
    },
    raw: {
      expr: (times) =>
        `validator:sidecar_priced_pairs:count > 0 unless ${pricedPairs(times, 'id=~"btc/usd|eth/usd|ntrn/usd"')} >= 3`,
      value: "{{ $value }} pairs have a price, and one of btc/usd, eth/usd and ntrn/usd has none.",
      example: {
        fires: [
          { series: UPDATES("btc/usd"), step: 240 },
          { series: UPDATES("eth/usd"), step: 240 },
          { series: UPDATES("ntrn/usd"), from: 9 },
        ],
        clears: [continued(UPDATES("ntrn/usd"), 240)],
      },
    },
    evaluate: (input) => evaluateNodes(input, (node) => evaluateMajorPairs(node, input.majorPairs)),
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
    past: PRICES_NOT_STORED,
    runbook: {
      reason: "the sidecar answers without any price, and the node counts it as success",
      fault: "market-map-empty",
      checks: [
        see("Success grows while the sidecar has no price:", "calls", CALLS),
        see(
          "The response is empty:",
          "prices",
          '{"prices":{},"timestamp":"2026-11-22T05:53:59.751Z","version":"v1.2.2"}',
        ),
        see(
          "What the month counts so far. The chain's own count is lower by these blocks:",
          "report",
          "Oracle report of 2026-11\n========================\n\nValidator  Rate        Tier  Good    Missed\n---------  ----------  ----  ------  ------\ndefault    100.0000 %  full  42,120       0",
        ),
      ],
      fix: [
        "Check that the node's gRPC server is on, and that `--market-map-endpoint` names it as host:port.",
        "Restart the sidecar, and read its first lines: `failed to query market map module on node` names the address that it tries.",
      ],
      after: [
        "The watchdog's rate of these blocks is too good. Say so in the month's report, and compare with the chain's count.",
      ],
    },
    raw: {
      expr: (times) =>
        `${NO_PRICE} and sum ${VALIDATOR} (increase(app_oracle_responses{status="Success"}[${times("1m")}])) > 0`,
      value: "The sidecar updates no price, and the node counts successes.",
      example: empty,
    },
    evaluate: (input) => evaluateNodes(input, evaluateEmptyPrices),
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
    past: PRICES_NOT_STORED,
    runbook: {
      reason: "the sidecar's timestamp has not changed for 14 s",
      fault: "timestamp-stale",
      checks: [
        see("Twice, a second apart: the timestamp is the same.", "prices", HEALTHY_PRICES),
        see(
          "Its price loop does not count any more; four a second are normal.",
          "sidecar",
          "side_car_health_check_system_updates_total 1.2e+06",
        ),
      ],
      fix: [
        "Keep a trace for its developers when you can wait a minute: `curl -s 127.0.0.1:6060/debug/pprof/goroutine?debug=2` (with `--run-pprof`).",
        "Restart the sidecar. Nothing else makes a hanging loop go on.",
      ],
      after: [
        "Report the version and the trace to the sidecar's project.",
        "The blocks count as good; the votes had old prices.",
      ],
    },
    raw: {
      expr: () => "validator:sidecar_ticks:rate1m == 0",
      value: "The sidecar's price loop has not turned for a minute.",
      example: { fires: [{ series: TICKS, from: 100 }], clears: [continued(TICKS, 240)] },
    },
    evaluate: (input, limit) => evaluateNodes(input, (node) => evaluateTimestamp(node, limit("max_age"))),
  }),
];

function evaluateAllPrices({ node: { prices } }: NodeInput): ConditionResult {
  if (prices.state !== "up") return cannotSee("the sidecar's prices cannot be read");
  const { length } = prices.value.pairs;
  return length > 0
    ? clear(`${counted(length, "pair has", "pairs have")} a price`)
    : active("the sidecar answers without any price");
}

function evaluateMajorPairs({ node: { prices } }: NodeInput, majorPairs: readonly string[]): ConditionResult {
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

function evaluateEmptyPrices(input: NodeInput): ConditionResult {
  const { prices } = input.node;
  if (prices.state !== "up") return cannotSee("the sidecar's prices cannot be read");
  if (prices.value.pairs.length > 0) return clear("the sidecar answers with prices");
  const calls = latestCalls(input);
  if (calls === "unknown") return cannotSee("no call of the node was seen lately");
  return resultOf(
    calls === "good",
    calls === "good"
      ? "the sidecar answers without any price, and the node counts it as success"
      : "the node's calls fail",
  );
}

function evaluateTimestamp(
  { node: { prices }, history: { tick }, atMs }: NodeInput,
  maxAgeMs: number,
): ConditionResult {
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
