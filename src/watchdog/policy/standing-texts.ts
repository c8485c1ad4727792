import { counted, formatCount, formatDuration, formatTime } from "../../platform/base/text.ts";
import type { Measure, PeerComparison, SharedMisses } from "../sources/standing-views.ts";
import type { Jail, WindowStanding } from "./standing.ts";

/** Kinds of misses that other validators may share. */
export type SharedKind = "commits" | "votes";

/** Returns "alone: none of the 19 other validators misses votes", or how many do. */
export function sharedText({ others, missing, power }: SharedMisses, kind: SharedKind): string {
  if (others === 0) return "the set has no other validator";
  if (missing === 0) return `alone: none of the ${counted(others, "other validator")} misses ${kind}`;
  const share =
    power === undefined || power.others === 0n
      ? ""
      : `, with ${(power.missing * 100n) / power.others} % of their power`;
  const who =
    others === 1 ? "the only other validator misses" : `${missing} of the ${others} other validators miss`;
  return `not alone: ${who} ${kind} too${share}`;
}

/** The same text, formatted as the end of a reason; empty if unknown. */
export function sharedSuffix(shared: SharedMisses | undefined, kind: SharedKind): string {
  return shared === undefined || shared.others === 0 ? "" : `; ${sharedText(shared, kind)}`;
}

/** Describes a window: "1,200 of 9,500 allowed misses are used, 8,300 left". */
export function windowText({ missed, allowed, left, windowBlocks }: WindowStanding): string {
  return `${formatCount(missed)} of the ${formatCount(allowed)} misses that a window of ${formatCount(windowBlocks)} blocks allows are used, ${formatCount(left)} left`;
}

/** Returns "in 2 h 18 min (8,301 blocks)", or why no time can be given. */
export function allMissedText({ ifAllMissed, allMissedMs }: WindowStanding): string {
  if (ifAllMissed === undefined) return "never: the chain jails nobody for downtime";
  return inText(ifAllMissed.least, allMissedMs);
}

/** The same text for the current rate of misses. */
export function presentText({ atPresentRate, presentMs }: WindowStanding): string {
  if (atPresentRate.kind === "unknown") return "not known yet";
  if (atPresentRate.kind === "never") return "never";
  const { blocks, growth } = atPresentRate;
  return `${inText(blocks, presentMs)}: ${growth.missed} of the last ${counted(Number(growth.blocks), "block")} missed`;
}

function inText(blocks: bigint, ms: number | undefined): string {
  const count = `${formatCount(blocks)} ${blocks === 1n ? "block" : "blocks"}`;
  return ms === undefined ? `in ${count}` : `in ${formatDuration(ms)} (${count})`;
}

/** States when and with which command a jailed validator can be released. */
export function releaseText({ untilMs, command }: Jail, nowMs: number): string {
  const when =
    untilMs === undefined || untilMs <= nowMs
      ? "now"
      : `from ${formatTime(untilMs)} UTC on, in ${formatDuration(untilMs - nowMs)}`;
  return `it can be released ${when}${command === undefined ? "" : `, by "${command}"`}`;
}

/** Names of the compared measures. */
export const MEASURE_TITLES: Readonly<Record<Measure, string>> = {
  signing: "signed blocks",
  blocks: "paid blocks",
  votes: "oracle votes",
};

/** Returns the percentage of other validators that are not better, rounded down. */
export function percentile({ notBetter, compared }: Pick<PeerComparison, "notBetter" | "compared">): number {
  return Math.floor((100 * notBetter) / (compared - 1));
}
