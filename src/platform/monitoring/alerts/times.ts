import { MINUTE_MS } from "../../base/time.ts";
import { durationText, parseDurationMs } from "../../config/setting-texts.ts";

/** Converts a rule's nominal duration, for example "5m", to the duration to write into a rule file. */
export type Times = (duration: string) => string;

export const REAL_TIMES: Times = (duration) => duration;

/** Shortens durations to one sixtieth for a test with real programs, within bounds that suit one scrape per second. */
export const SHORT_TIMES: Times = (duration) => {
  if (duration === "0s") return duration;
  // A duration of one day is the window in which a rule finds a series that has ended.
  if (duration === "1d") return "1m";
  return durationText(Math.min(12_000, Math.max(6000, Math.round(toMs(duration) / 60))));
};

export function toMinutes(duration: string): number {
  return toMs(duration) / MINUTE_MS;
}

function toMs(duration: string): number {
  const ms = parseDurationMs(duration);
  if (ms === undefined) throw new Error(`${duration} is not a duration`);
  return ms;
}
