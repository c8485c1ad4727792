import type { JsonObject } from "../../platform/base/json.ts";
import { formatCents, formatCount, formatMinute, formatRoundedDuration } from "../../platform/base/text.ts";
import { HOUR_MS, isoTime } from "../../platform/base/time.ts";
import type { ReportBlock } from "../../platform/report/document.ts";
import type { CostedIncident } from "../alerts/incidents.ts";

/** Incidents that are listed at most; the rest is counted. */
const MAX_INCIDENTS = 10;

/** The worst incidents of one validator as a table, oldest first: when, which blocks, and what they cost. */
export function incidentBlocks(incidents: readonly CostedIncident[]): readonly ReportBlock[] {
  if (incidents.length === 0) return [];
  const worst = incidents.toSorted((a, b) => (a.bad > b.bad ? -1 : 1)).slice(0, MAX_INCIDENTS);
  const rest = incidents.length - worst.length;
  const hasBlocks = worst.some(({ blocks }) => blocks !== undefined);
  const columns = [
    { title: "Incident from (UTC)" },
    { title: "Within", align: "right" },
    ...(hasBlocks ? [{ title: "Blocks" } as const] : []),
    { title: "Missed", align: "right" },
    { title: "Cost", align: "right" },
    { title: "An hour", align: "right" },
    { title: "Cause" },
  ] as const;
  const rows = worst
    .toSorted((a, b) => a.fromMs - b.fromMs)
    .map(({ fromMs, toMs, blocks, bad, cause, costCents: cost, currency }) => [
      formatMinute(fromMs),
      formatRoundedDuration(toMs - fromMs),
      ...(hasBlocks ? [blocks === undefined ? "–" : `${blocks.from}–${blocks.to}`] : []),
      formatCount(bad),
      formatCents(cost, currency),
      formatCents(costPerHour(cost, toMs - fromMs), currency),
      cause,
    ]);
  return [
    { kind: "table", columns, rows },
    ...(rest === 0 ? [] : [{ kind: "text", text: `${rest} smaller incidents are not listed.` } as const]),
  ];
}

/** Encodes an incident. Amounts, counts and heights are decimal strings. */
export function incidentJson({
  fromMs,
  toMs,
  blocks,
  bad,
  cause,
  costCents: cost,
}: CostedIncident): JsonObject {
  return {
    from: isoTime(fromMs),
    to: isoTime(toMs),
    blocks: blocks === undefined ? null : { from: String(blocks.from), to: String(blocks.to) },
    misses: String(bad),
    cost_cents: String(cost),
    cost_per_hour_cents: String(costPerHour(cost, toMs - fromMs)),
    cause,
  };
}

/** Cost of an hour of an incident, rounded down. */
function costPerHour(cents: bigint, timeMs: number): bigint {
  return timeMs <= 0 ? cents : (cents * BigInt(HOUR_MS)) / BigInt(Math.round(timeMs));
}
