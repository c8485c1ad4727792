import type { AlertCase } from "../../platform/monitoring/alerts/alert-spec.ts";
import { ANY, type BoundaryTexts, commonTexts, FULL } from "./boundary-texts.ts";
import { type Condition, condition, threshold } from "./condition.ts";
import { evaluateBurn, evaluateSlowBurn } from "./evaluate-reward.ts";
import { ALLOWED, type BadShareWindow, badShare, failing, succeeding } from "./raw-metrics.ts";

/** Burn rates commonly used for alerts: 2 % of a month's allowance in one hour, 5 % in six hours, 10 % in three days. */
const FAST_1H = 14.4;
const FAST_6H = 6;

const burnt = (resolves: string): AlertCase => ({ fires: failing, clears: succeeding, resolves });

/** Conditions on the month's allowance and how fast it is being used: two for each boundary. */
export const BURN_CONDITIONS: readonly Condition[] = [ANY, FULL].flatMap(burnConditions);

function burnConditions(texts: BoundaryTexts): readonly Condition[] {
  const { boundary, prefix, reward, severity, lesser } = texts;
  const burns = (window: BadShareWindow, factor: number): string =>
    `${badShare(window)} > ${factor} * ${ALLOWED[boundary]}`;
  const common = commonTexts(texts);
  const own = (suffix: string): string => `${prefix}-${suffix}`;
  return [
    condition({
      ...common,
      name: own("fast-burn"),
      severity,
      title: `Missed blocks burn ${reward} fast`,
      end: "the loss of the last few hours has ended",
      when: "missed blocks burned the month's allowance `hour_factor` times too fast over the last hour, or `six_hours_factor` times over the last six hours, and still do over the last 5 minutes",
      for: "1m",
      resolveFor: "5m",
      thresholds: {
        hour_factor: threshold("number", FAST_1H, "burn rate over the last hour"),
        six_hours_factor: threshold("number", FAST_6H, "burn rate over the last six hours"),
      },
      inhibits: [own("slow-burn"), own("at-risk"), own("headroom-low"), own("rate-low"), ...lesser],
      raw: {
        expr: () =>
          `(${burns("1h", 14.4)} and ${burns("5m", 14.4)}) or (${burns("6h", 6)} and ${burns("5m", 6)})`,
        value: "{{ $value | humanizePercentage }} of calls fail.",
        example: burnt("20m"),
      },
      evaluate: (input, limit) =>
        evaluateBurn(input, boundary, [
          ["1h", limit("hour_factor")],
          ["6h", limit("six_hours_factor")],
        ]),
    }),
    condition({
      ...common,
      name: own("slow-burn"),
      severity: "warning",
      title: `Missed blocks burn ${reward} slowly`,
      end: "the present loss is small enough for the month",
      when: "missed blocks burned the month's allowance `three_days_factor` times too fast over the last three days, and still do over the last six hours",
      for: "1h",
      resolveFor: "1h",
      thresholds: { three_days_factor: threshold("number", 1, "burn rate over the last three days") },
      raw: {
        expr: () => `${burns("3d", 1)} and ${burns("6h", 1)}`,
        value: "{{ $value | humanizePercentage }} of calls in the last 3 days failed.",
        example: burnt("8h"),
      },
      evaluate: ({ assessment }, limit) => evaluateSlowBurn(assessment, boundary, limit("three_days_factor")),
    }),
  ];
}
