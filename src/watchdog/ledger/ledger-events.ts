import type { LedgerEvent } from "./ledger-view.ts";

/** An event with its number; numbers grow by one. */
export interface StoredEvent extends LedgerEvent {
  readonly id: number;
}

/** Recent events of a ledger, oldest first. */
export interface EventList {
  readonly recent: readonly StoredEvent[];
  readonly nextId: number;
}

/** No event. */
export const NO_EVENTS: EventList = { recent: [], nextId: 1 };

/** Events that stay in memory. The state file has all. */
const MAX_RECENT = 200;

/** Adds events. */
export function addEvents(list: EventList, events: readonly LedgerEvent[]): EventList {
  if (events.length === 0) return list;
  const added = events.map((event, index) => ({ ...event, id: list.nextId + index }));
  return { recent: [...list.recent, ...added].slice(-MAX_RECENT), nextId: list.nextId + events.length };
}

/** Replaces the end and the text of an event that goes on. */
export function extendEvent(list: EventList, id: number, toMs: number, text: string): EventList {
  const recent = list.recent.map((event) => (event.id === id ? { ...event, toMs, text } : event));
  return { ...list, recent };
}
