import type { JsonObject } from "../../platform/base/json.ts";
import type { Month } from "../../platform/base/month.ts";
import { counted, formatCents, formatCount, formatMinute } from "../../platform/base/text.ts";
import { heading, list, paragraph, right, sparks, table } from "../../platform/report/blocks.ts";
import type { Report, ReportBlock, ReportOutcome } from "../../platform/report/document.ts";
import { sparkline } from "../../platform/report/sparkline.ts";
import { allBlocks } from "../ledger/ledger-view.ts";
import { CURVES } from "../policy/assessment.ts";
import { formatPercent, formatRate } from "../policy/reward-tier.ts";
import { costText } from "../policy/cost-text.ts";
import { costOf } from "../policy/cost.ts";
import { comparisonBlocks, incidentBlocks } from "./report-blocks.ts";
import { type MonthFacts, monthFacts, monthJson, tierChanges } from "./month-facts.ts";
import { standingJson } from "../policy/standing-json.ts";
import { paymentText } from "../policy/payment-texts.ts";
import type { ValidatorData } from "./validator-data.ts";

/**
 * Creates the report for `report oracle`, with one month's results and details for each validator. A finalized month always yields
 * the same report.
 */
export function monthReport(validators: readonly ValidatorData[], month: Month): Report {
  const months = factsOf(validators, month);
  const open = validators.filter(isCompared(month));
  return {
    title: `Oracle report of ${month}`,
    outcome: monthOutcome(months),
    blocks: [
      ...paragraph(stateText(months, validators)),
      ...paragraph(months.length === 0 ? undefined : `${PAY_NOTE} ${policyText(months)}`),
      ...summaryBlocks(months),
      ...months.flatMap(courseBlocks),
      ...missing(validators, months),
      ...comparison(open),
    ],
    data: {
      report: "oracle",
      month,
      validators: months.map(monthJson),
      ...(open.length === 0 ? {} : { standings: open.map(standingData) }),
    },
    csv: summaryCsv(months),
  };
}

/**
 * Returns a predicate that selects the validators to compare with others in the month's report. The comparison describes the
 * present, so only the current month's report contains comparisons.
 */
function isCompared(month: Month): (data: ValidatorData) => boolean {
  return ({ assessment, standing }) => assessment.month === month && standing !== undefined;
}

function comparison(open: readonly ValidatorData[]): readonly ReportBlock[] {
  const blocks = comparisonBlocks(open);
  return blocks.length === 0 ? [] : [...heading("Compared with the other validators in the set"), ...blocks];
}

function standingData({ ledger, standing }: ValidatorData): JsonObject {
  return { validator: ledger.validator, standing: standing === undefined ? null : standingJson(standing) };
}

/** Returns the months' common currency. Returns undefined if the currencies differ, because a sum then has no currency. */
function commonCurrency(months: readonly MonthFacts[]): string | undefined {
  const names = new Set(months.map(({ policy }) => policy.currency));
  return names.size === 1 ? [...names][0] : undefined;
}

/** Creates the report for `report month-close`, which explains each validator's pay and the changes that would have led to another tier. */
export function monthCloseReport(validators: readonly ValidatorData[], month: Month): Report {
  const months = factsOf(validators, month);
  const pay = months.reduce((sum, { payCents, policy }) => sum + (payCents?.[policy.curve] ?? 0n), 0n);
  return {
    title: `Month close of ${month}`,
    outcome: monthOutcome(months),
    blocks: [
      ...paragraph(stateText(months, validators)),
      ...paragraph(
        `${counted(months.length, "validator")}, pay together: ${formatCents(pay, commonCurrency(months))}. ${PAY_NOTE}`,
      ),
      ...summaryBlocks(months),
      ...months.flatMap(closeBlocks),
      ...missing(validators, months),
    ],
    data: { report: "month-close", month, pay_cents: String(pay), validators: months.map(monthJson) },
    csv: summaryCsv(months),
  };
}

const PAY_NOTE = "Pay is an estimate from the node's calls that counts every block as signed.";

/** Names each policy's source and curve. The curve determines which of the table's pay columns applies. */
function policyText(months: readonly MonthFacts[]): string {
  const policies = new Set(months.map(({ policy }) => `${policy.curve} (${policy.source})`));
  return `Policy: ${[...policies].join(", ")}.`;
}

function factsOf(validators: readonly ValidatorData[], month: Month): readonly MonthFacts[] {
  return validators.flatMap((data) => monthFacts(data, month) ?? []);
}

function stateText(months: readonly MonthFacts[], validators: readonly ValidatorData[]): string {
  const finalized = months.filter(({ record }) => record.finalized !== undefined).length;
  if (months.length === 0) {
    const all = validators.flatMap(({ ledger }) => ledger.months().map(({ month }) => month));
    const known = [...new Set(all)].toSorted().join(", ");
    const others = known === "" ? "" : ` Months with counted blocks, for --month: ${known}.`;
    return `No block of this month is counted.${others}`;
  }
  return finalized === months.length
    ? "The month is closed; its counts are sealed."
    : "The month is open: its counts still change.";
}

function missing(
  validators: readonly ValidatorData[],
  months: readonly MonthFacts[],
): readonly ReportBlock[] {
  const known = new Set(months.map(({ validator }) => validator));
  const names = validators.map(({ ledger }) => ledger.validator).filter((name) => !known.has(name));
  const isNamed = names.length > 0 && months.length > 0;
  return paragraph(isNamed ? `Without a counted block: ${names.join(", ")}.` : undefined);
}

function courseBlocks(facts: MonthFacts): readonly ReportBlock[] {
  const items = facts.events.map(({ fromMs, text }) => `${formatMinute(fromMs)} ${text}`);
  return [
    ...heading(`${facts.validator}: ${formatRate(facts.rate)}, tier ${facts.tier ?? "unknown"}`),
    ...paragraph(facts.payment && paymentText(facts.payment)),
    ...missesBlock(facts),
    ...incidentLines(facts),
    ...alertBlocks(facts),
    ...list(items),
  ];
}

function alertBlocks({ alerts }: MonthFacts): readonly ReportBlock[] {
  if (alerts.length === 0) return [];
  const rows = alerts.map(({ title, severity, sinceMs, resolvedAtMs }) => [
    title,
    severity,
    formatMinute(sinceMs),
    resolvedAtMs === undefined ? "after the month" : formatMinute(resolvedAtMs),
  ]);
  return table(["Alert", "Severity", "Since (UTC)", "Resolved"], rows);
}

function closeBlocks(facts: MonthFacts): readonly ReportBlock[] {
  const { policy, record, payCents, rate, payment } = facts;
  return [
    ...heading(`${facts.validator}: tier ${facts.tier ?? "unknown"}, pay ${payText(facts)}`),
    ...paragraph(
      `Rate ${formatRate(rate)}: ${formatCount(record.counts.good)} good, ${formatCount(record.counts.bad)} missed, ${formatCount(record.counts.unknown)} unknown, counted from ${formatMinute(record.coveredFromMs)} UTC${originText(record)}. Policy: ${policy.curve} (${policy.source})${payCents === undefined ? "" : `; linear pays ${formatCents(payCents.linear, policy.currency)}, revenue-quadratic ${formatCents(payCents["revenue-quadratic"], policy.currency)}`}.`,
    ),
    ...paragraph(payment && paymentText(payment)),
    ...sourceBlocks(facts),
    ...missesBlock(facts),
    ...incidentLines(facts),
    ...list(tierChanges(facts)),
    ...paragraph(record.finalized && `Seal: sha256 ${record.finalized.hash}`),
  ];
}

/** States how many blocks were estimated or read from Prometheus instead of being counted by a running watchdog. */
function originText({ estimated, backfilled }: MonthFacts["record"]): string {
  const texts = Object.entries({ estimated, backfilled })
    .filter(([, counts]) => allBlocks(counts) > 0n)
    .map(([what, counts]) => `${formatCount(allBlocks(counts))} ${what}`);
  return texts.length === 0 ? "" : `, of them ${texts.join(" and ")}`;
}

function payText({ payCents, policy }: MonthFacts): string {
  return payCents === undefined
    ? "unknown"
    : `${formatCents(payCents[policy.curve], policy.currency)} of ${formatCents(policy.fullRewardCents, policy.currency)}`;
}

/** Lists each source's rate, if there are several sources. */
function sourceBlocks({ sources }: MonthFacts): readonly ReportBlock[] {
  if (sources.length < 2) return [];
  return table(
    ["Counted by", right("Rate"), right("Good"), right("Blocks")],
    sources.map(({ source, rate }) => [
      SOURCE_NAMES[source],
      formatRate(rate),
      formatCount(rate.good),
      formatCount(rate.total),
    ]),
  );
}

const SOURCE_NAMES = {
  calls: "node: calls to the sidecar",
  votes: "blocks: votes with a price",
  revenue: "chain: what pay is based on",
} as const;

/** Creates a line for each incident, and a line for the blocks whose hour is unknown or no longer stored. */
function incidentLines({ incidents, record, cost, costed }: MonthFacts): readonly ReportBlock[] {
  if (cost.blocks === 0n) return [];
  const known = incidents.reduce((sum, { bad }) => sum + bad, 0n);
  return [
    ...paragraph(`Missed: ${costText(cost)}.`),
    ...incidentBlocks(incidents, (blocks) => costOf(costed, blocks), record.counts.bad - known),
  ];
}

/** Returns the good, missed, unknown, estimated and backfilled block counts for the table. */
function blockNumbers({ counts, estimated, backfilled }: MonthFacts["record"]): readonly bigint[] {
  return [counts.good, counts.bad, counts.unknown, allBlocks(estimated), allBlocks(backfilled)];
}

/** Creates a table with the rate, tier and pay of each validator. Omits the column for backfilled blocks if it would be empty. */
function summaryTable(months: readonly MonthFacts[]): readonly ReportBlock[] {
  const hasBackfill = months.some(({ record }) => record.backfilled !== undefined);
  const numbers = ["Good", "Missed", "Unknown", "Estimated", ...(hasBackfill ? ["Backfilled"] : [])];
  const numbersOf = (record: MonthFacts["record"]): readonly string[] =>
    blockNumbers(record)
      .slice(0, numbers.length)
      .map((count) => formatCount(count));
  return table(
    [
      "Validator",
      right("Rate"),
      "Tier",
      ...["Pay, linear", "Pay, quadratic", ...numbers].map((title) => right(title)),
    ],
    months.map(({ validator, rate, tier, payCents, policy: { currency }, record }) => [
      validator,
      formatRate(rate),
      tier ?? "–",
      ...CURVES.map((curve) => (payCents === undefined ? "–" : formatCents(payCents[curve], currency))),
      ...numbersOf(record),
    ]),
  );
}

/** Creates the table of all validators, and explains the block columns that are not empty. */
function summaryBlocks(months: readonly MonthFacts[]): readonly ReportBlock[] {
  const some = (blocks: (record: MonthFacts["record"]) => bigint): boolean =>
    months.some(({ record }) => blocks(record) > 0n);
  const notes = [
    some(({ counts }) => counts.unknown) &&
      "Unknown: nobody saw the result; these blocks are not in the rate.",
    some(({ estimated }) => allBlocks(estimated)) &&
      "Estimated: blocks from before the first reading, whose times are estimated.",
    some(({ backfilled }) => allBlocks(backfilled)) && "Backfilled: read from Prometheus after a gap.",
  ].filter((note) => note !== false);
  return [...summaryTable(months), ...paragraph(notes.length === 0 ? undefined : notes.join(" "))];
}

/** Creates the main table of the month reports, with a row of raw values for each validator. */
function summaryCsv(months: readonly MonthFacts[]): Report["csv"] {
  return {
    columns: [
      "validator",
      "month",
      "success_rate_percent",
      "tier",
      "pay_linear_cents",
      "pay_revenue_quadratic_cents",
      "good",
      "missed",
      "unknown",
      "estimated",
      "backfilled",
      "seal",
    ],
    rows: months.map(({ validator, month, rate, tier, payCents, record }) => [
      validator,
      month,
      rate === undefined ? "" : formatPercent(rate),
      tier ?? "",
      ...CURVES.map((curve) => String(payCents?.[curve] ?? "")),
      ...blockNumbers(record).map(String),
      record.finalized?.hash ?? "",
    ]),
  };
}

/** Creates bar charts of the misses by day and by hour of the day. Days without blocks are shown as dots. */
function missesBlock({ days, badByHour, record }: MonthFacts): readonly ReportBlock[] {
  if (record.counts.bad === 0n) return paragraph("No miss.");
  const ofDays = days.map((day) => (day === undefined ? undefined : Number(day.counts.bad)));
  const ofHours = badByHour.map(Number);
  const worstDay = days[indexOfMost(ofDays)]?.startMs ?? 0;
  const worstHour = String(indexOfMost(ofHours)).padStart(2, "0");
  return sparks([
    {
      label: "Misses by day",
      bars: sparkline(ofDays),
      note: `most: ${formatCount(most(ofDays))} on ${formatMinute(worstDay).slice(0, 10)}`,
    },
    {
      label: "Misses by hour",
      bars: sparkline(ofHours),
      note: `most: ${formatCount(most(ofHours))} from ${worstHour}:00 UTC`,
    },
  ]);
}

function most(values: readonly (number | undefined)[]): number {
  return Math.max(0, ...values.map((value) => value ?? 0));
}

function indexOfMost(values: readonly (number | undefined)[]): number {
  return values.indexOf(most(values));
}

/** Returns the month's outcome, which is "problem" if any validator is not paid in full. */
function monthOutcome(months: readonly MonthFacts[]): ReportOutcome {
  if (months.every(({ rate }) => rate === undefined)) return "unseen";
  return months.some(({ tier }) => tier !== undefined && tier !== "full") ? "problem" : "fine";
}
