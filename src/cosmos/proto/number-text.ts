import { formatDec18, parseDec18, formatPrecDec, parsePrecDec } from "../../platform/base/decimal.ts";

/** Meaning of digits on the wire: "dec" is v × 10^18 for a decimal v, "prec-dec" is v × 10^27, "int" is the integer itself. */
export type NumberForm = "dec" | "prec-dec" | "int";

// The SDK's Int has 256 bits, its Dec 315 and the dex decimal 345: at most 104 digits. The limit bounds the cost of BigInt on
// input from outside.
const DIGITS = /^-?\d{1,104}$/;

/**
 * Converts digits on the wire to a JSON string. As "dec", `500000000000000000` is "0.500000000000000000". Empty input is "0".
 * Throws if the input is not an integer.
 */
export function numberToJson(wire: string, form: NumberForm): string {
  if (wire === "") return "0";
  if (!DIGITS.test(wire)) throw new Error(`not an integer: ${JSON.stringify(wire.slice(0, 80))}`);
  if (form === "dec") return formatDec18(BigInt(wire));
  return form === "prec-dec" ? formatPrecDec(BigInt(wire)) : BigInt(wire).toString();
}

/** Converts a JSON string to digits on the wire. Throws if the string is not a number of this form. */
export function numberFromJson(text: string, form: NumberForm): string {
  if (form === "dec") return parseDec18(text).toString();
  if (form === "prec-dec") return parsePrecDec(text).toString();
  if (!DIGITS.test(text)) throw new Error(`not an integer: ${JSON.stringify(text.slice(0, 80))}`);
  return BigInt(text).toString();
}
