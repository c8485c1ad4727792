import { counted, formatCount, formatDuration, formatTime } from "../../platform/base/text.ts";
import type { Measure, PeerComparison, SharedMisses } from "../sources/standing-readings.ts";
import type { Jail, WindowStanding } from "./standing.ts";

/** What validators can miss in common: commits (block signatures) or oracle votes. */
export type SharedKind = "commits" | "votes";

/** Describes how many other validators miss too, for example "alone: none of the 19 other validators misses votes". */
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

/** Returns {@link sharedText} formatted for appending to a reason; empty if `shared` is undefined. */
export function sharedSuffix(shared: SharedMisses | undefined, kind: SharedKind): string {
  return shared === undefined || shared.others === 0 ? "" : `; ${sharedText(shared, kind)}`;
}

/** Describes a signing window, as in "1,200 of the 9,500 misses that a window of 10,000 blocks allows are used, 8,300 left". */
export function windowText({ missed, allowed, left, windowBlocks }: WindowStanding): string {
  return `${formatCount(missed)} of the ${formatCount(allowed)} misses that a window of ${formatCount(windowBlocks)} blocks allows are used, ${formatCount(left)} left`;
}

/** Describes when missing every block leads to jail, such as "in 2 h 18 min (8,301 blocks)", or why it never does. */
export function allMissedText({ ifAllMissed, allMissedMs }: WindowStanding): string {
  if (ifAllMissed === undefined) return "never: the chain jails nobody for downtime";
  return inText(ifAllMissed.least, allMissedMs);
}

/** Describes when the validator is jailed at its current rate of misses, or why this is unknown. */
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

/** Describes when a jailed validator can be released, and which command releases it. */
export function releaseText({ untilMs, command }: Jail, nowMs: number): string {
  const when =
    untilMs === undefined || untilMs <= nowMs
      ? "now"
      : `from ${formatTime(untilMs)} UTC on, in ${formatDuration(untilMs - nowMs)}`;
  return `it can be released ${when}${command === undefined ? "" : `, by "${command}"`}`;
}

/** Display names of the measures by which validators are compared. */
export const MEASURE_TITLES: Readonly<Record<Measure, string>> = {
  signing: "signed blocks",
  blocks: "paid blocks",
  votes: "oracle votes",
};

/** Returns the percentage of the other validators that do not perform better, rounded down. */
export function percentile({ notBetter, compared }: Pick<PeerComparison, "notBetter" | "compared">): number {
  return Math.floor((100 * notBetter) / (compared - 1));
}
