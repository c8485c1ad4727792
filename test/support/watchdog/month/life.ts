import { playUntil, type ReplayOptions } from "./replay.ts";

/** A process that plays a part of the month and is killed. Times are of the month, ms. */
export interface Life {
  /** From here on the process is killed, at some instant. */
  readonly markMs: number;
  /** The process waits here, when it is not killed before: it never reaches the end of the month. */
  readonly untilMs: number;
}

export interface LifePlan {
  /** Where the process begins. */
  readonly fromMs: number;
  readonly endMs: number;
  readonly intervalMs: number;
  /** Kills that are left, with that of this process. */
  readonly kills: number;
}

/**
 * Plans the next process. The parts that processes play are exponential, with a mean that spreads the kills that are left evenly
 * over what is left of the month, and at most half of it, so that the month never ends before the last kill. `random` is in
 * [0, 1).
 */
export function planLife({ fromMs, endMs, intervalMs, kills }: LifePlan, random: number): Life {
  const restMs = endMs - fromMs;
  const partMs = Math.min((-Math.log(1 - random) * restMs) / kills, restMs / 2);
  const markMs = fromMs + Math.floor(partMs);
  // A poll more, so that the kill hits a process at work.
  return { markMs, untilMs: Math.min(markMs + intervalMs, endMs) };
}

/**
 * Plays the month from a time on, calls `reached` at the mark, and waits at the end of this life until the process is killed. A
 * mark before the first poll is reached at once: the kill then hits the start of the watchdog.
 */
export async function playLife(
  options: ReplayOptions,
  fromMs: number,
  { markMs, untilMs }: Life,
  reached: () => void,
): Promise<never> {
  const { fromMs: downMs, toMs: upMs } = options.plan.watchdogDown;
  const isEarly = markMs < fromMs + options.intervalMs;
  if (isEarly) reached();
  let beginMs = fromMs;
  if (fromMs < downMs && markMs >= downMs) {
    await (await playUntil(options, fromMs, downMs)).stop();
    beginMs = upMs;
  }
  const session = await playUntil(options, beginMs, Math.max(beginMs, markMs));
  if (!isEarly) reached();
  await session.clock.runUntil(beginMs < downMs ? Math.min(untilMs, downMs - 1) : untilMs);
  return new Promise(() => {});
}
