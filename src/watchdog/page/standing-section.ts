import { counted, formatDuration } from "../../platform/base/text.ts";
import { html, type Html } from "../../platform/web/html.ts";
import { type Column, dataTable, type Fact, factGrid, grouped } from "../../platform/web/parts.ts";
import { formatPercent } from "../policy/reward-tier.ts";
import type { DatedComparison, Jail, PeersStanding, Standing, WindowStanding } from "../policy/standing.ts";
import {
  allMissedText,
  MEASURE_TITLES,
  percentile,
  presentText,
  releaseText,
  sharedText,
} from "../policy/standing-texts.ts";
import type { WatchdogStatus } from "../polling/status.ts";
import type { SharedMisses } from "../sources/standing-views.ts";

/** Signing window, jail, and the validator among the others of its set. Empty when the chain is not read. */
export function standingSection({ standing, polledAtMs }: WatchdogStatus): Html {
  if (standing === undefined || polledAtMs === undefined) return html``;
  return html`<h3>Signing and jail</h3>${jailNotice(standing.jail, polledAtMs)}${windowFacts(standing)}
<h3>Compared with the other validators</h3>${peersTable(standing.peers, polledAtMs)}`;
}

function jailNotice(jail: Jail, nowMs: number): Html | undefined {
  if (jail.state !== "jailed") return undefined;
  const { command, ...times } = jail;
  return html`<p>Jailed: once node and signer work again, ${releaseText(times, nowMs)}${
    command === undefined ? "." : html`: <code>${command}</code>`
  }</p>`;
}

function windowFacts({ jail, window, windowNote, commits, votes }: Standing): Html {
  // A jailed validator has no window until it is released.
  if (jail.state === "jailed" || jail.state === "tombstoned") return factGrid([jailFact(jail)]);
  if (window === undefined)
    return factGrid([
      jailFact(jail),
      { name: "Signing window", value: "cannot see", detail: windowNote, tone: "unknown" },
      ...sharedFacts(commits, votes),
    ]);
  const { signed, missed, allowed, windowBlocks, counted: blocks } = window;
  return factGrid([
    jailFact(jail),
    {
      name: "Signed blocks of the window",
      value: signed === undefined ? "not known yet" : `${formatPercent(signed)} %`,
      detail: `${grouped(blocks)} of ${grouped(windowBlocks)} blocks counted`,
    },
    {
      name: "Misses left until jail",
      value: grouped(window.left),
      detail: `${grouped(missed)} of ${grouped(allowed)} allowed misses used`,
      tone: missed * 10n >= allowed * 9n ? "bad" : missed * 2n >= allowed ? "warn" : undefined,
    },
    {
      name: "Jail if every block is missed",
      value: allMissedText(window),
      detail: mostText(window),
    },
    {
      name: "Jail at the present rate",
      value: presentText(window),
      tone: window.atPresentRate.kind === "jail" ? "warn" : undefined,
    },
    ...sharedFacts(commits, votes),
  ]);
}

const JAIL_TONES = { active: undefined, jailed: "bad", tombstoned: "bad", unknown: "unknown" } as const;

function jailFact({ state }: Jail): Fact {
  const value = state === "active" ? "not jailed" : state === "unknown" ? "cannot see" : state;
  return { name: "Jail", value, tone: JAIL_TONES[state] };
}

/** The chain does not tell which blocks were missed: later misses in their places do not count again. */
function mostText({ ifAllMissed: range }: WindowStanding): string | undefined {
  if (range === undefined || range.least === range.most) return undefined;
  return `${grouped(range.most)} blocks at most`;
}

function sharedFacts(commits: SharedMisses | undefined, votes: SharedMisses | undefined): readonly Fact[] {
  return [sharedFact("commits", "Commits", commits), sharedFact("votes", "Oracle votes", votes)];
}

function sharedFact(kind: "commits" | "votes", name: string, shared: SharedMisses | undefined): Fact {
  if (shared === undefined) return { name, value: "cannot see", tone: "unknown" };
  const { seen, missed, missing, others } = shared;
  return {
    name,
    value: `${missed} of ${seen} missed`,
    detail:
      missed > 0
        ? sharedText(shared, kind)
        : `${missing} of ${counted(others, "other validator")} missed half of them or more`,
    tone: missed > 0 ? "warn" : undefined,
  };
}

function peersTable({ comparisons, notes }: PeersStanding, nowMs: number): Html {
  const columns: readonly Column<DatedComparison>[] = [
    { name: "by", cell: ({ measure, since }) => html`${MEASURE_TITLES[measure]}<small>${since}</small>` },
    { name: "own", isNumber: true, cell: ({ own }) => `${formatPercent(own)} %` },
    { name: "median of the others", isNumber: true, cell: ({ median }) => `${formatPercent(median)} %` },
    { name: "rank", isNumber: true, cell: ({ rank, compared }) => `${rank} of ${compared}` },
    { name: "others not better", isNumber: true, cell: (one) => `${percentile(one)} %` },
    {
      name: "read",
      isNumber: true,
      cell: ({ atMs }) => (nowMs - atMs < 1000 ? "this poll" : `${formatDuration(nowMs - atMs)} before`),
    },
  ];
  const missing = notes.length > 0 && html`<p>Cannot see more: ${notes.join("; ")}.</p>`;
  if (comparisons.length === 0) return html`<p>Cannot see.</p>${missing}`;
  return html`${dataTable({ caption: "Rank 1 is the best; equal shares have the same rank", columns, rows: comparisons })}${missing}`;
}
