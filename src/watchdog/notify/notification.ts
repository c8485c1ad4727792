import { ALL_PRICES_MISSING } from "../conditions/alert-state.ts";

/** One message about the beginning or the end of an alert. */
export interface Notice {
  /** The same for the same event, also over restarts: a receiver can tell a repetition. */
  readonly id: string;
  readonly alert: string;
  readonly status: "firing" | "resolved";
  readonly chainId: string;
  /** First look that found it so. */
  readonly sinceMs: number;
  /** When it began to fire, or ended. */
  readonly atMs: number;
  /** What is the case, with current values. */
  readonly summary: string;
  /** What to do. */
  readonly action: string;
}

/** What a notice is made of. */
export interface NoticeFacts {
  readonly status: Notice["status"];
  readonly chainId: string;
  readonly sinceMs: number;
  readonly atMs: number;
  /** The cause while it fires; what is seen now when it ends. */
  readonly detail: string;
}

/** The notice of the alert "all prices missing". */
export function toNotice(facts: NoticeFacts): Notice {
  const { status, chainId, sinceMs, atMs, detail } = facts;
  const minutes = Math.floor((atMs - sinceMs) / 60_000);
  const firing = status === "firing";
  return {
    id: `${ALL_PRICES_MISSING}/${chainId}/${sinceMs}/${status}`,
    alert: ALL_PRICES_MISSING,
    status,
    chainId,
    sinceMs,
    atMs,
    summary: firing
      ? `${chainId}: all oracle prices have been missing for ${minutes} minutes: ${detail}`
      : `${chainId}: oracle prices are back after ${minutes} minutes: ${detail}`,
    action: firing
      ? "Restart the price sidecar. If prices stay away, check its log, the node's gRPC address and outbound HTTPS."
      : "Nothing.",
  };
}

/** The JSON that a webhook gets. `content` and `text` are what Discord and Slack show. */
export function noticeBody(notice: Notice): string {
  const mark = notice.status === "firing" ? "FIRING" : "RESOLVED";
  const line = `[${mark}] ${notice.summary}${notice.status === "firing" ? ` ${notice.action}` : ""}`;
  return JSON.stringify({
    version: 1,
    id: notice.id,
    alert: notice.alert,
    status: notice.status,
    severity: "critical",
    chain_id: notice.chainId,
    since: new Date(notice.sinceMs).toISOString(),
    at: new Date(notice.atMs).toISOString(),
    summary: notice.summary,
    action: notice.action,
    content: line,
    text: line,
  });
}
