import type { Outcome, WhatIf } from "../policy/assessment.ts";
import { whatIf } from "../policy/what-if.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import type { Report, ReportVerdict } from "../../platform/report/document.ts";
import { formatCents, formatCount } from "../../platform/report/format.ts";
import { formatRate } from "./block-format.ts";
import { percent } from "./month-json.ts";
import type { ValidatorData } from "./validator-data.ts";

/** What would happen, and the bad blocks that it would add. */
export interface Scenario {
  /** "an outage of 4 h". */
  readonly name: string;
  /** Undefined while the block time is not known. */
  readonly misses: (data: ValidatorData) => bigint | undefined;
}

/** `what-if`: what an outage or a restart of the sidecar now would cost this month. */
export function whatIfReport(validators: readonly ValidatorData[], scenario: Scenario): Report {
  const results = validators.map((data) => {
    const misses = scenario.misses(data);
    return {
      validator: data.ledger.validator,
      result: misses === undefined ? undefined : whatIf(data.assessment, misses),
    };
  });
  return {
    title: `What if: ${scenario.name}, now`,
    verdict: verdictOf(results.map(({ result }) => result)),
    blocks: [
      {
        kind: "table",
        columns: [
          { title: "Validator" },
          { title: "Missed", align: "right" },
          { title: "Month without", align: "right" },
          { title: "Month with", align: "right" },
          { title: "Tier without" },
          { title: "Tier with" },
          { title: "Cost", align: "right" },
        ],
        rows: results.map(({ validator, result }) => cellsOf(validator, result)),
      },
      {
        kind: "text",
        text: "Rates are those expected at the end of the month. Cost is in units of the programme's currency.",
      },
      ...(results.some(({ result }) => result === undefined)
        ? [{ kind: "text", text: NOT_KNOWN } as const]
        : []),
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
              percent(result.without.rate) ?? "",
              percent(result.with.rate) ?? "",
              result.without.tier,
              result.with.tier,
              String(result.costCents),
            ],
      ),
    },
  };
}

const NOT_KNOWN =
  "Where there is no number, the block time is not known yet: the watchdog needs 30 blocks for it.";

/** A problem when it would cross a boundary. */
function verdictOf(results: readonly (WhatIf | undefined)[]): ReportVerdict {
  if (results.some((result) => result !== undefined && result.crosses.length > 0)) return "problem";
  return results.every((result) => result === undefined) ? "unseen" : "fine";
}

function cellsOf(validator: string, result: WhatIf | undefined): readonly string[] {
  if (result === undefined) return [validator, "–", "–", "–", "–", "–", "–"];
  return [
    validator,
    formatCount(result.misses),
    formatRate(result.without.rate),
    formatRate(result.with.rate),
    result.without.tier,
    result.with.tier,
    formatCents(result.costCents),
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
  return { success_rate_percent: percent(rate), tier, pay_cents: String(rewardCents) };
}
