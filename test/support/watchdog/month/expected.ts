import type { BlockCounts } from "../../../../src/watchdog/ledger/ledger-view.ts";
import { type NodePlan, expectedCounts, type Period } from "./plan.ts";
import type { ReplayOptions } from "./replay.ts";

type Play = Pick<ReplayOptions, "plan" | "intervalMs">;

/** What October must be for one validator, from the blocks of the plan and the times of the polls. */
export function expectedMonth({ plan, intervalMs }: Play, index: number) {
  const validator = plan.validators[index];
  if (validator === undefined) throw new Error(`the plan has no validator ${index}`);
  const polls = pollTimes({ plan, intervalMs });
  const lastPollBefore = ({ unreachable, restarts }: NodePlan, atMs: number): number =>
    polls.findLast((pollMs) => pollMs <= atMs && !isWithin([...unreachable, ...restarts], pollMs)) ??
    plan.startMs;
  const counts = expectedCounts(plan, validator, lastPollBefore).get("2026-10") ?? {
    good: 0n,
    bad: 0n,
    unknown: 0n,
  };
  return {
    name: validator.name,
    counts,
    estimated: { good: 0n, bad: 0n, unknown: 0n },
    isSealed: true,
    ...payOf(counts),
  };
}

/** Pay in cents, from the definitions: 3000 from 98 % on, nothing below 95 %, and the two curves between. */
function payOf({ good, bad }: BlockCounts) {
  const total = good + bad;
  const tier = good * 100n >= 98n * total ? "full" : good * 100n >= 95n * total ? "proportional" : "none";
  // The part of the band from 98 % down to 95 % that is used, as used / whole.
  const used = bad * 100n - 2n * total;
  const whole = 3n * total;
  const linear = (300_000n * (whole - used)) / whole;
  const quadratic = (300_000n * (2n * whole * whole - used * used)) / (2n * whole * whole);
  const scaled = (good * 1_000_000n) / total;
  return {
    percent: `${scaled / 10_000n}.${String(scaled % 10_000n).padStart(4, "0")}`,
    tier,
    linear: tier === "full" ? 300_000n : tier === "none" ? 0n : linear,
    quadratic: tier === "full" ? 300_000n : tier === "none" ? 0n : quadratic,
  };
}

/** Times of all polls: every interval, at the end of each month and 3 s after it, and again from the restart on. */
function pollTimes({ plan, intervalMs }: Play): readonly number[] {
  const edges = [Date.UTC(2026, 9, 1), Date.UTC(2026, 10, 1)];
  const times: number[] = [];
  for (let atMs = plan.startMs; atMs <= plan.endMs; ) {
    if (!isWithin([plan.watchdogDown], atMs)) times.push(atMs);
    const edge = edges.find((each) => each > atMs && each <= atMs + intervalMs);
    if (edges.includes(atMs)) atMs += 3000;
    else if (atMs < plan.watchdogDown.fromMs && atMs + intervalMs >= plan.watchdogDown.fromMs)
      atMs = plan.watchdogDown.toMs;
    else atMs = edge ?? atMs + intervalMs;
  }
  return times;
}

function isWithin(periods: readonly Period[], atMs: number): boolean {
  return periods.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs);
}
