import { counted, formatDuration, formatTime } from "../../platform/base/text.ts";
import { sumsBy } from "../result/amounts.ts";
import { html, type Html, type HtmlPart } from "../../platform/web/html.ts";
import {
  ago,
  amount,
  badge,
  type Column,
  dataTable,
  type Fact,
  factGrid,
  grouped,
  type Tone,
} from "../../platform/web/parts.ts";
import { type Bar, barPlot } from "../../platform/web/plots.ts";
import { namedOwners } from "../gate/spending.ts";
import type { QueryView, RelayerStatus } from "../health/relayer-status.ts";
import {
  isDemandAboveMarket,
  isFresh,
  type MarketStatus,
  meanOthersGas,
  meanOwnGas,
  remedyText,
} from "../forecast/market-view.ts";
import type { MarketPhase } from "../gas-budget/budget.ts";
import { callbackGas, overheadGas } from "../report/relayer-report.ts";
import type { ActivitySample } from "./activity.ts";
import { priceFact } from "./overview-section.ts";
import { pricePlot } from "./price-plot.ts";
import { ownerCell } from "./query-section.ts";
import type { CostsView } from "../costs/create-costs.ts";
import { type CostGroup, type SpendingView, spendingView } from "../costs/spending-view.ts";
import {
  type SpendingRow,
  type SpendingText,
  spendingText,
  type TextColumn,
} from "../report/spending-text.ts";

/** Shows the fee market's price and gas, the demand, today's fees, and gas by owner. */
export function costSection(status: RelayerStatus, samples: readonly (ActivitySample | undefined)[]): Html {
  const { market } = status;
  if (market === undefined)
    return html`<h2>Cost</h2><p>The chain has no fee market, or it has not been read yet.</p>${factGrid(
      resultFacts(status),
    )}${ownerTable(status, samples)}`;
  return html`<h2>Cost</h2>${isFresh(market) ? demandText(market, status.local.blockMs) : staleText(market)}${factGrid(
    [...marketFacts(market), ...resultFacts(status)],
  )}<div class="plots">${pricePlot(market, status.nowMs)}${gasPlot(market)}</div>${ownerTable(status, samples)}`;
}

function staleText({ sinceReadMs }: MarketStatus): Html {
  return html`<p>${badge("unknown", "not current")} The fee market was last read ${formatDuration(sinceReadMs)} ago.</p>`;
}

/** States whether the market can sustain the demand and, if not, describes the consequence and the remedies. */
function demandText(market: MarketStatus, blockMs = 1_000): Html {
  const { demandResults, sustainableResults, lateBlocks, costPerDay, remedies } = market.forecast;
  const [demand, sustainable] = [resultsText(demandResults), resultsText(sustainableResults)];
  if (!isDemandAboveMarket(market))
    return html`<p>${badge("good", "demand within the market")} With every result on time, a block has ${demand} results. The fee market bears ${sustainable} at its current price.</p>`;
  const { denom } = market;
  return html`<p>${badge("warn", "demand above the market")} With every result on time, a block would have ${demand} results. The fee market bears ${sustainable} at its current price, so in the steady state ${
    lateBlocks === Infinity
      ? "no result is on time: others use the whole target"
      : html`each result is ${blocksText(lateBlocks)} late, for ${grouped(costPerDay)} ${denom} a day at the lowest price`
  }.</p>${
    remedies.length > 0 &&
    html`<p>What would change that (the ceiling is <code>gas.price.comfortable</code>):</p><ul>${remedies.map(
      (remedy) => html`<li>${remedyText(remedy, { denom, blockMs, separator: "\u202f" })}</li>`,
    )}</ul>`
  }`;
}

const PHASES: Readonly<Record<MarketPhase, string>> = {
  steady: "the price stays where it is",
  burst: "a backlog is sent, up to the ceiling",
  recovering: "the price returns after a burst",
  "above-ceiling": "only urgent results are sent",
  unpriced:
    "the price in the denom of gas.denom is not known, so neither ceiling nor cap can be compared: blocks get the market's target less others' gas",
  unlimited: "the ceiling is not below the cap: only batch.block_share limits a block",
};

function marketFacts(market: MarketStatus): readonly Fact[] {
  const { phase, budgetGas, targetGas, othersGas } = market;
  return [
    priceFact(market),
    { name: "Phase", value: phase, detail: PHASES[phase] },
    {
      name: "Gas of the next block",
      value: gasText(budgetGas),
      detail: `target ${gasText(targetGas)}, others ${gasText(othersGas)}`,
    },
  ];
}

function resultFacts({ queries, spending, reserve, account }: RelayerStatus): readonly Fact[] {
  const { results, gas } = sumsBy(
    queries,
    () => "all",
    ({ results: count, cost }) => ({ results: count, gas: cost?.gas ?? 0n }),
  ).get("all") ?? { results: 0, gas: 0n };
  const { fee, limits } = spending;
  const { dailyFee } = limits;
  const isUsedUp = dailyFee !== undefined && fee >= dailyFee;
  const text = (value: bigint): Html | string => amount(value, account.denom, account.unit);
  return [
    {
      name: "Fees of today (UTC)",
      value: text(fee),
      detail:
        dailyFee === undefined
          ? "no daily limit"
          : html`${isUsedUp && "the limit is reached: "}of ${text(dailyFee)}`,
      tone: isUsedUp ? "bad" : undefined,
    },
    {
      name: "Never spent",
      value: text(reserve),
      detail: html`of <code>${account.address}</code>`,
      isWide: true,
    },
    {
      name: "Gas of a result",
      value: results === 0 ? "–" : grouped(gas / BigInt(results)),
      detail: results === 0 ? "no result yet" : "since the start",
    },
  ];
}

interface Cost {
  readonly results: number;
  /** Number of keys in all results. A TX query's result is treated as one key. */
  readonly keys: number;
  readonly gas: bigint;
}

function costByOwner(queries: readonly QueryView[]): ReadonlyMap<string, Cost> {
  return sumsBy(
    queries,
    ({ owner }) => owner,
    ({ results, keyCount, cost }) => ({
      results,
      keys: results * Math.max(1, keyCount),
      gas: cost?.gas ?? 0n,
    }),
  );
}

/** Maximum number of owners on the page, which shows the owners with the most gas. */
const SHOWN_OWNERS = 10;

/** Creates a function that estimates an owner's callback gas from the last hour's transactions. */
function createCallbackGas(
  samples: readonly (ActivitySample | undefined)[],
): (cost: Pick<Cost, "gas" | "keys">) => bigint {
  const known = samples.filter((sample) => sample !== undefined);
  const gas = known.reduce((sum, sample) => sum + sample.gas, 0n);
  const overhead = known.reduce((sum, one) => sum + overheadGas(one.transactions, one.updates), 0n);
  return (cost) =>
    callbackGas({
      gas: cost.gas,
      overheadGas: gas === 0n ? 0n : (overhead * cost.gas) / gas,
      keys: BigInt(cost.keys),
    });
}

/** Shows each owner's gas today, its gas budget, and its gas per result since startup. The section "Spending" shows the fees. */
function ownerTable(
  { spending, queries }: RelayerStatus,
  samples: readonly (ActivitySample | undefined)[],
): Html {
  const { gasByOwner, limits } = spending;
  const { dailyGasPerOwner: limit } = limits;
  const owners = namedOwners(gasByOwner);
  const costs = costByOwner(queries);
  const callbackGasOf = createCallbackGas(samples);
  const isUsedUp = (gas: bigint): boolean => limit !== undefined && gas >= limit;
  const over = owners.filter(([, gas]) => isUsedUp(gas)).length;
  const perResult = (owner: string, read: (cost: Cost) => bigint): string => {
    const cost = costs.get(owner);
    return cost === undefined || cost.results === 0 ? "–" : grouped(read(cost) / BigInt(cost.results));
  };
  const columns: readonly Column<readonly [string, bigint]>[] = [
    { name: "owner", cell: ([owner]) => ownerCell({ owner }) },
    {
      name: "gas today",
      isNumber: true,
      cell: ([, gas]) => `${grouped(gas)}${limit === undefined ? "" : ` of ${grouped(limit)}`}`,
    },
    { name: "gas of a result", isNumber: true, cell: ([owner]) => perResult(owner, ({ gas }) => gas) },
    { name: "its callback", isNumber: true, cell: ([owner]) => perResult(owner, callbackGasOf) },
    {
      name: "budget",
      cell: ([, gas]) =>
        isUsedUp(gas) ? badge("bad", "used up") : limit === undefined ? "none" : badge("good", "left"),
    },
  ];
  const rest = owners.length - SHOWN_OWNERS;
  return html`<h3>Owners</h3>${dataTable({
    caption: `${counted(owners.length, "owner")} with gas today, ${over === 0 ? "no budget" : counted(over, "budget")} used up; highest first; per result, since the start`,
    columns,
    rows: owners.slice(0, SHOWN_OWNERS),
  })}${rest > 0 && html`<p>${counted(rest, "more owner")} in <a href="/api/status">JSON</a>.</p>`}`;
}

/** Plots the newest blocks' gas: the relayer's gas with other senders' gas stacked on top, and a line for the target. */
function gasPlot(market: MarketStatus): Html {
  const { blocks, targetGas } = market;
  const own = meanOwnGas(market, blocks.length);
  const others = meanOthersGas(market);
  const means =
    own === undefined
      ? "no block has been read yet"
      : `own ${gasText(own)} (blue), others ${others === undefined ? "unknown" : gasText(others)} (grey, on top) on average`;
  return barPlot({
    title: `Gas of the last ${counted(blocks.length, "block")}`,
    summary: `${means}; target ${gasText(targetGas)}`,
    bars: blocks.map(
      ({ ownGas, othersGas }): Bar => [
        { style: "plain", value: Number(ownGas) },
        { style: "unknown", value: Number(othersGas ?? 0n) },
      ],
    ),
    from: blocks[0] === undefined ? "" : `height ${blocks[0].height}`,
    to: `${blocks.at(-1)?.height ?? ""}`,
    format: (value) => gasText(BigInt(Math.round(value))),
    limit: { value: Number(targetGas), text: "target" },
  });
}

/** Formats gas of 100,000 or more in millions, with a narrow space, e.g. "11.6 M". */
function gasText(gas: bigint): string {
  return gas < 100_000n ? grouped(gas) : `${Number(gas / 100_000n) / 10}\u202fM`;
}

function resultsText(results: number): string {
  return results < 10 ? String(Number(results.toPrecision(2))) : grouped(Math.round(results));
}

function blocksText(blocks: number): string {
  return counted(Math.round(blocks * 10) / 10, "block");
}

/** Maximum number of owners or queries in a table, which shows the most expensive rows. */
const MAX_ROWS = 10;

/** Shows who pays the fees, the fees per owner and query, and the forecast, with the report's wording. */
export function spendingSection(costs: CostsView, nowMs: number): Html {
  const view = spendingView(costs, "owner");
  const words = spendingText(view, "\u202f");
  const queries = spendingText(spendingView(costs, "query"), "\u202f");
  return html`<h2>Spending</h2>${noticesOf(view, nowMs)}<p>${grantBadge(view, nowMs)}${words.payer}</p>${dataTable(
    {
      caption: "Fees paid",
      columns: columnsOf(words.windows),
      rows: view.windows,
    },
  )}<h3>Forecast</h3><p>${budgetBadge(view)}${words.budget}</p><p>${words.basis}</p>${
    view.forecast !== null &&
    dataTable({
      caption: "Expected, and lowest to highest",
      columns: columnsOf(words.forecast),
      rows: words.prices,
    })
  }<h3>Who it is paid for</h3>${rowTable(words, "owner")}${
    queries.rows.length > 0 &&
    html`<details id="query-costs"><summary>Fees by query</summary>${rowTable(queries, "query")}</details>`
  }<p>Nothing comes back: ${words.returns} A light-client update's fee is shared by the results sent with it, in proportion to their gas; without results, all queries of its connection share it equally. A transaction that fails in its block also costs its fee.</p>`;
}

function noticesOf({ read_at: readAtMs, incomplete, since }: SpendingView, nowMs: number): HtmlPart {
  if (readAtMs === null)
    return html`<p>${badge("unknown", "not known yet")} ${incomplete ?? "The costs have not been read yet."}</p>`;
  const complete = since === null ? "" : ` Complete since ${formatTime(since)} UTC.`;
  return html`<p>${
    incomplete === null
      ? html`Sums are exact, to the unit.`
      : html`${badge("warn", "may be incomplete")} ${incomplete}.`
  }${complete} Read ${ago(Math.max(0, nowMs - readAtMs))}.</p>`;
}

/** Warns about a fee grant that pays nothing or whose limits are unknown. */
function grantBadge({ payer: { fee_grant: grant } }: SpendingView, nowMs: number): HtmlPart {
  if (grant === null) return "";
  const { read, type, known, left, expires_at: expiresAtMs } = grant;
  if (!read) return html`${badge("unknown", "not known yet")} `;
  const hasEnded = expiresAtMs !== null && expiresAtMs <= nowMs;
  if (type === null || left === 0n || hasEnded) return html`${badge("bad", "the fee grant pays nothing")} `;
  return known === true ? "" : html`${badge("unknown", "not known")} `;
}

function budgetBadge({ budget, over_budget: over }: SpendingView): HtmlPart {
  if (budget === null) return "";
  const [tone, text]: readonly [Tone, string] =
    over === "spent"
      ? ["bad", "spent"]
      : over === "forecast"
        ? ["warn", "will be exceeded"]
        : ["good", "fine"];
  return html`${badge(tone, text)} `;
}

/** Converts the report's columns to table columns for the page. */
function columnsOf<Row>(columns: readonly TextColumn<Row>[]): readonly Column<Row>[] {
  return columns.map(({ title, align, text, detail, isUrgent }) => ({
    name: `${title.charAt(0).toLowerCase()}${title.slice(1)}`,
    isNumber: align === "right",
    cell: (row) => {
      // Keep the time out of the badge, because badges do not wrap and the time would make the badge wider than a phone's screen.
      const value = isUrgent?.(row) === true ? html`${badge("warn", "soon")} ${text(row)}` : text(row);
      return detail === undefined ? value : html`${value}<small>${detail(row)}</small>`;
    },
  }));
}

function rowTable({ rows, columns, details, unit }: SpendingText, by: CostGroup): Html {
  const shown = columnsOf([...columns, ...details]);
  const rest = rows.length - MAX_ROWS;
  const more = by === "owner" ? counted(rest, "more owner") : counted(rest, "more query", "more queries");
  return html`${dataTable({
    caption: `Fees in ${unit}, the most expensive over 30 days first${by === "owner" ? "" : "; from results on, the columns cover 24 hours"}`,
    columns: shown.map((column) => (column.name === "owner" ? { ...column, cell: ownerName } : column)),
    rows: rows.slice(0, MAX_ROWS),
  })}${rest > 0 && html`<p>${more} in <a href="/api/spending?by=${by}">JSON</a>.</p>`}`;
}

function ownerName({ owner, label, creator, admin }: SpendingRow): Html | string {
  if (owner === "") return "light clients without a query, or removed queries";
  const title = `creator ${creator}${admin === "" ? "" : ` admin ${admin}`}`;
  return html`${ownerCell({ owner })}${label !== "" && html`<small title="${title}">${label}</small>`}`;
}
