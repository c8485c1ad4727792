import { formatDec18, parseDec18 } from "../base/decimal.ts";

/** Carries a number as text: an 18-digit decimal as the digits of v × 10^18, or an integer. */
export type NumberForm = "dec" | "int";

const DIGITS = /^-?\d{1,100}$/;

/** Digits as on the wire to text as in JSON: `500000000000000000` is "0.500000000000000000". Empty is "0". Throws on other text. */
export function numberToJson(wire: string, form: NumberForm): string {
  if (wire === "") return "0";
  if (!DIGITS.test(wire)) throw new Error(`not an integer: ${JSON.stringify(wire.slice(0, 80))}`);
  return form === "dec" ? formatDec18(BigInt(wire)) : BigInt(wire).toString();
}

/** Text as in JSON to digits as on the wire. Throws on other text. */
export function numberFromJson(text: string, form: NumberForm): string {
  if (form === "dec") return parseDec18(text).toString();
  if (!DIGITS.test(text)) throw new Error(`not an integer: ${JSON.stringify(text.slice(0, 80))}`);
  return BigInt(text).toString();
}
