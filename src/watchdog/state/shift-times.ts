import type { AlertState, PastAlert } from "../alerts/alert-state.ts";
import type { Silence } from "../alerts/silence.ts";
import type { NodeHistory, PollHistory, Progress } from "../conditions/poll-history.ts";
import type { Baseline, CounterState } from "../ledger/counter-state.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { SourceLedger } from "../ledger/source-ledger.ts";
import { DAY_MS } from "../../platform/base/time.ts";
import type { WatchdogState } from "./state-store.ts";

/**
 * Moves the times in a state by `byMs` after the clock has moved by the same amount, so that ongoing periods end neither earlier
 * nor later. Times that people have seen are left unchanged: when an alert started, acknowledgements, and past events. `nowMs` is
 * the time before the move.
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
 * Moves the alerts and histories of a process that ended while its clock was not trusted. The time since then is unknown, so no
 * alert is extended. The ledger keeps its times: the chain's, or the best known.
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

/** Replaces the fields that have a rule. A field that is absent stays absent. */
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
      // Blocks dated by the clock instead of the chain end at the clock's time. The ledger corrects blocks dated too late.
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

/** A silence that has already started lasts as long as requested. A planned silence keeps its times. */
function shiftSilence(silence: Silence, shift: Shift, nowMs: number): Silence {
  return silence.startsAtMs <= nowMs ? changed(silence, { startsAtMs: shift, endsAtMs: shift }) : silence;
}

/** Shifts the end of a cause, which matters for the grace period of its consequences. */
function shiftPast(past: PastAlert, shift: Shift, nowMs: number): PastAlert {
  return past.resolvedAtMs === undefined || past.resolvedAtMs < nowMs - DAY_MS
    ? past
    : changed(past, { resolvedAtMs: shift });
}
