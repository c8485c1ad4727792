import { z } from "zod";
import { durationField, issueText } from "../../platform/config/config-fields.ts";
import { durationText } from "../../platform/config/setting-texts.ts";
import { SEVERITIES } from "../../platform/monitoring/severity.ts";
import { type AlertRule, type Condition, GRACE_MS, type Threshold } from "./condition.ts";
import { CONDITIONS } from "./conditions.ts";

export interface AlertsConfig {
  /** Rules for the enabled alerts, in the order of the condition table. */
  readonly rules: readonly AlertRule[];
  readonly majorPairs: readonly string[];
  /** Maximum price deviation in percent, for pairs with their own limit. */
  readonly pairDeviations: ReadonlyMap<string, number>;
  /** The time after a cause's end during which the cause's consequences cannot start firing. */
  readonly graceMs: number;
}

const pair = z.string().regex(/^[A-Z0-9.]{1,40}\/[A-Z0-9.]{1,40}$/, {
  error: issueText("is not a pair", '"BTC/USD"'),
});

const majorPairs = z
  .array(pair)
  .max(50)
  .default(["BTC/USD", "ETH/USD", "NTRN/USD"])
  .describe(
    "currency pairs that must always have a price; default: BTC, ETH and the chain's native token in USD",
  );

const pairDeviations = z
  .record(pair, z.number().min(0).max(100))
  .refine((all) => Object.keys(all).length <= 150, { error: issueText("is too long", "at most 150 pairs") })
  .default({})
  .describe(
    "the max_deviation for individual pairs, in percent, used in prices_differ_from_chain and prices_differ_from_sidecars",
  )
  .meta({ example: { "USDT/USD": 0.5 }, commentedOut: true });

/** Creates the configuration section for one alert from its entry in the table. */
function section(condition: Condition) {
  return z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe("whether to evaluate the condition; false turns the alert off"),
      severity: z.enum(SEVERITIES).default(condition.severity).describe("alert severity"),
      for: durationField(0)
        .prefault(condition.for)
        .describe("how long the condition must hold before the alert fires"),
      resolve_for: durationField(0)
        .prefault(condition.resolveFor)
        .describe("how long the condition must be clear before the alert is resolved"),
      ...Object.fromEntries(
        Object.entries(condition.thresholds).map(([key, threshold]) => [key, thresholdField(threshold)]),
      ),
    })
    .prefault({})
    .describe(`fires when ${condition.when.replaceAll("`", "")}`);
}

function thresholdField({ unit, initial, description }: Threshold): z.ZodType<number> {
  if (unit === "duration") return durationField(1).prefault(durationText(initial)).describe(description);
  if (unit === "percent")
    return z.number().min(0).max(100).default(initial).describe(`${description}, in percent`);
  return z.number().min(0).max(1e9).default(initial).describe(description);
}

const sections = z.strictObject({
  major_pairs: majorPairs,
  pair_max_deviation: pairDeviations,
  grace: durationField(0)
    .prefault(durationText(GRACE_MS))
    .describe("the time after a cause ends during which its consequences do not start firing"),
  ...Object.fromEntries(CONDITIONS.map((condition) => [sectionKey(condition.name), section(condition)])),
});

/** Schema of the `alerts` section, which has one subsection for each condition in the table. */
export const alertsSchema = sections
  .prefault({})
  .describe("one section for each alert")
  .transform((file): AlertsConfig => {
    const { major_pairs, pair_max_deviation, grace, ...rest } = file;
    const values: Readonly<Record<string, unknown>> = rest;
    return {
      majorPairs: major_pairs,
      pairDeviations: new Map(Object.entries(pair_max_deviation)),
      graceMs: grace,
      rules: CONDITIONS.flatMap((one) => toRule(one, values[sectionKey(one.name)])),
    };
  });

const parsedSection = z
  .object({ enabled: z.boolean(), severity: z.enum(SEVERITIES), for: z.number(), resolve_for: z.number() })
  .catchall(z.number());

function toRule(condition: Condition, value: unknown): readonly AlertRule[] {
  const { enabled, severity, for: forMs, resolve_for: resolveForMs, ...limits } = parsedSection.parse(value);
  return enabled ? [{ condition, severity, forMs, resolveForMs, limits }] : [];
}

/** Converts a condition name in kebab-case to its configuration key in snake_case. */
export function sectionKey(name: string): string {
  return name.replaceAll("-", "_");
}
