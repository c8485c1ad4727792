import type { Verdict } from "./condition.ts";

/** State of one alert, as in Prometheus. Times are wall clock. */
export type AlertState = { readonly phase: "inactive" } | ActiveAlertState;

/** State of an alert that is pending or firing. */
export interface ActiveAlertState {
  readonly phase: "pending" | "firing";
  /** First evaluation that found the condition active. */
  readonly sinceMs: number;
  /** Last evaluation that found the condition active. */
  readonly lastActiveMs: number;
  readonly reason: string;
}

/** The state of an alert whose condition is not active. */
export const INACTIVE: AlertState = { phase: "inactive" };

/** Next state of an alert. `change` is set once when the alert begins to fire and once when it is resolved. */
export interface AlertStep {
  readonly state: AlertState;
  readonly change?: "firing" | "resolved";
}

/**
 * Advances one alert by one evaluation. The alert fires when its condition has been active for more than `forMs`. A clear
 * verdict resolves it.
 */
export function advanceAlert(state: AlertState, verdict: Verdict, nowMs: number, forMs: number): AlertStep {
  switch (verdict.kind) {
    case "unknown":
      return { state: isOutdated(state, nowMs, forMs) ? INACTIVE : state };
    case "clear":
      return state.phase === "firing" ? { state: INACTIVE, change: "resolved" } : { state: INACTIVE };
    case "active":
      return advanceActive(state, verdict.reason, nowMs, forMs);
  }
}

/** Whether the last active verdict of a pending alert is too old to count. */
function isOutdated(state: AlertState, nowMs: number, forMs: number): boolean {
  // A firing alert stays: a person was notified of it, and only a clear verdict shows that it is over.
  return state.phase === "pending" && nowMs - state.lastActiveMs > forMs;
}

function advanceActive(state: AlertState, reason: string, nowMs: number, forMs: number): AlertStep {
  if (state.phase === "firing") return { state: { ...state, lastActiveMs: nowMs, reason } };
  // After a gap in polling it is unknown whether the condition was active in between. After a step of the clock into the
  // past the times cannot be compared. In both cases the time begins again.
  const restart = state.phase === "inactive" || nowMs - state.lastActiveMs > forMs || nowMs < state.sinceMs;
  const sinceMs = restart ? nowMs : state.sinceMs;
  const active = { sinceMs, lastActiveMs: nowMs, reason };
  return nowMs - sinceMs > forMs
    ? { state: { phase: "firing", ...active }, change: "firing" }
    : { state: { phase: "pending", ...active } };
}
