import type Database from "libsql";
import { z } from "zod";
import { stringifyJson } from "../../platform/base/json.ts";
import { SEVERITIES } from "../../platform/monitoring/severity.ts";
import type { Acknowledgement, AlertState, PastAlert } from "../alerts/alert-state.ts";
import type { AlertingState } from "../alerts/plan-alerts.ts";
import { MODULE_NAMES, type NodeHistory, type PollHistory } from "../conditions/poll-history.ts";
import { type AlertEvent, EVENT_KINDS } from "../alerts/alert-event.ts";
import { prepared } from "../../platform/storage/sqlite-database.ts";
import { storedSilence } from "../alerts/silence.ts";
import { readRows, storedInteger } from "./stored-values.ts";

const digits = storedInteger(30);

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
  dashboard: z.string().exactOptional(),
  page: z.string().exactOptional(),
  // Older programs stored an amount as a text, which is not read.
  cost: z
    .object({
      blocks: digits,
      sinceMs: z.number().exactOptional(),
      allowed: digits.exactOptional(),
      payCents: digits.exactOptional(),
      currency: z.string().exactOptional(),
    })
    .exactOptional(),
}) satisfies z.ZodType<AlertEvent>;

const queuedEvent = alertEvent.extend({
  dead: z.strictObject({ atMs: z.number(), reason: z.string() }).exactOptional(),
});

const acknowledgement = z.strictObject({
  author: z.string(),
  note: z.string(),
  atMs: z.number(),
}) satisfies z.ZodType<Acknowledgement>;

const alertState = z
  .strictObject({
    validator: z.string(),
    alert: z.string(),
    phase: z.enum(["pending", "firing", "resolved"]),
    sinceMs: z.number(),
    lastActiveMs: z.number(),
    clearSinceMs: z.number().exactOptional(),
    resolvedAtMs: z.number().exactOptional(),
    reason: z.string(),
    badness: z.number().exactOptional(),
    // Older programs stored both.
    badBlocksBefore: digits.exactOptional(),
    mutedAtMs: z.number().exactOptional(),
    heldUntilMs: z.number().exactOptional(),
    quietReason: z.string().exactOptional(),
    notified: z
      .strictObject({
        reminders: z.number(),
        firstAtMs: z.number().exactOptional(),
        badness: z.number().exactOptional(),
        event: alertEvent,
      })
      .exactOptional(),
    acknowledged: acknowledgement.exactOptional(),
    escalation: z.strictObject({ steps: z.number(), atMs: z.number() }).exactOptional(),
  })
  .transform((stored): AlertState => {
    const { mutedAtMs: _, badBlocksBefore: __, ...state } = stored;
    return state;
  });

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
  acknowledged: acknowledgement.exactOptional(),
}) satisfies z.ZodType<PastAlert>;

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

/** Writes what has changed since `before`, as part of the caller's transaction. */
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

/** Writes new and changed alerts, and deletes those that have left the history. */
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

const progress = z.strictObject({
  height: digits.exactOptional(),
  firstSeenMs: z.number().exactOptional(),
  advancedAtMs: z.number().exactOptional(),
});

/** A map stored as a list, so that node and provider names are not used as object keys. */
const entries = <T>(value: z.ZodType<T>) =>
  z.codec(z.array(z.object({ name: z.string(), value })), z.custom<ReadonlyMap<string, T>>(), {
    decode: (list) => new Map(list.map((one) => [one.name, one.value])),
    encode: (map) => [...map].map(([name, one]) => ({ name, value: one })),
  });

/** A map stored as a list of pairs. */
const pairs = <K, V>(key: z.ZodType<K>, value: z.ZodType<V>) =>
  z.codec(z.array(z.tuple([key, value])), z.custom<ReadonlyMap<K, V>>(), {
    decode: (list) => new Map(list),
    encode: (map) => [...map],
  });

const webSocket = z.strictObject({
  reads: digits,
  sinceMs: z.number(),
  lastReadMs: z.number().exactOptional(),
});

const callTimes = { calls: digits, within: pairs(z.number(), digits) };
const latency = z.strictObject({
  ...callTimes,
  recent: z.strictObject({ ...callTimes, atMs: z.number() }).exactOptional(),
});

const recentPrices = z.strictObject({
  atMs: z.number(),
  // Long enough for any price from a sidecar.
  prices: pairs(z.string(), storedInteger(78)),
});

const nodeHistory: z.ZodType<NodeHistory> = z.strictObject({
  progress,
  seenSinceMs: z.number().exactOptional(),
  seenMs: z.number().exactOptional(),
  success: digits.exactOptional(),
  failure: digits.exactOptional(),
  lastGoodMs: z.number().exactOptional(),
  lastBadMs: z.number().exactOptional(),
  latency: latency.exactOptional(),
  tick: z.strictObject({ value: z.number(), sinceMs: z.number(), hasChanged: z.boolean() }).exactOptional(),
  webSockets: entries(webSocket),
  recentPrices: z.array(recentPrices).exactOptional(),
});

const seenUpgrade = z.strictObject({
  name: z.string(),
  height: digits,
  info: z.string(),
  seenMs: z.number(),
  doneMs: z.number().exactOptional(),
});

const storedHistory: z.ZodType<PollHistory> = z.strictObject({
  nodes: entries(nodeHistory),
  chain: progress,
  upgrade: seenUpgrade.exactOptional(),
  unsureAtMs: z.number().exactOptional(),
  modules: z.array(z.enum(MODULE_NAMES)).exactOptional(),
});

const historyRow = z.object({ validator: z.string(), body: z.string() });

type PollHistories = ReadonlyMap<string, PollHistory>;

/** Reads the poll histories of all validators. */
export function readPollHistories(database: Database.Database): PollHistories {
  const rows = readRows(database, "SELECT * FROM trails", historyRow);
  return new Map(rows.map(({ validator, body }) => [validator, storedHistory.parse(JSON.parse(body))]));
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
      insert.run(validator, JSON.stringify(z.encode(storedHistory, history)));
}
