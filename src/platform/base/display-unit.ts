import type { Dec18 } from "./decimal.ts";
import { formatCents, formatCount } from "./text.ts";

/** The unit in which amounts of one denomination are displayed. */
export interface DisplayUnit {
  /** Base denomination, as used on chain, for example "untrn". */
  readonly denom: string;
  /** Name of the display unit, for example "NTRN". */
  readonly name: string;
  /** Decimal exponent, 0 to {@link MAX_EXPONENT}: one display unit is 10^exponent base units. */
  readonly exponent: number;
  /** Price of one display unit; absent if no price is configured. */
  readonly price?: UnitPrice | undefined;
}

export interface UnitPrice {
  /** Currency code, for example "USD". */
  readonly currency: string;
  /** Price in currency units per display unit. */
  readonly perUnit: Dec18;
}

/** Largest accepted exponent, above the maximum of 18 on the chains in use. */
export const MAX_EXPONENT = 30;

/** Pattern that unit names must match, because longer names or other characters would break the layout of tables. */
const NAME = /^[A-Za-z][A-Za-z0-9.-]{0,31}$/;

export function isUnitName(text: string): boolean {
  return NAME.test(text);
}

/**
 * Formats an amount in display units, followed by base units, as in "1.234567 NTRN (1234567 untrn)". If there is a price, adds the
 * amount's value, as in "1.234567 NTRN (1234567 untrn, 0.43 USD)". If the unit is for another denomination, prints only base units,
 * as in "1234567 untrn".
 *
 * `separator` is the thousands separator; by default, there is none.
 */
export function formatAmount(
  amount: bigint,
  denom: string,
  unit: DisplayUnit | undefined,
  separator = "",
): string {
  const base = `${withSeparator(amount, separator)} ${denom}`;
  if (unit?.denom !== denom) return base;
  const value = unit.price === undefined ? "" : `, ${formatValue(amount, unit, unit.price)}`;
  return `${formatUnits(amount, unit, separator)} (${base}${value})`;
}

/** Formats the suffix that follows an amount in base units, such as " = 1.5 NTRN, 0.52 USD"; returns "" without a unit. */
export function formatInUnits(amount: bigint, unit: DisplayUnit | undefined): string {
  if (unit === undefined) return "";
  const value = unit.price === undefined ? "" : `, ${formatValue(amount, unit, unit.price)}`;
  return ` = ${formatUnits(amount, unit, ",")}${value}`;
}

/** Formats an amount in display units, exactly and without trailing zeros, as in "1.5 NTRN" or "-0.000001 NTRN". */
export function formatUnits(
  amount: bigint,
  { name, exponent }: Pick<DisplayUnit, "name" | "exponent">,
  separator = "",
): string {
  const [sign, size] = amount < 0n ? ["-", -amount] : ["", amount];
  const one = 10n ** BigInt(exponent);
  const fraction = (size % one).toString().padStart(exponent, "0").replace(/0+$/, "");
  const whole = formatCount(size / one, separator);
  return `${sign}${whole}${exponent === 0 || fraction === "" ? "" : `.${fraction}`} ${name}`;
}

const SHORT_DIGITS = 6;

/** Formats an amount in display units, truncated to six significant digits. Digits before the decimal point are never dropped. */
export function formatShort(
  amount: bigint,
  unit: Pick<DisplayUnit, "name" | "exponent">,
  separator = "",
): string {
  const digits = (amount < 0n ? -amount : amount).toString().length;
  const step = 10n ** BigInt(Math.min(unit.exponent, Math.max(0, digits - SHORT_DIGITS)));
  return formatUnits(amount - (amount % step), unit, separator);
}

/**
 * Formats an amount's value in its price's currency, truncated to hundredths, as in "1,234.50 USD". A value below one hundredth
 * becomes "< 0.01 USD".
 */
function formatValue(
  amount: bigint,
  { exponent }: Pick<DisplayUnit, "exponent">,
  { currency, perUnit }: UnitPrice,
): string {
  const size = amount < 0n ? -amount : amount;
  const cents = (size * perUnit * 100n) / 10n ** BigInt(exponent + 18);
  if (cents === 0n && size > 0n) return `< 0.01 ${currency}`;
  return `${amount < 0n ? "-" : ""}${formatCents(cents)} ${currency}`;
}

/**
 * Parses "12.5 NTRN", "12500000 untrn", or a plain number of base units; the result is in base units. Returns undefined for other
 * text, another denomination, or more decimals than the unit has.
 */
export function parseAmount(
  text: string,
  denom: string,
  unit: Pick<DisplayUnit, "name" | "exponent"> | undefined,
): bigint | undefined {
  const match = /^(\d{1,60})(?:\.(\d{1,30}))?(?:\s*([A-Za-z][\w/:.-]{0,127}))?$/.exec(text.trim());
  if (match === null) return undefined;
  const [, whole = "", fraction = "", name = denom] = match;
  if (name === denom) return fraction === "" ? BigInt(whole) : undefined;
  if (unit === undefined || unit.name !== name || fraction.length > unit.exponent) return undefined;
  return BigInt(`${whole}${fraction.padEnd(unit.exponent, "0")}`);
}

/** A denomination's metadata from the chain's bank module, whose strings are untrusted. */
interface DenomMetadata {
  readonly base: string;
  readonly display: string;
  readonly symbol: string;
  readonly denomUnits: readonly { readonly denom: string; readonly exponent: number }[];
}

/**
 * Returns the display unit from the chain's metadata, named by the metadata's symbol if this is a valid name.
 *
 * Returns undefined instead of guessing if the metadata describes another denomination, contradicts itself, or names no unit
 * besides the base.
 */
export function displayUnitOf(metadata: DenomMetadata, denom: string): DisplayUnit | undefined {
  const { base, display, symbol, denomUnits } = metadata;
  const found = denomUnits.filter((unit) => unit.denom === display);
  const [unit] = found;
  if (base !== denom || unit === undefined || found.length > 1) return undefined;
  const { exponent } = unit;
  if (!Number.isInteger(exponent) || exponent < 1 || exponent > MAX_EXPONENT) return undefined;
  const name = [symbol, display].find(isUnitName);
  return name === undefined || name === denom ? undefined : { denom, name, exponent };
}

function withSeparator(amount: bigint, separator: string): string {
  return amount < 0n ? `-${formatCount(-amount, separator)}` : formatCount(amount, separator);
}
