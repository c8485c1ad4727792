import type { PublishedEvent } from "./published-events.ts";

/** Bounds of the events that wait for slow subscribers. The events of the newest block are always kept. */
export interface EventLogLimits {
  readonly maxPendingEvents: number;
  readonly maxPendingBytes: number;
}

/** Events that some subscriber has not received, with consecutive numbers. */
export interface EventLog {
  /** Number of the next event. */
  readonly end: () => number;
  /** Returns an event, or undefined when it is removed or does not exist. */
  readonly at: (number: number) => PublishedEvent | undefined;
  /** Adds the events of a block. Returns the number of the first event that the limits leave in the log. */
  readonly append: (events: readonly PublishedEvent[]) => number;
  /** Removes all events before a number. */
  readonly removeBefore: (number: number) => void;
}

/** Creates an empty log. */
export function createEventLog(limits: EventLogLimits): EventLog {
  let events: PublishedEvent[] = [];
  let first = 0;
  let bytes = 0;
  const end = (): number => first + events.length;
  return {
    end,
    at: (number) => events[number - first],
    append: (added) => {
      let kept = first;
      const newest = end();
      events.push(...added);
      for (const { sizeBytes } of added) bytes += sizeBytes;
      let left = bytes;
      while (kept < newest && (end() - kept > limits.maxPendingEvents || left > limits.maxPendingBytes)) {
        left -= events[kept - first]?.sizeBytes ?? 0;
        kept += 1;
      }
      return kept;
    },
    removeBefore: (number) => {
      const removed = events.slice(0, Math.max(0, number - first));
      for (const { sizeBytes } of removed) bytes -= sizeBytes;
      events = events.slice(removed.length);
      first += removed.length;
    },
  };
}
