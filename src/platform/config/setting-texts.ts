import { DAY_MS, HOUR_MS, MINUTE_MS } from "../base/time.ts";

// These parsers are shared by settings and command-line options, and live here so that a command does not load the schema library.

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** Longest duration that a configuration accepts. */
const MAX_DURATION_MS = 366 * DAY_MS;

/** Parses a duration such as "250ms", "30s", "1h30m" or "2d". Returns undefined if the text is invalid or exceeds 366 days. */
export function parseDurationMs(text: string): number | undefined {
  if (!/^(?:\d{1,9}(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  let totalMs = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)(ms|s|m|h|d)/g)) {
    totalMs += Number(count) * (UNITS_MS[unit ?? ""] ?? 0);
  }
  return totalMs <= MAX_DURATION_MS ? totalMs : undefined;
}

/** Formats a whole number of milliseconds in the largest unit up to hours that divides it, as in "30s", "90m" or "24h". */
export function durationText(ms: number): string {
  const unit = ["h", "m", "s"].find((name) => ms % (UNITS_MS[name] ?? 1) === 0) ?? "ms";
  return `${ms / (UNITS_MS[unit] ?? 1)}${unit}`;
}

/** Returns true for a host name or an IP address without a port, and for "*". */
export function isHostName(text: string): boolean {
  return text === "*" || /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]+\])$/.test(text);
}

/** Returns true for an http or https URL without user name, password or fragment. */
export function isPlainHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" && url.hash === "";
}
