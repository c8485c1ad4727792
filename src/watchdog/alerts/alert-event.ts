import { z } from "zod";
import { SEVERITIES } from "../../platform/monitoring/severity.ts";
import { storedCost } from "../policy/cost-text.ts";

/** A notification about one alert, with everything that a channel needs to send it. A queued notification is never changed. */
export const alertEvent = z.strictObject({
  /** Id of the event, stable across restarts so that receivers can recognize a repeated notification. */
  id: z.string(),
  /** Key shared by all events of one alert, even if two watchdogs watch the same validator. */
  key: z.string(),
  /** Name of the alert's condition, such as "sidecar-down". */
  alert: z.string(),
  /** A "reminder" repeats the last notification. An "escalated" event notifies additional people because nobody acknowledged the alert. */
  kind: z.enum(["firing", "reminder", "escalated", "resolved"]),
  severity: z.enum(SEVERITIES),
  validator: z.string(),
  chainId: z.string(),
  title: z.string(),
  /** When an evaluation first found the condition active. */
  sinceMs: z.number(),
  /** When the alert started firing, was repeated, was escalated or was resolved. */
  atMs: z.number(),
  /** The cause and the values measured at `atMs`, without a trailing period. */
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
  /** Cost of the missed blocks in the alert's incidents, in the month up to `atMs`; absent if the alert is not about missed votes. */
  cost: storedCost.optional(),
});

export type AlertEvent = Readonly<z.output<typeof alertEvent>>;

export type EventKind = AlertEvent["kind"];

/** An alert's current state, for Alertmanager and other receivers that track alerts themselves. */
export interface CurrentAlert {
  readonly event: AlertEvent;
  /** When the alert was resolved; absent while it is firing. */
  readonly resolvedAtMs?: number | undefined;
  /** Who is working on the alert, with their note. */
  readonly acknowledged?: string | undefined;
}

/** Returns the key that identifies an alert across all validators and chains, as "chain/validator/alert" without spaces. */
export function alertKey(chainId: string, validator: string, alert: string): string {
  return `${chainId}/${validator}/${alert}`;
}
