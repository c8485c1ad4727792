import type { AlertCondition } from "../conditions/condition.ts";

/** One message that an alert began to fire or was resolved. */
export interface Notification {
  /** Identifies the event, also after a restart. A receiver can recognise a repeated notification by it. */
  readonly id: string;
  /** Id of the alert. */
  readonly alert: string;
  readonly status: "firing" | "resolved";
  readonly severity: AlertCondition["severity"];
  readonly chainId: string;
  /** First evaluation that found the condition active. */
  readonly sinceMs: number;
  /** Time at which the alert began to fire or was resolved. */
  readonly atMs: number;
  readonly summary: string;
  readonly action: string;
}

/** The event behind a notification. */
export interface AlertEvent {
  readonly status: Notification["status"];
  readonly chainId: string;
  readonly sinceMs: number;
  readonly atMs: number;
  /** Reason of the verdict that changed the alert. */
  readonly reason: string;
}

/** Creates the notification of an event. */
export function toNotification(condition: AlertCondition, event: AlertEvent): Notification {
  const { status, chainId, sinceMs, atMs, reason } = event;
  const minutes = Math.floor((atMs - sinceMs) / 60_000);
  const firing = status === "firing";
  const summary = firing ? condition.firingSummary(minutes) : condition.resolvedSummary(minutes);
  return {
    id: `${condition.id}/${chainId}/${sinceMs}/${status}`,
    alert: condition.id,
    status,
    severity: condition.severity,
    chainId,
    sinceMs,
    atMs,
    summary: `${chainId}: ${summary}: ${reason}`,
    action: firing ? condition.action : "Nothing.",
  };
}

/** Encodes a notification as the JSON body of a webhook request. Discord shows `content`, Slack shows `text`. */
export function encodeNotification(notification: Notification): string {
  const { status, summary, action } = notification;
  const line = status === "firing" ? `[FIRING] ${summary} ${action}` : `[RESOLVED] ${summary}`;
  return JSON.stringify({
    version: 1,
    id: notification.id,
    alert: notification.alert,
    status,
    severity: notification.severity,
    chain_id: notification.chainId,
    since: new Date(notification.sinceMs).toISOString(),
    at: new Date(notification.atMs).toISOString(),
    summary,
    action,
    content: line,
    text: line,
  });
}
