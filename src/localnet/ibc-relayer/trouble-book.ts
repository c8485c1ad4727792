import { backoffMs, type BackoffOptions } from "../../platform/base/backoff.ts";
import type { Clock } from "../../platform/base/clock.ts";

/** Work that a chain refused. */
export interface Trouble {
  readonly name: string;
  readonly reason: string;
  readonly attempts: number;
  readonly retryAtMs: number;
}

/** Remembers work that a chain refused, so that it is tried again later and does not stop other work. */
export interface TroubleBook {
  readonly isReady: (name: string) => boolean;
  readonly note: (name: string, reason: string) => void;
  /** Forgets everything else: the chains no longer need it. */
  readonly keep: (names: ReadonlySet<string>) => void;
  readonly list: () => readonly Trouble[];
  /** How often the chain has refused work since the start. */
  readonly noted: () => number;
}

const BACKOFF: BackoffOptions = { minMs: 1_000, baseMs: 2_000, maxMs: 60_000 };
const MAX_REASON = 300;

/** Creates an empty book. Its size is bounded by the names that are kept in each cycle. */
export function createTroubleBook(clock: Pick<Clock, "nowMs">, random: () => number): TroubleBook {
  const troubles = new Map<string, Trouble>();
  let noted = 0;
  return {
    isReady: (name) => (troubles.get(name)?.retryAtMs ?? 0) <= clock.nowMs(),
    note: (name, reason) => {
      noted += 1;
      const attempts = (troubles.get(name)?.attempts ?? 0) + 1;
      const retryAtMs = clock.nowMs() + backoffMs(attempts - 1, BACKOFF, random);
      troubles.set(name, { name, reason: reason.slice(0, MAX_REASON), attempts, retryAtMs });
    },
    keep: (names) => {
      for (const name of troubles.keys()) if (!names.has(name)) troubles.delete(name);
    },
    list: () => [...troubles.values()],
    noted: () => noted,
  };
}
