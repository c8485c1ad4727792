import { z } from "zod";
import { formatCount, formatMinute, formatRoundedDuration, formatTime } from "../../platform/base/text.ts";
import { DAY_MS } from "../../platform/base/time.ts";
import type { Anchor } from "../ledger/ledger.ts";
import type { Observation } from "../sources/observation.ts";
import { storedInteger } from "../sources/stored-json.ts";
import type { UpgradePlan, UpgradeReading } from "../sources/upgrade-reading.ts";
import type { Band } from "./assessment.ts";
import { jsonView, words } from "../../platform/http/json-view.ts";

/** The last upgrade plan that a poll read. The plan is retained while the chain is halted at the plan's height. */
export const seenUpgrade = z.strictObject({
  name: z.string(),
  height: storedInteger(30),
  info: z.string(),
  /** When a poll last saw the plan. */
  seenMs: z.number(),
  /** When a poll first found that the plan had disappeared at its height, i.e. that the chain has executed it. */
  doneMs: z.number().exactOptional(),
});

export type SeenUpgrade = Readonly<z.output<typeof seenUpgrade>>;

/** For this long after an upgrade, a node's failure to come back is attributed to the upgrade. */
const DONE_MS = DAY_MS;

/**
 * A plan that disappears up to this many blocks before its height is treated as executed: the plan is read slightly after the
 * chain's head, and nobody cancels a plan that late.
 */
const RACE_BLOCKS = 2n;

/**
 * Updates the last seen plan with a poll's reading, which is undefined if the plan could not be read. `height` is the chain's newest
 * known height. A plan that disappears before its height was cancelled and is forgotten.
 */
export function advanceUpgrade(
  before: SeenUpgrade | undefined,
  reading: UpgradeReading | undefined,
  height: bigint | undefined,
  atMs: number,
): SeenUpgrade | undefined {
  if (reading?.plan !== undefined) return { ...reading.plan, seenMs: atMs };
  if (before?.doneMs !== undefined) return atMs - before.doneMs > DONE_MS ? undefined : before;
  if (before === undefined || reading === undefined) return before;
  const isDone = height !== undefined && height + RACE_BLOCKS >= before.height;
  return isDone ? { ...before, doneMs: atMs } : undefined;
}

/** Mean, fastest and slowest time between two blocks, in ms. */
export interface BlockTime {
  readonly meanMs: number;
  /** The block times in the last day's fastest and slowest hours. */
  readonly fastMs: number;
  readonly slowMs: number;
}

/** Minimum relative uncertainty assumed for the mean block time, because block times differ from hour to hour. */
const LEAST_SPREAD = 0.005;

/** Relative uncertainty assumed for the mean block time if fewer than {@link ENOUGH_HOURS} hours are known. */
const UNKNOWN_SPREAD = 0.1;
const ENOUGH_HOURS = 3;

/** An interval whose mean block time exceeds the overall mean by this factor is excluded, because it contains a halt. */
const HALT_FACTOR = 2;
const MIN_BLOCKS = 30n;

/** Returns mean, fastest and slowest block time; undefined until the mean is known. The `points` should be about an hour apart. */
export function blockTimeOf(points: readonly Anchor[], meanMs: number | undefined): BlockTime | undefined {
  if (meanMs === undefined || !(meanMs > 0) || !Number.isFinite(meanMs)) return undefined;
  const hours = points.flatMap((to, index) => {
    const from = points[index - 1];
    if (from === undefined || to.height - from.height < MIN_BLOCKS) return [];
    const ms = (to.timeMs - from.timeMs) / Number(to.height - from.height);
    return ms > 0 && ms <= HALT_FACTOR * meanMs ? [ms] : [];
  });
  const spread = hours.length < ENOUGH_HOURS ? UNKNOWN_SPREAD : LEAST_SPREAD;
  return {
    meanMs,
    fastMs: Math.min(...hours, meanMs * (1 - spread)),
    slowMs: Math.max(...hours, meanMs * (1 + spread)),
  };
}

/** The time and blocks left until a planned upgrade. Unknown values are undefined. */
export interface UpgradeCountdown {
  readonly plan: UpgradePlan;
  /** Number of blocks until the plan's height; 0 at or above that height. */
  readonly remainingBlocks: bigint | undefined;
  /** When the height is expected, in wall-clock ms; `low` and `high` assume the block times of the fastest and slowest hours. */
  readonly atMs: Band<number> | undefined;
  /** When a poll last saw the plan. */
  readonly seenMs: number;
  readonly doneMs: number | undefined;
}

interface SeenChain {
  readonly upgrade?: SeenUpgrade;
  /** The newest known height, when it last increased, and when a poll first saw a height. */
  readonly chain: { readonly height?: bigint; readonly advancedAtMs?: number; readonly firstSeenMs?: number };
}

/** Returns the countdown to the plan in a poll history. `headMs` is the time of the poll if it saw the newest block. */
export function countdownTo(
  { upgrade: seen, chain: head }: SeenChain,
  headMs: number | undefined,
  blockTime: BlockTime | undefined,
): UpgradeCountdown | undefined {
  if (seen === undefined) return undefined;
  const { name, height, info, seenMs, doneMs } = seen;
  const left = head.height === undefined ? undefined : height - head.height;
  const remainingBlocks = left === undefined || left > 0n ? left : 0n;
  const isOpen = doneMs === undefined && remainingBlocks !== undefined && remainingBlocks > 0n;
  const fromMs = headMs ?? head.advancedAtMs ?? head.firstSeenMs;
  const after = (ms: number): number => Math.round((fromMs ?? 0) + Number(remainingBlocks ?? 0n) * ms);
  return {
    plan: { name, height, info },
    remainingBlocks,
    atMs:
      blockTime === undefined || !isOpen || fromMs === undefined
        ? undefined
        : { low: after(blockTime.fastMs), middle: after(blockTime.meanMs), high: after(blockTime.slowMs) },
    seenMs,
    doneMs,
  };
}

/** Returns the poll's time if it saw the newest block, and undefined otherwise. */
export function headSeenMs({ atMs, chain: { head } }: Observation): number | undefined {
  return head.state === "up" ? atMs : undefined;
}

/**
 * Formats a countdown: "v10 at height 35,120,881: 3,412 blocks left, in about 57 min (06:49 to 06:53 UTC)". The remaining time counts from
 * `nowMs`.
 */
export function countdownText(
  { plan, remainingBlocks, atMs, doneMs }: UpgradeCountdown,
  nowMs: number,
): string {
  const what = `${plan.name} at height ${formatCount(plan.height)}`;
  if (doneMs !== undefined) return `${what}: done, first seen at ${formatMinute(doneMs)} UTC`;
  if (remainingBlocks === undefined) return `${what}; the chain's height is not known`;
  if (remainingBlocks === 0n) return `${what}: the height is reached`;
  const left = `${what}: ${formatCount(remainingBlocks)} ${remainingBlocks === 1n ? "block" : "blocks"} left`;
  if (atMs === undefined) return `${left}; the block time is not known yet`;
  return `${left}, in about ${formatRoundedDuration(Math.max(0, atMs.middle - nowMs))} (${rangeText(atMs.low, atMs.high)} UTC)`;
}

/** Time ranges shorter than this are shown with seconds. */
const SHORT_MS = 600_000;

/** Formats a range: "2026-11-22 06:49 to 06:53". Adds seconds if the range is short, and the second date if the dates differ. */
function rangeText(lowMs: number, highMs: number): string {
  const format = highMs - lowMs < SHORT_MS ? formatTime : formatMinute;
  const [low, high] = [format(lowMs), format(highMs)];
  const isSameDay = low.slice(0, 10) === high.slice(0, 10);
  return `${low} to ${isSameDay ? high.slice(11) : high}`;
}

/**
 * If a planned upgrade explains a halt at this height, returns a clause to append to a sentence; otherwise returns an empty text. A node
 * halts one block before the plan's height, or with the block at that height stored but not executed.
 */
export function haltText(
  seen: SeenUpgrade | undefined,
  height: bigint | undefined,
  who: "chain" | "node",
): string {
  if (seen === undefined || height === undefined) return "";
  if (height !== seen.height - 1n && height !== seen.height) return "";
  const at = `; this is the height of the planned upgrade ${seen.name} (${seen.height})`;
  return who === "chain"
    ? `${at}: the chain waits for validators with the new version`
    : `${at}: the node has not come back after it and needs the new version`;
}

export const countdownView = jsonView<UpgradeCountdown>(
  ({ value, integer, integerOrNull, time, timeOrNull }) => ({
    name: value(words, ({ plan }) => plan.name),
    height: integer(({ plan }) => plan.height),
    info: value(words, ({ plan }) => plan.info),
    remaining_blocks: integerOrNull(({ remainingBlocks }) => remainingBlocks),
    expected_at: timeOrNull(({ atMs }) => atMs?.middle),
    earliest_at: timeOrNull(({ atMs }) => atMs?.low),
    latest_at: timeOrNull(({ atMs }) => atMs?.high),
    seen_at: time(({ seenMs }) => seenMs),
    done_at: timeOrNull(({ doneMs }) => doneMs),
  }),
);
