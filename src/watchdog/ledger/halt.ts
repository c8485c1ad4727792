import { addEvents, type EventList, extendEvent } from "./ledger-events.ts";

/** Progress of the chain. */
export interface Progress {
  readonly height: bigint;
  /** Wall clock at which this height was seen first. */
  readonly sinceMs: number;
  /** Number of the event of the present halt. */
  readonly haltId?: number;
}

/** Time without a block that counts as a halt. */
const HALT_MS = 60_000;

/** Adds the greatest height of a poll. A halt is an event from the last block on, which goes on while it lasts. */
export function followProgress(
  progress: Progress | undefined,
  events: EventList,
  height: bigint | undefined,
  atMs: number,
): { readonly progress: Progress | undefined; readonly events: EventList } {
  if (
    height === undefined ||
    (progress !== undefined && height === progress.height && atMs < progress.sinceMs)
  )
    return { progress, events };
  if (progress === undefined || height !== progress.height)
    return { progress: { height, sinceMs: atMs }, events };
  const { sinceMs, haltId } = progress;
  if (atMs - sinceMs < HALT_MS) return { progress, events };
  const text = `no block after height ${height}`;
  if (haltId !== undefined) return { progress, events: extendEvent(events, haltId, atMs, text) };
  return {
    progress: { ...progress, haltId: events.nextId },
    events: addEvents(events, [{ kind: "halt", fromMs: sinceMs, toMs: atMs, text }]),
  };
}
