import { DEC18_ONE, type Dec18 } from "../../platform/base/decimal.ts";
import { formatShort } from "../../platform/base/display-unit.ts";
import { monthStartMs, nextMonthMs } from "../../platform/base/month.ts";
import { formatCents, formatDuration } from "../../platform/base/text.ts";
import { DAY_MS } from "../../platform/base/time.ts";
import { type Html, html } from "../../platform/web/html.ts";
import { badge, type Column, dataTable, type Fact, factGrid, grouped } from "../../platform/web/parts.ts";
import { gaugeBar } from "../../platform/web/plots.ts";
import { BURN_WINDOWS, foundedForecast, isEarly, policyOf, REGIME_NAMES } from "../policy/assessment.ts";
import type { Assessment, Headroom, Policy, Regime } from "../policy/assessment.ts";
import { allowedShare, ENOUGH_BLOCKS, formatPercent, formatRate, type Tier } from "../policy/reward-tier.ts";
import type { MonthStatus, WatchdogStatus } from "../polling/watchdog-status.ts";
import { TIER_NAMES } from "./month-plots.ts";
import { BOUNDARY_STATES, type PayStatus, tierNow } from "./pay-status.ts";

/** Renders the rate, the remaining allowance, the pay, and the next risk to the pay, as of `nowMs`. */
export function payFacts(status: WatchdogStatus, pay: Pick<PayStatus, "kind">, nowMs: number): Html {
  return factGrid([rateFact(status), allowanceFact(status), payFact(status), riskFact(status, pay, nowMs)]);
}

function rateFact(status: WatchdogStatus): Fact {
  const { current } = status;
  const { counts, rate } = current;
  const tier = tierNow(status);
  const unknown = counts.unknown > 0n ? `, ${grouped(counts.unknown)} unknown` : "";
  const blocks = `${grouped(counts.bad)} bad of ${grouped(counts.good + counts.bad)} blocks${unknown}`;
  const name = `Success rate of ${current.month}`;
  if (rate === undefined || tier === undefined)
    return { name, value: "not known yet", detail: "no block is counted", tone: "unknown" };
  const value = `${formatPercent(rate)} %`;
  if (isEarly(current)) return { name, value, detail: `too early to say; ${blocks}`, tone: "unknown" };
  return { name, value, detail: `${TIER_NAMES[tier]}; ${blocks}`, tone: tierTone(tier) };
}

/** Returns how many more blocks may be bad before full pay or all pay is lost. */
function allowanceFact({ assessment }: WatchdogStatus): Fact {
  const name = "Allowance left";
  const all = assessment?.headroom ?? [];
  const next = all.find(({ state }) => state === "open");
  if (assessment === undefined || all.length === 0) {
    const detail = "it needs a counted block and the block time";
    return { name, value: "not known yet", detail, tone: "unknown" };
  }
  if (next === undefined)
    return all.some(({ state }) => state === "clinched")
      ? { name, value: "no longer needed", detail: "the pay of this month is safe" }
      : { name, value: "none", detail: "all pay of this month is lost", tone: "bad" };
  const share = Number(next.misses) / Math.max(1, Number(next.misses + assessment.counts.bad));
  const style = share < 0.1 ? "bad" : share < 0.5 ? "weak" : "good";
  const value = `${(100 * share).toFixed(1)} %`;
  const outage = next.outageMs === undefined ? "" : ` or ${formatDuration(next.outageMs)} of outage`;
  return {
    name,
    value: html`${value}${gaugeBar(share, `${value} of the allowance left`, style)}`,
    detail: `${grouped(next.misses)} more bad blocks${outage} until ${next.boundary === "full" ? "full" : "all"} pay is lost`,
    tone: ({ bad: "bad", weak: "warn", good: undefined } as const)[style],
  };
}

function payFact({ assessment }: WatchdogStatus): Fact {
  const name = "Pay of this month";
  const forecast = foundedForecast(assessment);
  if (assessment === undefined) return { name, value: "not known yet", tone: "unknown" };
  const { policy, rewardCents } = assessment;
  const full = money(policy.fullRewardCents, policy);
  const now = rewardCents === undefined ? "not known yet" : money(rewardCents, policy);
  if (forecast === undefined) {
    const detail = html`${now} of ${full} if it ended now`;
    return { name, value: "too early to say", detail, tone: "unknown" };
  }
  const { low, middle, high } = forecast.rewardCents;
  return {
    name,
    value: html`${money(middle, policy)} of ${full}`,
    detail: html`forecast; 80 %: ${money(low, policy)} to ${money(high, policy)}`,
    tone: tierTone(forecast.tiers.low),
  };
}

/** An event that may cost pay, jail the validator, or rotate it out. */
interface Risk {
  readonly what: string;
  /** The time until the event, in ms, where 0 means now. */
  readonly inMs: number;
  readonly detail: string;
}

function riskFact(status: WatchdogStatus, { kind }: Pick<PayStatus, "kind">, nowMs: number): Fact {
  const name = "Next risk";
  const [next] = risksOf(status, nowMs).toSorted((a, b) => a.inMs - b.inMs);
  if (next === undefined && kind === "losing")
    return { name, value: "pay, now", detail: "how soon it is lost is not known yet", tone: "warn" };
  if (next === undefined)
    return { name, value: "none seen", detail: "no loss is ongoing, and no upgrade is known" };
  const { what, inMs, detail } = next;
  return {
    name,
    value: inMs === 0 ? what : `${what} in ${formatDuration(inMs)}`,
    detail,
    tone: inMs < DAY_MS ? "bad" : "warn",
  };
}

function risksOf({ assessment, standing, upgrade, current }: WatchdogStatus, nowMs: number): readonly Risk[] {
  const { headroom = [], rotation } = assessment ?? {};
  const { presentMs, atPresentRate } = standing?.window ?? {};
  const monthEndMs = nextMonthMs(monthStartMs(current.month)) - nowMs;
  const risks: Risk[] = [];
  const add = (what: string, inMs: number, detail: string): void => {
    risks.push({ what, inMs: Math.max(1, inMs), detail });
  };
  if (standing?.jail.state === "jailed")
    risks.push({ what: "jailed", inMs: 0, detail: "see Chain for its release" });
  for (const one of headroom) {
    const [inMs = Infinity, detail = ""] = lossOf(one, policyOf(assessment)) ?? [];
    if (inMs > monthEndMs) continue;
    add(`${one.boundary === "full" ? "full" : "all"} pay lost`, inMs, detail);
  }
  if (presentMs !== undefined && atPresentRate?.kind === "jail")
    add("jail", presentMs, "at the current rate of missed blocks");
  if (upgrade?.atMs !== undefined) {
    const { name, height } = upgrade.plan;
    add("upgrade", upgrade.atMs.middle - nowMs, `${name} at height ${grouped(height)}`);
  }
  if (rotation?.state === "next") add("rotation", monthEndMs, "if this month too has no pay");
  if (rotation?.state === "due") {
    const detail = "months without pay: the validator may be rotated out";
    risks.push({ what: "rotation", inMs: 0, detail });
  }
  return risks;
}

/**
 * Returns the time until a boundary is lost. If the last hours' loss rate exceeds the allowance, the rate is assumed to continue.
 * Otherwise, the lasting loss rate is used.
 */
function lossOf(
  { state, boundary, outageMs, lostInMs, burnRates }: Headroom,
  { least }: Policy,
): readonly [inMs: number, detail: string] | undefined {
  const burn = burnRates["1h"] ?? burnRates["6h"] ?? 0;
  if (state === "open" && burn > 1 && outageMs !== undefined)
    return [
      outageMs / (burn * allowedShare(least[boundary])),
      "if blocks are missed as in the last few hours",
    ];
  return lostInMs === undefined ? undefined : [lostInMs, "if the current loss goes on"];
}

const TIER_TONES = { full: "good", proportional: "warn", none: "bad" } as const;

/** Returns a tier's tone. The full tier is not green, because the value stays on the page even if no node can be read any more. */
function tierTone(tier: Tier): Fact["tone"] {
  return tier === "full" ? undefined : TIER_TONES[tier];
}

export function payDetails(status: WatchdogStatus): Html {
  const { current, assessment } = status;
  const { counts, estimated } = current;
  const estimates = estimated.good + estimated.bad;
  const bounds = boundsText(assessment);
  return factGrid([
    rateFact(status),
    {
      name: "Blocks",
      value: `${grouped(counts.good)} good`,
      detail: `${grouped(counts.bad)} bad, ${grouped(counts.unknown)} unknown${estimates > 0n ? `, ${grouped(estimates)} of them estimated` : ""}${bounds === undefined ? "" : `; ${bounds}`}`,
    },
    ...(assessment === undefined ? [] : rewardFacts(assessment)),
  ]);
}

function rewardFacts(assessment: Assessment): readonly Fact[] {
  const { rewardCents, policy, rotation } = assessment;
  const forecast = foundedForecast(assessment);
  const full = money(policy.fullRewardCents, policy);
  return [
    {
      name: "Pay if the month ended now",
      value: rewardCents === undefined ? "not known yet" : html`${money(rewardCents, policy)} of ${full}`,
      detail: POLICY_SOURCES[policy.source],
    },
    {
      name: "Pay at the end, forecast",
      value: forecast === undefined ? "not known yet" : money(forecast.rewardCents.middle, policy),
      detail:
        forecast === undefined
          ? `needs ${grouped(ENOUGH_BLOCKS)} blocks and the time between them`
          : html`80 %: ${money(forecast.rewardCents.low, policy)} to ${money(forecast.rewardCents.high, policy)}`,
      tone: forecast === undefined ? undefined : tierTone(forecast.tiers.low),
    },
    {
      name: "Rotation out of the validator set",
      value: { none: "no risk", next: "next month without pay", due: "may happen now" }[rotation.state],
      detail: `${rotation.inARow} months in a row, ${rotation.inWindow} of the last 5 without pay`,
      tone: ({ none: undefined, next: "warn", due: "bad" } as const)[rotation.state],
    },
  ];
}

const POLICY_SOURCES = {
  specification: "by the specification's rules",
  configuration: "by the configuration's rules",
  chain: "by the chain's parameters",
} as const;

function boundsText(assessment: Assessment | undefined): string | undefined {
  const bounds = assessment?.bounds;
  if (bounds === undefined || assessment?.counts.unknown === 0n) return undefined;
  return `with unknown blocks: ${formatPercent(bounds.low)} % to ${formatPercent(bounds.high)} %`;
}

/** Renders the remaining allowance for each boundary, in blocks and in time. */
export function headroomSection({ assessment }: WatchdogStatus): Html {
  if (assessment === undefined || assessment.headroom.length === 0)
    return html`<h2>Allowance</h2><p>Not known yet: it needs a counted block and the time between blocks.</p>`;
  const { policy, headroom, remainingBlocks } = assessment;
  const columns: readonly Column<Headroom>[] = [
    {
      name: "part of the pay",
      cell: ({ boundary }) => `${NAMES[boundary]} (${percentOf(policy.least[boundary])})`,
    },
    { name: "state", cell: ({ state }) => badge(STATE_TONES[state], BOUNDARY_STATES[state]) },
    { name: "blocks left", isNumber: true, cell: ({ misses }) => missesText(misses) },
    {
      name: "total outage left",
      isNumber: true,
      cell: ({ outageMs }) => (outageMs === undefined ? "–" : formatDuration(outageMs)),
    },
    { name: "rest of the month needs", isNumber: true, cell: ({ requiredRate }) => neededText(requiredRate) },
    {
      name: "allowance used, × its pace: 1 h / 6 h / 3 d",
      isNumber: true,
      cell: ({ burnRates }) => BURN_WINDOWS.map((window) => burnRates[window]?.toFixed(1) ?? "–").join(" / "),
    },
  ];
  const rest =
    remainingBlocks === undefined ? "" : `, ${grouped(remainingBlocks)} blocks until the end of the month`;
  return html`<h2>Allowance</h2>${dataTable({ caption: `Further bad blocks that the month can have${rest}`, columns, rows: headroom })}${regimeTable(assessment)}`;
}

/** Renders how the month ends if the rest of the month is like the last hours, the last days, or the month so far. */
function regimeTable(assessment: Assessment): Html | undefined {
  const forecast = foundedForecast(assessment);
  if (forecast === undefined) return undefined;
  const columns: readonly Column<Regime>[] = [
    { name: "if the rest is like", cell: ({ name }) => REGIME_NAMES[name] },
    { name: "missed then", isNumber: true, cell: ({ badShare }) => `${(100 * badShare).toFixed(4)} %` },
    { name: "month ends at", isNumber: true, cell: ({ end }) => `${formatPercent(end)} %` },
    { name: "pays", cell: ({ tier }) => TIER_NAMES[tier] },
  ];
  return dataTable({
    caption:
      "End of the month. Expected: the current loss continues, and an outage that is over does not recur",
    columns,
    rows: forecast.regimes,
  });
}

const NAMES: Readonly<Record<Headroom["boundary"], string>> = { full: "full pay", none: "any pay" };
const STATE_TONES = { open: "good", clinched: "good", lost: "bad" } as const;

function missesText(misses: bigint): string {
  return misses < 0n ? `${grouped(-misses)} too many` : grouped(misses);
}

function neededText(rate: number): string {
  if (rate > 1) return "cannot be reached";
  return rate <= 0 ? "nothing" : `${(Math.ceil(rate * 10_000) / 100).toFixed(2)} %`;
}

/** Renders a table of all months, newest first. */
export function monthSection(months: readonly MonthStatus[]): Html {
  const columns: readonly Column<MonthStatus>[] = [
    { name: "month (UTC)", cell: ({ month }) => month },
    {
      name: "rate",
      isNumber: true,
      cell: ({ rate }) => formatRate(rate),
    },
    {
      name: "pays",
      cell: ({ tier }) => (tier === undefined ? "–" : badge(TIER_TONES[tier], TIER_NAMES[tier])),
    },
    { name: "good", isNumber: true, cell: ({ counts }) => grouped(counts.good) },
    { name: "bad", isNumber: true, cell: ({ counts }) => grouped(counts.bad) },
    { name: "unknown", isNumber: true, cell: ({ counts }) => grouped(counts.unknown) },
    {
      name: "closed",
      cell: ({ hash }) =>
        hash === undefined ? "no" : html`<code title="${hash}">${hash.slice(0, 12)}</code>`,
    },
  ];
  if (months.length === 0) return html`<h2>Months</h2><p>None is counted yet.</p>`;
  return html`<h2>Months</h2>${dataTable({ caption: "By the specification's boundaries", columns, rows: months })}`;
}

/** Formats an amount with at most six digits and with the exact value as a tooltip. */
function money(cents: bigint, { currency }: Assessment["policy"]): Html {
  const exact = formatCents(cents, currency, "\u202f");
  const short = formatShort(cents, { name: currency ?? "", exponent: 2 }, "\u202f").trimEnd();
  return html`<span title="${exact}">${short}</span>`;
}

function percentOf(share: Dec18): string {
  return `${Number(((Number(share) / Number(DEC18_ONE)) * 100).toFixed(4))} %`;
}
