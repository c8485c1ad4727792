import { type BlockCounts, NO_BLOCKS } from "../ledger/block-counts.ts";
import { formatPercent } from "../policy/reward-tier.ts";
import type { Report, ReportBlock, ReportVerdict } from "../../platform/report/document.ts";
import { formatCents, formatCount, formatDuration, formatMinute } from "../../platform/report/format.ts";
import { formatRate } from "./block-format.ts";
import { sparkline } from "../../platform/report/sparkline.ts";
import type { MonthFacts } from "./month-facts.ts";

/** Sum of all results. */
export function blocksOf({ good, bad, unknown }: BlockCounts = NO_BLOCKS): bigint {
  return good + bad + unknown;
}

/** One row per validator: rate, tier and pay. The column of backfilled blocks is there when there are any. */
function summaryTable(months: readonly MonthFacts[]): ReportBlock {
  const hasBackfill = months.some(({ record }) => record.backfilled !== undefined);
  return {
    kind: "table",
    columns: [
      { title: "Validator" },
      { title: "Rate", align: "right" },
      { title: "Tier" },
      { title: "Pay, linear", align: "right" },
      { title: "Pay, quadratic", align: "right" },
      { title: "Good", align: "right" },
      { title: "Missed", align: "right" },
      { title: "Unknown", align: "right" },
      { title: "Estimated", align: "right" },
      ...(hasBackfill ? [{ title: "Backfilled", align: "right" } as const] : []),
    ],
    rows: months.map(({ validator, rate, tier, payCents, record: { counts, estimated, backfilled } }) => [
      validator,
      formatRate(rate),
      tier ?? "–",
      payCents === undefined ? "–" : formatCents(payCents.linear),
      payCents === undefined ? "–" : formatCents(payCents["revenue-quadratic"]),
      formatCount(counts.good),
      formatCount(counts.bad),
      formatCount(counts.unknown),
      formatCount(blocksOf(estimated)),
      ...(hasBackfill ? [formatCount(blocksOf(backfilled))] : []),
    ]),
  };
}

/** The table of all validators, and what its columns mean as far as they have something. */
export function summaryBlocks(months: readonly MonthFacts[]): readonly ReportBlock[] {
  const some = (blocks: (record: MonthFacts["record"]) => bigint): boolean =>
    months.some(({ record }) => blocks(record) > 0n);
  const notes = [
    ...(some(({ counts }) => counts.unknown)
      ? ["Unknown: nobody saw the result; these blocks are not in the rate."]
      : []),
    ...(some(({ estimated }) => blocksOf(estimated))
      ? ["Estimated: blocks before the first reading, whose time is estimated."]
      : []),
    ...(some(({ backfilled }) => blocksOf(backfilled))
      ? ["Backfilled: read from Prometheus after a gap."]
      : []),
  ];
  return [
    summaryTable(months),
    ...(notes.length === 0 ? [] : [{ kind: "text", text: notes.join(" ") } as const]),
  ];
}

/** The main table of month reports: one row per validator with raw values. */
export function summaryCsv(months: readonly MonthFacts[]): Report["csv"] {
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
      payCents === undefined ? "" : String(payCents.linear),
      payCents === undefined ? "" : String(payCents["revenue-quadratic"]),
      String(record.counts.good),
      String(record.counts.bad),
      String(record.counts.unknown),
      String(blocksOf(record.estimated)),
      String(blocksOf(record.backfilled)),
      record.seal?.hash ?? "",
    ]),
  };
}

/** Misses by day and by hour of the day as bars. Days without a block are dots. */
export function missesBlock({ days, badByHour, record }: MonthFacts): ReportBlock {
  if (record.counts.bad === 0n) return { kind: "text", text: "No miss." };
  const ofDays = days.map((day) => (day === undefined ? undefined : Number(day.counts.bad)));
  const ofHours = badByHour.map(Number);
  const worstDay = days[indexOfMost(ofDays)]?.startMs ?? 0;
  const worstHour = String(indexOfMost(ofHours)).padStart(2, "0");
  return {
    kind: "sparks",
    lines: [
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
    ],
  };
}

function most(values: readonly (number | undefined)[]): number {
  return Math.max(0, ...values.map((value) => value ?? 0));
}

function indexOfMost(values: readonly (number | undefined)[]): number {
  return values.indexOf(most(values));
}

/** Incidents that are listed at most; the rest is counted. */
const MAX_INCIDENTS = 10;

/** The worst incidents, oldest first. */
export function incidentBlocks({ incidents }: MonthFacts): readonly ReportBlock[] {
  if (incidents.length === 0) return [];
  const worst = incidents.toSorted((a, b) => (a.bad > b.bad ? -1 : 1)).slice(0, MAX_INCIDENTS);
  const rest = incidents.length - worst.length;
  const rows = worst
    .toSorted((a, b) => a.fromMs - b.fromMs)
    .map(({ fromMs, toMs, bad, cause }) => [
      formatMinute(fromMs),
      formatDuration(toMs - fromMs),
      formatCount(bad),
      cause,
    ]);
  return [
    {
      kind: "table",
      columns: [
        { title: "Incident from (UTC)" },
        { title: "Within", align: "right" },
        { title: "Missed", align: "right" },
        { title: "Cause" },
      ],
      rows,
    },
    ...(rest === 0 ? [] : [{ kind: "text", text: `${rest} smaller incidents are not listed.` } as const]),
  ];
}

/** What a month says of all validators: a problem when one is not paid in full. */
export function monthVerdict(months: readonly MonthFacts[]): ReportVerdict {
  if (months.every(({ rate }) => rate === undefined)) return "unseen";
  return months.some(({ tier }) => tier !== undefined && tier !== "full") ? "problem" : "fine";
}
