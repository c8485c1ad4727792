import type { JsonObject } from "../../platform/base/json.ts";
import { heading, paragraph, right, table } from "../../platform/report/blocks.ts";
import type { Report, ReportBlock, ReportOutcome } from "../../platform/report/document.ts";
import { formatCents, formatCount, formatRoundedDuration } from "../../platform/base/text.ts";
import { BURN_WINDOWS, foundedForecast, isEarly, REGIME_NAMES } from "../policy/assessment.ts";
import type { Assessment, Forecast, Outcome, WhatIf } from "../policy/assessment.ts";
import { whatIf } from "../policy/what-if.ts";

import { headroomText } from "./handover.ts";
import { assessmentJson, earlyBlocks, monthOutcomeOf } from "./status-report.ts";
import type { ValidatorData } from "./validator-data.ts";
import { percentOrNull, formatRate } from "../policy/reward-tier.ts";

/** Creates the report for `forecast`, with the month's expected result, the remaining misses, and the rotation risk. */
export function forecastReport(validators: readonly ValidatorData[]): Report {
  const rows = validators.map(({ ledger, assessment }) => forecastCells(ledger.validator, assessment));
  return {
    title: `Forecast of ${validators[0]?.assessment.month ?? "the month"}`,
    outcome: monthOutcomeOf(validators),
    blocks: [
      ...table(
        ["Validator", right("Now"), right("Low"), right("Expected"), right("High"), "Tier", right("Pay")],
        rows,
      ),
      ...paragraph(LEGEND),
      ...earlyBlocks(validators),
      ...validators.flatMap(detailBlocks),
    ],
    data: {
      report: "forecast",
      validators: validators.map(({ ledger, assessment }) => ({
        validator: ledger.validator,
        ...assessmentJson(assessment),
      })),
    },
    csv: { columns: ["validator", "now", "low", "expected", "high", "tier", "pay"], rows },
  };
}

const LEGEND =
  "Expected: the current loss continues, and an outage that is over does not recur. Low to high: 80 % of the months drawn from the last 28 days, where each drawn day is worse than all n observed days with probability 1 / (n + 1), and never less than the chance of single blocks. Burn 1.00 uses up what the month allows exactly at its end.";

function forecastCells(validator: string, assessment: Assessment): readonly string[] {
  const { rate, policy } = assessment;
  const forecast = foundedForecast(assessment);
  if (forecast === undefined) {
    const tier = isEarly(assessment) ? "too early" : "–";
    return [validator, formatRate(rate), "–", "–", "–", tier, "–"];
  }
  const { low, middle, high, tiers, rewardCents } = forecast;
  return [
    validator,
    ...[rate, low, middle, high].map(formatRate),
    tiers.low === tiers.high ? tiers.middle : `${tiers.low} to ${tiers.high}`,
    formatCents(rewardCents.middle, policy.currency),
  ];
}

function detailBlocks({ ledger, assessment }: ValidatorData): readonly ReportBlock[] {
  const { headroom, rotation, forecast } = assessment;
  const rows = headroom.map((one) => [
    one.boundary === "full" ? "full pay" : "any pay",
    headroomText(one),
    one.lostInMs === undefined ? "–" : formatRoundedDuration(one.lostInMs),
    one.state === "open" ? `${(100 * one.requiredRate).toFixed(4)} %` : "–",
    ...BURN_WINDOWS.map((window) => one.burnRates[window]?.toFixed(2) ?? "–"),
  ]);
  return [
    ...heading(ledger.validator),
    ...(headroom.length === 0
      ? paragraph("The block time is not known yet, so neither is the headroom.")
      : table(
          [
            "For",
            "Lost after an outage of",
            right("At the current loss"),
            right("Rate needed from now on"),
            ...BURN_WINDOWS.map((window) => right(`Burn ${window}`)),
          ],
          rows,
        )),
    ...(forecast === undefined ? [] : regimeTable(forecast)),
    ...paragraph(rotationText(rotation)),
  ];
}

function regimeTable({ regimes }: Forecast): readonly ReportBlock[] {
  return table(
    ["If the rest is like", right("Missed then"), right("Month ends at"), "Tier"],
    regimes.map(({ name, badShare, end, tier }) => [
      REGIME_NAMES[name],
      `${(100 * badShare).toFixed(4)} %`,
      formatRate(end),
      tier,
    ]),
  );
}

function rotationText({ state, inARow, inWindow, months }: Assessment["rotation"]): string {
  const below = months.length === 0 ? "" : ` (${months.join(", ")})`;
  const counts = `${inARow} months in a row without pay before this one, ${inWindow} of the last five${below}`;
  switch (state) {
    case "none":
      return `Rotation: no risk; ${counts}.`;
    case "next":
      return `Rotation: this month without pay would make the validator a candidate; ${counts}.`;
    case "due":
      return `Rotation: the validator is a candidate; ${counts}.`;
  }
}

/** A hypothetical event and the bad blocks that it would cause. */
export interface Scenario {
  /** Name of the event, such as "an outage of 4 h". */
  readonly name: string;
  /** Returns the number of bad blocks, or undefined until the block time is known. */
  readonly misses: (data: ValidatorData) => bigint | undefined;
}

/** Creates the report for `what-if`, with the cost that an outage or a sidecar restart would have if it happened now. */
export function whatIfReport(validators: readonly ValidatorData[], scenario: Scenario): Report {
  const results = validators.map((data) => {
    const { ledger, policy, assessment } = data;
    const misses = scenario.misses(data);
    const result = misses === undefined ? undefined : whatIf(assessment, misses);
    return { validator: ledger.validator, currency: policy.currency, result };
  });
  return {
    title: `What if: ${scenario.name}, now`,
    outcome: outcomeOf(results.map(({ result }) => result)),
    blocks: [
      ...table(
        [
          "Validator",
          right("Missed"),
          right("Month without"),
          right("Month with"),
          "Tier without",
          "Tier with",
          right("Less pay"),
        ],
        results.map(({ validator, result, currency }) => cellsOf(validator, result, currency)),
      ),
      ...paragraph("Rates and pay are as expected at the end of the month."),
      ...paragraph(results.some(({ result }) => result === undefined) ? NOT_KNOWN : undefined),
    ],
    data: {
      report: "what-if",
      scenario: scenario.name,
      validators: results.map(({ validator, result }) => ({ validator, ...resultJson(result) })),
    },
    csv: {
      columns: [
        "validator",
        "missed",
        "rate_without",
        "rate_with",
        "tier_without",
        "tier_with",
        "cost_cents",
      ],
      rows: results.map(({ validator, result }) =>
        result === undefined
          ? [validator, "", "", "", "", "", ""]
          : [
              validator,
              String(result.misses),
              percentOrNull(result.without.rate) ?? "",
              percentOrNull(result.with.rate) ?? "",
              result.without.tier,
              result.with.tier,
              String(result.costCents),
            ],
      ),
    },
  };
}

const NOT_KNOWN =
  "Where a number is missing, the block time is not known yet: the watchdog needs 30 blocks to measure it.";

/** Returns "problem" if any validator would fall below a boundary. */
function outcomeOf(results: readonly (WhatIf | undefined)[]): ReportOutcome {
  if (results.some((result) => result !== undefined && result.crosses.length > 0)) return "problem";
  return results.every((result) => result === undefined) ? "unseen" : "fine";
}

function cellsOf(validator: string, result: WhatIf | undefined, currency?: string): readonly string[] {
  if (result === undefined) return [validator, "–", "–", "–", "–", "–", "–"];
  return [
    validator,
    formatCount(result.misses),
    formatRate(result.without.rate),
    formatRate(result.with.rate),
    result.without.tier,
    result.with.tier,
    formatCents(result.costCents, currency),
  ];
}

function resultJson(result: WhatIf | undefined): JsonObject {
  if (result === undefined) return { misses: null };
  return {
    misses: String(result.misses),
    without: outcomeJson(result.without),
    with: outcomeJson(result.with),
    cost_cents: String(result.costCents),
    crosses: result.crosses,
  };
}

function outcomeJson({ rate, tier, rewardCents }: Outcome): JsonObject {
  return { success_rate_percent: percentOrNull(rate), tier, pay_cents: String(rewardCents) };
}
