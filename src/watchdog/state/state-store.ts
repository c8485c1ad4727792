import { CodedError } from "../../platform/base/errors.ts";
import type { ChannelMove } from "../alerts/outbox.ts";
import { type AlertingState, EMPTY_ALERTING } from "../alerts/plan-alerts.ts";
import type { PollHistory } from "../conditions/poll-history.ts";
import type { Payment } from "../sources/payment-result.ts";
import { EMPTY_LEDGER, type Ledger } from "../ledger/ledger.ts";
import type { Observation } from "../sources/observation.ts";

/** State that survives a restart of the watchdog. */
export interface WatchdogState {
  /** By name of the validator. A validator that was never read is absent. */
  readonly ledgers: ReadonlyMap<string, Ledger>;
  /** Histories of the last polls, by validator name. A validator that was never polled is absent. */
  readonly pollHistories: ReadonlyMap<string, PollHistory>;
  readonly alerting: AlertingState;
  /** Payments of closed months by name of the validator, oldest first. Absent: none. */
  readonly payments?: ReadonlyMap<string, readonly Payment[]>;
  /** Receivers that have moved, by name of the channel. Absent: none. */
  readonly moves?: ReadonlyMap<string, ChannelMove>;
}

/** The state before the first poll. */
export const EMPTY_STATE: WatchdogState = {
  ledgers: new Map(),
  pollHistories: new Map(),
  alerting: EMPTY_ALERTING,
};

export interface StateStore {
  readonly load: () => WatchdogState;
  /** Replaces the stored state in one transaction. The state is durable when the call returns. Call `load` first. */
  readonly save: (state: WatchdogState) => void;
  /**
   * Opens the store again after a save that failed, and reads what it has: a commit that failed can be in it or not. Throws
   * when the store cannot be read; the next call tries again.
   */
  readonly reopen: () => void;
  readonly close: () => void;
}

/** Creates a store that keeps the state in memory only. */
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

/** Errors that end the watchdog. The operator must change the configuration. */
type WatchdogErrorFacts =
  | { readonly code: "wrong-chain"; readonly expected: string }
  | { readonly code: "state-in-use"; readonly folder: string }
  | { readonly code: "state-unusable"; readonly folder: string };

/** Thrown by the watchdog's service. */
export class WatchdogError extends CodedError<WatchdogErrorFacts> {}

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
 * Begins a new ledger when the operator has set another chain than the one that was counted: a relaunched network. The ledger of the chain
 * before stays, for reports, as "NAME on CHAIN".
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
