import { z } from "zod";
import { SEVERITIES } from "../../platform/monitoring/severity.ts";
import { storedCost } from "../policy/cost-text.ts";

/** A notification about one alert, with all data that a channel needs. A queued notification is never modified. */
export const alertEvent = z.strictObject({
  /** The event's id, which stays the same across restarts so that receivers can detect duplicates. */
  id: z.string(),
  /** The alert's key, which is the same in all of the alert's events and in every watchdog that monitors the validator. */
  key: z.string(),
  /** Name of the alert's condition, such as "sidecar-down". */
  alert: z.string(),
  /** A "reminder" repeats the last notification. An "escalated" event notifies additional people because nobody acknowledged the alert. */
  kind: z.enum(["firing", "reminder", "escalated", "resolved"]),
  severity: z.enum(SEVERITIES),
  validator: z.string(),
  chainId: z.string(),
  title: z.string(),
  /** The time when an evaluation first found the condition active. */
  sinceMs: z.number(),
  /** The time when the alert fired, or was repeated, escalated or resolved. */
  atMs: z.number(),
  /** The alert's cause with the values measured at `atMs`, without a trailing period. */
  reason: z.string(),
  description: z.string(),
  action: z.string(),
  impact: z.string(),
  /** URL of the alert's runbook, or only the runbook's file name. */
  runbook: z.string(),
  /** URL of the dashboard for the alert; absent if Grafana's root URL is not configured. */
  dashboard: z.string().optional(),
  /** URL of the alert on the watchdog's page; absent unless the page's URL is configured. */
  page: z.string().optional(),
  /** The cost of the alert's incidents in the current month. Absent if the alert is not about missed votes. */
  cost: storedCost.optional(),
});

export type AlertEvent = Readonly<z.output<typeof alertEvent>>;

export type EventKind = AlertEvent["kind"];

/** An alert's current state, for Alertmanager and other receivers that track alerts themselves. */
export interface CurrentAlert {
  readonly event: AlertEvent;
  /** The time when the alert was resolved; absent while the alert is firing. */
  readonly resolvedAtMs?: number | undefined;
  /** The name of the person who is working on the alert, followed by their note. */
  readonly acknowledged?: string | undefined;
}

/** Returns the key that identifies an alert across all validators and chains, as "chain/validator/alert" without spaces. */
export function alertKey(chainId: string, validator: string, alert: string): string {
  return `${chainId}/${validator}/${alert}`;
}
