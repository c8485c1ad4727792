import { counted } from "../../platform/base/text.ts";
import { active, cannotSee, clear, type Condition, condition, type ConditionResult } from "./condition.ts";
import { evaluateNodes, latestCalls, type NodeInput, secondsText, resultOf } from "./evaluate-nodes.ts";
import { NO_PRICE, TICKS, UPDATES, VALIDATOR, call, continued, pricedPairs } from "./raw-metrics.ts";
import { check, see } from "../../platform/monitoring/alerts/runbook-spec.ts";
import { HEALTHY_PRICES, CALLS } from "./sidecar-conditions.ts";
import type { AlertCase } from "../../platform/monitoring/alerts/alert-spec.ts";

const RESTART =
  "Restart the price sidecar. If prices do not return, check its log, the node's gRPC address and outbound HTTPS.";

const NO_PRICES_IMPACT =
  "The chain counts a vote without any price as missed, although the node counts a success. Each of these blocks lowers the month's rate.";

/** Pair through which most markets are converted. */
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
    when: "the sidecar responds, and no pair has a price",
    description: "The sidecar responds without any price. A single missing pair is normal; this is not.",
    impact: NO_PRICES_IMPACT,
    action: RESTART,
    for: "5m",
    resolveFor: "30s",
    thresholds: {},
    inhibits: ["empty-prices-counted", "major-pairs-missing", "websocket-providers-failing"],
    past: PRICES_NOT_STORED,
    others: "votes",
    runbook: {
      reason: "the sidecar responds without any price",
      fault: "all-prices-missing",
      checks: [
        see(
          "`{}` with a changing timestamp: the price loop runs, but produces no price.",
          "prices",
          '{"prices":{},"timestamp":"2026-11-22T05:53:59.751Z","version":"v1.2.2"}',
        ),
        check(
          "Read the sidecar's log. If every provider fails, the cause is the network. If the sidecar queries no provider at all, its market map is empty: the node's gRPC server is off, or `--market-map-endpoint` is wrong.",
        ),
        see("The node still counts successes. Do not trust this number now.", "calls", CALLS),
      ],
      fix: [
        "Restart the sidecar: `systemctl restart connect`.",
        "If the market map is empty, set `[grpc] enable = true` in the node's app.toml, and `--market-map-endpoint` to the node's host and gRPC port without http://.",
        "If the providers fail, follow [websocket-providers-failing](websocket-providers-failing.md).",
      ],
      after: [
        "The chain counted these blocks as missed, although the node counted successes. Compare both numbers in the month's report.",
      ],
    },
    raw: { expr: () => NO_PRICE, value: "The sidecar runs, but updates no price.", example: empty },
    evaluate: (input) => evaluateNodes(input, evaluateAllPrices),
  }),
  condition({
    name: "major-pairs-missing",
    severity: "critical",
    title: "Major pairs missing",
    when: "a pair in `alerts.major_pairs` has no price, while other pairs have one",
    description:
      "A major pair has no price. The chain needs these pairs most: it converts the pay with the native token's price. Other missing pairs are normal.",
    impact: "None while any pair has a price. When all prices are missing, every block is lost.",
    action: RESTART,
    for: "5m",
    resolveFor: "1m",
    thresholds: {},
    inhibits: [],
    past: PRICES_NOT_STORED,
    runbook: {
      reason:
        "no price for BTC/USD, ETH/USD; USDT/USD is missing too, through which most markets are converted",
      fault: "major-pairs-missing",
      checks: [
        see(
          "Is USDT/USD missing? Most markets are converted through it, so its absence removes many other pairs.",
          "prices",
          HEALTHY_PRICES,
        ),
        check(
          "On the dashboard, read the panel Providers of a market. A market with fewer providers than its minimum has no price: 3 for most markets, 2 for NTRN/USD, 1 for USDT/USD.",
        ),
      ],
      fix: [
        "Restart the sidecar once. If the same pairs are still missing, their providers fail: its log names them.",
        "If a provider changed its API, install a newer sidecar.",
        "Do not restart the node: no block is lost while one pair has a price.",
      ],
      after: [
        "If a provider fails for everybody, tell the other validators: the chain's price stops when less than two thirds of the voting power report it.",
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
    title: "Votes without prices are recorded as success",
    when: "the sidecar responds without any price, and the node counts successful calls",
    description:
      "The node counts each of these votes as success, but the chain counts it as missed. Do not trust the node's success rate now.",
    impact: NO_PRICES_IMPACT,
    action:
      "Check the sidecar's market map: the node's gRPC server must be on, and --market-map-endpoint must name it without http://. Then restart the sidecar.",
    for: "5m",
    resolveFor: "30s",
    thresholds: {},
    inhibits: [],
    past: PRICES_NOT_STORED,
    others: "votes",
    runbook: {
      reason: "the sidecar responds without any price, and the node counts it as success",
      fault: "market-map-empty",
      checks: [
        see("Success grows although the sidecar has no price:", "calls", CALLS),
        see(
          "The response is empty:",
          "prices",
          '{"prices":{},"timestamp":"2026-11-22T05:53:59.751Z","version":"v1.2.2"}',
        ),
        see(
          "The month's count so far. The chain's own count is lower by these blocks:",
          "report",
          "Oracle report of 2026-11\n========================\n\nValidator  Rate        Tier  Good    Missed\n---------  ----------  ----  ------  ------\ndefault    100.0000 %  full  42,120       0",
        ),
      ],
      fix: [
        "Check that the node's gRPC server is on, and that `--market-map-endpoint` names it as host:port.",
        "Restart the sidecar, and read its first lines: `failed to query market map module on node` shows the address that it uses.",
      ],
      after: [
        "The watchdog counted these blocks as good. Compare its rate with the chain's count, and report the difference with the month's report.",
      ],
    },
    raw: {
      expr: (times) =>
        `${NO_PRICE} and sum ${VALIDATOR} (increase(app_oracle_responses{status="Success"}[${times("1m")}])) > 0`,
      value: "The sidecar updates no price, but the node counts successes.",
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
      "The sidecar updates its timestamp four times a second, even without any price. When the timestamp does not change, its price loop hangs.",
    impact: "No block is lost while there are prices, but the validator votes for old ones.",
    action: "Restart the price sidecar.",
    for: "30s",
    resolveFor: "30s",
    thresholds: {
      max_age: { unit: "duration", initial: 10_000, description: "age of the timestamp" },
    },
    inhibits: [
      "all-prices-missing",
      "major-pairs-missing",
      "empty-prices-counted",
      "websocket-providers-failing",
      "prices-differ-from-chain",
      "prices-differ-from-sidecars",
    ],
    past: PRICES_NOT_STORED,
    runbook: {
      reason: "the sidecar's timestamp has not changed for 14 s",
      fault: "timestamp-stale",
      checks: [
        see("Run this twice, a second apart. The timestamp stays the same:", "prices", HEALTHY_PRICES),
        see(
          "Run this twice. The counter of its price loop stays the same; normally it grows by four each second:",
          "sidecar",
          "side_car_health_check_system_updates_total 1.2e+06",
        ),
      ],
      fix: [
        "If you can wait a minute, save a trace for the sidecar's developers: `curl -s 127.0.0.1:6060/debug/pprof/goroutine?debug=2` (with `--run-pprof`).",
        "Restart the sidecar. Nothing else ends a hang.",
      ],
      after: [
        "Report the version and the trace to the sidecar's project.",
        "These blocks are counted as good, although their votes had old prices.",
      ],
    },
    raw: {
      expr: () => "validator:sidecar_ticks:rate1m == 0",
      value: "The sidecar's price loop has not run for a minute.",
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
    : active("the sidecar responds without any price");
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
    : `; ${CONVERSION_PAIR} is missing too, through which most markets are converted`;
  return active(`no price for ${missing.join(", ")}${root}`, missing.length);
}

function evaluateEmptyPrices(input: NodeInput): ConditionResult {
  const { prices } = input.node;
  if (prices.state !== "up") return cannotSee("the sidecar's prices cannot be read");
  if (prices.value.pairs.length > 0) return clear("the sidecar responds with prices");
  const calls = latestCalls(input);
  if (calls === "unknown") return cannotSee("the node has made no oracle call recently");
  return resultOf(
    calls === "good",
    calls === "good"
      ? "the sidecar responds without any price, and the node counts it as success"
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
      : cannotSee("the sidecar's timestamp has been read only once");
  const what = tick.value === 0 ? "the sidecar has had no update" : "the sidecar's timestamp has not changed";
  return active(`${what} for ${secondsText(ageMs)}`, ageMs);
}
