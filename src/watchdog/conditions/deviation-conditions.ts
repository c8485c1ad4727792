import {
  compareWithChain,
  compareWithSidecars,
  deviationBps,
  exceeds,
  formatBps,
  formatPrice,
  type PriceComparison,
} from "../policy/price-comparison.ts";
import { active, cannotSee, clear, condition, threshold } from "./condition.ts";
import type { Condition, ConditionInput, ConditionResult } from "./condition.ts";
import { counted } from "../../platform/base/text.ts";

const thresholds = {
  max_deviation: threshold(
    "percent",
    2,
    "maximum deviation, in steps of 0.01; pair_max_deviation overrides it for individual pairs",
  ),
  max_age: threshold("duration", 30_000, "maximum age of compared prices; more than a minute is not useful"),
} as const;

/** The settings and texts that both conditions share. */
const common = {
  severity: "warning",
  impact:
    "The chain also pays for votes with wrong prices, so no pay is lost. But it uses the stake-weighted median: with enough stake behind a wrong price, the chain's price is wrong too.",
  end: "3 prices are at most 0.06 % apart",
  for: "5m",
  resolveFor: "1m",
  thresholds,
  past: { notStored: "prices" },
} as const;

/** Conditions on prices that deviate from other sources. */
export const DEVIATION_CONDITIONS: readonly Condition[] = [
  condition({
    ...common,
    name: "prices-differ-from-chain",
    title: "Prices differ from the chain's",
    when: "the sidecar's price for a pair in `chain.pairs` differs by more than `max_deviation` from the price that the chain stores, which is no older than `max_age`",
    description:
      "For several minutes, the sidecar's price for a pair has been far from the chain's price, which is the median across all validators. This sidecar is probably wrong.",
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
    ...common,
    name: "prices-differ-from-sidecars",
    title: "Sidecar prices differ",
    when: "the sidecar's price for a pair in `chain.pairs` or `alerts.major_pairs` differs by more than `max_deviation` from the median of all sidecars that the watchdog reads on this chain",
    description:
      "For several minutes, the sidecar's price for a pair has been far from the other sidecars' prices. With only two sidecars, there is no telling which one is wrong.",
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
  limit: (key: keyof typeof thresholds) => number,
): ConditionResult {
  const maxAgeMs = limit("max_age");
  const { comparisons, notCompared } = compare({ observation, history, peers, pairs, maxAgeMs });
  const isFar = (one: PriceComparison): boolean => {
    const maxPercent = pairDeviations?.get(one.pair) ?? limit("max_deviation");
    // In basis points.
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

/** Describes a pair, its two values and the difference between them. */
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
