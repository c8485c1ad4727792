import { monthOf } from "../../platform/base/month.ts";
import { HOUR_MS, isoTime } from "../../platform/base/time.ts";
import { type BlockCounts, type Rollup, sumCounts } from "../ledger/ledger-view.ts";
import { type Assessment, type Headroom, tierCell } from "../policy/assessment.ts";
import { formatRate, percentOrNull, successRate } from "../policy/reward-tier.ts";
import { heading, list, paragraph, right, sparks, table } from "../../platform/report/blocks.ts";
import type { Report, ReportBlock, ReportOutcome, Spark } from "../../platform/report/document.ts";
import { formatCount, formatMinute, formatRoundedDuration, formatTime } from "../../platform/base/text.ts";
import { costedMonth, incidentView, incidentsOf, shiftDataFromMs, withCosts } from "../alerts/incidents.ts";
import type { CostedIncident } from "../alerts/incidents.ts";
import { SCATTERED } from "../alerts/miss-causes.ts";
import { type Cost, costText } from "../policy/cost-text.ts";
import { costOf } from "../policy/cost.ts";
import { incidentBlocks } from "./report-blocks.ts";
import { chainFactsJson, chainItems } from "./chain-facts.ts";
import { countsJson } from "./month-facts.ts";
import { sparkline } from "../../platform/report/sparkline.ts";
import type { DataRange } from "./report-data.ts";
import type { AlertEpisode, ValidatorData } from "./validator-data.ts";

interface Moment {
  readonly atMs: number;
  readonly validator: string;
  readonly what: string;
  readonly text: string;
}

/** Creates the report for `report handover`, with the events of a shift and the open problems for the next shift. */
export function handoverReport(validators: readonly ValidatorData[], shift: DataRange): Report {
  const moments = validators.flatMap((data) => momentsOf(data, shift)).toSorted((a, b) => a.atMs - b.atMs);
  const shifts = validators.map((data) => ({ data, counts: sumCounts(rollupsIn(data, shift)) }));
  return {
    title: `Handover, ${formatMinute(shift.fromMs)} to ${formatMinute(shift.toMs)} UTC`,
    outcome: outcomeOf(validators),
    blocks: [
      ...heading("Now"),
      ...nowBlocks(validators, shift.toMs),
      ...heading("The shift"),
      ...shiftTable(shifts, shift),
      ...sparks(validators.map((data) => missesInShift(data, shift))),
      ...incidentTables(validators, shift),
      ...heading("Timeline (UTC)"),
      ...timeline(moments),
    ],
    data: {
      report: "handover",
      from: isoTime(shift.fromMs),
      to: isoTime(shift.toMs),
      validators: shifts.map(({ data, counts }) => ({
        validator: data.ledger.validator,
        blocks: countsJson(counts),
        incidents: incidentsIn(data, shift).map(incidentView.json),
        month_rate_percent: percentOrNull(data.assessment.rate),
        tier: data.assessment.tier ?? null,
        firing: firingOf(data).map(({ alert }) => alert),
        acknowledged: firingOf(data).flatMap(({ alert, acknowledged }) =>
          acknowledged === undefined
            ? []
            : [{ alert, by: acknowledged.text, at: isoTime(acknowledged.atMs) }],
        ),
        ...chainFactsJson(data.chain),
        pending: (data.pending ?? []).map(({ alert }) => alert),
        quiet: firingOf(data).flatMap(({ alert, quietNow }) =>
          quietNow === undefined ? [] : [{ alert, reason: quietNow }],
        ),
      })),
      timeline: moments.map(({ atMs, ...rest }) => ({ at: isoTime(atMs), ...rest })),
    },
    csv: {
      columns: ["at", "validator", "what", "text"],
      rows: moments.map(({ atMs, validator, what, text }) => [isoTime(atMs), validator, what, text]),
    },
  };
}

/** Returns the firing alerts, starting with alerts that send notifications. */
function firingOf({ alerts }: ValidatorData): readonly AlertEpisode[] {
  return alerts
    .filter(({ resolvedAtMs }) => resolvedAtMs === undefined)
    .toSorted((a, b) => Number(a.quietNow !== undefined) - Number(b.quietNow !== undefined));
}

function outcomeOf(validators: readonly ValidatorData[]): ReportOutcome {
  if (validators.some((data) => firingOf(data).length > 0)) return "problem";
  return validators.every(({ assessment }) => assessment.rate === undefined) ? "unseen" : "fine";
}

function nowBlocks(validators: readonly ValidatorData[], nowMs: number): readonly ReportBlock[] {
  const firing = validators.flatMap((data) =>
    firingOf(data).map(
      ({ title, severity, sinceMs, reason, reasonNow = reason, quietNow, acknowledged }) =>
        `${data.ledger.validator}: ${title} (${severity}), active since ${formatMinute(sinceMs)} UTC: ${reasonNow}.${quietNow === undefined ? "" : ` Nobody is notified: ${quietNow}.`}${acknowledged === undefined ? "" : ` Acknowledged by ${acknowledged.text}.`}`,
    ),
  );
  const pending = validators.flatMap((data) =>
    (data.pending ?? []).map(
      ({ title, severity, sinceMs, reason }) =>
        `${data.ledger.validator}: ${title} (${severity}) has been pending since ${formatMinute(sinceMs)} UTC: ${reason}.`,
    ),
  );
  const chain = validators.flatMap((data) => chainItems(data.ledger.validator, data.chain, nowMs));
  const silence = pending.length === 0 ? "No alert fires." : "No alert fires yet.";
  return [
    ...paragraph(firing.length === 0 ? silence : undefined),
    ...list([...firing, ...pending, ...chain]),
    ...table(
      ["Validator", right("Month"), "Tier", ...HEADROOM_COLUMNS],
      validators.map(({ ledger, assessment }) => [
        ledger.validator,
        formatRate(assessment.rate),
        tierCell(assessment),
        ...headroomCells(assessment),
      ]),
    ),
  ];
}

/** Titles of the two columns for the cells from {@link headroomCells}. */
export const HEADROOM_COLUMNS = ["Full pay is lost after an outage of", "All pay is lost after an outage of"];

/** Formats how many misses each boundary still allows, or "–" while the number is unknown. */
export function headroomCells({ headroom }: Pick<Assessment, "headroom">): readonly string[] {
  return headroom.length === 0 ? ["–", "–"] : headroom.map(headroomText);
}

/** Formats the outage and misses that a boundary still allows, e.g. "3 h 20 min, 12,000 misses" or "safe until the end of the month". */
export function headroomText({ state, misses, outageMs }: Headroom): string {
  if (state === "lost") return `lost already, by ${formatCount(-misses)} misses`;
  if (state === "clinched") return "safe until the end of the month";
  return `${outageMs === undefined ? "" : `${formatRoundedDuration(outageMs)}, `}${formatCount(misses)} misses`;
}

interface ShiftCounts {
  readonly data: ValidatorData;
  readonly counts: BlockCounts;
}

function shiftTable(shifts: readonly ShiftCounts[], { fromMs, toMs }: DataRange): readonly ReportBlock[] {
  return table(
    ["Validator", right("Rate"), right("Good"), right("Missed"), right("Unknown"), right("Alerts fired")],
    shifts.map(({ data, counts }) => [
      data.ledger.validator,
      formatRate(successRate(counts)),
      formatCount(counts.good),
      formatCount(counts.bad),
      formatCount(counts.unknown),
      String(data.alerts.filter(({ firedAtMs }) => firedAtMs >= fromMs && firedAtMs < toMs).length),
    ]),
  );
}

/** Maximum length of a shift whose counts are read by minute. Counts per minute are not stored for longer. */
const MINUTES_MS = 12 * HOUR_MS;

/** Returns the shift's counts by minute if stored, or else by hour for all hours that overlap the shift. */
function rollupsIn({ ledger }: ValidatorData, { fromMs, toMs }: DataRange): readonly Rollup[] {
  if (toMs - fromMs <= MINUTES_MS) return ledger.minutes(fromMs, toMs);
  return ledger.hours(Math.floor(fromMs / HOUR_MS) * HOUR_MS, toMs);
}

/** Returns the incidents that overlap the shift, including their blocks before the shift, and the shift's scattered bad blocks. */
function incidentsIn(data: ValidatorData, { fromMs, toMs }: DataRange): readonly CostedIncident[] {
  const begun = incidentsOf(data, shiftDataFromMs(fromMs), toMs);
  const scattered = incidentsOf(data, fromMs, toMs).filter(({ cause }) => cause === SCATTERED);
  const ended = begun.filter((one) => one.cause !== SCATTERED && one.toMs > fromMs);
  return withCosts(data, [...ended, ...scattered]);
}

function incidentTables(validators: readonly ValidatorData[], shift: DataRange): readonly ReportBlock[] {
  return validators.flatMap((data) => {
    const incidents = incidentsIn(data, shift);
    if (incidents.length === 0) return [];
    const costOfBlocks = (blocks: bigint): Cost => costOf(costedMonth(data, monthOf(shift.toMs - 1)), blocks);
    const bad = incidents.reduce((sum, one) => sum + one.bad, 0n);
    const text = `Incidents of ${data.ledger.validator}: ${costText(costOfBlocks(bad))}.`;
    return [...paragraph(text), ...incidentBlocks(incidents, costOfBlocks)];
  });
}

/** Maximum number of bars in the chart of a shift's misses. Each bar covers at least one minute, or one hour for long shifts. */
const MAX_BARS = 48;

function missesInShift(data: ValidatorData, shift: DataRange): Spark {
  const { fromMs, toMs } = shift;
  const unitMs = toMs - fromMs <= MINUTES_MS ? 60_000 : HOUR_MS;
  const bars = Math.max(1, Math.min(MAX_BARS, Math.floor((toMs - fromMs) / unitMs)));
  const values: (number | undefined)[] = Array.from({ length: bars }, () => undefined);
  for (const { startMs, counts } of rollupsIn(data, shift)) {
    const bar = Math.max(0, Math.min(bars - 1, Math.floor(((startMs - fromMs) / (toMs - fromMs)) * bars)));
    values[bar] = (values[bar] ?? 0) + Number(counts.bad);
  }
  return {
    label: data.ledger.validator,
    bars: sparkline(values),
    note: `misses, ${formatRoundedDuration((toMs - fromMs) / bars)} a bar`,
  };
}

function momentsOf({ ledger, alerts }: ValidatorData, { fromMs, toMs }: DataRange): readonly Moment[] {
  const { validator } = ledger;
  const events = ledger.events(fromMs, toMs).map((event): Moment => {
    const length = event.toMs - event.fromMs;
    const text = length < 1000 ? event.text : `${event.text} (${formatRoundedDuration(length)})`;
    const node = event.node === undefined ? "" : `${event.node}: `;
    return { atMs: event.fromMs, validator, what: event.kind, text: `${node}${text}` };
  });
  const ofAlerts = alerts.flatMap((alert) => alertMoments(alert, validator));
  return [...events, ...ofAlerts].filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
}

function alertMoments(alert: AlertEpisode, validator: string): readonly Moment[] {
  const { title, reason, quietWhenFired, firedAtMs, resolvedAtMs, sinceMs, acknowledged } = alert;
  const moment = (atMs: number, what: string, text: string): Moment => ({ atMs, validator, what, text });
  const quiet = quietWhenFired === undefined ? "" : ` (not notified then: ${quietWhenFired})`;
  const fired = moment(firedAtMs, "alert", `${title}: ${reason}${quiet}`);
  const by = acknowledged && moment(acknowledged.atMs, "acknowledged", `${title}, by ${acknowledged.text}`);
  const resolved =
    resolvedAtMs === undefined
      ? undefined
      : moment(resolvedAtMs, "resolved", `${title}, after ${formatRoundedDuration(resolvedAtMs - sinceMs)}`);
  return [fired, by, resolved].filter((one) => one !== undefined);
}

function timeline(moments: readonly Moment[]): readonly ReportBlock[] {
  if (moments.length === 0) return paragraph("Nothing happened.");
  return table(
    ["Time", "Validator", "What", "Detail"],
    moments.map(({ atMs, validator, what, text }) => [formatTime(atMs), validator, what, text]),
  );
}
