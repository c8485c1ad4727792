import { concat } from "../../../../platform/base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
import { messageCodec } from "../../store/collections.ts";
import { MODULE_NAME, queueEnd, timeKey } from "./keys.ts";

/** Records by time, which the end of a block takes when they are due. */
export interface TimeQueue<T> {
  readonly insert: (context: Context, timeNs: bigint, value: T) => void;
  /** Removes and returns the records up to the time of the block, in order of time. */
  readonly takeDue: (context: Context) => readonly T[];
}

/** Creates a queue under a prefix. Records of one time are joined. */
export function createQueue<T>(
  prefix: Uint8Array,
  type: Parameters<typeof messageCodec<T>>[0],
  join: (known: T, added: T) => T,
): TimeQueue<T> {
  const codec = messageCodec<T>(type);
  return {
    insert: (context, timeNs, value) => {
      const store = context.store(MODULE_NAME);
      const key = concat(prefix, timeKey(timeNs));
      const known = store.get(key);
      store.set(key, codec.encode(known === undefined ? value : join(codec.decode(known), value)));
    },
    takeDue: (context) => {
      const store = context.store(MODULE_NAME);
      const due = [...store.iterate(prefix, queueEnd(prefix, context.timeNs))];
      for (const [key] of due) store.delete(key);
      return due.map(([, value]) => codec.decode(value));
    },
  };
}
