import { DAY_MS, HOUR_MS, isoTime, MINUTE_MS } from "./time.ts";

/** Formats a count with its noun, as in "1 query" or "2 queries". `plural` defaults to the singular plus "s". */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

/** Returns an enum value's name or, like Go, its number if it has no name. */
export function enumName(values: Readonly<Record<string, number>>, value: number): string {
  return Object.entries(values).find(([, known]) => known === value)?.[0] ?? value.toString();
}

const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Returns the start of a string, at most `limit` UTF-16 units. Never cuts inside a character such as an emoji. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // Segment some text after the cut too, to see whether a character continues there. No real character is longer than 100 units.
  const end = GRAPHEMES.segment(text.slice(0, limit + 100)).containing(Math.max(0, limit))?.index ?? 0;
  return text.slice(0, end);
}

/** Replaces each unpaired surrogate, which UTF-8 cannot encode. */
export function wellFormed(text: string): string {
  return text.replaceAll(/\p{Cs}/gu, "\uFFFD");
}

/** Trims white space like Go's `strings.TrimSpace`: unlike JavaScript's `trim`, removes U+0085 and preserves U+FEFF. */
export function trimGoSpace(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && GO_SPACE.test(text.charAt(start))) start += 1;
  while (start < end && GO_SPACE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

const GO_SPACE = /[^\S\uFEFF]|\u0085/;

/** Formats a whole number with a thousands separator, as in "2,592,000". */
export function formatCount(count: bigint | number, separator = ","): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, separator);
}

/** Formats hundredths of a currency unit, as in "2,958.00 USD", or "2,958.00" without a currency. */
export function formatCents(cents: bigint, currency?: string, separator?: string): string {
  const [sign, size] = cents < 0n ? ["-", -cents] : ["", cents];
  const amount = `${sign}${formatCount(size / 100n, separator)}.${(size % 100n).toString().padStart(2, "0")}`;
  return currency === undefined ? amount : `${amount} ${currency}`;
}

/** Formats a time in UTC to the second, as in "2026-10-12 03:00:05". */
export function formatTime(atMs: number): string {
  return isoTime(atMs).slice(0, 19).replace("T", " ");
}

/** Formats a time in UTC to the minute, as in "2026-10-12 03:00". */
export function formatMinute(atMs: number): string {
  return formatTime(atMs).slice(0, 16);
}

const UNITS = [
  { name: "d", ms: DAY_MS },
  { name: "h", ms: HOUR_MS },
  { name: "min", ms: MINUTE_MS },
  { name: "s", ms: 1_000 },
] as const;

/** Formats a duration for people in at most two units, rounded down, as in "200 s", "12 min 5 s" or "2 d 4 h". */
export function formatDuration(ms: number): string {
  // Use seconds alone below ten minutes, because they are easier to compare.
  if (ms < 600_000) return `${Math.floor(Math.max(0, ms) / 1_000)} s`;
  const first = UNITS.findIndex((unit) => ms >= unit.ms);
  let rest = ms;
  const parts = UNITS.slice(first, first + 2).map((unit) => {
    const count = Math.floor(rest / unit.ms);
    rest -= count * unit.ms;
    return count === 0 ? "" : `${count} ${unit.name}`;
  });
  return parts.filter((part) => part !== "").join(" ");
}

/** Formats a duration in at most two units, rounded to the smaller unit, as in "45 s", "3 h 5 min" or "2 d 4 h". */
export function formatRoundedDuration(durationMs: number): string {
  return inUnits(durationMs, Math.round);
}

/** Formats a clock step in words, as in "forward by 30 s" or "back by 1 h". */
export function stepText(ms: number): string {
  return `${ms < 0 ? "back" : "forward"} by ${formatRoundedDuration(Math.abs(ms))}`;
}

/** Formats a duration like {@link formatRoundedDuration}, but rounds down to the smaller unit. */
export function formatFlooredDuration(durationMs: number): string {
  return inUnits(durationMs, Math.floor);
}

function inUnits(durationMs: number, round: (value: number) => number): string {
  const seconds = Math.max(0, round(durationMs / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return twoUnits(Math.floor(minutes / 60), "h", minutes % 60, "min");
  const hours = round(minutes / 60);
  return twoUnits(Math.floor(hours / 24), "d", hours % 24, "h");
}

function twoUnits(first: number, firstUnit: string, second: number, secondUnit: string): string {
  return second === 0 ? `${first} ${firstUnit}` : `${first} ${firstUnit} ${second} ${secondUnit}`;
}
