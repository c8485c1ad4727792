import { CodedError } from "../../platform/base/errors.ts";
import type { ChannelMove } from "../alerts/outbox.ts";
import { type AlertingState, EMPTY_ALERTING } from "../alerts/plan-alerts.ts";
import type { NodeHistory, PollHistory, Progress } from "../conditions/poll-history.ts";
import type { Payment } from "../sources/payment-result.ts";
import { EMPTY_LEDGER, type Ledger } from "../ledger/ledger.ts";
import type { Observation } from "../sources/observation.ts";
import type { AlertState, PastAlert } from "../alerts/alert-state.ts";
import type { Silence } from "../alerts/silence.ts";
import type { Baseline, CounterState } from "../ledger/counter-state.ts";
import type { SourceLedger } from "../ledger/source-ledger.ts";
import { DAY_MS } from "../../platform/base/time.ts";

/** The state that survives a watchdog restart. */
export interface WatchdogState {
  /** Ledgers by validator name. Validators whose nodes have never been read are absent. */
  readonly ledgers: ReadonlyMap<string, Ledger>;
  /** Poll histories by validator name. Validators that have never been polled are absent. */
  readonly pollHistories: ReadonlyMap<string, PollHistory>;
  readonly alerting: AlertingState;
  /** Payments for closed months by validator name, oldest first; absent if there are none. */
  readonly payments?: ReadonlyMap<string, readonly Payment[]>;
  /** The receivers that have moved, by channel name; absent if no receiver has moved. */
  readonly moves?: ReadonlyMap<string, ChannelMove>;
}

export const EMPTY_STATE: WatchdogState = {
  ledgers: new Map(),
  pollHistories: new Map(),
  alerting: EMPTY_ALERTING,
};

export interface StateStore {
  readonly load: () => WatchdogState;
  /** Replaces the stored state in one transaction. The state is durable once the call returns. Call `load` before the first `save`. */
  readonly save: (state: WatchdogState) => void;
  /**
   * Opens the store again after a failed save, and reads which content it has, because a failed commit may still have been written.
   * Throws if the store cannot be read; the next call then tries again.
   */
  readonly reopen: () => void;
  readonly close: () => void;
}

/** Creates a store in memory, whose state is lost when the process ends. */
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

/** An error that stops the watchdog, because only the operator can resolve it. */
export class WatchdogError extends CodedError<
  | { readonly code: "wrong-chain"; readonly expected: string }
  | { readonly code: "state-in-use" | "state-unusable"; readonly folder: string }
> {}

/** Adds or replaces a month's payment after a poll's search. */
export function withPayment(
  payments: WatchdogState["payments"],
  { validator, chain: { payment } }: Observation,
): WatchdogState["payments"] {
  if (payment?.state !== "up") return payments;
  const others = (payments?.get(validator) ?? []).filter(({ month }) => month !== payment.value.month);
  return new Map([...(payments ?? []), [validator, [...others, payment.value]]]);
}

/**
 * Starts a new ledger if the configured chain differs from the ledger's chain, for example after a network restart with a new chain id. The
 * previous chain's ledger stays available to reports as "NAME on CHAIN".
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

/**
 * Shifts the times in a state by `byMs` after the clock was corrected by this amount, so that the lengths of ongoing periods stay the same.
 * Times that people have already seen, such as the starts of alerts and past events, stay unchanged. `nowMs` is the time before the
 * correction.
 */
export function shiftTimes(state: WatchdogState, byMs: number, nowMs: number): WatchdogState {
  const shift: Shift = (atMs) => atMs + byMs;
  return changed(state, {
    ledgers: (ledgers) => mapValues(ledgers, (ledger) => shiftLedger(ledger, shift)),
    pollHistories: (histories) => mapValues(histories, (history) => shiftHistory(history, shift)),
    alerting: ({ alerts, silences, outbox, history }) => ({
      alerts: alerts.map((alert) => shiftAlert(alert, shift)),
      silences: silences.map((silence) => shiftSilence(silence, shift, nowMs)),
      outbox: outbox.map((delivery) =>
        changed(delivery, {
          event: (event) => changed(event, { atMs: shift }),
          dead: (dead) => changed(dead, { atMs: shift }),
        }),
      ),
      history: history.map((past) => shiftPast(past, shift, nowMs)),
    }),
  });
}

/**
 * Shifts the alerts and poll histories of a process that ended with an untrusted clock, as if it had ended just now: the elapsed time is
 * unknown and must not extend any alert. The ledger's times stay unchanged, because they come from the chain or no better times are known.
 */
export function afterUnsure(state: WatchdogState, nowMs: number): WatchdogState {
  const times = [...state.pollHistories.values()].flatMap(({ unsureAtMs }) => unsureAtMs ?? []);
  const lastMs = Math.max(...times);
  if (times.length === 0 || nowMs <= lastMs) return state;
  const { pollHistories, alerting } = shiftTimes(state, nowMs - lastMs, lastMs);
  const sure = mapValues(pollHistories, (history): PollHistory => {
    const { unsureAtMs: _, ...rest } = history;
    return rest;
  });
  return { ...state, alerting, pollHistories: sure };
}

type Shift = (atMs: number) => number;

/** Returns a copy in which each function in `rules` has changed the field of the same name, if the field is present. */
function changed<T extends object>(
  value: T,
  rules: { readonly [Key in keyof T]?: (field: NonNullable<T[Key]>) => T[Key] },
): T {
  const result = { ...value };
  for (const key in rules) {
    const field = value[key];
    const rule = rules[key];
    if (field !== undefined && field !== null && rule !== undefined) result[key] = rule(field);
  }
  return result;
}

function mapValues<V, W>(map: ReadonlyMap<string, V>, change: (value: V) => W): ReadonlyMap<string, W> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}

function shiftLedger(ledger: Ledger, shift: Shift): Ledger {
  return changed(ledger, {
    sources: ({ calls, votes, revenue }) => ({
      calls: shiftSource(calls, shift),
      votes: shiftSource(votes, shift),
      revenue: shiftSource(revenue, shift),
    }),
    progress: (progress) => changed(progress, { sinceMs: shift }),
    processes: (processes) =>
      mapValues(processes, (one) => changed(one, { sidecarSeenMs: shift, changedMs: shift })),
  });
}

function shiftSource(source: SourceLedger, shift: Shift): SourceLedger {
  return changed(source, {
    counterStates: (states) => mapValues(states, (state) => shiftCounter(state, shift)),
    checkpoint: (checkpoint) => {
      const { atMs, timeMs } = checkpoint;
      // If this machine's clock dated the last blocks instead of the chain, move the checkpoint's block time forward too. Never move it
      // back, because the ledger itself corrects blocks that were dated too late.
      const isByClock = timeMs === atMs && shift(0) > 0;
      return { ...checkpoint, atMs: shift(atMs), timeMs: isByClock ? shift(timeMs) : timeMs };
    },
  });
}

function shiftCounter(state: CounterState, shift: Shift): CounterState {
  const shiftReading = (reading: Baseline): Baseline => changed(reading, { atMs: shift });
  return changed(state, {
    baseline: shiftReading,
    conflict: (conflict) => changed(conflict, { first: shiftReading, last: shiftReading }),
    replacedAtMs: shift,
  });
}

function shiftHistory(history: PollHistory, shift: Shift): PollHistory {
  return changed(history, {
    nodes: (nodes) => mapValues(nodes, (node) => shiftNode(node, shift)),
    chain: (progress) => shiftProgress(progress, shift),
    upgrade: (upgrade) => changed(upgrade, { seenMs: shift, doneMs: shift }),
  });
}

function shiftProgress(progress: Progress, shift: Shift): Progress {
  return changed(progress, { firstSeenMs: shift, advancedAtMs: shift });
}

function shiftNode(node: NodeHistory, shift: Shift): NodeHistory {
  return changed(node, {
    seenSinceMs: shift,
    seenMs: shift,
    lastGoodMs: shift,
    lastBadMs: shift,
    progress: (progress) => shiftProgress(progress, shift),
    tick: (tick) => changed(tick, { sinceMs: shift }),
    latency: (latency) => changed(latency, { recent: (recent) => changed(recent, { atMs: shift }) }),
    webSockets: (webSockets) =>
      mapValues(webSockets, (one) => changed(one, { sinceMs: shift, lastReadMs: shift })),
    recentPrices: (prices) => prices.map((one) => changed(one, { atMs: shift })),
  });
}

function shiftAlert(alert: AlertState, shift: Shift): AlertState {
  return changed(alert, {
    ...(alert.phase === "pending" ? { sinceMs: shift } : {}),
    lastActiveMs: shift,
    clearSinceMs: shift,
    resolvedAtMs: shift,
    escalation: (escalation) => changed(escalation, { atMs: shift }),
    notified: (notified) =>
      changed(notified, { firstAtMs: shift, event: (event) => changed(event, { atMs: shift }) }),
  });
}

/** Shifts a silence in effect by the clock's correction, so that its remaining time stays the same. Planned silences stay unchanged. */
function shiftSilence(silence: Silence, shift: Shift, nowMs: number): Silence {
  return silence.startsAtMs <= nowMs ? changed(silence, { startsAtMs: shift, endsAtMs: shift }) : silence;
}

/** Shifts the end of a recently ended alert, because the grace period of the alerts that it caused starts there. */
function shiftPast(past: PastAlert, shift: Shift, nowMs: number): PastAlert {
  return past.resolvedAtMs === undefined || past.resolvedAtMs < nowMs - DAY_MS
    ? past
    : changed(past, { resolvedAtMs: shift });
}
