import { formatAmount, formatUnits } from "../../platform/base/display-unit.ts";
import { counted, formatDuration, formatTime } from "../../platform/base/text.ts";
import { html, type Html, type HtmlPart } from "../../platform/web/html.ts";
import {
  ago,
  badge,
  type Column,
  dataTable,
  type Fact,
  factGrid,
  grouped,
  type Tone,
} from "../../platform/web/parts.ts";
import { overBudget } from "../costs/cost-json.ts";
import { byOwner, type CostWindow, type CostWindowName, mostExpensive } from "../costs/cost-windows.ts";
import type { CostsView } from "../costs/create-costs.ts";
import type { FeeAllowance } from "../costs/fee-allowance.ts";
import type { ForecastPrice, Range, TimeLeft } from "../costs/spending-forecast.ts";
import { ownerCell } from "./query-section.ts";

/** Owners and queries on the page: the most expensive ones. */
const MAX_OWNERS = 10;
const MAX_QUERIES = 10;

const WINDOW_TITLES: Readonly<Record<CostWindowName, string>> = {
  "1h": "last hour",
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
  month: "this month",
};

/** Who pays, for whom, and what it will be: payer and grant, the forecast with its budget, costs by owner and by query. */
export function spendingSection(costs: CostsView, nowMs: number): Html {
  return html`<h2>Spending</h2>${noticesOf(costs, nowMs)}${factGrid([
    ...payerFacts(costs, nowMs),
    ...windowFacts(costs),
  ])}<h3>Forecast</h3>${forecastPart(costs)}<h3>Who it is paid for</h3>${ownerTable(costs)}${queryTable(costs)}<p>Nothing comes back: the chain pays no reward for a result, and a query's deposit is between its contract and whoever removes the query. A light-client update is shared by the results that it was sent with, in proportion to their gas; one without results by all queries of its connection equally. A transaction that fails in its block costs its fee too.</p>`;
}

function noticesOf({ readAtMs, incomplete, sinceMs }: CostsView, nowMs: number): HtmlPart {
  if (readAtMs === undefined)
    return html`<p>${badge("unknown", "not known yet")} ${incomplete ?? "The costs were not read yet."}</p>`;
  const since = sinceMs === undefined ? "" : ` Complete since ${formatTime(sinceMs)} UTC.`;
  return html`<p>${
    incomplete === undefined
      ? html`Sums are exact, to the unit.`
      : html`${badge("warn", "may be incomplete")} ${incomplete}.`
  }${since} Read ${ago(Math.max(0, nowMs - readAtMs))}.</p>`;
}

function amountText(amount: bigint, { denom, unit }: Pick<CostsView, "denom" | "unit">): string {
  return formatAmount(amount, denom, unit, "\u202f");
}

/** For tables, whose column names the unit. */
function shortText(amount: bigint, { unit }: Pick<CostsView, "unit">): string {
  return unit === undefined ? grouped(amount) : formatUnits(amount, { ...unit, name: "" }, "\u202f").trim();
}

function unitName({ denom, unit }: Pick<CostsView, "denom" | "unit">): string {
  return unit?.name ?? denom;
}

function payerFacts(costs: CostsView, nowMs: number): readonly Fact[] {
  const { payer } = costs;
  const { address, signer, balance, reserve, grant } = payer;
  const who =
    grant === undefined
      ? html`the relayer's own account <code>${address}</code>`
      : html`<code>${address}</code>, by a fee grant to <code>${signer}</code>`;
  return [
    {
      name: "Who pays",
      value: grant === undefined ? "its own account" : "a fee granter",
      detail: who,
      isWide: true,
    },
    {
      name: "Left in the account",
      value: balance === undefined ? "not known yet" : amountText(balance, costs),
      detail: reserve > 0n ? `of which ${amountText(reserve, costs)} are never spent` : undefined,
      tone: balance === undefined ? "unknown" : undefined,
      isWide: true,
    },
    ...(grant === undefined ? [] : [grantFact(costs, nowMs)]),
  ];
}

function grantFact(costs: CostsView, nowMs: number): Fact {
  const { grant } = costs.payer;
  const name = "Left of the fee grant";
  if (grant === undefined || !grant.isRead)
    return { name, value: "not known yet", detail: grant?.error, tone: "unknown", isWide: true };
  const { allowance, error } = grant;
  if (allowance === undefined) return { name, value: "there is no such grant", tone: "bad", isWide: true };
  const ended = allowance.expiresAtMs !== undefined && allowance.expiresAtMs <= nowMs;
  const value = !allowance.isKnown
    ? `not known: ${allowance.type}`
    : allowance.left === undefined
      ? "no limit in all"
      : amountText(allowance.left, costs);
  return {
    name,
    value,
    detail: [expiryText(allowance, nowMs), periodText(allowance, costs), error]
      .filter((text) => text !== undefined && text !== "")
      .join("; "),
    tone: ended || allowance.left === 0n ? "bad" : allowance.isKnown ? undefined : "unknown",
    isWide: true,
  };
}

function expiryText({ expiresAtMs }: FeeAllowance, nowMs: number): string {
  if (expiresAtMs === undefined) return "it does not end";
  return expiresAtMs <= nowMs
    ? `it ended ${ago(nowMs - expiresAtMs)}`
    : `it ends in ${formatDuration(expiresAtMs - nowMs)}`;
}

function periodText({ period }: FeeAllowance, costs: CostsView): string | undefined {
  if (period === undefined) return undefined;
  return `${amountText(period.left, costs)} of ${amountText(period.limit, costs)} for ${formatDuration(period.ms)}`;
}

function windowFacts(costs: CostsView): readonly Fact[] {
  return costs.windows.map((window) => ({
    name: `Paid, ${WINDOW_TITLES[window.name]}`,
    value: amountText(window.fee, costs),
    detail: windowDetail(window, costs),
    isWide: true,
  }));
}

function windowDetail(window: CostWindow, costs: CostsView): string {
  const { fromMs, coveredFromMs, queries } = window;
  const sum = (read: (query: (typeof queries)[number]) => bigint): bigint =>
    queries.reduce((total, query) => total + read(query), 0n);
  const failed = sum(({ failedFee }) => failedFee);
  const since = coveredFromMs > fromMs ? "known only since" : "since";
  return [
    `${since} ${formatTime(coveredFromMs).slice(0, 16)}`,
    `light clients ${shortText(
      sum(({ updateFee }) => updateFee),
      costs,
    )}`,
    ...(failed > 0n ? [`failed transactions ${shortText(failed, costs)}`] : []),
  ].join("; ");
}

function forecastPart(costs: CostsView): Html {
  const { forecast, budget } = costs;
  const over = overBudget(costs);
  const budgetLine = html`<p>${
    budget === undefined
      ? html`No budget is set (<code>spending.budget</code>).`
      : budgetText(over, amountText(budget, costs))
  }</p>`;
  if (forecast === undefined)
    return html`${budgetLine}<p>${badge("unknown", "not known yet")} A forecast needs ten minutes of running.</p>`;
  const { regimes, width, newQueries, goneQueries } = forecast;
  const basis = regimes
    .map(({ name, feePerDay }) => `${REGIME_NAMES[name]} ${shortText(feePerDay, costs)}`)
    .join(", ");
  return html`${budgetLine}<p>Estimated from ${basis} ${unitName(costs)} a day, ± ${Math.round(width * 100)} % for the spread of the hours. ${changesText(newQueries, goneQueries)}</p>${dataTable(
    {
      caption: `In ${unitName(costs)}: lowest to highest, and expected`,
      columns: forecastColumns(costs),
      rows: ["now", "cap"] as const,
    },
  )}`;
}

function budgetText(over: ReturnType<typeof overBudget>, budget: string): Html {
  if (over === "spent") return html`${badge("bad", "over budget")} More than ${budget} was paid this month.`;
  if (over === "forecast")
    return html`${badge("warn", "over budget by forecast")} The month will cost more than ${budget}.`;
  return html`${badge("good", "within the budget")} of ${budget} a month.`;
}

const REGIME_NAMES = {
  hours: "the last hours",
  days: "the last days",
  month: "the month so far",
} as const;

function changesText(newQueries: number, goneQueries: number): string {
  const parts = [
    ...(newQueries > 0
      ? [
          `${counted(newQueries, "new query", "new queries")} by rate since registration, or by period and measured cost`,
        ]
      : []),
    ...(goneQueries > 0 ? [`${counted(goneQueries, "query", "queries")} gone and left out`] : []),
  ];
  return parts.length === 0 ? "" : `Of the queries: ${parts.join("; ")}.`;
}

const PRICE_NAMES: Readonly<Record<ForecastPrice, string>> = {
  now: "at the present gas price",
  cap: "at gas.max_price",
};

function forecastColumns(costs: CostsView): readonly Column<ForecastPrice>[] {
  const { forecast } = costs;
  const range = (read: (price: ForecastPrice) => Range | undefined) => (price: ForecastPrice) => {
    const found = read(price);
    return found === undefined ? "–" : rangeCell(found, costs);
  };
  return [
    { name: "price", cell: (price) => PRICE_NAMES[price] },
    { name: "a day", isNumber: true, cell: range((price) => forecast?.perDay[price]) },
    { name: "the whole month", isNumber: true, cell: range((price) => forecast?.month[price]) },
    { name: "account or grant empty", cell: (price) => emptyCell(forecast?.empty[price]) },
  ];
}

function rangeCell({ low, expected, high }: Range, costs: CostsView): Html {
  return html`${shortText(expected, costs)}<small>${shortText(low, costs)} to ${shortText(high, costs)}</small>`;
}

/** Longer times say nothing: prices and queries will have changed. */
const YEAR_MS = 365 * 86_400_000;

function emptyCell(left: TimeLeft | undefined): Html | string {
  if (left === undefined) return "not known";
  const text = (ms: number): string => (ms > YEAR_MS ? "more than a year" : formatDuration(ms));
  if (left.soonestMs > YEAR_MS) return "in more than a year";
  const tone: Tone | undefined = left.soonestMs < 3 * 86_400_000 ? "warn" : undefined;
  const expected = `in ${text(left.expectedMs)}`;
  return html`${tone === undefined ? expected : badge(tone, expected)}<small>${text(left.soonestMs)} to ${text(left.latestMs)}</small>`;
}

interface OwnerRow {
  readonly owner: string;
  readonly fees: ReadonlyMap<CostWindowName, bigint>;
  readonly queries: number;
}

function ownerTable(costs: CostsView): Html {
  const sums = costs.windows.map(({ name, queries }) => ({ name, owners: byOwner(queries) }));
  const month = sums.find(({ name }) => name === "30d")?.owners ?? [];
  const rows = month.map(({ owner, queries }): OwnerRow => {
    const fees = sums.map(({ name, owners }) => [name, feeOf(owners, owner)] as const);
    return { owner, queries, fees: new Map(fees) };
  });
  const forecasts = new Map(costs.forecast?.owners.map(({ owner, month: range }) => [owner, range]));
  const columns: readonly Column<OwnerRow>[] = [
    { name: "owner", cell: ({ owner }) => ownerName(owner, costs) },
    { name: "queries", isNumber: true, cell: ({ queries }) => queries },
    ...sums.map(
      ({ name }): Column<OwnerRow> => ({
        name: WINDOW_TITLES[name],
        isNumber: true,
        cell: ({ fees }) => shortText(fees.get(name) ?? 0n, costs),
      }),
    ),
    {
      name: "whole month, forecast",
      isNumber: true,
      cell: ({ owner }) => {
        const range = forecasts.get(owner);
        return range === undefined ? "–" : rangeCell(range, costs);
      },
    },
  ];
  const rest = rows.length - MAX_OWNERS;
  return html`${dataTable({
    caption: `Fees by owner of the queries, in ${unitName(costs)}; the most expensive of 30 days first`,
    columns,
    rows: rows.slice(0, MAX_OWNERS),
  })}${rest > 0 && html`<p>${counted(rest, "more owner")} in <a href="/api/spending">JSON</a>.</p>`}`;
}

function feeOf(owners: ReturnType<typeof byOwner>, owner: string): bigint {
  return owners.find((sum) => sum.owner === owner)?.fee ?? 0n;
}

function ownerName(owner: string, { nameOf }: CostsView): Html | string {
  if (owner === "") return "light clients without a query, or removed queries";
  const name = nameOf(owner);
  const admin = name === undefined || name.admin === "" ? "" : ` admin ${name.admin}`;
  return html`${ownerCell({ owner })}${name !== undefined && html`<small title="creator ${name.creator}${admin}">${name.label}</small>`}`;
}

type QueryRow = CostWindow["queries"][number];

function queryTable(costs: CostsView): Html {
  const day = costs.windows.find(({ name }) => name === "24h");
  if (day === undefined || day.queries.length === 0) return html``;
  const columns: readonly Column<QueryRow>[] = [
    { name: "query", cell: ({ queryId }) => (queryId === 0n ? "none" : `query ${queryId}`) },
    { name: "owner", cell: ({ owner }) => ownerName(owner, costs) },
    { name: "results", isNumber: true, cell: ({ results }) => grouped(results) },
    { name: "fees", isNumber: true, cell: ({ fee }) => shortText(fee, costs) },
    { name: "for light clients", isNumber: true, cell: ({ updateFee }) => shortText(updateFee, costs) },
    { name: "in failed transactions", isNumber: true, cell: ({ failedFee }) => shortText(failedFee, costs) },
    {
      name: "a result",
      isNumber: true,
      cell: ({ fee, results }) => (results === 0 ? "–" : shortText(fee / BigInt(results), costs)),
    },
  ];
  const sorted = day.queries.toSorted(mostExpensive);
  const rest = sorted.length - MAX_QUERIES;
  return html`<details id="query-costs"><summary>Fees by query, 24 hours</summary>${dataTable({
    caption: `In ${unitName(costs)}, the most expensive first`,
    columns,
    rows: sorted.slice(0, MAX_QUERIES),
  })}${rest > 0 && html`<p>${counted(rest, "more query", "more queries")} in <a href="/api/spending?by=query">JSON</a>.</p>`}</details>`;
}
