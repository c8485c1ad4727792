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
      "formula for the reward between none_percent and full_percent: linear, or the quadratic formula of the chain's revenue module",
    ),
  full_percent: percent.default(98).describe("lowest success rate, in percent, that earns the full reward"),
  none_percent: percent
    .default(95)
    .describe("success rate, in percent, below which a validator earns no reward"),
  reward: z
    .number()
    .min(0)
    .max(1_000_000_000)
    .default(3000)
    .describe("reward for a month with full pay, in units of currency"),
  currency: z
    .string()
    .regex(CURRENCY, {
      error: issueText("is not a currency name", 'up to 16 letters and digits, e.g. "USD"'),
    })
    .optional()
    .describe(
      "currency shown next to amounts. If from_chain is true, the watchdog shows the chain's currency instead",
    )
    .meta({ example: "USD", commentedOut: true }),
  incident_end: durationField(60_000)
    .prefault(durationText(SPECIFIED_POLICY.quietMs))
    .describe("an incident ends after this time without a missed block"),
  from_chain: z
    .boolean()
    .default(false)
    .describe(
      "if true, the watchdog uses the parameters of the chain's revenue module whenever it can read them",
    ),
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
