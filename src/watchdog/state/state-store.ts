import { type AlertState, INACTIVE } from "../conditions/alert-state.ts";
import { EMPTY_LEDGER, type Ledger } from "../ledger/ledger.ts";
import type { Notice } from "../notify/notification.ts";

/** Everything that a restart of the watchdog must not lose. */
export interface WatchdogState {
  readonly ledger: Ledger;
  readonly alert: AlertState;
  /** Notices that the webhook has not taken yet, oldest first. */
  readonly notices: readonly Notice[];
}

/** The state before the first look. */
export const EMPTY_STATE: WatchdogState = { ledger: EMPTY_LEDGER, alert: INACTIVE, notices: [] };

/** Keeps the state. Synchronous: when `save` has returned, the state is kept. */
export interface StateStore {
  readonly load: () => WatchdogState;
  /** Replaces the whole state at once, or not at all. */
  readonly save: (state: WatchdogState) => void;
  readonly close: () => void;
}

/** Keeps the state as long as the process lives. */
export function createMemoryState(): StateStore {
  let kept = EMPTY_STATE;
  return {
    load: () => kept,
    save: (state) => {
      kept = state;
    },
    close: () => {},
  };
}
