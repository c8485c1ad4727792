import { abortReason } from "../../base/abort.ts";
import type { Logger } from "../../base/logger.ts";
import type { Notice } from "../notify/notification.ts";
import type { Outbox } from "../notify/delivery.ts";
import { createMemoryState, type StateStore, type WatchdogState } from "./state-store.ts";

/** The state of a running watchdog, and its copy in the store. */
export interface StateKeeper {
  /** Takes a store, and what is in it, for its own. @throws when it cannot be read */
  readonly open: (store: StateStore) => void;
  readonly current: () => WatchdogState;
  /**
   * Takes a new state and stores it. A store that fails (a full disk) is logged, and the next call stores everything
   * again: watching goes on without it.
   */
  readonly replace: (state: WatchdogState) => void;
  /** The notices of the state that wait for the webhook. */
  readonly outbox: Outbox;
  readonly close: () => void;
}

/** Creates a keeper that keeps nothing yet. */
export function createStateKeeper(logger: Logger): StateKeeper {
  let store = createMemoryState();
  let state = store.load();
  let wake: (() => void) | undefined;
  const replace = (next: WatchdogState): void => {
    state = next;
    try {
      store.save(next);
    } catch (error) {
      logger.error("state not stored, will be tried again at the next look", { error });
    }
    if (next.notices.length > 0) wake?.();
  };
  const next = async (signal: AbortSignal): Promise<Notice> => {
    for (;;) {
      const [oldest] = state.notices;
      if (oldest !== undefined) return oldest;
      await woken(signal, (resolve) => {
        wake = resolve;
      });
    }
  };
  const remove = (id: string): void =>
    replace({ ...state, notices: state.notices.filter((notice) => notice.id !== id) });
  return {
    open: (given) => {
      store = given;
      state = store.load();
    },
    current: () => state,
    replace,
    outbox: { next, remove },
    close: () => store.close(),
  };
}

/** Resolves when the registered function is called; rejects on abort. */
function woken(signal: AbortSignal, register: (resolve: () => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(abortReason(signal));
      return;
    }
    const onAbort = (): void => reject(abortReason(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    register(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
  });
}
