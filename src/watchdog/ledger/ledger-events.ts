import { counted } from "../../platform/base/text.ts";
import type { BlockCounts } from "./block-counts.ts";
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

/** The begin of counting. The blocks before are placed from `fromMs` on. */
export function firstReading(
  fromMs: number,
  { good, bad }: BlockCounts,
  atMs: number,
  node: string,
): LedgerEvent {
  const before = Number(good + bad);
  const text =
    before === 0
      ? "counting begins"
      : `counting begins; ${counted(before, "block")} before ${before === 1 ? "is" : "are"} placed by the start of the node, which is an estimate`;
  return { kind: "first-reading", fromMs: Math.min(fromMs, atMs), toMs: atMs, node, text };
}

/** A restart of a node, from its last reading to its new start. */
export function nodeRestart(node: string, unknown: bigint, fromMs: number, toMs: number): LedgerEvent {
  const lost = unknown === 1n ? "the result of 1 block is" : `the results of ${unknown} blocks are`;
  const text = unknown === 0n ? "the node restarted" : `the node restarted; ${lost} not known`;
  return { kind: "node-restart", fromMs, toMs: Math.max(fromMs, toMs), node, text };
}
