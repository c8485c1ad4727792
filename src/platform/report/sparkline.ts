const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;

/**
 * Formats values as a row of block characters. The lowest bar means exactly 0, the highest bar is the greatest value, and "·" is a
 * missing value.
 */
export function sparkline(values: readonly (number | undefined)[]): string {
  const most = Math.max(0, ...values.map((value) => value ?? 0));
  return values.map((value) => barOf(value, most)).join("");
}

function barOf(value: number | undefined, most: number): string {
  if (value === undefined) return "·";
  if (value <= 0 || most === 0) return BARS[0];
  return BARS[Math.max(1, Math.ceil((value / most) * (BARS.length - 1)))] ?? BARS[0];
}
