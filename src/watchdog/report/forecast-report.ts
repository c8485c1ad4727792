import type { Assessment } from "../policy/assessment.ts";
import { BURN_WINDOWS } from "../policy/assessment.ts";
import type { Report, ReportBlock } from "../../platform/report/document.ts";
import { formatCents } from "../../platform/report/format.ts";
import { formatRate } from "./block-format.ts";
import { assessmentJson } from "./assessment-json.ts";
import { headroomText } from "./handover.ts";
import { earlyBlocks, monthVerdictOf } from "./status-report.ts";
import type { ValidatorData } from "./validator-data.ts";

/** `forecast`: how the month will end, how far each boundary is, and whether rotation is near. */
export function forecastReport(validators: readonly ValidatorData[]): Report {
  const rows = validators.map(({ ledger, assessment }) => forecastCells(ledger.validator, assessment));
  return {
    title: `Forecast of ${validators[0]?.assessment.month ?? "the month"}`,
    verdict: monthVerdictOf(validators),
    blocks: [
      {
        kind: "table",
        columns: [
          { title: "Validator" },
          { title: "Now", align: "right" },
          { title: "Low", align: "right" },
          { title: "Expected", align: "right" },
          { title: "High", align: "right" },
          { title: "Tier" },
          { title: "Pay", align: "right" },
        ],
        rows,
      },
      { kind: "text", text: LEGEND },
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
    csv: {
      columns: ["validator", "now", "low", "expected", "high", "tier", "pay"],
      rows,
    },
  };
}

const LEGEND =
  "Eight of ten months with misses like those of the recent days end between low and high. Burn 1.00 uses what the month allows exactly by its end.";

function forecastCells(validator: string, { rate, forecast }: Assessment): readonly string[] {
  if (forecast === undefined) return [validator, formatRate(rate), "–", "–", "–", "–", "–"];
  const { low, middle, high, tiers, rewardCents } = forecast;
  return [
    validator,
    ...[rate, low, middle, high].map(formatRate),
    tiers.low === tiers.high ? tiers.middle : `${tiers.low} to ${tiers.high}`,
    formatCents(rewardCents.middle),
  ];
}

function detailBlocks({ ledger, assessment }: ValidatorData): readonly ReportBlock[] {
  const { headroom, rotation } = assessment;
  const rows = headroom.map((one) => [
    one.boundary === "full" ? "full pay" : "any pay",
    headroomText(one),
    one.state === "open" ? `${(100 * one.requiredRate).toFixed(4)} %` : "–",
    ...BURN_WINDOWS.map((window) => burnText(one.burnRates[window])),
  ]);
  return [
    { kind: "heading", text: ledger.validator },
    headroom.length === 0
      ? { kind: "text", text: "The block time is not known yet, so neither is the headroom." }
      : {
          kind: "table",
          columns: [
            { title: "For" },
            { title: "Lost after an outage of" },
            { title: "Rate needed from now on", align: "right" },
            ...BURN_WINDOWS.map((window) => ({ title: `Burn ${window}`, align: "right" }) as const),
          ],
          rows,
        },
    { kind: "text", text: rotationText(rotation) },
  ];
}

function burnText(rate: number | undefined): string {
  return rate === undefined ? "–" : rate.toFixed(2);
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
