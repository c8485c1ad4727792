import { pause, withTimeout } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { backoffMs } from "../../platform/base/waits.ts";
import type { Registry } from "../registry/registry.ts";
import type { Journal, DeadLetter } from "./journal.ts";

export interface ResubmissionDeps {
  readonly journal: Pick<Journal, "deadLetters">;
  readonly registry: Pick<Registry, "request">;
  readonly wake: () => void;
  /** Returns true if this process may submit results. */
  readonly leads: () => boolean;
  readonly clock: Clock;
  readonly random: () => number;
}

export type ResubmissionOutcome =
  /** The dead letter does not exist. */
  | { readonly kind: "unknown" }
  | { readonly kind: "included" }
  /** The transaction failed and is a dead letter again. */
  | { readonly kind: "failed"; readonly reason: string }
  /** The transaction was not included in time and is still a dead letter. */
  | { readonly kind: "timeout" };

/** Resubmits dead letters, at an operator's request or automatically if the reason may be temporary. */
export type Resubmissions = ReturnType<typeof createResubmissions>;

/**
 * Returns true if a dead letter's reason may be temporary, i.e. no endpoint had the transaction's data. The reason is permanent if
 * the chain refused the transaction ("codespace/code: …") or the result is too large.
 */
function isTransient({ reason }: Pick<DeadLetter, "reason">): boolean {
  return !/^\S*\/\d+: |^the result has \d+ bytes/.test(reason);
}

function keyOf({ queryId, hash }: DeadLetter): string {
  return `${queryId} ${hash}`;
}

const CHECK_MS = 10_000;
/** Pause before a dead letter is automatically sent again. The pause doubles with each attempt. */
const AGAIN_BACKOFF = { minMs: 30_000, baseMs: 60_000, maxMs: 3_600_000 } as const;
/** Maximum number of dead letters, over all queries, that are automatically sent again at the same time. */
const MAX_AGAIN = 10;

/** Interval between checks of a resubmission's outcome. */
const POLL_MS = 50;

/** Creates the resubmissions. Requests are stored only in memory, since the journal keeps a dead letter until its delivery. */
export function createResubmissions(deps: ResubmissionDeps, deadlineMs: number) {
  const { journal, registry, wake, clock } = deps;
  const wanted = new Map<string, DeadLetter>();
  /** Number of attempts per dead letter, and the monotonic time of the next attempt, ms. */
  const again = new Map<string, { tries: number; atMs: number }>();
  const sendTransient = (): void => {
    const letters = deps.leads() ? journal.deadLetters().filter(isTransient) : [];
    const nowMs = clock.monotonicMs();
    const known = new Set(letters.map(keyOf));
    for (const key of again.keys()) if (!known.has(key)) again.delete(key);
    const due: DeadLetter[] = [];
    // Start with the oldest dead letters, which are at the end of the list.
    for (const letter of letters.toReversed()) {
      const entry = again.get(keyOf(letter));
      // A dead letter that exceeds the limit keeps its pause, because only attempts lengthen the pause.
      if (entry !== undefined && (nowMs < entry.atMs || due.length === MAX_AGAIN)) continue;
      const tries = entry?.tries ?? 0;
      const pauseMs = backoffMs(tries, AGAIN_BACKOFF, deps.random);
      again.set(keyOf(letter), { tries: tries + 1, atMs: nowMs + pauseMs });
      // The first pause starts when the dead letter is first seen.
      if (entry !== undefined) due.push(letter);
    }
    if (due.length === 0) return;
    for (const letter of due) wanted.set(keyOf(letter), letter);
    registry.request([...new Set(due.map(({ queryId }) => queryId))]);
    wake();
  };
  const current = (queryId: bigint, hash: string): DeadLetter | undefined =>
    journal.deadLetters().find((letter) => letter.queryId === queryId && letter.hash === hash);
  return {
    /** Resolves once the transaction is included or has failed again, or after the deadline. Rejects on abort. */
    resubmit: async (queryId: bigint, hash: string, signal: AbortSignal): Promise<ResubmissionOutcome> => {
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
            // A different object means that the transaction failed again, because each failure stores a new object.
            if (now !== letter) return { kind: "failed", reason: now.reason } as const;
            await clock.sleep(POLL_MS, inner);
          }
        });
        return outcome ?? { kind: "timeout" };
      } finally {
        wanted.delete(key);
      }
    },
    /** Returns the query's dead letters that must be sent again, and removes their requests. Called by the TX worker. */
    take: (queryId: bigint): readonly DeadLetter[] => {
      const own = [...wanted].filter(([, letter]) => letter.queryId === queryId);
      for (const [key] of own) wanted.delete(key);
      return own.map(([, letter]) => letter);
    },
    /** Automatically resubmits dead letters with transient reasons. */
    service: {
      name: "dead letters",
      run: async (signal: AbortSignal) => {
        while (!signal.aborted) {
          sendTransient();
          await pause(CHECK_MS, clock, signal);
        }
      },
    },
  };
}
