import {
  counted,
  formatCount,
  formatFlooredDuration,
  formatMinute,
  formatRoundedDuration,
} from "../../platform/base/text.ts";
import { list, right, table } from "../../platform/report/blocks.ts";
import type { ReportBlock } from "../../platform/report/document.ts";
import { formatPercent } from "../policy/reward-tier.ts";
import type { Standing } from "../policy/standing.ts";
import {
  allMissedText,
  MEASURE_TITLES,
  percentile,
  presentText,
  releaseText,
  sharedText,
  windowText,
} from "../policy/standing-texts.ts";
import type { ValidatorData } from "./validator-data.ts";
import { monthStartMs } from "../../platform/base/month.ts";
import { type CostedIncident, incidentsOf, withCosts } from "../alerts/incidents.ts";
import { SCATTERED } from "../alerts/miss-causes.ts";
import { type Cost, shareText } from "../policy/cost-text.ts";

/** Describes the jail state, signing window and shared misses of every validator whose chain is read. */
export function standingBlocks(validators: readonly ValidatorData[], nowMs: number): readonly ReportBlock[] {
  const lists = validators.flatMap(({ ledger, standing }) =>
    list(
      standing === undefined
        ? []
        : standingItems(standing, nowMs).map((text) => `${ledger.validator}: ${text}`),
    ),
  );
  return [...lists, ...comparisonBlocks(validators, nowMs)];
}

function standingItems(
  { jail, window, windowNote, commits, votes }: Standing,
  nowMs: number,
): readonly string[] {
  const jailed =
    jail.state === "tombstoned"
      ? ["tombstoned: its key can never be released."]
      : jail.state === "jailed"
        ? [`jailed: ${releaseText(jail, nowMs)}.`]
        : [];
  // A jailed validator has no signing window until it is released.
  if (jailed.length > 0) return jailed;
  if (window === undefined) return [`signing window: ${windowNote}.`];
  const signed =
    window.signed === undefined
      ? "no block counted yet"
      : `${formatPercent(window.signed)} % of ${formatCount(window.counted)} blocks signed`;
  return [
    `signing window: ${signed}, ${windowText(window)}.`,
    `jail if every block is missed from now on: ${allMissedText(window)}; at the current rate: ${presentText(window)}.`,
    ...missItem("commits", commits),
    ...missItem("votes", votes),
  ];
}

function missItem(kind: "commits" | "votes", shared: Standing["commits"]): readonly string[] {
  if (shared === undefined) return [];
  const { seen, missed, missing, others } = shared;
  const own = `it missed ${missed} of the last ${seen} ${kind} that were compared`;
  if (missed > 0) return [`${own}; ${sharedText(shared, kind)}.`];
  return [`${own}; ${missing} of ${counted(others, "other validator")} missed half of them or more.`];
}

/**
 * Renders a table that compares each validator with the others in its set, and explains missing comparisons. If `nowMs` is given,
 * the table includes the age of the data.
 */
export function comparisonBlocks(
  validators: readonly ValidatorData[],
  nowMs?: number,
): readonly ReportBlock[] {
  const known = validators.flatMap(({ ledger, standing }) =>
    standing === undefined ? [] : [{ name: ledger.validator, peers: standing.peers }],
  );
  const rows = known.flatMap(({ name, peers }) =>
    peers.comparisons.map((one) => [
      name,
      `${MEASURE_TITLES[one.measure]}, ${one.since}`,
      `${formatPercent(one.own)} %`,
      `${formatPercent(one.median)} %`,
      `${one.rank} of ${one.compared}`,
      `${percentile(one)} %`,
      `${formatMinute(one.atMs)}${ageText(one.atMs, nowMs)}`,
    ]),
  );
  const notes = known.flatMap(({ name, peers }) =>
    peers.notes.length === 0 ? [] : [`${name}: cannot see more: ${peers.notes.join("; ")}.`],
  );
  return [...(rows.length === 0 ? [] : table(COLUMNS, rows)), ...list(notes)];
}

function ageText(atMs: number, nowMs: number | undefined): string {
  const ms = nowMs === undefined ? 0 : nowMs - atMs;
  return ms < 60_000 ? "" : `, ${formatFlooredDuration(ms)} ago`;
}

const COLUMNS = [
  "Validator",
  "Compared by",
  ...["Own", "Median of others", "Rank", "Others no better"].map((title) => right(title)),
  "Read (UTC)",
];

/** Returns the incidents in the assessment's month, as of `nowMs`. */
export function monthIncidents(data: ValidatorData, nowMs: number): readonly CostedIncident[] {
  return withCosts(data, incidentsOf(data, monthStartMs(data.assessment.month), nowMs + 1));
}

/** Maximum number of incidents in a report's table. A single line summarizes the remaining incidents. */
const MAX_INCIDENTS = 40;

/**
 * Renders one validator's incidents as a table, oldest first. `costOf` returns the cost of a number of blocks. `others` is the
 * number of missed blocks outside all incidents.
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
