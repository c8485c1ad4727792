import type Database from "libsql";
import { z } from "zod";
import type { ActiveAlertState } from "../conditions/alert-state.ts";
import type { Notification } from "../notify/notification.ts";
import type { WatchdogState } from "./state-store.ts";

const integer = z.bigint();
const alertRow = z.object({
  id: z.string(),
  phase: z.enum(["pending", "firing"]),
  since_ms: integer,
  last_active_ms: integer,
  reason: z.string(),
});
const notification = z.strictObject({
  id: z.string(),
  alert: z.string(),
  status: z.enum(["firing", "resolved"]),
  severity: z.enum(["critical", "warning"]),
  chainId: z.string(),
  sinceMs: z.number(),
  atMs: z.number(),
  summary: z.string(),
  action: z.string(),
}) satisfies z.ZodType<Notification>;
const notificationRow = z.object({ body: z.string() });

type AlertingState = Pick<WatchdogState, "alerts" | "notifications">;

/** Reads alerts and pending notifications. */
export function readAlerting(database: Database.Database): AlertingState {
  const rows = (table: string): unknown[] =>
    database.prepare(`SELECT * FROM ${table} ORDER BY 1`).safeIntegers().all();
  return {
    alerts: new Map(z.array(alertRow).parse(rows("alerts")).map(toAlert)),
    notifications: z
      .array(notificationRow)
      .parse(rows("notifications"))
      .map(({ body }) => notification.parse(JSON.parse(body))),
  };
}

function toAlert(row: z.output<typeof alertRow>): [string, ActiveAlertState] {
  const { id, phase, since_ms, last_active_ms, reason } = row;
  return [id, { phase, sinceMs: Number(since_ms), lastActiveMs: Number(last_active_ms), reason }];
}

/** Writes alerts and pending notifications when they changed. */
export function writeAlerting(
  database: Database.Database,
  { alerts, notifications }: AlertingState,
  before: AlertingState,
): void {
  const run = (sql: string, ...values: unknown[]): void => void database.prepare(sql).run(...values);
  if (alerts !== before.alerts) {
    run("DELETE FROM alerts");
    for (const [id, { phase, sinceMs, lastActiveMs, reason }] of alerts)
      run("INSERT INTO alerts VALUES (?, ?, ?, ?, ?)", id, phase, sinceMs, lastActiveMs, reason);
  }
  if (notifications === before.notifications) return;
  run("DELETE FROM notifications");
  for (const [position, pending] of notifications.entries())
    run("INSERT INTO notifications VALUES (?, ?)", position, JSON.stringify(pending));
}
