/** Bounds the bytes that the clients of a server have not read yet, over all connections together. */
export interface SendBudget {
  /** Returns undefined when there is room for another reply now. Otherwise resolves when there is, within about a second. */
  readonly room: () => Promise<void> | undefined;
  /**
   * Counts unsent bytes until the returned function is called. `cut` must discard the bytes. The budget calls it when
   * the bytes are unsent for half a second and other clients need the room.
   */
  readonly hold: (bytes: number, cut: () => void) => () => void;
}

interface Hold {
  readonly bytes: number;
  readonly sinceMs: number;
  readonly cut: () => void;
}

/** Time that a client gets to read a reply while others wait for room. A client on loopback reads 1 MB in a few ms. */
const SLOW_AFTER_MS = 500;

/** Creates a budget. It may be exceeded by one reply, since a reply is counted when its size is known. */
export function createSendBudget(maxBytes: number): SendBudget {
  // In insertion order, so the oldest is first.
  const holds = new Set<Hold>();
  const waiters: (() => void)[] = [];
  let heldBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let isWaking = false;
  const release = (hold: Hold): void => {
    if (!holds.delete(hold)) return;
    heldBytes -= hold.bytes;
    if (waiters.length > 0) wake();
  };
  /** Wakes the waiters one after the other, because each may fill the room again. */
  const wake = (): void => {
    if (isWaking) return;
    isWaking = true;
    setImmediate(() => {
      isWaking = false;
      // The newest first: under a flood, a client that waits for long is the flood, or has given up.
      if (heldBytes < maxBytes) waiters.pop()?.();
      if (waiters.length === 0) return;
      if (heldBytes < maxBytes) wake();
      else watch();
    });
  };
  /** Cuts slow clients as soon as they count as slow. */
  const watch = (): void => {
    const [oldest] = holds;
    if (timer !== undefined || oldest === undefined) return;
    const delayMs = Math.max(0, oldest.sinceMs + SLOW_AFTER_MS - performance.now());
    timer = setTimeout(() => {
      timer = undefined;
      for (const hold of holds) {
        if (heldBytes < maxBytes || performance.now() - hold.sinceMs < SLOW_AFTER_MS) break;
        release(hold);
        hold.cut();
      }
      if (waiters.length > 0) wake();
    }, delayMs + 1);
  };
  return {
    room: () => {
      if (heldBytes < maxBytes && waiters.length === 0) return undefined;
      const room = new Promise<void>((resolve) => waiters.push(resolve));
      wake();
      return room;
    },
    hold: (bytes, cut) => {
      const hold = { bytes, sinceMs: performance.now(), cut };
      holds.add(hold);
      heldBytes += bytes;
      return () => release(hold);
    },
  };
}
