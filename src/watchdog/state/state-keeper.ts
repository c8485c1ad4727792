import type { Logger } from "../../base/logger.ts";
import { createWakeSignal } from "../../base/wake-signal.ts";
import type { Outbox } from "../notify/delivery.ts";
import { nextDeliveries, withoutDeliveries } from "../notify/outbox.ts";
import { createMemoryState, type StateStore, type WatchdogState } from "./state-store.ts";

/** The current state of a running watchdog, and its copy in a store. */
export interface StateKeeper {
  /** Loads the state from the store and saves to it from now on. Throws when the store cannot be read. */
  readonly open: (store: StateStore) => void;
  readonly current: () => WatchdogState;
  /** Replaces the state and saves it. A store that fails is logged, not thrown. */
  readonly replace: (state: WatchdogState) => void;
  /** Deliveries of the state. */
  readonly outbox: Outbox;
  /** Resolves at the next change of the state. Rejects on abort. */
  readonly changed: (signal: AbortSignal) => Promise<void>;
  readonly close: () => void;
}

/** Creates a keeper with an empty state in memory. */
export function createStateKeeper(logger: Logger): StateKeeper {
  let store = createMemoryState();
  let state = store.load();
  const changed = createWakeSignal();
  const replace = (next: WatchdogState): void => {
    state = next;
    try {
      store.save(next);
    } catch (error) {
      // A full disk must not end the watchdog: it goes on with the state in memory. Each save writes the complete state,
      // so the next successful one stores what this one missed.
      logger.error("state not stored; retrying after the next poll", { error });
    }
    changed.wake();
  };
  const next: Outbox["next"] = async (channel, limit, signal) => {
    for (;;) {
      const deliveries = nextDeliveries(state.alerting.outbox, channel, limit);
      if (deliveries.length > 0) return deliveries;
      // No change is missed: nothing runs between the check above and the call of `next`, which registers at once.
      await changed.next(signal);
    }
  };
  const remove: Outbox["remove"] = (done) => {
    const { alerting } = state;
    replace({ ...state, alerting: { ...alerting, outbox: withoutDeliveries(alerting.outbox, done) } });
  };
  return {
    open: (opened) => {
      store = opened;
      state = store.load();
    },
    current: () => state,
    replace,
    outbox: { next, remove },
    changed: changed.next,
    close: () => store.close(),
  };
}
