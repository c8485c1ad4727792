import { DEC18_ONE, type Dec18 } from "../../platform/base/decimal.ts";
import { formatCents, formatDuration } from "../../platform/base/text.ts";
import { type Html, html } from "../../platform/web/html.ts";
import {
  badge,
  type Column,
  dataTable,
  type Fact,
  factGrid,
  grouped,
  type Tone,
} from "../../platform/web/parts.ts";
import {
  type Assessment,
  BURN_WINDOWS,
  type BoundaryState,
  type Headroom,
  foundedForecast,
  isEarly,
  type Regime,
  REGIME_NAMES,
} from "../policy/assessment.ts";
import { ENOUGH_BLOCKS, formatPercent, type Tier } from "../policy/reward-tier.ts";
import type { MonthStatus, WatchdogStatus } from "../polling/watchdog-status.ts";
import { tierNow } from "./pay-status.ts";

/** What the month pays so far, in values. */
export function payFacts(status: WatchdogStatus): Html {
  const { current, assessment } = status;
  const { counts, estimated, rate } = current;
  const tier = tierNow(status);
  const estimates = estimated.good + estimated.bad;
  const facts: readonly Fact[] = [
    {
      name: `Success rate of ${current.month}`,
      value: rate === undefined ? "not known yet" : `${formatPercent(rate)} %`,
      detail: boundsText(assessment),
      tone: rate === undefined ? "unknown" : undefined,
    },
    tierFact(tier, isEarly(current)),
    {
      name: "Blocks",
      value: `${grouped(counts.good)} good`,
      detail: `${grouped(counts.bad)} bad, ${grouped(counts.unknown)} unknown${estimates > 0n ? `, ${grouped(estimates)} of them estimated` : ""}`,
    },
    ...(assessment === undefined ? [] : rewardFacts(assessment)),
  ];
  return factGrid(facts);
}

function tierFact(tier: Tier | undefined, early: boolean): Fact {
  if (tier === undefined) return { name: "Tier", value: "not known yet", tone: "unknown" };
  if (early)
    return { name: "Tier", value: "too early", detail: `${tier} with these few blocks`, tone: "unknown" };
  return { name: "Tier", value: tier, tone: factTone(tier) };
}

const TIER_TONES = { full: "good", proportional: "warn", none: "bad" } as const;

/** Values are not green: they are of the last poll, also when the watchdog cannot see any more. */
function factTone(tier: Tier): Tone | undefined {
  return tier === "full" ? undefined : TIER_TONES[tier];
}

function rewardFacts(assessment: Assessment): readonly Fact[] {
  const { rewardCents, policy, rotation } = assessment;
  const forecast = foundedForecast(assessment);
  const full = money(policy.fullRewardCents, policy);
  return [
    {
      name: "Pay if the month ended now",
      value: rewardCents === undefined ? "not known yet" : `${money(rewardCents, policy)} of ${full}`,
      detail: `policy: ${policy.source}`,
    },
    {
      name: "Pay at the end, forecast",
      value: forecast === undefined ? "not known yet" : money(forecast.rewardCents.middle, policy),
      detail:
        forecast === undefined
          ? `needs ${grouped(ENOUGH_BLOCKS)} blocks and the time between them`
          : `80 %: ${money(forecast.rewardCents.low, policy)} to ${money(forecast.rewardCents.high, policy)}`,
      tone: forecast === undefined ? undefined : factTone(forecast.tiers.low),
    },
    {
      name: "Rotation risk",
      value: { none: "none", next: "next month without pay", due: "may be rotated out" }[rotation.state],
      detail: `${rotation.inARow} months in a row, ${rotation.inWindow} of the last 5 without pay`,
      tone: ({ none: undefined, next: "warn", due: "bad" } as const)[rotation.state],
    },
  ];
}

function boundsText(assessment: Assessment | undefined): string | undefined {
  const bounds = assessment?.bounds;
  if (bounds === undefined || assessment?.counts.unknown === 0n) return undefined;
  return `with unknown blocks: ${formatPercent(bounds.low)} % to ${formatPercent(bounds.high)} %`;
}

/** How far each boundary is away, in blocks and in time. */
export function headroomSection({ assessment }: WatchdogStatus): Html {
  if (assessment === undefined || assessment.headroom.length === 0)
    return html`<h3>Headroom</h3><p>Not known yet: it needs a counted block and the time between blocks.</p>`;
  const { policy, headroom, remainingBlocks } = assessment;
  const columns: readonly Column<Headroom>[] = [
    { name: "boundary", cell: ({ boundary }) => `${NAMES[boundary]} (${percentOf(policy.least[boundary])})` },
    { name: "state", cell: ({ state }) => badge(STATE_TONES[state], state) },
    { name: "blocks left", isNumber: true, cell: ({ misses }) => missesText(misses) },
    {
      name: "total outage left",
      isNumber: true,
      cell: ({ outageMs }) => (outageMs === undefined ? "–" : formatDuration(outageMs)),
    },
    { name: "rest of the month needs", isNumber: true, cell: ({ requiredRate }) => neededText(requiredRate) },
    {
      name: "burn rate 1 h / 6 h / 3 d",
      isNumber: true,
      cell: ({ burnRates }) => BURN_WINDOWS.map((window) => burnRates[window]?.toFixed(1) ?? "–").join(" / "),
    },
  ];
  const rest =
    remainingBlocks === undefined ? "" : `, ${grouped(remainingBlocks)} blocks until the end of the month`;
  return html`<h3>Headroom</h3>${dataTable({ caption: `Further bad blocks that the month can have${rest}`, columns, rows: headroom })}${regimeTable(assessment)}`;
}

/** The end of the month if its rest is like the last hours, the last days, and the month. */
function regimeTable(assessment: Assessment): Html | undefined {
  const forecast = foundedForecast(assessment);
  if (forecast === undefined) return undefined;
  const columns: readonly Column<Regime>[] = [
    { name: "if the rest is like", cell: ({ name }) => REGIME_NAMES[name] },
    { name: "missed then", isNumber: true, cell: ({ badShare }) => `${(100 * badShare).toFixed(4)} %` },
    { name: "month ends at", isNumber: true, cell: ({ end }) => `${formatPercent(end)} %` },
    { name: "tier", cell: ({ tier }) => tier },
  ];
  return dataTable({
    caption:
      "End of the month. Expected: the loss that goes on now goes on, an outage that is over does not come back",
    columns,
    rows: forecast.regimes,
  });
}

const NAMES: Readonly<Record<Headroom["boundary"], string>> = { full: "full pay", none: "any pay" };
const STATE_TONES: Readonly<Record<BoundaryState, Tone>> = { open: "good", clinched: "good", lost: "bad" };

function missesText(misses: bigint): string {
  return misses < 0n ? `${grouped(-misses)} too many` : grouped(misses);
}

function neededText(rate: number): string {
  if (rate > 1) return "cannot be reached";
  return rate <= 0 ? "nothing" : `${(Math.ceil(rate * 10_000) / 100).toFixed(2)} %`;
}

/** All months, newest first. */
export function monthSection(months: readonly MonthStatus[]): Html {
  const columns: readonly Column<MonthStatus>[] = [
    { name: "month (UTC)", cell: ({ month }) => month },
    {
      name: "rate",
      isNumber: true,
      cell: ({ rate }) => (rate === undefined ? "–" : `${formatPercent(rate)} %`),
    },
    { name: "tier", cell: ({ tier }) => (tier === undefined ? "–" : badge(TIER_TONES[tier], tier)) },
    { name: "good", isNumber: true, cell: ({ counts }) => grouped(counts.good) },
    { name: "bad", isNumber: true, cell: ({ counts }) => grouped(counts.bad) },
    { name: "unknown", isNumber: true, cell: ({ counts }) => grouped(counts.unknown) },
    {
      name: "closed",
      cell: ({ hash }) =>
        hash === undefined ? "no" : html`<code title="${hash}">${hash.slice(0, 12)}</code>`,
    },
  ];
  if (months.length === 0) return html`<h3>Months</h3><p>None is counted yet.</p>`;
  return html`<h3>Months</h3>${dataTable({ caption: "By the specification's boundaries", columns, rows: months })}`;
}

/** An amount with the currency, if it has a name. */
function money(cents: bigint, { currency }: Assessment["policy"]): string {
  return formatCents(cents, currency, "\u202f");
}

function percentOf(share: Dec18): string {
  return `${Number(((Number(share) / Number(DEC18_ONE)) * 100).toFixed(4))} %`;
}
