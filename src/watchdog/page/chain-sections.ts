import { counted, formatDuration } from "../../platform/base/text.ts";
import { html, type Html } from "../../platform/web/html.ts";
import { badge, type Column, dataTable, type Fact, factGrid, grouped } from "../../platform/web/parts.ts";
import { type PaymentState, paymentState, paymentText } from "../policy/payment-texts.ts";
import type { WatchdogStatus } from "../polling/watchdog-status.ts";
import { deviationBps, formatBps, formatPrice } from "../policy/price-comparison.ts";
import type { ComparedPrices, NotCompared, PriceComparison } from "../policy/price-comparison.ts";
import type { Payment } from "../sources/payment-result.ts";
import { countdownText, type UpgradeCountdown } from "../policy/upgrade-countdown.ts";
import { formatPercent } from "../policy/reward-tier.ts";
import { type DatedComparison, NO_SLASHING, type PeersStanding, type Standing } from "../policy/standing.ts";
import {
  allMissedText,
  MEASURE_TITLES,
  percentile,
  presentText,
  releaseText,
  sharedText,
} from "../policy/standing-texts.ts";

/** Renders the planned upgrade, payments and price comparisons. Text from other hosts is escaped. */
export function chainSections({ upgrade, payments = [], compared }: WatchdogStatus, nowMs: number): Html {
  return html`${upgrade !== undefined && upgradeSection(upgrade, nowMs)}
${paymentSection(payments)}
${compared !== undefined && priceSection(compared)}`;
}

type Row = PriceComparison | NotCompared;

/** Compares each sidecar's prices with the chain's prices and with the median of all sidecars. Returns undefined if nothing is compared. */
function priceSection({ comparisons, notCompared }: ComparedPrices): Html | undefined {
  // A single sidecar is normal, so don't report that there is no median for a comparison.
  const refused = notCompared.filter(({ reference }) => reference === "chain");
  if (comparisons.length + refused.length === 0) return undefined;
  const rows: readonly Row[] = [...comparisons, ...refused];
  const nodes = new Set(rows.map(({ node }) => node));
  const columns: readonly Column<Row>[] = [
    ...(nodes.size > 1 ? [{ name: "node", cell: ({ node }: Row) => node }] : []),
    { name: "pair", cell: ({ pair }) => pair },
    { name: "compared with", cell: (row) => referenceText(row) },
    { name: "own price", isNumber: true, cell: (row) => valueText(row, "own") },
    { name: "other price", isNumber: true, cell: (row) => valueText(row, "other") },
    {
      name: "apart",
      isNumber: true,
      cell: (row) => ("reason" in row ? `not known: ${row.reason}` : formatBps(deviationBps(row))),
    },
    {
      name: "age of the other",
      isNumber: true,
      cell: (row) => ("reason" in row ? "–" : formatDuration(row.ageMs)),
    },
  ];
  return html`<h2>Prices compared</h2>${dataTable({ caption: counted(rows.length, "comparison"), columns, rows })}`;
}

function referenceText(row: Row): string {
  if (row.reference === "chain") return "the chain";
  return "reason" in row ? "other sidecars" : `median of ${row.sidecars} sidecars`;
}

function valueText(row: Row, name: "own" | "other"): string {
  return "reason" in row ? "–" : formatPrice(row[name], row.decimals);
}

/** Renders the planned upgrade with its countdown, as of `nowMs`. Text from the plan is escaped. */
function upgradeSection(upgrade: UpgradeCountdown, nowMs: number): Html {
  const { plan } = upgrade;
  return html`<h2>Upgrade of the chain</h2><p>${countdownText(upgrade, nowMs)}.${
    plan.info !== "" && html`<br><small class="muted">The plan says: ${plan.info}</small>`
  }</p>`;
}

/** The tone and label for each payment state. */
const STATES: Readonly<Record<PaymentState, Parameters<typeof badge>>> = {
  equal: ["good", "as expected"],
  differs: ["warn", "differs"],
  "not-compared": ["unknown", "not compared"],
  failed: ["bad", "failed"],
  "none-due": ["unknown", "none due"],
  missing: ["warn", "missing"],
};

/** Maximum number of payments on the page. */
const SHOWN = 3;

/** Lists the payments for the last closed months, newest first. Returns undefined before the first payment search. */
function paymentSection(payments: readonly Payment[]): Html | undefined {
  if (payments.length === 0) return undefined;
  const items = payments
    .slice(-SHOWN)
    .toReversed()
    .map(
      (payment) => html`<li>${badge(...STATES[paymentState(payment)])} ${paymentText(payment)}</li>
`,
    );
  return html`<h2>Payments</h2><ul>${items}</ul>`;
}

/**
 * Shows the signing window, the jail state, and how the validator compares with others. Renders nothing if the chain is not read.
 */
export function standingSection({ standing, polledAtMs }: WatchdogStatus): Html {
  if (standing === undefined || polledAtMs === undefined) return html``;
  const window = html`<h2>Signing and jail</h2>${jailNotice(standing.jail, polledAtMs)}${windowFacts(standing)}`;
  return html`${standing.windowNote !== NO_SLASHING && window}
<h2>Compared with the other validators</h2>${peersTable(standing.peers, polledAtMs)}`;
}

function jailNotice(jail: Standing["jail"], nowMs: number): Html | undefined {
  if (jail.state !== "jailed") return undefined;
  const { command, ...times } = jail;
  return html`<p>Jailed: once node and signer work again, ${releaseText(times, nowMs)}${
    command === undefined ? "." : html`: <code>${command}</code>`
  }</p>`;
}

function windowFacts({ jail, window, windowNote, commits, votes }: Standing): Html {
  // A jailed validator has no signing window until it is released.
  if (jail.state === "jailed" || jail.state === "tombstoned") return factGrid([jailFact(jail)]);
  const unseen: Fact = { name: "Signing window", value: "cannot see", detail: windowNote, tone: "unknown" };
  return factGrid([
    jailFact(jail),
    ...(window === undefined ? [unseen] : missFacts(window)),
    sharedFact("commits", "Commits", commits),
    sharedFact("votes", "Oracle votes", votes),
  ]);
}

function missFacts(window: NonNullable<Standing["window"]>): readonly Fact[] {
  const { signed, missed, allowed, left, windowBlocks, counted: blocks } = window;
  return [
    {
      name: "Signed blocks of the window",
      value: signed === undefined ? "not known yet" : `${formatPercent(signed)} %`,
      detail: `${grouped(blocks)} of ${grouped(windowBlocks)} blocks counted`,
    },
    {
      name: "Misses left until jail",
      value: grouped(left),
      detail: `${grouped(missed)} of ${grouped(allowed)} allowed misses used`,
      tone: missed * 10n >= allowed * 9n ? "bad" : missed * 2n >= allowed ? "warn" : undefined,
    },
    { name: "Jail if every block is missed", value: allMissedText(window), detail: mostText(window) },
    {
      name: "Jail at the current rate",
      value: presentText(window),
      tone: window.atPresentRate.kind === "jail" ? "warn" : undefined,
    },
  ];
}

const JAIL_TONES = { active: undefined, jailed: "bad", tombstoned: "bad", unknown: "unknown" } as const;

function jailFact({ state }: Standing["jail"]): Fact {
  const value = state === "active" ? "not jailed" : state === "unknown" ? "cannot see" : state;
  return { name: "Jail", value, tone: JAIL_TONES[state] };
}

/**
 * Formats the upper bound of the number of blocks until jail. The exact number is unknown, because the chain does not report which
 * blocks were missed. A miss that replaces an old miss in the window adds nothing.
 */
function mostText({ ifAllMissed: range }: NonNullable<Standing["window"]>): string | undefined {
  if (range === undefined || range.least === range.most) return undefined;
  return `${grouped(range.most)} blocks at most`;
}

function sharedFact(kind: "commits" | "votes", name: string, shared: Standing["commits"]): Fact {
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
    { name: "others no better", isNumber: true, cell: (one) => `${percentile(one)} %` },
    {
      name: "read",
      isNumber: true,
      cell: ({ atMs }) => (nowMs - atMs < 1000 ? "this poll" : `${formatDuration(nowMs - atMs)} before`),
    },
  ];
  const missing = notes.length > 0 && html`<p>Cannot see more: ${notes.join("; ")}.</p>`;
  if (comparisons.length === 0) return html`<p>Cannot see.</p>${missing}`;
  return html`${dataTable({ caption: "Rank 1 is best; equal shares have the same rank", columns, rows: comparisons })}${missing}`;
}
