import type Database from "libsql";
import { z } from "zod";
import { stringifyJson } from "../../platform/base/json.ts";
import { SEVERITIES } from "../../platform/monitoring/severity.ts";
import type { Acknowledgement, AlertState, PastAlert } from "../alerts/alert-state.ts";
import type { AlertingState } from "../alerts/plan-alerts.ts";
import {
  type LatencyHistory,
  MODULE_NAMES,
  type NodeHistory,
  type PollHistory,
} from "../conditions/poll-history.ts";
import type { RecentPrices } from "../policy/price-comparison.ts";
import type { SeenUpgrade } from "../policy/upgrade-countdown.ts";
import { type AlertEvent, EVENT_KINDS } from "../alerts/alert-event.ts";
import { prepared } from "../../platform/storage/sqlite-database.ts";
import { storedSilence } from "../alerts/silence.ts";

/** A bigint stored as digits, since JSON has no integers of this size. */
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

/** An event in an outbox. */
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
      .map(({ channel, body }) => {
        const { dead, ...event } = queuedEvent.parse(JSON.parse(body));
        return { channel, event, ...(dead === undefined ? {} : { dead }) };
      }),
    history: z
      .array(pastAlert)
      .parse(bodies("alert_history"))
      .toSorted((a, b) => a.firedAtMs - b.firedAtMs),
  };
}

/** Writes what has changed since `before`, as part of the caller's transaction. */
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

/** Replaces all rows of a table. The first column contains the position. */
function replaceRows(database: Database.Database, table: string, rows: readonly (readonly string[])[]): void {
  prepared(database, `DELETE FROM ${table}`).run();
  const marks = (rows[0] ?? []).map(() => "?").join(", ");
  const insert =
    rows.length === 0 ? undefined : prepared(database, `INSERT INTO ${table} VALUES (?, ${marks})`);
  for (const [position, values] of rows.entries()) insert?.run(position, ...values);
}

const progress = z.strictObject({
  height: digits.exactOptional(),
  firstSeenMs: z.number().exactOptional(),
  advancedAtMs: z.number().exactOptional(),
}) satisfies z.ZodType<PollHistory["chain"]>;

/** A map stored as a list, so that node and provider names are not used as object keys. */
const entries = <T>(value: z.ZodType<T>) =>
  z
    .array(z.object({ name: z.string(), value }))
    .transform((list) => new Map(list.map((one) => [one.name, one.value])));

const webSocket = z.strictObject({
  reads: digits,
  sinceMs: z.number(),
  lastReadMs: z.number().exactOptional(),
});

/** A list of bounds with their counts. */
const within = z.array(z.tuple([z.number(), digits])).transform((list) => new Map(list));
const callTimes = { calls: digits, within };
const latency = z.strictObject({
  ...callTimes,
  recent: z.strictObject({ ...callTimes, atMs: z.number() }).exactOptional(),
}) satisfies z.ZodType<LatencyHistory>;

/** Long enough for any price from a sidecar. */
const priceDigits = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt);
const recentPrices = z.strictObject({
  atMs: z.number(),
  prices: z.array(z.tuple([z.string(), priceDigits])).transform((list) => new Map(list)),
}) satisfies z.ZodType<RecentPrices>;

const nodeHistory = z.strictObject({
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
}) satisfies z.ZodType<NodeHistory>;

const seenUpgrade = z.strictObject({
  name: z.string(),
  height: digits,
  info: z.string(),
  seenMs: z.number(),
  doneMs: z.number().exactOptional(),
}) satisfies z.ZodType<SeenUpgrade>;

const storedHistory = z.strictObject({
  nodes: entries(nodeHistory),
  chain: progress,
  upgrade: seenUpgrade.exactOptional(),
  unsureAtMs: z.number().exactOptional(),
  modules: z.array(z.enum(MODULE_NAMES)).exactOptional(),
}) satisfies z.ZodType<PollHistory>;

const historyRow = z.object({ validator: z.string(), body: z.string() });

/** Poll histories by validator name. */
type PollHistories = ReadonlyMap<string, PollHistory>;

/** Reads the poll histories of all validators. */
export function readPollHistories(database: Database.Database): PollHistories {
  const rows = z.array(historyRow).parse(database.prepare("SELECT * FROM trails").all());
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
    if (history !== before.get(validator)) insert.run(validator, encodeHistory(history));
}

function encodeHistory({ nodes, ...rest }: PollHistory): string {
  const all = new Map([...nodes].map(([name, node]) => [name, encodeNode(node)]));
  return stringifyJson({ nodes: encodeEntries(all), ...rest });
}

function encodeNode({ webSockets, latency: times, recentPrices: recent, ...node }: NodeHistory) {
  return {
    ...node,
    ...(recent === undefined
      ? {}
      : { recentPrices: recent.map(({ atMs, prices }) => ({ atMs, prices: [...prices] })) }),
    ...(times === undefined ? {} : { latency: encodeLatency(times) }),
    webSockets: encodeEntries(webSockets),
  };
}

function encodeLatency({ recent, within: bounds, ...times }: LatencyHistory) {
  return {
    ...times,
    within: [...bounds],
    ...(recent === undefined ? {} : { recent: { ...recent, within: [...recent.within] } }),
  };
}

function encodeEntries<T>(map: ReadonlyMap<string, T>): readonly { name: string; value: T }[] {
  return [...map].map(([name, value]) => ({ name, value }));
}
