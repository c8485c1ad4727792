import { z } from "zod";
import { parseDec18 } from "../../platform/base/decimal.ts";
import { durationField, issueText } from "../../platform/config/config-fields.ts";
import { durationText } from "../../platform/config/setting-texts.ts";
import { CURRENCY, CURVES, type PolicyChoice, SPECIFIED_POLICY } from "./assessment.ts";
import type { ValidatorTarget } from "../sources/targets.ts";

const percent = z.number().min(0).max(100);

export const policy = z.strictObject({
  curve: z
    .enum(CURVES)
    .default("linear")
    .describe(
      "how to compute the reward between the two boundaries: linearly, or like the chain's revenue module",
    ),
  full_percent: percent.default(98).describe("the lowest success rate that is paid in full"),
  none_percent: percent.default(95).describe("the success rate below which nothing is paid"),
  reward: z
    .number()
    .min(0)
    .max(1_000_000_000)
    .default(3000)
    .describe("the reward for a full month, in units of currency"),
  currency: z
    .string()
    .regex(CURRENCY, {
      error: issueText("is not a currency name", 'up to 16 letters and digits, e.g. "USD"'),
    })
    .optional()
    .describe(
      "the reward's currency, shown next to amounts. With from_chain, the chain's currency is used instead",
    )
    .meta({ example: "USD", commentedOut: true }),
  incident_end: durationField(60_000)
    .prefault(durationText(SPECIFIED_POLICY.quietMs))
    .describe("the time without a missed block that ends an incident"),
  from_chain: z
    .boolean()
    .default(false)
    .describe("whether to use the chain's revenue module parameters when they can be read"),
});

/** Converts a percentage to a fraction with 18 decimal places. */
function toShare(value: number): bigint {
  return parseDec18(value.toFixed(6)) / 100n;
}

export function toPolicy(given: z.output<typeof policy>): PolicyChoice {
  const { curve, currency, from_chain: fromChain } = given;
  const least = { full: toShare(given.full_percent), none: toShare(given.none_percent) };
  const fullRewardCents = BigInt(Math.round(given.reward * 100));
  const isSpecified =
    curve === SPECIFIED_POLICY.curve &&
    least.full === SPECIFIED_POLICY.least.full &&
    least.none === SPECIFIED_POLICY.least.none &&
    fullRewardCents === SPECIFIED_POLICY.fullRewardCents;
  return {
    policy: {
      ...SPECIFIED_POLICY,
      curve,
      least,
      fullRewardCents,
      source: isSpecified ? "specification" : "configuration",
      quietMs: given.incident_end,
      ...(currency === undefined ? {} : { currency }),
    },
    fromChain,
  };
}

export interface ValidatorConfig {
  readonly target: ValidatorTarget;
  readonly policy: PolicyChoice;
}
