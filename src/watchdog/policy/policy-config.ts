import { z } from "zod";
import { parseDec18 } from "../../platform/base/decimal.ts";
import { durationField, issueText } from "../../platform/config/config-fields.ts";
import { durationText } from "../../platform/config/setting-texts.ts";
import { CURRENCY, CURVES, type PolicyChoice, SPECIFIED_POLICY } from "./assessment.ts";
import type { ValidatorTarget } from "../sources/targets.ts";

/** Section `policy`. */
export const policy = z.strictObject({
  curve: z
    .enum(CURVES)
    .default("linear")
    .describe("reward between the two boundaries: linear, or as the chain's revenue module computes it"),
  full_percent: z
    .number()
    .min(0)
    .max(100)
    .default(98)
    .describe("at or above this success rate, the reward is paid in full"),
  none_percent: z
    .number()
    .min(0)
    .max(100)
    .default(95)
    .describe("below this success rate, there is no reward"),
  reward: z
    .number()
    .min(0)
    .max(1_000_000_000)
    .default(3000)
    .describe("reward for a full month, in units of currency"),
  currency: z
    .string()
    .regex(CURRENCY, {
      error: issueText("is not a currency name", 'up to 16 letters and digits such as "USD"'),
    })
    .optional()
    .describe("currency of reward, shown next to amounts; with from_chain, the chain's currency")
    .meta({ example: "USD", commentedOut: true }),
  incident_end: durationField(60_000)
    .prefault(durationText(SPECIFIED_POLICY.quietMs))
    .describe("time without a missed block after which an incident ends"),
  from_chain: z
    .boolean()
    .default(false)
    .describe("use the chain's revenue module parameters while they can be read"),
});

/** Converts a percentage to a fraction with 18 decimal places. */
function toShare(percent: number): bigint {
  return parseDec18(percent.toFixed(6)) / 100n;
}

/** Converts the section. */
export function toPolicy(given: z.output<typeof policy>): PolicyChoice {
  const configured = {
    ...SPECIFIED_POLICY,
    curve: given.curve,
    least: { full: toShare(given.full_percent), none: toShare(given.none_percent) },
    fullRewardCents: BigInt(Math.round(given.reward * 100)),
  };
  const named = {
    quietMs: given.incident_end,
    ...(given.currency === undefined ? {} : { currency: given.currency }),
  };
  const isSpecified =
    given.curve === SPECIFIED_POLICY.curve &&
    configured.least.full === SPECIFIED_POLICY.least.full &&
    configured.least.none === SPECIFIED_POLICY.least.none &&
    configured.fullRewardCents === SPECIFIED_POLICY.fullRewardCents;
  return {
    policy: isSpecified
      ? { ...SPECIFIED_POLICY, ...named }
      : { ...configured, ...named, source: "configuration" },
    fromChain: given.from_chain,
  };
}

/** A validator and how it is paid. */
export interface ValidatorConfig {
  readonly target: ValidatorTarget;
  readonly policy: PolicyChoice;
}
