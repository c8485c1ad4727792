const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Reads "250ms", "30s", "1h30m", "2d" into ms; undefined for any other text or more than 366 days. */
export function parseDurationMs(text: string): number | undefined {
  if (!/^(?:\d{1,9}(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  let totalMs = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)(ms|s|m|h|d)/g)) {
    totalMs += Number(count) * (UNITS_MS[unit ?? ""] ?? 0);
  }
  return totalMs <= 366 * 86_400_000 ? totalMs : undefined;
}
