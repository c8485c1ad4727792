import { z } from "zod";
import { formatDec18, parseDec18 } from "../../platform/base/decimal.ts";
import type { DisplayUnit } from "../../platform/base/display-unit.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { isoTime } from "../../platform/base/time.ts";
import type { TimeLeft } from "../forecast/forecast.ts";
import { byOwner, COST_WINDOWS, type CostWindow, mostExpensive } from "./cost-windows.ts";
import type { CostsView, GrantView } from "./create-costs.ts";
import { addAmounts } from "../result/amounts.ts";
import type { CostSum } from "./payment.ts";

/** The groupings of a window's costs: by the contract that owns the queries, or by query. */
export const COST_GROUPS = ["owner", "query"] as const;
export type CostGroup = (typeof COST_GROUPS)[number];

/** An amount or gas value, encoded in JSON as a decimal string. */
const amount = z.codec(z.string().regex(/^\d{1,60}$/), z.bigint(), {
  decode: (text) => BigInt(text),
  encode: String,
});
const time = z.codec(z.iso.datetime(), z.number(), { decode: Date.parse, encode: isoTime });
const name = z.string().nullable();
const count = z.int().min(0);
/** A number of seconds, where null means never. */
const seconds = z.number().nullable();
const range = z.object({ low: amount, expected: amount, high: amount });
const byPrice = <T extends z.ZodType>(value: T) => z.object({ now: value, cap: value });
const sum = { results: count, gas: amount, fee: amount, update_fee: amount, failed_fee: amount };

/** Zod schema that decodes and encodes the response of `GET /api/spending`. */
export const SPENDING_SCHEMA = z.object({
  denom: z.string().max(128),
  display: z
    .object({
      unit: z.string().max(32),
      exponent: z.int().min(0).max(30),
      currency: z.string().max(8).nullable(),
      price: name,
    })
    .nullable(),
  payer: z.object({
    address: z.string(),
    signer: z.string(),
    balance: amount.nullable(),
    reserve: amount,
    fee_grant: z
      .object({
        read: z.boolean(),
        type: name,
        known: z.boolean().nullable(),
        left: amount.nullable(),
        expires_at: time.nullable(),
        period: z
          .object({ seconds: z.number(), limit: amount, left: amount, reset_at: time.nullable() })
          .nullable(),
        error: name,
      })
      .nullable(),
  }),
  read_at: time.nullable(),
  since: time.nullable(),
  incomplete: name,
  by: z.enum(COST_GROUPS),
  windows: z.array(
    z.object({
      name: z.enum(COST_WINDOWS),
      from: time,
      covered_from: time,
      fee: amount,
      rows: z.array(
        z.object({
          query_id: z.string().optional(),
          owner: z.string(),
          label: name,
          creator: name,
          admin: name,
          queries: count.optional(),
          ...sum,
        }),
      ),
      others: z.object({ rows: count, ...sum }).nullable(),
    }),
  ),
  forecast: z
    .object({
      regimes: z.array(z.object({ name: z.string(), fee_per_day: amount })),
      width: z.number(),
      per_day: byPrice(range),
      month: byPrice(range),
      empty: byPrice(
        z.object({ soonest_seconds: seconds, expected_seconds: seconds, latest_seconds: seconds }).nullable(),
      ),
      owners: z.array(z.object({ owner: z.string(), spent: amount, month: range })),
      new_queries: count,
      gone_queries: count,
    })
    .nullable(),
  budget: amount.nullable(),
  over_budget: z.enum(["spent", "forecast"]).nullable(),
});

/** A relayer's spending, for `GET /api/spending`, the page and the report. Amounts are in base units, times in ms. */
export type SpendingView = z.output<typeof SPENDING_SCHEMA>;

export function encodeSpending(view: SpendingView): JsonObject {
  return z.record(z.string(), z.json()).parse(SPENDING_SCHEMA.encode(view));
}

/** Decodes the response of `GET /api/spending`. Throws a `ZodError` if the response does not match the schema. */
export function parseSpending(body: unknown): SpendingView {
  return SPENDING_SCHEMA.parse(body);
}

/** Returns the relayer's display unit; undefined if the response names none. */
export function unitOf({ denom, display }: Pick<SpendingView, "denom" | "display">): DisplayUnit | undefined {
  if (display === null) return undefined;
  const { unit, exponent, currency, price } = display;
  const value = currency === null || price === null ? undefined : { currency, perUnit: parseDec18(price) };
  return { denom, name: unit, exponent, price: value };
}

/** Maximum number of rows in one window, most expensive first. A final row combines all other rows, so that the sum stays exact. */
const MAX_ROWS = 1_000;

export function spendingView(costs: CostsView, by: CostGroup): SpendingView {
  const { denom, unit, payer, budget, forecast } = costs;
  const { grant, balance = null, ...accounts } = payer;
  return {
    denom,
    display:
      unit === undefined
        ? null
        : {
            unit: unit.name,
            exponent: unit.exponent,
            currency: unit.price?.currency ?? null,
            price: unit.price === undefined ? null : formatDec18(unit.price.perUnit),
          },
    payer: { ...accounts, balance, fee_grant: grant === undefined ? null : grantView(grant) },
    read_at: costs.readAtMs ?? null,
    since: costs.sinceMs ?? null,
    incomplete: costs.incomplete ?? null,
    by,
    windows: costs.windows.map((window) => windowView(window, by, costs)),
    forecast:
      forecast === undefined
        ? null
        : {
            regimes: forecast.regimes.map((regime) => ({ name: regime.name, fee_per_day: regime.feePerDay })),
            width: Math.round(forecast.width * 1_000) / 1_000,
            per_day: forecast.perDay,
            month: forecast.month,
            empty: { now: leftView(forecast.empty.now), cap: leftView(forecast.empty.cap) },
            owners: forecast.owners.slice(0, MAX_ROWS),
            new_queries: forecast.newQueries,
            gone_queries: forecast.goneQueries,
          },
    budget: budget ?? null,
    over_budget: overBudget(costs) ?? null,
  };
}

/** Returns "spent" if the month's fees exceed the budget, "forecast" if an excess is expected, otherwise undefined. */
function overBudget({ budget, windows, forecast }: CostsView): "spent" | "forecast" | undefined {
  if (budget === undefined) return undefined;
  const month = windows.find((window) => window.name === "month");
  if (month !== undefined && month.fee > budget) return "spent";
  return forecast !== undefined && forecast.month.now.expected > budget ? "forecast" : undefined;
}

function grantView({ allowance, isRead, error }: GrantView): SpendingView["payer"]["fee_grant"] {
  const period = allowance?.period;
  return {
    read: isRead,
    type: allowance?.type ?? null,
    known: allowance?.isKnown ?? null,
    left: allowance?.left ?? null,
    expires_at: allowance?.expiresAtMs ?? null,
    period:
      period === undefined
        ? null
        : {
            seconds: period.ms / 1_000,
            limit: period.limit,
            left: period.left,
            reset_at: period.resetAtMs ?? null,
          },
    error: error ?? null,
  };
}

function windowView(
  { name: window, fromMs, coveredFromMs, queries, fee }: CostWindow,
  by: CostGroup,
  { nameOf }: Pick<CostsView, "nameOf">,
): SpendingView["windows"][number] {
  const sums =
    by === "owner"
      ? byOwner(queries).map((one) => ({ ...one, id: {} }))
      : queries.toSorted(mostExpensive).map((one) => ({ ...one, id: { query_id: `${one.queryId}` } }));
  const rows = sums.slice(0, MAX_ROWS).map(({ id, owner, ...one }) => {
    const { label, creator = "", admin = "" } = nameOf(owner) ?? {};
    const names = { owner, label: label ?? null, creator: creator || null, admin: admin || null };
    return { ...id, ...names, ...("queries" in one ? { queries: one.queries } : {}), ...total([one]) };
  });
  const others = sums.slice(MAX_ROWS);
  return {
    name: window,
    from: fromMs,
    covered_from: coveredFromMs,
    fee,
    rows,
    others: others.length === 0 ? null : { rows: others.length, ...total(others) },
  };
}

const NOTHING: CostSum = { results: 0, gas: 0n, fee: 0n, updateFee: 0n, failedFee: 0n };

function total(sums: readonly CostSum[]) {
  const { results, gas, fee, updateFee, failedFee } = sums.reduce(
    (all, one) => addAmounts(all, one),
    NOTHING,
  );
  return { results, gas, fee, update_fee: updateFee, failed_fee: failedFee };
}

function leftView(left: TimeLeft | undefined) {
  if (left === undefined) return null;
  return {
    soonest_seconds: toSeconds(left.soonestMs),
    expected_seconds: toSeconds(left.expectedMs),
    latest_seconds: toSeconds(left.latestMs),
  };
}

/** Converts ms to whole seconds. Returns null for infinity, which JSON cannot represent. */
function toSeconds(ms: number): number | null {
  return Number.isFinite(ms) ? Math.round(ms / 1_000) : null;
}
