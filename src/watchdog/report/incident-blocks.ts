import { monthStartMs } from "../../platform/base/month.ts";
import { formatCount, formatMinute, formatRoundedDuration } from "../../platform/base/text.ts";
import { right, table } from "../../platform/report/blocks.ts";
import type { ReportBlock } from "../../platform/report/document.ts";
import { type CostedIncident, incidentsOf, withCosts } from "../alerts/incidents.ts";
import { SCATTERED } from "../alerts/miss-causes.ts";
import { type Cost, shareText } from "../policy/cost-text.ts";
import type { ValidatorData } from "./validator-data.ts";

/** Returns the incidents in the month of the assessment, which is made at `nowMs`. */
export function monthIncidents(data: ValidatorData, nowMs: number): readonly CostedIncident[] {
  return withCosts(data, incidentsOf(data, monthStartMs(data.assessment.month), nowMs + 1));
}

/** Maximum number of incidents listed; the remaining ones form one line. */
const MAX_INCIDENTS = 40;

/**
 * Lists one validator's incidents as a table, oldest first: when, how long, which blocks, their share of the month's allowance,
 * and what ended them. `costOf` returns the cost of some blocks; `others` counts missed blocks in the same period that belong to
 * no incident.
 */
export function incidentBlocks(
  incidents: readonly CostedIncident[],
  costOf: (blocks: bigint) => Cost,
  others = 0n,
): readonly ReportBlock[] {
  if (incidents.length === 0 && others === 0n) return [];
  const worst = new Set(incidents.toSorted((a, b) => Number(b.bad - a.bad)).slice(0, MAX_INCIDENTS));
  const smaller = incidents.filter((one) => !worst.has(one));
  const sum = smaller.reduce((blocks, { bad }) => blocks + bad, 0n);
  const hasBlocks = [...worst].some(({ blocks }) => blocks !== undefined);
  const columns = [
    "From (UTC)",
    right("Length"),
    ...(hasBlocks ? ["Blocks"] : []),
    "What",
    right("Missed"),
    right("Of the allowance"),
    "Ended by",
  ];
  const rows = incidents
    .filter((one) => worst.has(one))
    .map(({ fromMs, toMs, blocks, bad, cause, cost, end }) => [
      formatMinute(fromMs),
      formatRoundedDuration(toMs - fromMs),
      ...(hasBlocks ? [blocks === undefined ? "–" : `${blocks.from}–${blocks.to}`] : []),
      cause,
      formatCount(bad),
      shareText(cost),
      cause === SCATTERED ? "–" : (end ?? "goes on"),
    ]);
  const more = (what: string, blocks: bigint): readonly string[] => [
    "–",
    "–",
    ...(hasBlocks ? ["–"] : []),
    what,
    formatCount(blocks),
    shareText(costOf(blocks)),
    "–",
  ];
  return table(columns, [
    ...rows,
    ...(sum === 0n ? [] : [more(`${smaller.length} smaller incidents`, sum)]),
    ...(others === 0n ? [] : [more("hour not known", others)]),
  ]);
}
