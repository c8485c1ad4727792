import { CodedError } from "../../platform/base/errors.ts";
import type { ChannelMove } from "../alerts/outbox.ts";
import { type AlertingState, EMPTY_ALERTING } from "../alerts/plan-alerts.ts";
import type { PollHistory } from "../conditions/poll-history.ts";
import type { Payment } from "../sources/payment-result.ts";
import { EMPTY_LEDGER, type Ledger } from "../ledger/ledger.ts";
import type { Observation } from "../sources/observation.ts";

/** State that survives a watchdog restart. */
export interface WatchdogState {
  /** Ledgers by validator name. A validator that has never been read is absent. */
  readonly ledgers: ReadonlyMap<string, Ledger>;
  /** Histories of the last polls, by validator name. A validator that has never been polled is absent. */
  readonly pollHistories: ReadonlyMap<string, PollHistory>;
  readonly alerting: AlertingState;
  /** Payments for closed months by validator name, oldest first. Absent if there are none. */
  readonly payments?: ReadonlyMap<string, readonly Payment[]>;
  /** Receivers that have moved, by channel name. Absent if there are none. */
  readonly moves?: ReadonlyMap<string, ChannelMove>;
}

export const EMPTY_STATE: WatchdogState = {
  ledgers: new Map(),
  pollHistories: new Map(),
  alerting: EMPTY_ALERTING,
};

export interface StateStore {
  readonly load: () => WatchdogState;
  /** Replaces the stored state in one transaction. The state is durable once the call returns. `load` must be called first. */
  readonly save: (state: WatchdogState) => void;
  /**
   * Opens the store again after a failed save, and reads its content, which may or may not include the failed commit. Throws if
   * the store cannot be read; the next call tries again.
   */
  readonly reopen: () => void;
  readonly close: () => void;
}

/** Creates a store that holds the state only in memory. */
export function createMemoryState(): StateStore {
  let stored = EMPTY_STATE;
  return {
    load: () => stored,
    save: (state) => {
      stored = state;
    },
    reopen: () => {},
    close: () => {},
  };
}

/** An error that ends the watchdog and requires the operator to change the configuration. */
export class WatchdogError extends CodedError<
  | { readonly code: "wrong-chain"; readonly expected: string }
  | { readonly code: "state-in-use" | "state-unusable"; readonly folder: string }
> {}

/** Adds the payment that the poll's search found. */
export function withPayment(
  payments: WatchdogState["payments"],
  { validator, chain: { payment } }: Observation,
): WatchdogState["payments"] {
  if (payment?.state !== "up") return payments;
  const others = (payments?.get(validator) ?? []).filter(({ month }) => month !== payment.value.month);
  return new Map([...(payments ?? []), [validator, [...others, payment.value]]]);
}

/**
 * Starts a new ledger if the operator has set a chain other than the one that was counted, e.g. a relaunched network. The
 * previous chain's ledger is retained for reports, as "NAME on CHAIN".
 */
export function onChain(state: WatchdogState, name: string, chainId: string | undefined): WatchdogState {
  const ledger = state.ledgers.get(name);
  if (chainId === undefined || ledger?.chainId === undefined || ledger.chainId === chainId) return state;
  const events = { recent: [], nextId: ledger.events.nextId };
  return {
    ...state,
    ledgers: new Map([
      ...state.ledgers,
      [`${name} on ${ledger.chainId}`, ledger],
      [name, { ...EMPTY_LEDGER, events }],
    ]),
    pollHistories: new Map([...state.pollHistories].filter(([validator]) => validator !== name)),
  };
}
