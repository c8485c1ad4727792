import type { DisplayUnit } from "../../platform/base/display-unit.ts";
import { formatDec18 } from "../../platform/base/decimal.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { isoTime, isoTimeOrNull } from "../../platform/base/time.ts";
import type { CostPart } from "./payment.ts";
import { byOwner, type CostWindow, mostExpensive } from "./cost-windows.ts";
import type { CostsView, GrantView, PayerView } from "./create-costs.ts";
import { FORECAST_PRICES, type Range, type SpendingForecast, type TimeLeft } from "./spending-forecast.ts";

/** What the rows of a window are: the contracts that own the queries, or the queries. */
export const COST_GROUPS = ["owner", "query"] as const;
export type CostGroup = (typeof COST_GROUPS)[number];

/** Rows of one window in a response: the most expensive ones. The others are one row, so that the sum stays exact. */
const MAX_ROWS = 1_000;

/** Whether the month exceeds its budget: "spent" already, or by "forecast". Undefined without a budget, or within it. */
export function overBudget({
  budget,
  windows,
  forecast,
}: Pick<CostsView, "budget" | "windows" | "forecast">): "spent" | "forecast" | undefined {
  if (budget === undefined) return undefined;
  const month = windows.find(({ name }) => name === "month");
  if (month !== undefined && month.fee > budget) return "spent";
  return forecast !== undefined && forecast.month.now.expected > budget ? "forecast" : undefined;
}

/** Converts to the JSON of `GET /api/spending`. Amounts and gas are strings, absent values null. */
export function costsJson(costs: CostsView, group: CostGroup): JsonObject {
  const { denom, unit, payer, budget, forecast } = costs;
  return {
    denom,
    display: unit === undefined ? null : unitJson(unit),
    payer: payerJson(payer),
    read_at: isoTimeOrNull(costs.readAtMs),
    since: isoTimeOrNull(costs.sinceMs),
    incomplete: costs.incomplete ?? null,
    by: group,
    windows: costs.windows.map((window) => windowJson(window, group, costs)),
    forecast: forecast === undefined ? null : forecastJson(forecast),
    budget: budget === undefined ? null : `${budget}`,
    over_budget: overBudget(costs) ?? null,
  };
}

function unitJson({ name, exponent, price }: DisplayUnit): JsonObject {
  return {
    unit: name,
    exponent,
    currency: price?.currency ?? null,
    price: price === undefined ? null : formatDec18(price.perUnit),
  };
}

function payerJson({ address, signer, balance, reserve, grant }: PayerView): JsonObject {
  return {
    address,
    signer,
    balance: balance === undefined ? null : `${balance}`,
    reserve: `${reserve}`,
    fee_grant: grant === undefined ? null : grantJson(grant),
  };
}

function grantJson({ allowance, isRead, error }: GrantView): JsonObject {
  const period = allowance?.period;
  return {
    read: isRead,
    type: allowance?.type ?? null,
    known: allowance?.isKnown ?? null,
    left: allowance?.left === undefined ? null : `${allowance.left}`,
    expires_at: isoTimeOrNull(allowance?.expiresAtMs),
    period:
      period === undefined
        ? null
        : {
            seconds: period.ms / 1_000,
            limit: `${period.limit}`,
            left: `${period.left}`,
            reset_at: isoTimeOrNull(period.resetAtMs),
          },
    error: error ?? null,
  };
}

function windowJson(
  { name, fromMs, coveredFromMs, queries, fee }: CostWindow,
  group: CostGroup,
  { nameOf }: Pick<CostsView, "nameOf">,
): JsonObject {
  const sorted =
    group === "owner"
      ? byOwner(queries).map((sum) => ({
          sum,
          row: { ...ownerJson(sum.owner, nameOf), queries: sum.queries },
        }))
      : queries
          .toSorted(mostExpensive)
          .map((sum) => ({ sum, row: { query_id: `${sum.queryId}`, ...ownerJson(sum.owner, nameOf) } }));
  const others = sorted.slice(MAX_ROWS).map(({ sum }) => sum);
  const rows = sorted.slice(0, MAX_ROWS).map(({ sum, row }) => ({ ...row, ...sumJson([sum]) }));
  return {
    name,
    from: isoTime(fromMs),
    covered_from: isoTime(coveredFromMs),
    fee: `${fee}`,
    rows,
    others: others.length === 0 ? null : { rows: others.length, ...sumJson(others) },
  };
}

function ownerJson(owner: string, nameOf: CostsView["nameOf"]): JsonObject {
  const name = nameOf(owner);
  return {
    owner,
    label: name?.label ?? null,
    creator: name === undefined || name.creator === "" ? null : name.creator,
    admin: name === undefined || name.admin === "" ? null : name.admin,
  };
}

type Sum = Omit<CostPart, "queryId" | "owner">;

function sumJson(sums: readonly Sum[]): JsonObject {
  const add = (read: (sum: Sum) => bigint): string => `${sums.reduce((total, one) => total + read(one), 0n)}`;
  return {
    results: sums.reduce((total, { results }) => total + results, 0),
    gas: add(({ gas }) => gas),
    fee: add(({ fee }) => fee),
    update_fee: add(({ updateFee }) => updateFee),
    failed_fee: add(({ failedFee }) => failedFee),
  };
}

function byPrice(read: (price: (typeof FORECAST_PRICES)[number]) => JsonObject | null): JsonObject {
  return Object.fromEntries(FORECAST_PRICES.map((price) => [price, read(price)]));
}

function forecastJson(forecast: SpendingForecast): JsonObject {
  return {
    regimes: forecast.regimes.map(({ name, feePerDay }) => ({ name, fee_per_day: `${feePerDay}` })),
    width: Math.round(forecast.width * 1_000) / 1_000,
    per_day: byPrice((price) => rangeJson(forecast.perDay[price])),
    month: byPrice((price) => rangeJson(forecast.month[price])),
    empty: byPrice((price) => timeLeftJson(forecast.empty[price])),
    owners: forecast.owners
      .slice(0, MAX_ROWS)
      .map(({ owner, spent, month }) => ({ owner, spent: `${spent}`, month: rangeJson(month) })),
    new_queries: forecast.newQueries,
    gone_queries: forecast.goneQueries,
  };
}

function rangeJson({ low, expected, high }: Range): JsonObject {
  return { low: `${low}`, expected: `${expected}`, high: `${high}` };
}

/** JSON has no infinity. */
function secondsJson(ms: number): number | null {
  return Number.isFinite(ms) ? Math.round(ms / 1_000) : null;
}

function timeLeftJson(left: TimeLeft | undefined): JsonObject | null {
  if (left === undefined) return null;
  return {
    soonest_seconds: secondsJson(left.soonestMs),
    expected_seconds: secondsJson(left.expectedMs),
    latest_seconds: secondsJson(left.latestMs),
  };
}
