import { z } from "zod";
import { parseDec18 } from "../../platform/base/decimal.ts";
import type { DisplayUnit } from "../../platform/base/display-unit.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { COST_GROUPS } from "../costs/cost-json.ts";
import { COST_WINDOWS } from "../costs/cost-windows.ts";

const amount = z
  .string()
  .regex(/^\d{1,60}$/)
  .transform(BigInt);
const time = z.iso.datetime();
const name = z.string().nullable();
const range = z.object({ low: amount, expected: amount, high: amount });
const byPrice = <T extends z.ZodType>(value: T) => z.object({ now: value, cap: value });
const seconds = z.number().nullable();
const count = z.int().min(0);

const sum = { results: count, gas: amount, fee: amount, update_fee: amount, failed_fee: amount };

/** The response of `GET /api/spending`. */
const schema = z.object({
  denom: z.string().max(128),
  display: z
    .object({
      unit: z.string().max(32),
      exponent: z.int().min(0).max(30),
      currency: z.string().max(8).nullable(),
      price: z.string().nullable(),
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
          ...sum,
          owner: z.string(),
          label: name,
          creator: name,
          admin: name,
          queries: count.optional(),
          query_id: z.string().optional(),
        }),
      ),
      others: z.object({ ...sum, rows: count }).nullable(),
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

/** What a relayer says about its spending. Amounts are in base units. */
export type SpendingData = z.output<typeof schema>;

/** Decodes `GET /api/spending` of a relayer. Throws a `ZodError`. */
export function parseSpending(body: unknown): SpendingData {
  return schema.parse(body);
}

/** Returns the same as JSON, for programs. Throws a `ZodError`. */
export function spendingJson(body: unknown): JsonObject {
  return z.record(z.string(), z.json()).parse(body);
}

/** The unit in which the relayer shows amounts; undefined when nobody has named one. */
export function unitOf({ denom, display }: Pick<SpendingData, "denom" | "display">): DisplayUnit | undefined {
  if (display === null) return undefined;
  const { unit, exponent, currency, price } = display;
  const value = currency === null || price === null ? undefined : { currency, perUnit: parseDec18(price) };
  return { denom, name: unit, exponent, price: value };
}
