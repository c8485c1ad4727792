import { counted, formatDuration } from "../../platform/base/text.ts";
import { type Html, html } from "../../platform/web/html.ts";
import { badge, type Column, dataTable, grouped, verdict } from "../../platform/web/parts.ts";
import type { Headroom } from "../policy/assessment.ts";
import { formatPercent } from "../policy/reward-tier.ts";
import type { WatchdogStatus } from "../status.ts";
import { foundedForecast } from "../policy/early-month.ts";
import { firingOf, tierNow, type ValidatorVerdict, VERDICTS } from "./judge-validator.ts";

/** A validator with its verdict and the id of its section. */
export interface JudgedValidator {
  readonly id: string;
  readonly status: WatchdogStatus;
  readonly verdict: ValidatorVerdict;
}

/** One sentence about all validators. */
export function fleetVerdict(all: readonly JudgedValidator[]): ValidatorVerdict {
  const [worst] = all.toSorted((a, b) => rank(a) - rank(b));
  if (worst === undefined || worst.verdict.kind === "paid")
    return {
      kind: "paid",
      tone: "good",
      short: "paid in full",
      headline: `All ${all.length} validators are paid in full`,
    };
  const same = all.filter(({ verdict: { short } }) => short === worst.verdict.short);
  const paid = all.filter(({ verdict: { kind } }) => kind === "paid").length;
  return {
    ...worst.verdict,
    headline: `${counted(same.length, "validator")} of ${all.length}: ${worst.verdict.short}; ${paid} paid in full`,
  };
}

/** All validators in one table, the gravest first. */
export function fleetSection(all: readonly JudgedValidator[], nowMs: number): Html {
  const { tone, headline } = fleetVerdict(all);
  const columns: readonly Column<JudgedValidator>[] = [
    { name: "validator", cell: ({ id, status }) => html`<a href="#${id}">${status.validator}</a>` },
    { name: "verdict", cell: ({ verdict: { tone: own, short } }) => badge(own, short) },
    { name: "chain", cell: ({ status: { chainId } }) => chainId ?? "not known yet" },
    {
      name: "rate",
      isNumber: true,
      cell: ({ status: { current } }) =>
        current.rate === undefined ? "–" : `${formatPercent(current.rate)} %`,
    },
    { name: "tier", cell: ({ status }) => tierNow(status) ?? "–" },
    { name: "left to full pay", isNumber: true, cell: ({ status }) => headroomCell(status, "full") },
    { name: "left to any pay", isNumber: true, cell: ({ status }) => headroomCell(status, "none") },
    {
      name: "forecast",
      isNumber: true,
      cell: ({ status: { assessment } }) => {
        const forecast = foundedForecast(assessment);
        return forecast === undefined ? "–" : `${formatPercent(forecast.middle)} %`;
      },
    },
    { name: "alerts", isNumber: true, cell: ({ status: { alerts } }) => firingOf(alerts).length },
    {
      name: "last poll",
      isNumber: true,
      cell: ({ status: { polledAtMs } }) =>
        polledAtMs === undefined ? "never" : `${formatDuration(nowMs - polledAtMs)} ago`,
    },
  ];
  const rows = all.toSorted((a, b) => rank(a) - rank(b));
  return html`${verdict(tone, headline, html`<p>The gravest first. Each name leads to its details below.</p>`)}
<h2>Validators</h2>${dataTable({ caption: counted(all.length, "validator"), columns, rows, rowId: ({ id }) => `row-${id}` })}`;
}

function rank({ verdict: { kind, tone } }: JudgedValidator): number {
  return VERDICTS.indexOf(kind) * 2 + (tone === "bad" ? 0 : 1);
}

function headroomCell({ assessment }: WatchdogStatus, boundary: Headroom["boundary"]): Html | string {
  const headroom = assessment?.headroom.find((one) => one.boundary === boundary);
  if (headroom === undefined) return "–";
  if (headroom.state !== "open") return headroom.state;
  const { misses, outageMs } = headroom;
  return html`${grouped(misses)} blocks<small>${outageMs === undefined ? "" : formatDuration(outageMs)}</small>`;
}
