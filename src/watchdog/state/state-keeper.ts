import { isoTime } from "../../platform/base/time.ts";
import { type BackoffOptions, backoffMs, createWakeSignal } from "../../platform/base/waits.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { StoredMoves } from "../notify/channels/channel.ts";
import type { Outbox } from "../notify/delivery.ts";
import { buryDeliveries, nextDeliveries, otherDeliveries, withoutDeliveries } from "../alerts/outbox.ts";
import type { AlertingState } from "../alerts/plan-alerts.ts";
import { createMemoryState, type StateStore, type WatchdogState } from "./state-store.ts";

/** Keeps a running watchdog's current state, and saves it to a store. */
export interface StateKeeper {
  /** Loads the state from a store, to which all later changes are saved. Throws if the store cannot be read. */
  readonly open: (store: StateStore) => void;
  readonly current: () => WatchdogState;
  /** Replaces the current state and saves the new state. If the store fails, the error is logged, not thrown. */
  readonly replace: (state: WatchdogState) => void;
  /**
   * Replaces the state only if the new state can be stored immediately, so that no change confirmed to a user is lost. Returns undefined on
   * success. If the state cannot be stored, returns the reason and leaves the state unchanged.
   */
  readonly replaceStored: (state: WatchdogState) => string | undefined;
  /** Explains in plain words since when and why the state cannot be stored; undefined while storing works. */
  readonly problem: () => string | undefined;
  /** Lets the delivery loops read and update the state's pending deliveries. */
  readonly outbox: Outbox;
  readonly moves: StoredMoves;
  /** Resolves at the next change of the state; rejects only on abort. */
  readonly changed: (signal: AbortSignal) => Promise<void>;
  /** Retries a failed save, then closes the store. */
  readonly close: () => void;
}

export interface KeeperDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
}

/** Backoff between attempts to reopen a store that failed. Reopening reads the whole state, so it isn't attempted at every poll. */
const REOPEN: BackoffOptions = { minMs: 1000, baseMs: 2000, maxMs: 30_000 };

/** The series of failed saves since the last successful save. */
interface StoreFailure {
  readonly sinceMs: number;
  readonly attempts: number;
  /** When to try saving again, in monotonic time. */
  readonly retryAtMs: number;
  readonly text: string;
}

/** Creates a keeper with an empty state in memory. */
export function createStateKeeper({ clock, logger, random }: KeeperDeps): StateKeeper {
  let store = createMemoryState();
  let state = store.load();
  let failure: StoreFailure | undefined;
  const changed = createWakeSignal();
  const fail = (error: unknown): void => {
    const { attempts = 0, sinceMs = clock.nowMs() } = failure ?? {};
    const retryAtMs = clock.monotonicMs() + backoffMs(attempts, REOPEN, random);
    failure = { sinceMs, attempts: attempts + 1, retryAtMs, text: errorText(error) };
    logger.error("state not stored; it stays in memory, and the file is opened again", { error });
  };
  const save = (next: WatchdogState): void => {
    try {
      // Reopen the store, because SQLite connections may stay broken after a disk error. The next successful save also stores the
      // changes of failed saves, because each save writes all differences.
      if (failure !== undefined) store.reopen();
      store.save(next);
      if (failure !== undefined)
        logger.warn("state stored again", { failed_since: isoTime(failure.sinceMs) });
      failure = undefined;
    } catch (error) {
      // Continue with the state in memory, because a full disk must not stop the watchdog.
      fail(error);
    }
  };
  const replace = (next: WatchdogState): void => {
    state = next;
    if (failure === undefined || clock.monotonicMs() >= failure.retryAtMs) save(next);
    changed.wake();
  };
  const problem = (): string | undefined =>
    failure && `the state has not been stored since ${isoTime(failure.sinceMs)}: ${failure.text}`;
  const replaceStored: StateKeeper["replaceStored"] = (next) => {
    save(next);
    if (failure !== undefined) return problem();
    state = next;
    changed.wake();
    return undefined;
  };
  const next: Outbox["next"] = async (channel, limit, signal) => {
    for (;;) {
      const deliveries = nextDeliveries(state.alerting.outbox, channel, limit);
      if (deliveries.length > 0) return deliveries;
      // No change can be missed, because `next` registers immediately and nothing runs between the check above and this call.
      await changed.next(signal);
    }
  };
  const changeOutbox = (outbox: AlertingState["outbox"]): void =>
    replace({ ...state, alerting: { ...state.alerting, outbox } });
  return {
    open: (opened) => {
      store = opened;
      state = store.load();
    },
    current: () => state,
    replace,
    replaceStored,
    problem,
    outbox: {
      next,
      others: (channel, failing) => otherDeliveries(state.alerting.outbox, channel, failing),
      remove: (done) => changeOutbox(withoutDeliveries(state.alerting.outbox, done)),
      bury: (failed, letter) => changeOutbox(buryDeliveries(state.alerting.outbox, failed, letter)),
    },
    moves: {
      moveOf: (channel) => state.moves?.get(channel),
      setMove: (channel, move) =>
        replace({ ...state, moves: new Map([...(state.moves ?? []), [channel, move]]) }),
    },
    changed: changed.next,
    close: () => {
      if (failure !== undefined) save(state);
      store.close();
    },
  };
}
