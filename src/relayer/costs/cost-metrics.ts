import { Gauge, type Registry } from "prom-client";
import type { MetricDefinition } from "../../platform/process/metrics.ts";
import { FORECAST_PRICES } from "../forecast/forecast.ts";
import { byOwner } from "./cost-windows.ts";
import type { CostsView } from "./create-costs.ts";

/** Owners with a series of their own: those with the greatest fees of the month. The others are "other". */
const MAX_OWNERS = 20;
/** Sums that were read longer ago say nothing about now: their series are absent. */
const FRESH_MS = 300_000;

interface CostGauge extends Omit<MetricDefinition, "question"> {
  readonly labelNames: readonly string[];
  readonly values: (costs: CostsView) => readonly Series[];
}

type Series = readonly [labels: Readonly<Record<string, string>>, value: number];

const COST_GAUGES: readonly CostGauge[] = [
  {
    name: "relaywatch_relayer_window_fees",
    help: "Fees that were paid in the last hour, 24 hours, 7 days, 30 days, and this calendar month (UTC), in units of the fee denom.",
    labelNames: ["window"],
    values: ({ windows }) => windows.map(({ name, fee }) => [{ window: name }, Number(fee)]),
  },
  {
    name: "relaywatch_relayer_owner_month_fees",
    help: `Fees of this calendar month (UTC) by owner of the queries: the ${MAX_OWNERS} with the greatest, and the sum of the others as other. Empty: light clients that no query uses.`,
    labelNames: ["owner"],
    values: ownerSeries,
  },
  {
    name: "relaywatch_relayer_month_forecast_fees",
    help: "Forecast of the fees of this calendar month (UTC), with those so far: low, expected and high, at the present gas price (now) and at gas.max_price (cap). Absent before ten minutes of running.",
    labelNames: ["price", "bound"],
    values: ({ forecast }) =>
      forecast === undefined
        ? []
        : FORECAST_PRICES.flatMap((price) =>
            (["low", "expected", "high"] as const).map(
              (bound): Series => [{ price, bound }, Number(forecast.month[price][bound])],
            ),
          ),
  },
  {
    name: "relaywatch_relayer_month_budget_fees",
    help: "Fees that a calendar month may cost (spending.budget), in units of the fee denom. Absent without a budget.",
    labelNames: [],
    values: ({ budget }) => (budget === undefined ? [] : [[{}, Number(budget)]]),
  },
  {
    name: "relaywatch_relayer_empty_seconds",
    help: "Forecast of the time until the account or its fee grant is used up: soonest, expected and latest, at the present gas price (now) and at gas.max_price (cap). Absent while it is not known or never.",
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
        ).flatMap(([bound, ms]): readonly Series[] =>
          Number.isFinite(ms) ? [[{ price, bound }, ms / 1_000]] : [],
        );
      }),
  },
  {
    name: "relaywatch_relayer_fee_grant_left",
    help: "Coins of the fee denom that the fee grant still pays in all. Absent without a grant or without a limit.",
    labelNames: [],
    values: ({ payer: { grant } }) =>
      grant?.allowance?.left === undefined ? [] : [[{}, Number(grant.allowance.left)]],
  },
  {
    name: "relaywatch_relayer_fee_grant_expiry_timestamp_seconds",
    help: "Time at which the fee grant ends. Absent when it does not end.",
    labelNames: [],
    values: ({ payer: { grant } }) =>
      grant?.allowance?.expiresAtMs === undefined ? [] : [[{}, grant.allowance.expiresAtMs / 1_000]],
  },
  {
    name: "relaywatch_relayer_costs_complete",
    help: "1 when every payment since the costs were first recorded is in them, 0 when some may be missing or they cannot be read.",
    labelNames: [],
    values: ({ incomplete }) => [[{}, incomplete === undefined ? 1 : 0]],
  },
];

function ownerSeries({ windows }: CostsView): readonly Series[] {
  const month = windows.find(({ name }) => name === "month");
  if (month === undefined) return [];
  const owners = byOwner(month.queries);
  const others = owners.slice(MAX_OWNERS).reduce((sum, { fee }) => sum + fee, 0n);
  return [
    ...owners.slice(0, MAX_OWNERS).map(({ owner, fee }): Series => [{ owner }, Number(fee)]),
    ...(others === 0n ? [] : [[{ owner: "other" }, Number(others)] as const]),
  ];
}

/** Registers the gauges of the costs. They are read when they are scraped, and absent before the first read and while it is old. */
export function registerCostGauges(registry: Registry, view: () => CostsView, nowMs: () => number): void {
  for (const { values, ...rest } of COST_GAUGES) {
    const definition: MetricDefinition = { ...rest, question: "What does it cost?" };
    const gauge: Gauge<string> = new Gauge({
      ...definition,
      registers: [registry],
      collect: () => {
        gauge.reset();
        // A reset sets a gauge without labels to 0, which would be a wrong value.
        if (rest.labelNames.length === 0) gauge.remove();
        const costs = view();
        if (costs.readAtMs === undefined || nowMs() - costs.readAtMs > FRESH_MS) return;
        for (const [labels, value] of values(costs)) gauge.set({ ...labels }, value);
      },
    });
  }
}
