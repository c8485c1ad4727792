import type { AlertState, PastAlert } from "../alerts/alert-state.ts";
import type { Delivery } from "../alerts/outbox.ts";
import type { Silence } from "../alerts/silence.ts";
import type { NodeHistory, PollHistory, Progress } from "../conditions/poll-history.ts";
import type { CounterState } from "../ledger/counter-state.ts";
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
  const shift = (atMs: number): number => atMs + byMs;
  const { alerting } = state;
  return {
    ...state,
    ledgers: new Map([...state.ledgers].map(([name, ledger]) => [name, shiftLedger(ledger, shift)])),
    pollHistories: new Map([...state.pollHistories].map(([name, one]) => [name, shiftHistory(one, shift)])),
    alerting: {
      alerts: alerting.alerts.map((alert) => shiftAlert(alert, shift)),
      silences: alerting.silences.map((silence) => shiftSilence(silence, shift, nowMs)),
      outbox: alerting.outbox.map((delivery) => shiftDelivery(delivery, shift)),
      history: alerting.history.map((past) => shiftPast(past, shift, nowMs)),
    },
  };
}

/**
 * Moves the alerts and histories of a process that ended while its clock was not trusted: how long ago that was is unknown, so
 * none of them has lasted any longer. The ledger keeps its times: the chain's, or the best known.
 */
export function afterUnsure(state: WatchdogState, nowMs: number): WatchdogState {
  const times = [...state.pollHistories.values()].flatMap(({ unsureAtMs }) => unsureAtMs ?? []);
  const lastMs = Math.max(...times);
  if (times.length === 0 || nowMs <= lastMs) return state;
  const { pollHistories, alerting } = shiftTimes(state, nowMs - lastMs, lastMs);
  const sure = [...pollHistories].map(([name, history]) => {
    const { unsureAtMs: _, ...rest } = history;
    return [name, rest] as const;
  });
  return { ...state, alerting, pollHistories: new Map(sure) };
}

type Shift = (atMs: number) => number;

/** Returns the value with its existing fields shifted. */
function shifted<T extends object>(value: T, keys: readonly (keyof T)[], shift: Shift): T {
  const all = keys.flatMap((key) => {
    const atMs = value[key];
    return typeof atMs === "number" ? [[key, shift(atMs)] as const] : [];
  });
  return { ...value, ...Object.fromEntries(all) };
}

function shiftLedger(ledger: Ledger, shift: Shift): Ledger {
  const { calls, votes, revenue } = ledger.sources;
  const { progress } = ledger;
  return {
    ...ledger,
    sources: {
      calls: shiftSource(calls, shift),
      votes: shiftSource(votes, shift),
      revenue: shiftSource(revenue, shift),
    },
    ...(progress === undefined ? {} : { progress: shifted(progress, ["sinceMs"], shift) }),
    processes: new Map(
      [...ledger.processes].map(([node, one]) => [node, shifted(one, ["sidecarSeenMs", "changedMs"], shift)]),
    ),
  };
}

function shiftSource(source: SourceLedger, shift: Shift): SourceLedger {
  const { checkpoint } = source;
  const counterStates = new Map(
    [...source.counterStates].map(([node, state]) => [node, shiftCounter(state, shift)]),
  );
  if (checkpoint === undefined) return { ...source, counterStates };
  const { atMs, timeMs } = checkpoint;
  // Blocks that were dated by the clock, not by the chain, end where it was. Those that it dated too late are corrected in the ledger.
  const isByClock = timeMs === atMs && shift(0) > 0;
  return {
    ...source,
    counterStates,
    checkpoint: { ...checkpoint, atMs: shift(atMs), ...(isByClock ? { timeMs: shift(timeMs) } : {}) },
  };
}

function shiftCounter(state: CounterState, shift: Shift): CounterState {
  const { baseline, conflict } = state;
  return {
    ...shifted(state, ["replacedAtMs"], shift),
    baseline: shifted(baseline, ["atMs"], shift),
    ...(conflict === undefined
      ? {}
      : {
          conflict: {
            ...conflict,
            first: shifted(conflict.first, ["atMs"], shift),
            last: shifted(conflict.last, ["atMs"], shift),
          },
        }),
  };
}

function shiftHistory(history: PollHistory, shift: Shift): PollHistory {
  const { upgrade } = history;
  return {
    ...history,
    nodes: new Map([...history.nodes].map(([name, node]) => [name, shiftNode(node, shift)])),
    chain: shiftProgress(history.chain, shift),
    ...(upgrade === undefined ? {} : { upgrade: shifted(upgrade, ["seenMs", "doneMs"], shift) }),
  };
}

function shiftProgress(progress: Progress, shift: Shift): Progress {
  return shifted(progress, ["firstSeenMs", "advancedAtMs"], shift);
}

function shiftNode(given: NodeHistory, shift: Shift): NodeHistory {
  const node = shifted(given, ["seenSinceMs", "seenMs", "lastGoodMs", "lastBadMs"], shift);
  const { tick, latency, recentPrices } = node;
  return {
    ...node,
    progress: shiftProgress(node.progress, shift),
    ...(tick === undefined ? {} : { tick: shifted(tick, ["sinceMs"], shift) }),
    ...(latency?.recent === undefined
      ? {}
      : { latency: { ...latency, recent: shifted(latency.recent, ["atMs"], shift) } }),
    webSockets: new Map(
      [...node.webSockets].map(([name, one]) => [name, shifted(one, ["sinceMs", "lastReadMs"], shift)]),
    ),
    ...(recentPrices === undefined
      ? {}
      : { recentPrices: recentPrices.map((one) => shifted(one, ["atMs"], shift)) }),
  };
}

function shiftAlert(alert: AlertState, shift: Shift): AlertState {
  const keys: readonly (keyof AlertState)[] = ["lastActiveMs", "clearSinceMs", "resolvedAtMs"];
  const moved = shifted(alert, alert.phase === "pending" ? [...keys, "sinceMs"] : keys, shift);
  const { notified, escalation } = moved;
  return {
    ...moved,
    ...(escalation === undefined ? {} : { escalation: shifted(escalation, ["atMs"], shift) }),
    ...(notified === undefined
      ? {}
      : {
          notified: {
            ...shifted(notified, ["firstAtMs"], shift),
            event: shifted(notified.event, ["atMs"], shift),
          },
        }),
  };
}

/** A silence that has already started lasts as long as requested. A planned silence keeps its times. */
function shiftSilence(silence: Silence, shift: Shift, nowMs: number): Silence {
  return silence.startsAtMs <= nowMs ? shifted(silence, ["startsAtMs", "endsAtMs"], shift) : silence;
}

function shiftDelivery(delivery: Delivery, shift: Shift): Delivery {
  const { event, dead } = delivery;
  return {
    ...delivery,
    event: shifted(event, ["atMs"], shift),
    ...(dead === undefined ? {} : { dead: shifted(dead, ["atMs"], shift) }),
  };
}

/** Shifts the end of a cause, which matters for the grace period of its consequences. */
function shiftPast(past: PastAlert, shift: Shift, nowMs: number): PastAlert {
  return past.resolvedAtMs === undefined || past.resolvedAtMs < nowMs - DAY_MS
    ? past
    : shifted(past, ["resolvedAtMs"], shift);
}
