import { HOUR_MS } from "../../platform/base/time.ts";
import { counted, formatDuration } from "../../platform/base/text.ts";
import { html, type Html } from "../../platform/web/html.ts";
import type { PartRow } from "../../platform/web/overview.ts";
import { badge, type Column, dataTable, grouped } from "../../platform/web/parts.ts";
import { sparkline, type Trend } from "../../platform/web/plots.ts";
import type { LedgerView } from "../ledger/ledger-view.ts";
import { foundedForecast, type Headroom, policyOf } from "../policy/assessment.ts";
import { formatRate } from "../policy/reward-tier.ts";
import type { WatchdogStatus } from "../polling/watchdog-status.ts";
import { BARS, type HourState, stateOf } from "./month-plots.ts";
import { BOUNDARY_STATES, causesOf, paidInFull, PAY_STATES, type PayStatus } from "./pay-status.ts";

export interface ValidatorEntry {
  readonly status: WatchdogStatus;
  readonly pay: PayStatus;
}

/** Sums up all validators in one sentence. */
export function fleetPayStatus(all: readonly ValidatorEntry[]): PayStatus {
  const [worst] = all.toSorted((a, b) => rankOf(a) - rankOf(b));
  if (worst === undefined || worst.pay.kind === "paid")
    return paidInFull(`All ${all.length} validators are paid in full`);
  const same = all.filter(({ pay: { short } }) => short === worst.pay.short);
  const paid = all.filter(({ pay: { kind } }) => kind === "paid").length;
  return {
    ...worst.pay,
    headline: `${counted(same.length, "validator")} of ${all.length}: ${worst.pay.short}; ${paid} paid in full`,
  };
}

export function validatorPath(name: string): string {
  return `/validators/${encodeURIComponent(name)}`;
}

/** Creates one row per validator for the overviews. */
export function validatorParts(
  all: readonly ValidatorEntry[],
  ledgerOf: (validator: string) => LedgerView | undefined,
  nowMs: number,
): readonly PartRow[] {
  return all.map(({ status, pay }) => ({
    name: `validator ${status.validator}`,
    tone: pay.tone,
    verdict: pay.short,
    number: formatRate(status.current.rate),
    asOfMs: status.polledAtMs,
    href: validatorPath(status.validator),
    trend: lastDayTrend(status, ledgerOf(status.validator), nowMs),
  }));
}

/** Lists all validators in one table, most serious first. */
export function fleetTable(
  all: readonly ValidatorEntry[],
  ledgerOf: (validator: string) => LedgerView | undefined,
  nowMs: number,
): Html {
  const chains = new Set(all.map(({ status: { chainId } }) => chainId));
  const columns: readonly Column<ValidatorEntry>[] = [
    {
      name: "validator",
      cell: ({ status: { validator } }) => html`<a href="${validatorPath(validator)}">${validator}</a>`,
    },
    { name: "month's pay", cell: ({ pay: { tone: own, short } }) => badge(own, short) },
    ...(chains.size > 1
      ? [{ name: "chain", cell: ({ status: { chainId } }: ValidatorEntry) => chainId ?? "not known yet" }]
      : []),
    { name: "rate", isNumber: true, cell: ({ status }) => formatRate(status.current.rate) },
    { name: "left to full pay", isNumber: true, cell: ({ status }) => outageCell(status, "full") },
    {
      name: "left to any pay",
      isNumber: true,
      isMinor: true,
      cell: ({ status }) => outageCell(status, "none"),
    },
    {
      name: "forecast",
      isNumber: true,
      isMinor: true,
      cell: ({ status: { assessment } }) => formatRate(foundedForecast(assessment)?.middle),
    },
    { name: "alerts", isNumber: true, cell: ({ status: { alerts } }) => causesOf(alerts).length },
    {
      name: "last 24 hours",
      isMinor: true,
      cell: ({ status }) => {
        const trend = lastDayTrend(status, ledgerOf(status.validator), nowMs);
        return trend && sparkline(trend);
      },
    },
  ];
  const rows = all.toSorted((a, b) => rankOf(a) - rankOf(b));
  return dataTable({
    caption: `${counted(all.length, "validator")}, worst first. Left: how long every block can still be bad`,
    columns,
    rows,
    rowId: ({ status }) => `row-${status.validator}`,
  });
}

function rankOf({ pay: { kind, tone } }: ValidatorEntry): number {
  return PAY_STATES.indexOf(kind) * 2 + (tone === "bad" ? 0 : 1);
}

function outageCell({ assessment }: WatchdogStatus, boundary: Headroom["boundary"]): Html | string {
  const headroom = assessment?.headroom.find((one) => one.boundary === boundary);
  if (headroom === undefined) return "–";
  if (headroom.state !== "open") return BOUNDARY_STATES[headroom.state];
  const { misses, outageMs } = headroom;
  const blocks = `${grouped(misses)} blocks`;
  return outageMs === undefined ? blocks : html`<span title="${blocks}">${formatDuration(outageMs)}</span>`;
}

const TREND_HOURS = 24;

/** Shows a validator's last 24 hours with one bar per hour. */
function lastDayTrend(
  status: WatchdogStatus,
  ledger: LedgerView | undefined,
  nowMs: number,
): Trend | undefined {
  if (ledger === undefined) return undefined;
  const { least } = policyOf(status.assessment);
  const toMs = Math.floor(nowMs / HOUR_MS + 1) * HOUR_MS;
  const fromMs = toMs - TREND_HOURS * HOUR_MS;
  const hours = new Map(ledger.hours(fromMs, toMs).map((hour) => [hour.startMs, hour]));
  const states = Array.from({ length: TREND_HOURS }, (_, index) =>
    stateOf(hours.get(fromMs + index * HOUR_MS), least),
  );
  const count = (state: HourState): number => states.filter((one) => one === state).length;
  return {
    text: `${counted(count("bad"), "hour")} below any pay, ${count("weak")} below full pay`,
    bars: states.map((state) => (state === "none" ? null : BARS[state])),
  };
}
