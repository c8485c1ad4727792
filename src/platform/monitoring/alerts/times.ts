import { durationText, parseDurationMs } from "../../config/config-fields.ts";

/** Converts a time of a rule, "5m", to the time that is written into the file. */
export type Times = (duration: string) => string;

/** Real times. */
export const REAL_TIMES: Times = (duration) => duration;

/** Times for a test with real programs: a sixtieth, within bounds that a scrape every second allows. */
export const SHORT_TIMES: Times = (duration) => {
  if (duration === "0s") return duration;
  // A look back for a series that ended.
  if (duration === "1d") return "1m";
  return durationText(Math.min(12_000, Math.max(6000, Math.round(toMs(duration) / 60))));
};

/** Returns a duration in minutes. */
export function toMinutes(duration: string): number {
  return toMs(duration) / 60_000;
}

function toMs(duration: string): number {
  const days = /^(\d+)d$/.exec(duration)?.[1];
  const ms = days === undefined ? parseDurationMs(duration) : Number(days) * 86_400_000;
  if (ms === undefined) throw new Error(`${duration} is not a duration`);
  return ms;
}
