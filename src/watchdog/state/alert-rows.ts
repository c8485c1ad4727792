import type Database from "libsql";
import { z } from "zod";
import { stringifyJson } from "../../platform/base/json.ts";
import type { PastAlert } from "../alerts/alert-history.ts";
import type { AlertState } from "../alerts/alert-state.ts";
import type { AlertingState } from "../alerts/plan-alerts.ts";
import { SEVERITIES } from "../../platform/monitoring/severity.ts";
import { type AlertEvent, EVENT_KINDS } from "../notify/channels/alert-event.ts";
import { storedSilence } from "../silences/silence.ts";

/** A bigint, stored as digits: JSON has no integers of that size. */
const digits = z
  .string()
  .regex(/^\d{1,30}$/)
  .transform(BigInt);

const alertEvent = z.strictObject({
  id: z.string(),
  key: z.string(),
  alert: z.string(),
  kind: z.enum(EVENT_KINDS),
  severity: z.enum(SEVERITIES),
  validator: z.string(),
  chainId: z.string(),
  title: z.string(),
  sinceMs: z.number(),
  atMs: z.number(),
  reason: z.string(),
  description: z.string(),
  action: z.string(),
  impact: z.string(),
  runbook: z.string(),
  cost: z.strictObject({ blocks: digits, pay: z.string().exactOptional() }),
}) satisfies z.ZodType<AlertEvent>;

const alertState = z.strictObject({
  validator: z.string(),
  alert: z.string(),
  phase: z.enum(["pending", "firing", "resolved"]),
  sinceMs: z.number(),
  lastActiveMs: z.number(),
  clearSinceMs: z.number().exactOptional(),
  resolvedAtMs: z.number().exactOptional(),
  reason: z.string(),
  badness: z.number().exactOptional(),
  badBlocksBefore: digits,
  mutedAtMs: z.number().exactOptional(),
  quietReason: z.string().exactOptional(),
  notified: z
    .strictObject({
      reminders: z.number(),
      badness: z.number().exactOptional(),
      event: alertEvent,
    })
    .exactOptional(),
}) satisfies z.ZodType<AlertState>;

const pastAlert = z.strictObject({
  validator: z.string(),
  alert: z.string(),
  severity: z.enum(SEVERITIES),
  title: z.string(),
  sinceMs: z.number(),
  firedAtMs: z.number(),
  resolvedAtMs: z.number().exactOptional(),
  reason: z.string(),
  quietReason: z.string().exactOptional(),
}) satisfies z.ZodType<PastAlert>;

const bodyRow = z.object({ body: z.string() });
const deliveryRow = z.object({ channel: z.string(), body: z.string() });

/** Reads the state of alerting from the tables `alert_states`, `silences`, `outbox` and
 * `alert_history`. */
export function readAlerting(database: Database.Database): AlertingState {
  const rows = (table: string): unknown[] => database.prepare(`SELECT * FROM ${table} ORDER BY 1`).all();
  const bodies = (table: string): unknown[] =>
    z
      .array(bodyRow)
      .parse(rows(table))
      .map(({ body }): unknown => JSON.parse(body));
  return {
    alerts: z.array(alertState).parse(bodies("alert_states")),
    silences: z.array(storedSilence).parse(bodies("silences")),
    outbox: z
      .array(deliveryRow)
      .parse(rows("outbox"))
      .map(({ channel, body }) => ({ channel, event: alertEvent.parse(JSON.parse(body)) })),
    history: z
      .array(pastAlert)
      .parse(bodies("alert_history"))
      .toSorted((a, b) => a.firedAtMs - b.firedAtMs),
  };
}

/** Writes what changed since `before`. Part of the caller's transaction. */
export function writeAlerting(
  database: Database.Database,
  { alerts, silences, outbox, history }: AlertingState,
  before: AlertingState,
): void {
  if (alerts !== before.alerts)
    replaceRows(
      database,
      "alert_states",
      alerts.map((alert) => [stringifyJson(alert)]),
    );
  if (silences !== before.silences)
    replaceRows(
      database,
      "silences",
      silences.map((silence) => [stringifyJson(silence)]),
    );
  if (history !== before.history) writeHistory(database, history, before.history);
  if (outbox === before.outbox) return;
  replaceRows(
    database,
    "outbox",
    outbox.map(({ channel, event }) => [channel, stringifyJson(event)]),
  );
}

/** Writes the alerts that are new or changed, and deletes those that are not kept any more. */
function writeHistory(
  database: Database.Database,
  history: readonly PastAlert[],
  before: readonly PastAlert[],
): void {
  const stored = new Set(before);
  const insert = database.prepare("INSERT OR REPLACE INTO alert_history VALUES (?, ?, ?, ?)");
  for (const past of history) {
    if (stored.has(past)) continue;
    const { validator, alert, sinceMs } = past;
    insert.run(validator, alert, sinceMs, stringifyJson(past));
  }
  const kept = new Set(history.map(historyKey));
  const remove = database.prepare(
    "DELETE FROM alert_history WHERE validator = ? AND alert = ? AND since_ms = ?",
  );
  for (const past of before)
    if (!kept.has(historyKey(past))) remove.run(past.validator, past.alert, past.sinceMs);
}

function historyKey({ validator, alert, sinceMs }: PastAlert): string {
  return `${validator} ${alert} ${sinceMs}`;
}

/** Replaces all rows of a table; the first column is the position. */
function replaceRows(database: Database.Database, table: string, rows: readonly (readonly string[])[]): void {
  database.prepare(`DELETE FROM ${table}`).run();
  const marks = (rows[0] ?? []).map(() => "?").join(", ");
  const insert =
    rows.length === 0 ? undefined : database.prepare(`INSERT INTO ${table} VALUES (?, ${marks})`);
  for (const [position, values] of rows.entries()) insert?.run(position, ...values);
}
