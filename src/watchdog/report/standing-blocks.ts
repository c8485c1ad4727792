import { counted, formatCount, formatFlooredDuration, formatMinute } from "../../platform/base/text.ts";
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

/** Shows signing window, jail and other validators in a few lines for every validator whose chain is read. */
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
  // A jailed validator has no window until its release.
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

/** Compares validators with others in their sets in one table, and explains missing comparisons. With `nowMs`, prints ages. */
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
