import type { Clock } from "../../platform/base/clock.ts";
import { backoffMs, type BackoffOptions } from "../../platform/base/waits.ts";

/** Work that a chain rejected, and the time of its next attempt. */
export interface RefusedWork {
  readonly name: string;
  readonly reason: string;
  readonly attempts: number;
  readonly retryAtMs: number;
}

/** Delays retries of rejected work, so that it does not block other work. */
export interface RetryBackoff {
  readonly isReady: (name: string) => boolean;
  readonly recordRefusal: (name: string, reason: string) => void;
  /** Removes all entries except these, because the chains no longer need the other work. */
  readonly retain: (names: ReadonlySet<string>) => void;
  readonly list: () => readonly RefusedWork[];
  /** Number of rejections since the start. */
  readonly refusals: () => number;
}

const BACKOFF: BackoffOptions = { minMs: 1_000, baseMs: 2_000, maxMs: 60_000 };
const MAX_REASON = 300;

/** Creates an empty backoff. Each cycle calls `retain` to bound its size. */
export function createRetryBackoff(clock: Pick<Clock, "nowMs">, random: () => number): RetryBackoff {
  const entries = new Map<string, RefusedWork>();
  let refusals = 0;
  return {
    isReady: (name) => (entries.get(name)?.retryAtMs ?? 0) <= clock.nowMs(),
    recordRefusal: (name, reason) => {
      refusals += 1;
      const attempts = (entries.get(name)?.attempts ?? 0) + 1;
      const retryAtMs = clock.nowMs() + backoffMs(attempts - 1, BACKOFF, random);
      entries.set(name, { name, reason: reason.slice(0, MAX_REASON), attempts, retryAtMs });
    },
    retain: (names) => {
      for (const name of entries.keys()) if (!names.has(name)) entries.delete(name);
    },
    list: () => [...entries.values()],
    refusals: () => refusals,
  };
}
