import type { Severity } from "../../platform/monitoring/severity.ts";
import type { Cost } from "../policy/cost-text.ts";

/**
 * Kinds of notifications. A reminder repeats a firing alert; "escalated" notifies other people because nobody acknowledged it.
 */
export const EVENT_KINDS = ["firing", "reminder", "escalated", "resolved"] as const;

/** One of {@link EVENT_KINDS}. */
export type EventKind = (typeof EVENT_KINDS)[number];

/** One complete notification about one alert. It never changes once queued. */
export interface AlertEvent {
  /** Identifies the event, even across restarts, so that receivers can recognise a repeated notification. */
  readonly id: string;
  /** Identifies the alert: shared by all of its events, and by two watchdogs that watch the same validator. */
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
  /** When the alert started to fire, was repeated, was escalated or was resolved. */
  readonly atMs: number;
  /** The cause, with the values at `atMs`. No trailing period. */
  readonly reason: string;
  readonly description: string;
  readonly action: string;
  readonly impact: string;
  /** URL or file name. */
  readonly runbook: string;
  /** URL of the dashboard. Absent if Grafana's root URL is not configured. */
  readonly dashboard?: string | undefined;
  /** URL of the alert on the watchdog's page. Absent unless the page's URL is configured. */
  readonly page?: string | undefined;
  /** How much its incidents have cost in the month up to `atMs`. Absent if the alert is not about missed votes. */
  readonly cost?: Cost | undefined;
}

/** An alert as a receiver that tracks alerts currently shows it. */
export interface CurrentAlert {
  /** Its latest event. */
  readonly event: AlertEvent;
  /** Absent while the alert is firing. */
  readonly resolvedAtMs?: number | undefined;
  /** Who is working on the alert, with their note. */
  readonly acknowledged?: string | undefined;
}

/** Returns an alert's key, which contains no spaces. */
export function alertKey(chainId: string, validator: string, alert: string): string {
  return `${chainId}/${validator}/${alert}`;
}
