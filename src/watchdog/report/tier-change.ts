import { allowedMisses } from "../policy/headroom.ts";
import type { Policy } from "../policy/assessment.ts";
import { type Boundary, type SuccessRate, type Tier, tierOf } from "../policy/reward-tier.ts";
import { formatCount, formatMinute } from "../../platform/base/text.ts";
import type { Incident } from "./incidents.ts";
import type { MonthFacts } from "./month-facts.ts";

/** Boundary that a month must reach for the next better tier. */
const UPPER_BOUNDARY: Readonly<Record<Tier, Boundary | undefined>> = {
  full: undefined,
  proportional: "full",
  none: "none",
};

/** Boundary below which the month would fall into the next worse tier. */
const LOWER_BOUNDARY: Readonly<Record<Tier, Boundary | undefined>> = {
  full: "full",
  proportional: "none",
  none: undefined,
};

/** Says what would have changed the tier of a month, one sentence each. */
export function tierChanges({
  rate,
  tier,
  bounds,
  incidents,
  policy,
  record,
}: MonthFacts): readonly string[] {
  if (rate === undefined || tier === undefined) return [];
  const bad = rate.total - rate.good;
  const upper = UPPER_BOUNDARY[tier];
  const lower = LOWER_BOUNDARY[tier];
  return [
    ...(upper === undefined ? [] : upwards(rate, policy, upper, incidents)),
    ...(lower === undefined
      ? []
      : downwards(allowedMisses(rate.total, policy.least[lower]) - bad + 1n, lower)),
    ...(bounds === undefined ? [] : unknownBlocks(bounds, policy, record.counts.unknown)),
  ];
}

function upwards(
  rate: SuccessRate,
  policy: Policy,
  boundary: Boundary,
  incidents: readonly Incident[],
): readonly string[] {
  const tier = boundary === "full" ? "full" : "proportional";
  const missing = rate.total - rate.good - allowedMisses(rate.total, policy.least[boundary]);
  const alone = incidents
    .filter(({ bad }) => bad >= missing)
    .map(
      ({ fromMs, bad, cause }) =>
        `Without the ${formatCount(bad)} misses from ${formatMinute(fromMs)} (${cause}), the tier would be ${tier}.`,
    );
  return [`${misses(missing, "fewer")} would have reached the tier ${tier}.`, ...alone];
}

function downwards(margin: bigint, boundary: Boundary): readonly string[] {
  const tier = boundary === "full" ? "proportional" : "none";
  return [`${misses(margin, "more")} would have meant the tier ${tier}.`];
}

function misses(count: bigint, word: "fewer" | "more"): string {
  return `${formatCount(count)} ${word} ${count === 1n ? "miss" : "misses"}`;
}

function unknownBlocks(
  { low, high }: { readonly low: SuccessRate; readonly high: SuccessRate },
  { least }: Policy,
  unknown: bigint,
): readonly string[] {
  const [worst, best] = [tierOf(low, least), tierOf(high, least)];
  if (worst === best) return [];
  return [`${formatCount(unknown)} unknown blocks decide: all bad means ${worst}, all good means ${best}.`];
}
