import { withDeadline } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Seen } from "../observation.ts";
import { toSourceFailure } from "./source-failure.ts";

/** A source that the configuration does not name. */
export const NOT_CONFIGURED: { readonly state: "not-configured" } = { state: "not-configured" };

/** Reads one source. A failure is a value; only an abort rejects. */
export type Scrape = <T>(
  what: string,
  signal: AbortSignal,
  read: (signal: AbortSignal) => Promise<T>,
) => Promise<Seen<T>>;

/** Creates a {@link Scrape} with a deadline for each call. */
export function createScrape(deadlineMs: number, clock: Clock): Scrape {
  return async (what, signal, read) => {
    const startMs = clock.monotonicMs();
    try {
      const value = await withDeadline(what, deadlineMs, signal, read);
      return { state: "up", value, durationMs: clock.monotonicMs() - startMs };
    } catch (error) {
      if (signal.aborted) throw error;
      return { state: "error", failure: toSourceFailure(error), durationMs: clock.monotonicMs() - startMs };
    }
  };
}
