import type { Severity } from "../../platform/monitoring/severity.ts";
import type { Cost } from "../policy/cost-text.ts";

/** Kinds of notifications. A reminder repeats a firing alert; "escalated" goes to others, since nobody acknowledged it. */
export const EVENT_KINDS = ["firing", "reminder", "escalated", "resolved"] as const;

/** One of {@link EVENT_KINDS}. */
export type EventKind = (typeof EVENT_KINDS)[number];

/** One notification of one alert, complete: it does not change after it was queued. */
export interface AlertEvent {
  /** Identifies the event, also after a restart: a receiver recognises a repeated notification by it. */
  readonly id: string;
  /** Identifies the alert. Equal for all of its events, and for two watchdogs that watch one validator. */
  readonly key: string;
  /** Name of the condition. */
  readonly alert: string;
  readonly kind: EventKind;
  readonly severity: Severity;
  readonly validator: string;
  readonly chainId: string;
  readonly title: string;
  /** First evaluation that found the condition active. */
  readonly sinceMs: number;
  /** Time at which the alert began to fire, was repeated or was resolved. */
  readonly atMs: number;
  /** Cause with the values at `atMs`, without a full stop. */
  readonly reason: string;
  readonly description: string;
  readonly action: string;
  readonly impact: string;
  /** URL or file name. */
  readonly runbook: string;
  /** URL of the dashboard. Absent while the root of Grafana is not configured. */
  readonly dashboard?: string;
  /** URL of the alert on the watchdog's page. Absent unless the page's URL is configured. */
  readonly page?: string;
  /** What its incident cost the month up to `atMs`. Absent: it is not about missed votes. */
  readonly cost?: Cost;
}

/** An alert as a receiver that follows alerts shows it now. */
export interface CurrentAlert {
  /** Its latest event. */
  readonly event: AlertEvent;
  /** Absent while it fires. */
  readonly resolvedAtMs?: number;
  /** Who works on it, and the note. */
  readonly acknowledged?: string;
}

/** Returns the key of an alert, without spaces. */
export function alertKey(chainId: string, validator: string, alert: string): string {
  return `${chainId}/${validator}/${alert}`;
}
