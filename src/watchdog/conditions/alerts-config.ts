import { z } from "zod";
import { durationField, durationText, issueText } from "../../platform/config/config-fields.ts";
import { SEVERITIES } from "../../platform/monitoring/severity.ts";
import type { AlertRule, Condition, Threshold } from "./condition.ts";
import { CONDITIONS } from "./conditions.ts";

/** What the configuration says of all alerts. */
export interface AlertsConfig {
  /** Enabled alerts, in the order of the table. */
  readonly rules: readonly AlertRule[];
  readonly majorPairs: readonly string[];
}

const PAIR = /^[A-Z0-9.]{1,40}\/[A-Z0-9.]{1,40}$/;

const majorPairs = z
  .array(z.string().regex(PAIR, { error: issueText("is not a pair", '"BTC/USD"') }))
  .max(50)
  .default(["BTC/USD", "ETH/USD", "NTRN/USD"])
  .describe("pairs that must have a price: BTC, ETH and the chain's native token");

/** The section of one alert, from its entry in the table. */
function section(condition: Condition) {
  return z
    .strictObject({
      enabled: z.boolean().default(true).describe("false: the condition is not evaluated"),
      severity: z.enum(SEVERITIES).default(condition.severity).describe("severity of the alert"),
      for: durationField(0).prefault(condition.for).describe(`how long it must last: ${condition.when}`),
      resolve_for: durationField(0).prefault(condition.resolveFor).describe("how long it must be over"),
      ...Object.fromEntries(
        Object.entries(condition.thresholds).map(([key, threshold]) => [key, thresholdField(threshold)]),
      ),
    })
    .prefault({});
}

function thresholdField({ unit, initial, description }: Threshold): z.ZodType<number> {
  if (unit === "duration") return durationField(1).prefault(durationText(initial)).describe(description);
  const number = unit === "percent" ? z.number().min(0).max(100) : z.number().min(0).max(1e9);
  return number.default(initial).describe(description);
}

const sections = z.strictObject({
  major_pairs: majorPairs,
  ...Object.fromEntries(CONDITIONS.map((condition) => [sectionKey(condition.name), section(condition)])),
});

/** Schema of the section `alerts`: one section for each condition of the table. */
export const alertsSchema = sections.prefault({}).transform((file): AlertsConfig => {
  const { major_pairs, ...rest } = file;
  const values: Readonly<Record<string, unknown>> = rest;
  return {
    majorPairs: major_pairs,
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

/** Configuration key of a condition. */
export function sectionKey(name: string): string {
  return name.replaceAll("-", "_");
}
