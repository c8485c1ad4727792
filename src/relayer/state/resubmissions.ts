import { withTimeout } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Registry } from "../registry/registry.ts";
import type { Journal, DeadLetter } from "./journal.ts";

export interface ResubmissionDeps {
  readonly journal: Pick<Journal, "deadLetters">;
  readonly registry: Pick<Registry, "request">;
  /** Wakes the workers. */
  readonly wake: () => void;
  readonly clock: Clock;
}

/** What became of a dead letter that was sent again. */
export type ResubmissionOutcome =
  /** there is no such dead letter */
  | { readonly kind: "unknown" }
  /** in a block of the local chain */
  | { readonly kind: "included" }
  /** a dead letter again */
  | { readonly kind: "failed"; readonly reason: string }
  /** not sent in time; it is still a dead letter */
  | { readonly kind: "timeout" };

/** Sends dead letters again on request of an operator. */
export interface Resubmissions {
  /** Resolves when the transaction is included, has failed again, or after the deadline. Rejects on abort. */
  readonly resubmit: (queryId: bigint, hash: string, signal: AbortSignal) => Promise<ResubmissionOutcome>;
  /** Returns the dead letters of a query that are to be sent again, each once. For the TX worker. */
  readonly take: (queryId: bigint) => readonly DeadLetter[];
}

/** Interval at which the outcome is looked up. */
const POLL_MS = 50;

/**
 * Creates the requests. They are in memory only: a request that is not answered promises nothing, and the dead letter
 * stays in the journal until its transaction is included.
 */
export function createResubmissions(deps: ResubmissionDeps, deadlineMs: number): Resubmissions {
  const { journal, registry, wake, clock } = deps;
  const wanted = new Map<string, DeadLetter>();
  const current = (queryId: bigint, hash: string): DeadLetter | undefined =>
    journal.deadLetters().find((letter) => letter.queryId === queryId && letter.hash === hash);
  return {
    resubmit: async (queryId, hash, signal) => {
      const letter = current(queryId, hash);
      if (letter === undefined) return { kind: "unknown" };
      const key = `${queryId} ${hash}`;
      wanted.set(key, letter);
      registry.request([queryId]);
      wake();
      try {
        const outcome = await withTimeout(deadlineMs, clock, signal, async (inner) => {
          for (;;) {
            const now = current(queryId, hash);
            if (now === undefined) return { kind: "included" } as const;
            // Each failure stores the letter again.
            if (now !== letter) return { kind: "failed", reason: now.reason } as const;
            await clock.sleep(POLL_MS, inner);
          }
        });
        return outcome ?? { kind: "timeout" };
      } finally {
        wanted.delete(key);
      }
    },
    take: (queryId) => {
      const own = [...wanted].filter(([, letter]) => letter.queryId === queryId);
      for (const [key] of own) wanted.delete(key);
      return own.map(([, letter]) => letter);
    },
  };
}
