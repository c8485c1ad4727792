/** Fixed-point decimal with 18 fractional digits, as the SDK's `LegacyDec`: the bigint v represents v / 10^18. */
export type Dec18 = bigint;

/** The number 1 as a {@link Dec18}: 10^18. */
export const DEC18_ONE: Dec18 = 1_000_000_000_000_000_000n;

/** Parses "12" or "-0.5", with at most 18 fractional digits. Throws for any other text. */
export function parseDec18(text: string): Dec18 {
  const match = /^(-?)(\d+)(?:\.(\d{1,18}))?$/.exec(text);
  if (match === null)
    throw new Error(`not a decimal with at most 18 fractional digits: ${JSON.stringify(text.slice(0, 80))}`);
  const magnitude = BigInt(match[2] ?? "0") * DEC18_ONE + BigInt((match[3] ?? "").padEnd(18, "0"));
  return match[1] === "-" ? -magnitude : magnitude;
}

/** Formats all 18 fractional digits, as the SDK does: "0.500000000000000000". */
export function formatDec18(value: Dec18): string {
  const magnitude = value < 0n ? -value : value;
  const digits = magnitude.toString().padStart(19, "0");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -18)}.${digits.slice(-18)}`;
}

/** Multiplies; rounds half to even, as `LegacyDec.Mul`. */
export function mulDec18(a: Dec18, b: Dec18): Dec18 {
  return chopHalfEven(a * b);
}

/** Divides; rounds half to even, as `LegacyDec.Quo`. Throws for division by zero. */
export function quoDec18(a: Dec18, b: Dec18): Dec18 {
  return chopHalfEven((a * DEC18_ONE * DEC18_ONE) / b);
}

/** Rounds up to an integer. */
export function ceilDec18(value: Dec18): bigint {
  const whole = value / DEC18_ONE;
  return value > 0n && value % DEC18_ONE !== 0n ? whole + 1n : whole;
}

/** Rounds toward zero to an integer. */
export function truncateDec18(value: Dec18): bigint {
  return value / DEC18_ONE;
}

/** Divides by 10^18 and rounds half to even, symmetrically around zero. */
function chopHalfEven(value: bigint): bigint {
  if (value < 0n) return -chopHalfEven(-value);
  const whole = value / DEC18_ONE;
  const rest = value % DEC18_ONE;
  const half = DEC18_ONE / 2n;
  if (rest < half) return whole;
  if (rest > half) return whole + 1n;
  return whole % 2n === 0n ? whole : whole + 1n;
}
