import type Database from "libsql";
import { z } from "zod";
import { isNoBlocks, LEDGER_EVENT_KINDS, LEDGER_SOURCES, NO_BLOCKS } from "../ledger/ledger-view.ts";
import type { LedgerSource, MissRange, MonthRecord, Rollup, Tally } from "../ledger/ledger-view.ts";
import { RETENTION_MS, type Rollups, type Span, SPAN_NAMES, SPANS } from "../ledger/rollups.ts";
import { EMPTY_LEDGER, type Ledger } from "../ledger/ledger.ts";
import { MAX_RECENT_EVENTS, type StoredEvent } from "../ledger/ledger-events.ts";
import { MAX_RECENT_RANGES } from "../ledger/miss-ranges.ts";
import { prepared } from "../../platform/storage/sqlite-database.ts";
import { decodeLedgerBody, encodeLedgerBody } from "./ledger-body.ts";
import { readRows } from "./stored-values.ts";

const integer = z.bigint();
const number = z.bigint().transform(Number);
const tallyColumns = {
  good: integer,
  bad: integer,
  unknown: integer,
  estimated_good: integer,
  estimated_bad: integer,
  estimated_unknown: integer,
  backfilled_good: integer,
  backfilled_bad: integer,
  backfilled_unknown: integer,
};
const monthRow = z
  .object({
    month: z.string(),
    covered_from_ms: number,
    ...tallyColumns,
    sealed_ms: number.nullable(),
    hash: z.string().nullable(),
  })
  .transform(
    ({ month, covered_from_ms: coveredFromMs, sealed_ms: atMs, hash, ...tally }): MonthRecord => ({
      month,
      ...tallyOf(tally),
      coveredFromMs,
      ...(atMs === null || hash === null ? {} : { finalized: { atMs, hash } }),
    }),
  );
const rollupRow = z
  .object({ start_ms: number, ...tallyColumns })
  .transform(({ start_ms: startMs, ...tally }): Rollup => ({ startMs, ...tallyOf(tally) }));
const eventRow = z
  .object({
    id: number,
    kind: z.enum(LEDGER_EVENT_KINDS),
    from_ms: number,
    to_ms: number,
    node: z.string().nullable(),
    text: z.string(),
  })
  .transform(
    ({ id, kind, from_ms: fromMs, to_ms: toMs, node, text }): StoredEvent => ({
      id,
      kind,
      fromMs,
      toMs,
      ...(node === null ? {} : { node }),
      text,
    }),
  );
const missRow = z
  .object({
    from_ms: number,
    to_ms: number,
    first_height: integer.nullable(),
    last_height: integer.nullable(),
    good: integer,
    bad: integer,
  })
  .transform(
    ({ from_ms: fromMs, to_ms: toMs, first_height: from, last_height: to, good, bad }): MissRange => ({
      fromMs,
      toMs,
      ...(from === null || to === null ? {} : { blocks: { from, to } }),
      good,
      bad,
    }),
  );
const ledgerRow = z.object({ validator: z.string(), body: z.string() });

/** Hourly counts are stored for this long, and daily counts forever. */
const HOUR_RETENTION_MS = 400 * SPANS.day;

/** Reads all validators' ledgers, with all months but only the recent rollups and events that are kept in memory. */
export function readLedgers(database: Database.Database): ReadonlyMap<string, Ledger> {
  const rows = readRows(database, "SELECT validator, body FROM ledgers", ledgerRow);
  return new Map(rows.map(({ validator, body }) => [validator, readLedger(database, validator, body)]));
}

function readLedger(database: Database.Database, validator: string, body: string): Ledger {
  const ledger = decodeLedgerBody(body);
  const withRollups = (name: LedgerSource) => ({
    ...ledger.sources[name],
    rollups: readPeriods(database, validator, name),
  });
  const byId = "WHERE validator = ? ORDER BY id DESC LIMIT ?";
  const byTime = "WHERE validator = ? ORDER BY from_ms DESC LIMIT ?";
  const events = readEvents(database, byId, validator, MAX_RECENT_EVENTS);
  const misses = readMisses(database, byTime, validator, MAX_RECENT_RANGES);
  return {
    ...ledger,
    sources: { calls: withRollups("calls"), votes: withRollups("votes"), revenue: withRollups("revenue") },
    events: { ...ledger.events, recent: events.toReversed() },
    misses: misses.toReversed(),
  };
}

function readPeriods(database: Database.Database, validator: string, source: LedgerSource): Rollups {
  const rollups = (span: Span): readonly Rollup[] =>
    readRows(
      database,
      `SELECT * FROM rollups WHERE validator = ?1 AND source = ?2 AND span = ?3 AND start_ms >= ?4 +
         (SELECT max(start_ms) FROM rollups WHERE validator = ?1 AND source = ?2 AND span = ?3) ORDER BY start_ms`,
      rollupRow,
      validator,
      source,
      span,
      -RETENTION_MS[span],
    );
  const months = readMonths(database, validator, source);
  return {
    months: new Map(months.map((record) => [record.month, record])),
    minute: rollups("minute"),
    hour: rollups("hour"),
    day: rollups("day"),
  };
}

/** Reads the month records of one ledger source from the database, oldest first. */
export function readMonths(
  database: Database.Database,
  validator: string,
  source: LedgerSource,
): readonly MonthRecord[] {
  const sql = "SELECT * FROM ledger_months WHERE validator = ? AND source = ? ORDER BY month";
  return readRows(database, sql, monthRow, validator, source);
}

export interface RollupsOf {
  readonly validator: string;
  readonly source: LedgerSource;
  readonly span: Span;
}

/** Reads the rollups that start in [fromMs, toMs), oldest first. */
export function readRollups(
  database: Database.Database,
  { validator, source, span }: RollupsOf,
  fromMs: number,
  toMs: number,
): readonly Rollup[] {
  const sql =
    "SELECT * FROM rollups WHERE validator = ? AND source = ? AND span = ? AND start_ms >= ? AND start_ms < ? ORDER BY start_ms";
  return readRows(database, sql, rollupRow, validator, source, span, Math.floor(fromMs), Math.floor(toMs));
}

/** Reads events. `where` is appended to the SELECT statement. */
export function readEvents(
  database: Database.Database,
  where: string,
  ...values: readonly (string | number)[]
): readonly StoredEvent[] {
  return readRows(database, `SELECT * FROM ledger_events ${where}`, eventRow, ...values);
}

/** Reads the block ranges with bad blocks. `where` is appended to the SELECT statement. */
export function readMisses(
  database: Database.Database,
  where: string,
  ...values: readonly (string | number)[]
): readonly MissRange[] {
  return readRows(database, `SELECT * FROM miss_ranges ${where}`, missRow, ...values);
}

/** Maximum number of ranges in the file per validator, which is enough for a month with lost blocks in every minute. */
const MAX_STORED_RANGES = 50_000;

function writeMisses(
  database: Database.Database,
  validator: string,
  ranges: readonly MissRange[],
  before: readonly MissRange[],
): void {
  const known = new Set(before);
  const lastMs = ranges.at(-1)?.fromMs ?? 0;
  if ((before.at(-1)?.fromMs ?? 0) > lastMs) {
    const remove = prepared(database, "DELETE FROM miss_ranges WHERE validator = ? AND from_ms > ?");
    remove.run(validator, Math.round(lastMs));
  }
  const insert = prepared(database, "INSERT OR REPLACE INTO miss_ranges VALUES (?, ?, ?, ?, ?, ?, ?)");
  for (const range of ranges) {
    if (known.has(range)) continue;
    const { fromMs, toMs, blocks: { from = null, to = null } = {}, good, bad } = range;
    insert.run(validator, Math.round(fromMs), Math.round(toMs), from, to, good, bad);
  }
  prepared(
    database,
    `DELETE FROM miss_ranges WHERE validator = ?1 AND from_ms <
       (SELECT from_ms FROM miss_ranges WHERE validator = ?1 ORDER BY from_ms DESC LIMIT 1 OFFSET ?2)`,
  ).run(validator, MAX_STORED_RANGES - 1);
}

function tallyOf(row: z.output<z.ZodObject<typeof tallyColumns>>): Tally {
  const backfilled = {
    good: row.backfilled_good,
    bad: row.backfilled_bad,
    unknown: row.backfilled_unknown,
  };
  return {
    counts: { good: row.good, bad: row.bad, unknown: row.unknown },
    estimated: { good: row.estimated_good, bad: row.estimated_bad, unknown: row.estimated_unknown },
    ...(isNoBlocks(backfilled) ? {} : { backfilled }),
  };
}

/** Writes what has changed in a ledger since `before`, the version in the file. */
export function writeLedger(
  database: Database.Database,
  validator: string,
  ledger: Ledger,
  before: Ledger = EMPTY_LEDGER,
): void {
  if (ledger === before) return;
  prepared(database, "INSERT OR REPLACE INTO ledgers VALUES (?, ?)").run(validator, encodeLedgerBody(ledger));
  for (const source of LEDGER_SOURCES) {
    const of = { validator, source };
    writePeriods(database, of, ledger.sources[source].rollups, before.sources[source].rollups);
  }
  if (ledger.misses !== before.misses) writeMisses(database, validator, ledger.misses, before.misses);
  const known = new Set(before.events.recent);
  const insert = prepared(database, "INSERT OR REPLACE INTO ledger_events VALUES (?, ?, ?, ?, ?, ?, ?)");
  for (const event of ledger.events.recent) {
    if (known.has(event)) continue;
    const { id, kind, fromMs, toMs, node = null, text } = event;
    insert.run(validator, id, kind, Math.round(fromMs), Math.round(toMs), node, text);
  }
}

function writePeriods(
  database: Database.Database,
  { validator, source }: Omit<RollupsOf, "span">,
  rollups: Rollups,
  before: Rollups,
): void {
  const remove = (table: string, condition: string, ...values: readonly (string | number)[]) =>
    prepared(database, `DELETE FROM ${table} WHERE validator = ? AND source = ? AND ${condition}`).run(
      validator,
      source,
      ...values,
    );
  // Delete months that the ledger has dropped, in which only a wrong clock had dated blocks.
  for (const name of before.months.keys())
    if (!rollups.months.has(name)) remove("ledger_months", "month = ?", name);
  const month = prepared(
    database,
    "INSERT OR REPLACE INTO ledger_months VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  for (const [name, record] of rollups.months) {
    if (before.months.get(name) === record) continue;
    const { coveredFromMs, finalized: { atMs = null, hash = null } = {} } = record;
    const [tally, backfilled] = [tallyValues(record), backfilledValues(record)];
    month.run(validator, source, name, Math.round(coveredFromMs), ...tally, atMs, hash, ...backfilled);
  }
  const rollup = prepared(
    database,
    "INSERT OR REPLACE INTO rollups VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  for (const span of SPAN_NAMES) {
    if (rollups[span] === before[span]) continue;
    const stored = before[span];
    const lastMs = rollups[span].at(-1)?.startMs ?? 0;
    if ((stored.at(-1)?.startMs ?? 0) > lastMs) remove("rollups", "span = ? AND start_ms > ?", span, lastMs);
    let index = 0;
    let hasNew = false;
    for (const value of rollups[span]) {
      const { startMs } = value;
      // Both lists are sorted, so walk through them in parallel.
      while ((stored[index]?.startMs ?? Infinity) < startMs) index += 1;
      if (stored[index] === value) continue;
      hasNew ||= stored[index]?.startMs !== startMs;
      // Pass all values as one array, which the driver binds much faster than separate arguments.
      rollup.run([validator, source, span, startMs, ...tallyValues(value), ...backfilledValues(value)]);
    }
    const [oldest] = rollups[span];
    if (!hasNew || span === "day" || oldest === undefined) continue;
    const fromMs = span === "hour" ? lastMs - HOUR_RETENTION_MS : oldest.startMs;
    remove("rollups", "span = ? AND start_ms < ?", span, fromMs);
  }
}

function backfilledValues({ backfilled: { good, bad, unknown } = NO_BLOCKS }: Tally): readonly bigint[] {
  return [good, bad, unknown];
}

function tallyValues({ counts, estimated }: Tally): readonly bigint[] {
  return [counts.good, counts.bad, counts.unknown, estimated.good, estimated.bad, estimated.unknown];
}
