import type { Registry } from "prom-client";
import {
  answering,
  knownSeries,
  registerStatusMetrics,
  secondsSeries,
  type Series,
  series,
} from "../../platform/process/status-metrics.ts";
import { FORECAST_PRICES } from "../forecast/forecast.ts";
import { byOwner } from "./cost-windows.ts";
import type { CostsView } from "./create-costs.ts";

/** Number of owners with their own series, by highest fees this month. The series "other" combines the rest. */
const MAX_OWNERS = 20;
/** Age of the last read at which the sums are out of date. Their series are then absent. */
const FRESH_MS = 300_000;

const COST_GAUGES = answering<CostsView>("What does it cost?", [
  {
    name: "relaywatch_relayer_window_fees",
    help: "Fees paid in the last hour, 24 hours, 7 days, 30 days, and this calendar month (UTC), in units of the fee denom.",
    labelNames: ["window"],
    values: ({ windows }) => windows.map(({ name, fee }) => series(Number(fee), { window: name })),
  },
  {
    name: "relaywatch_relayer_owner_month_fees",
    help: `Fees of this calendar month (UTC) by query owner: the ${MAX_OWNERS} owners with the highest fees, and the sum of the others as other. Empty: light clients that no query uses.`,
    labelNames: ["owner"],
    values: ownerSeries,
  },
  {
    name: "relaywatch_relayer_month_forecast_fees",
    help: "Forecast of this calendar month's fees (UTC), including those paid so far: low, expected and high, at the current gas price (now) and at gas.max_price (cap). Absent until the process has run for ten minutes.",
    labelNames: ["price", "bound"],
    values: ({ forecast }) =>
      forecast === undefined
        ? []
        : FORECAST_PRICES.flatMap((price) =>
            (["low", "expected", "high"] as const).map((bound) =>
              series(Number(forecast.month[price][bound]), { price, bound }),
            ),
          ),
  },
  {
    name: "relaywatch_relayer_month_budget_fees",
    help: "Fees that a calendar month may cost (spending.budget), in units of the fee denom. Absent without a budget.",
    labelNames: [],
    values: ({ budget }) => knownSeries(budget),
  },
  {
    name: "relaywatch_relayer_empty_seconds",
    help: "Forecast of the time until the account or its fee grant is used up: soonest, expected and latest, at the current gas price (now) and at gas.max_price (cap). Absent if unknown or never.",
    labelNames: ["price", "bound"],
    values: ({ forecast }) =>
      FORECAST_PRICES.flatMap((price) => {
        const left = forecast?.empty[price];
        if (left === undefined) return [];
        return (
          [
            ["soonest", left.soonestMs],
            ["expected", left.expectedMs],
            ["latest", left.latestMs],
          ] as const
        ).flatMap(([bound, ms]) => (Number.isFinite(ms) ? secondsSeries(ms, { price, bound }) : []));
      }),
  },
  {
    name: "relaywatch_relayer_fee_grant_left",
    help: "Coins of the fee denom that the fee grant can still pay in total. Absent without a grant or a limit.",
    labelNames: [],
    values: ({ payer: { grant } }) => knownSeries(grant?.allowance?.left),
  },
  {
    name: "relaywatch_relayer_fee_grant_expiry_timestamp_seconds",
    help: "Time at which the fee grant ends. Absent if it does not end.",
    labelNames: [],
    values: ({ payer: { grant } }) => secondsSeries(grant?.allowance?.expiresAtMs),
  },
  {
    name: "relaywatch_relayer_costs_complete",
    help: "1 if the costs include every payment since they were first recorded, 0 if some may be missing or the costs cannot be read.",
    labelNames: [],
    values: ({ incomplete }) => [series(incomplete === undefined ? 1 : 0)],
  },
]);

function ownerSeries({ windows }: CostsView): readonly Series[] {
  const month = windows.find(({ name }) => name === "month");
  if (month === undefined) return [];
  const owners = byOwner(month.queries);
  const others = owners.slice(MAX_OWNERS).reduce((sum, { fee }) => sum + fee, 0n);
  return [
    ...owners.slice(0, MAX_OWNERS).map(({ owner, fee }) => series(Number(fee), { owner })),
    ...(others === 0n ? [] : [series(Number(others), { owner: "other" })]),
  ];
}

/** Registers the cost gauges. The gauges are absent before the first read and after {@link FRESH_MS} without a read. */
export function registerCostGauges(registry: Registry, view: () => CostsView, nowMs: () => number): void {
  registerStatusMetrics(registry, COST_GAUGES, () => {
    const costs = view();
    return costs.readAtMs === undefined || nowMs() - costs.readAtMs > FRESH_MS ? undefined : costs;
  });
}
