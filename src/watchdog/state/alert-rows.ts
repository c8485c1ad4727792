import type Database from "libsql";
import { z } from "zod";
import { stringifyJson } from "../../platform/base/json.ts";
import { prepared } from "../../platform/storage/sqlite-database.ts";
import { alertEvent } from "../alerts/alert-event.ts";
import { alertState, type PastAlert, pastAlert } from "../alerts/alert-state.ts";
import type { AlertingState } from "../alerts/plan-alerts.ts";
import { storedSilence } from "../alerts/silence.ts";
import { type PollHistory, pollHistory } from "../conditions/poll-history.ts";
import { readRows } from "./stored-values.ts";

const queuedEvent = alertEvent.extend({
  dead: z.strictObject({ atMs: z.number(), reason: z.string() }).exactOptional(),
});

const bodyRow = z.object({ body: z.string() });
const deliveryRow = z.object({ channel: z.string(), body: z.string() });

/** Reads the alerting state from the tables `alert_states`, `silences`, `outbox` and `alert_history`. */
export function readAlerting(database: Database.Database): AlertingState {
  const rows = <T>(table: string, row: z.ZodType<T>): readonly T[] =>
    readRows(database, `SELECT * FROM ${table} ORDER BY 1`, row);
  const bodies = <T>(table: string, body: z.ZodType<T>): readonly T[] =>
    z.array(body).parse(rows(table, bodyRow).map((row): unknown => JSON.parse(row.body)));
  return {
    alerts: bodies("alert_states", alertState),
    silences: bodies("silences", storedSilence),
    outbox: rows("outbox", deliveryRow).map(({ channel, body }) => {
      const { dead, ...event } = queuedEvent.parse(JSON.parse(body));
      return { channel, event, ...(dead === undefined ? {} : { dead }) };
    }),
    history: bodies("alert_history", pastAlert).toSorted((a, b) => a.firedAtMs - b.firedAtMs),
  };
}

/** Writes the changes since `before`, as part of the caller's transaction. */
export function writeAlerting(
  database: Database.Database,
  { alerts, silences, outbox, history }: AlertingState,
  before: AlertingState,
): void {
  if (alerts !== before.alerts) replaceRows(database, "alert_states", bodyRows(alerts));
  if (silences !== before.silences) replaceRows(database, "silences", bodyRows(silences));
  if (history !== before.history) writeHistory(database, history, before.history);
  if (outbox === before.outbox) return;
  replaceRows(
    database,
    "outbox",
    outbox.map(({ channel, event, dead }) => [channel, stringifyJson({ ...event, dead })]),
  );
}

/** Writes new and changed alerts, and deletes alerts that have left the history. */
function writeHistory(
  database: Database.Database,
  history: readonly PastAlert[],
  before: readonly PastAlert[],
): void {
  const stored = new Set(before);
  const insert = prepared(database, "INSERT OR REPLACE INTO alert_history VALUES (?, ?, ?, ?)");
  for (const past of history) {
    if (stored.has(past)) continue;
    const { validator, alert, sinceMs } = past;
    insert.run(validator, alert, sinceMs, stringifyJson(past));
  }
  const current = new Set(history.map(historyKey));
  const remove = prepared(
    database,
    "DELETE FROM alert_history WHERE validator = ? AND alert = ? AND since_ms = ?",
  );
  for (const past of before)
    if (!current.has(historyKey(past))) remove.run(past.validator, past.alert, past.sinceMs);
}

function historyKey({ validator, alert, sinceMs }: PastAlert): string {
  return `${validator} ${alert} ${sinceMs}`;
}

function bodyRows(list: readonly unknown[]): readonly (readonly string[])[] {
  return list.map((one) => [stringifyJson(one)]);
}

/** Replaces all rows of a table. The first column contains the position. */
function replaceRows(database: Database.Database, table: string, rows: readonly (readonly string[])[]): void {
  prepared(database, `DELETE FROM ${table}`).run();
  for (const [position, values] of rows.entries()) {
    const marks = values.map(() => "?").join(", ");
    prepared(database, `INSERT INTO ${table} VALUES (?, ${marks})`).run(position, ...values);
  }
}

const historyRow = z.object({ validator: z.string(), body: z.string() });

type PollHistories = ReadonlyMap<string, PollHistory>;

export function readPollHistories(database: Database.Database): PollHistories {
  const rows = readRows(database, "SELECT * FROM trails", historyRow);
  return new Map(rows.map(({ validator, body }) => [validator, pollHistory.parse(JSON.parse(body))]));
}

/** Writes the poll histories that have changed since `before`, as part of the caller's transaction. */
export function writePollHistories(
  database: Database.Database,
  all: PollHistories,
  before: PollHistories,
): void {
  const insert = prepared(database, "INSERT OR REPLACE INTO trails VALUES (?, ?)");
  for (const [validator, history] of all)
    if (history !== before.get(validator))
      insert.run(validator, JSON.stringify(z.encode(pollHistory, history)));
}
