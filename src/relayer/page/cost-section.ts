import { dec18ToNumber, type Dec18, quoDec18 } from "../../platform/base/decimal.ts";
import { type DisplayUnit, formatAmount } from "../../platform/base/display-unit.ts";
import { counted, formatDuration } from "../../platform/base/text.ts";
import { html, type Html } from "../../platform/web/html.ts";
import { badge, type Column, dataTable, type Fact, factGrid, grouped } from "../../platform/web/parts.ts";
import { type Bar, barPlot } from "../../platform/web/plots.ts";
import { namedOwners } from "../gate/spending.ts";
import type { QueryView, RelayerStatus } from "../health/relayer-status.ts";
import type { Remedy } from "../market/forecast.ts";
import {
  isDemandAboveMarket,
  isFresh,
  meanOwnGas,
  meanOthersGas,
  priceText,
} from "../market/market-outputs.ts";
import { callbackGas, overheadGas } from "../report/callback-gas.ts";
import type { ActivitySample } from "./activity.ts";
import { pricePlot } from "./price-plot.ts";
import { ownerCell } from "./query-section.ts";
import type { MarketPhase, MarketStatus } from "../market/market-status.ts";

/** A market with the unit in which people read its amounts. */
type PricedMarket = MarketStatus & { readonly unit: DisplayUnit | undefined };

/** What results cost: the fee market with its price and gas, the forecast, today's fees and gas, and the cost by owner. */
export function costSection(status: RelayerStatus, samples: readonly (ActivitySample | undefined)[]): Html {
  const market = status.market && { ...status.market, unit: status.account.unit };
  if (market === undefined)
    return html`<h2>Cost</h2><p>The chain has no fee market, or it was not read yet.</p>${factGrid(
      resultFacts(status),
    )}${ownerTable(status, samples)}`;
  return html`<h2>Cost</h2>${isFresh(market) ? demandText(market) : staleText(market)}${factGrid([
    ...marketFacts(market),
    ...resultFacts(status),
    ...forecastFacts(market),
  ])}<div class="plots">${pricePlot(market, status.nowMs)}${gasPlot(market)}</div>${ownerTable(status, samples)}`;
}

function staleText({ sinceReadMs }: MarketStatus): Html {
  return html`<p>${badge("unknown", "not current")} The fee market was last read ${formatDuration(sinceReadMs)} ago.</p>`;
}

/** Whether the market bears the demand; otherwise what follows, and what each remedy costs. */
function demandText(market: PricedMarket): Html {
  const { demandResults, sustainableResults, lateBlocks, remedies } = market.forecast;
  const [demand, sustainable] = [resultsText(demandResults), resultsText(sustainableResults)];
  if (!isDemandAboveMarket(market))
    return html`<p>${badge("good", "demand within the market")} With every result on time, a block has ${demand} results. The fee market bears ${sustainable} at its present price.</p>`;
  const columns: readonly Column<Remedy>[] = [
    { name: "change", cell: remedyText },
    { name: "effect", cell: effectText },
    { name: "cost of a day", isNumber: true, cell: (remedy) => amount(dailyCost(remedy, market), market) },
    {
      name: "compared to now",
      isNumber: true,
      cell: (remedy) => differenceText(dailyCost(remedy, market) - market.forecast.costPerDay),
    },
  ];
  return html`<p>${badge("warn", "demand above the market")} With every result on time, a block would have ${demand} results. The fee market bears ${sustainable} at its present price, so in the steady state ${
    lateBlocks === Infinity
      ? "no result is on time: others use the whole target"
      : html`each result is ${blocksText(lateBlocks)} late`
  }.</p>${
    remedies.length > 0 &&
    dataTable({ caption: "What would change that, at the present market", columns, rows: remedies })
  }`;
}

function remedyText(remedy: Remedy): Html {
  switch (remedy.kind) {
    case "longer-periods":
      return html`all update periods × ${Math.ceil(remedy.factor * 100) / 100}`;
    case "higher-ceiling":
      return html`<code>gas.price.comfortable: "${priceText(remedy.ceiling)}"</code>`;
    case "fewer-callbacks":
      return html`no result calls its contract`;
  }
}

function effectText(remedy: Remedy): string {
  switch (remedy.kind) {
    case "longer-periods":
      return "results are on time";
    case "higher-ceiling":
      return `one burst a day has ${counted(remedy.burstResults, "result")}; the steady state is the same`;
    case "fewer-callbacks":
      return remedy.lateBlocks === 0
        ? "results are on time"
        : remedy.lateBlocks === Infinity
          ? "no result is on time"
          : `results are ${blocksText(remedy.lateBlocks)} late`;
  }
}

/** Cost of a day with the remedy. That of a higher ceiling is the cost of its burst alone. */
function dailyCost({ kind, costPerDay }: Remedy, { forecast }: MarketStatus): bigint {
  return kind === "higher-ceiling" ? forecast.costPerDay + costPerDay : costPerDay;
}

function differenceText(difference: bigint): string {
  if (difference === 0n) return "the same";
  return difference > 0n ? `+${grouped(difference)}` : `−${grouped(-difference)}`;
}

const PHASES: Readonly<Record<MarketPhase, string>> = {
  steady: "the price stays where it is",
  burst: "a backlog is sent, up to the ceiling",
  recovering: "the price returns after a burst",
  "above-ceiling": "only urgent results are sent",
  unlimited: "the ceiling is not below the cap: only batch.block_share limits a block",
};

function marketFacts(market: MarketStatus): readonly Fact[] {
  const { denom, price, minimum, ceiling, cap, phase, budgetGas, targetGas, othersGas } = market;
  const multiple = minimum > 0n ? `${ratioText(price, minimum)} × minimum; ` : "";
  return [
    {
      name: "Gas price",
      value: `${priceText(price)} ${denom}`,
      detail: `${multiple}ceiling ${priceText(ceiling)}, cap ${priceText(cap)}`,
      tone: price > cap ? "bad" : price > ceiling ? "warn" : undefined,
    },
    { name: "Phase", value: phase, detail: PHASES[phase] },
    {
      name: "Gas of the next block",
      value: gasText(budgetGas),
      detail: `target ${gasText(targetGas)}, others ${gasText(othersGas)}`,
    },
  ];
}

function resultFacts({ queries, spending, account }: RelayerStatus): readonly Fact[] {
  const { results, gas, fee } = [...costByOwner(queries).values()].reduce(add, NO_COST);
  return [
    { name: "Fees of today (UTC)", value: amount(spending.fee, unitOf(account)), isWide: true },
    {
      name: "One result since the start",
      value: results === 0 ? "–" : amount(fee / BigInt(results), unitOf(account)),
      detail: results === 0 ? "no result yet" : `${grouped(gas / BigInt(results))} gas`,
    },
  ];
}

function unitOf({ denom, unit }: RelayerStatus["account"]): Pick<PricedMarket, "denom" | "unit"> {
  return { denom, unit };
}

/** Days of a month in the forecast. */
const MONTH_DAYS = 30n;

function forecastFacts(market: PricedMarket): readonly Fact[] {
  const { costPerDay, costPerResult } = market.forecast;
  return [
    {
      name: "Forecast of a month",
      value: amount(costPerDay * MONTH_DAYS, market),
      detail: `${MONTH_DAYS} days of ${amount(costPerDay, market)}; a result costs ${priceText(costPerResult)} ${market.denom}`,
      isWide: true,
    },
  ];
}

interface Cost {
  readonly results: number;
  /** Keys of all results; one for a result of a TX query. */
  readonly keys: number;
  readonly gas: bigint;
  readonly fee: bigint;
}

/** Adds up the cost of queries since the start, by owner. */
function costByOwner(queries: readonly QueryView[]): ReadonlyMap<string, Cost> {
  const costs = new Map<string, Cost>();
  for (const { owner, results, keyCount, cost } of queries) {
    const keys = results * Math.max(1, keyCount);
    costs.set(owner, add(costs.get(owner) ?? NO_COST, { results, keys, gas: 0n, fee: 0n, ...cost }));
  }
  return costs;
}

const NO_COST: Cost = { results: 0, keys: 0, gas: 0n, fee: 0n };

function add(a: Cost, b: Cost): Cost {
  return {
    results: a.results + b.results,
    keys: a.keys + b.keys,
    gas: a.gas + b.gas,
    fee: a.fee + b.fee,
  };
}

/** Maximum number of owners on the page: those with the most gas. */
const SHOWN_OWNERS = 10;

/** Returns the gas of an owner's callbacks. Transactions are those of the last hour, whose overhead all results share. */
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

/** Cost by owner: today's gas with its budget and share of the fees, and one result since the start. */
function ownerTable(
  { spending, queries, account }: RelayerStatus,
  samples: readonly (ActivitySample | undefined)[],
): Html {
  const { gasByOwner, limits, fee } = spending;
  const { dailyGasPerOwner: limit } = limits;
  const owners = namedOwners(gasByOwner);
  const total = owners.reduce((sum, [, gas]) => sum + gas, 0n);
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
    {
      name: `fees today (${account.denom})`,
      isNumber: true,
      cell: ([, gas]) => grouped(total === 0n ? 0n : (fee * gas) / total),
    },
    { name: "gas of a result", isNumber: true, cell: ([owner]) => perResult(owner, ({ gas }) => gas) },
    { name: "its callback", isNumber: true, cell: ([owner]) => perResult(owner, callbackGasOf) },
    {
      name: `fee of a result (${account.denom})`,
      isNumber: true,
      cell: ([owner]) => perResult(owner, (cost) => cost.fee),
    },
    {
      name: "budget",
      cell: ([, gas]) =>
        isUsedUp(gas) ? badge("bad", "used up") : limit === undefined ? "none" : badge("good", "left"),
    },
  ];
  const rest = owners.length - SHOWN_OWNERS;
  return html`<h3>Owners</h3>${dataTable({
    caption: `${counted(owners.length, "owner")} with gas today, ${over === 0 ? "no budget" : counted(over, "budget")} used up; the greatest first, a result since the start`,
    columns,
    rows: owners.slice(0, SHOWN_OWNERS),
  })}${rest > 0 && html`<p>${counted(rest, "more owner")} in <a href="/api/status">JSON</a>.</p>`}`;
}

/** Gas of the newest blocks: own, others' on top, and the target as a line. */
function gasPlot(market: MarketStatus): Html {
  const { blocks, targetGas } = market;
  const own = meanOwnGas(market, blocks.length);
  const others = meanOthersGas(market);
  const means =
    own === undefined
      ? "no block was read yet"
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

/** "11.6 M", with a narrow space, from a tenth of a million on. */
function gasText(gas: bigint): string {
  return gas < 100_000n ? grouped(gas) : `${Number(gas / 100_000n) / 10}\u202fM`;
}

function amount(value: bigint, { denom, unit }: Pick<PricedMarket, "denom" | "unit">): string {
  return formatAmount(value, denom, unit, "\u202f");
}

function resultsText(results: number): string {
  return results < 10 ? String(Number(results.toPrecision(2))) : grouped(Math.round(results));
}

function blocksText(blocks: number): string {
  return counted(Math.round(blocks * 10) / 10, "block");
}

function ratioText(price: Dec18, minimum: Dec18): string {
  return String(Number(dec18ToNumber(quoDec18(price, minimum)).toPrecision(3)));
}
