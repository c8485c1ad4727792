import { z } from "zod";
import type { Dec18 } from "../../platform/base/decimal.ts";
import {
  type DisplayUnit,
  isUnitName,
  MAX_EXPONENT,
  parseAmount,
  type UnitPrice,
} from "../../platform/base/display-unit.ts";
import { decimalField, issueText } from "../../platform/config/config-fields.ts";

/** `gas.display`: the unit in which amounts are displayed. */
export function displaySchema() {
  return z.strictObject({
    unit: z
      .string()
      .refine(isUnitName, {
        error: issueText("is not a unit name", "letters, digits, dots and hyphens, e.g. NTRN"),
      })
      .describe("name of the unit in which the relayer shows amounts")
      .meta({ example: "NTRN" }),
    exponent: z
      .int()
      .min(1)
      .max(MAX_EXPONENT)
      .describe("decimal exponent of the display unit: one display unit is 10^exponent of gas.denom")
      .meta({ example: 6 }),
  });
}

/** `gas.value`: one display unit's value in another currency. */
export function valueSchema() {
  return z.strictObject({
    currency: z
      .string()
      .regex(/^[A-Z]{3,8}$/, { error: issueText("is not a currency code", "e.g. USD") })
      .describe("code of the currency in which the relayer shows the value of fees")
      .meta({ example: "USD" }),
    price: decimalField()
      .describe("price of one display unit in gas.value.currency")
      .meta({ example: "0.35" }),
  });
}

interface AmountConfig {
  readonly gas: {
    readonly denom: string;
    readonly display?: { readonly unit: string; readonly exponent: number } | undefined;
    readonly value?: { readonly currency: string; readonly price: Dec18 } | undefined;
  };
  readonly spending: { readonly budget?: string | undefined };
}

/** Returns the configured display unit without its price; undefined if no unit is configured, so that the chain's metadata applies. */
export function configuredUnit({ gas }: Pick<AmountConfig, "gas">): DisplayUnit | undefined {
  const { denom, display } = gas;
  return display && { denom, name: display.unit, exponent: display.exponent };
}

export function configuredPrice({ gas: { value } }: Pick<AmountConfig, "gas">): UnitPrice | undefined {
  return value && { currency: value.currency, perUnit: value.price };
}

/** Returns the monthly budget in base units; undefined without a budget. The schema has already validated the amount. */
export function budgetOf(config: AmountConfig): bigint | undefined {
  const { budget } = config.spending;
  return budget === undefined ? undefined : parseAmount(budget, config.gas.denom, configuredUnit(config));
}
