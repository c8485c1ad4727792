import type Database from "libsql";
import { z } from "zod";
import { isNoBlocks, NO_BLOCKS } from "../ledger/block-counts.ts";
import { type Rollups, RETENTION_MS, type SpanRollups, type Span, SPANS } from "../ledger/rollups.ts";
import { EMPTY_LEDGER, type Ledger } from "../ledger/ledger.ts";
import { MAX_RECENT_EVENTS, type StoredEvent } from "../ledger/ledger-events.ts";
import {
  LEDGER_EVENT_KINDS,
  LEDGER_SOURCES,
  type LedgerSource,
  type MonthRecord,
  type Rollup,
  type Tally,
} from "../ledger/ledger-view.ts";
import { MAX_RECENT_RANGES, type MissRange } from "../ledger/miss-ranges.ts";
import { prepared } from "../../platform/storage/sqlite-database.ts";
import { decodeLedgerBody, encodeLedgerBody } from "./ledger-body.ts";

const integer = z.bigint();
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
const monthRow = z.object({
  month: z.string(),
  covered_from_ms: integer,
  ...tallyColumns,
  sealed_ms: integer.nullable(),
  hash: z.string().nullable(),
});
const rollupRow = z.object({ start_ms: integer, ...tallyColumns });
const eventRow = z.object({
  id: integer,
  kind: z.enum(LEDGER_EVENT_KINDS),
  from_ms: integer,
  to_ms: integer,
  node: z.string().nullable(),
  text: z.string(),
});
const missRow = z.object({
  from_ms: integer,
  to_ms: integer,
  first_height: integer.nullable(),
  last_height: integer.nullable(),
  good: integer,
  bad: integer,
});
const ledgerRow = z.object({ validator: z.string(), body: z.string() });

/** Hours are stored for this long; days are stored forever. */
const HOUR_RETENTION_MS = 400 * SPANS.day;

const SPAN_NAMES: readonly Span[] = ["minute", "hour", "day"];

/** Reads the ledgers of all validators: all months, and the rollups and events that belong in memory. */
export function readLedgers(database: Database.Database): ReadonlyMap<string, Ledger> {
  const rows = z.array(ledgerRow).parse(database.prepare("SELECT validator, body FROM ledgers").all());
  return new Map(rows.map(({ validator, body }) => [validator, readLedger(database, validator, body)]));
}

function readLedger(database: Database.Database, validator: string, body: string): Ledger {
  const ledger = decodeLedgerBody(body);
  const withRollups = (name: LedgerSource) => ({
    ...ledger.sources[name],
    rollups: readPeriods(database, validator, name),
  });
  const recent = readEvents(
    database,
    "WHERE validator = ? ORDER BY id DESC LIMIT ?",
    validator,
    MAX_RECENT_EVENTS,
  );
  return {
    ...ledger,
    sources: { calls: withRollups("calls"), votes: withRollups("votes"), revenue: withRollups("revenue") },
    events: { ...ledger.events, recent: recent.toReversed() },
    misses: readMisses(database, validator),
  };
}

function readPeriods(database: Database.Database, validator: string, source: LedgerSource): Rollups {
  const months = readMonths(database, validator, source);
  const rollups = (span: Span): SpanRollups => {
    const latest = z
      .object({ latest: integer.nullable() })
      .parse(
        database
          .prepare(
            "SELECT max(start_ms) AS latest FROM rollups WHERE validator = ? AND source = ? AND span = ?",
          )
          .safeIntegers()
          .get(validator, source, span),
      ).latest;
    if (latest === null) return [];
    return readRollups(
      database,
      { validator, source, span },
      Number(latest) - RETENTION_MS[span],
      Number(latest) + 1,
    );
  };
  return {
    months: new Map(months.map((record) => [record.month, record])),
    minute: rollups("minute"),
    hour: rollups("hour"),
    day: rollups("day"),
  };
}

/** Reads one source's months, oldest first. */
export function readMonths(
  database: Database.Database,
  validator: string,
  source: LedgerSource,
): readonly MonthRecord[] {
  const rows = database
    .prepare("SELECT * FROM ledger_months WHERE validator = ? AND source = ? ORDER BY month")
    .safeIntegers()
    .all(validator, source);
  return z
    .array(monthRow)
    .parse(rows)
    .map((row) => ({
      month: row.month,
      ...tallyOf(row),
      coveredFromMs: Number(row.covered_from_ms),
      ...(row.sealed_ms === null || row.hash === null
        ? {}
        : { finalized: { atMs: Number(row.sealed_ms), hash: row.hash } }),
    }));
}

/** Identifies rollups by their owner and by what they count. */
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
  const rows = database
    .prepare(
      "SELECT * FROM rollups WHERE validator = ? AND source = ? AND span = ? AND start_ms >= ? AND start_ms < ? ORDER BY start_ms",
    )
    .safeIntegers()
    .all(validator, source, span, Math.floor(fromMs), Math.floor(toMs));
  return z
    .array(rollupRow)
    .parse(rows)
    .map((row) => ({ startMs: Number(row.start_ms), ...tallyOf(row) }));
}

/** Reads events. `where` contains the rest of the SQL statement. */
export function readEvents(
  database: Database.Database,
  where: string,
  ...values: readonly (string | number)[]
): readonly StoredEvent[] {
  const rows = database
    .prepare(`SELECT * FROM ledger_events ${where}`)
    .safeIntegers()
    .all(...values);
  return z
    .array(eventRow)
    .parse(rows)
    .map(({ id, kind, from_ms, to_ms, node, text }) => ({
      id: Number(id),
      kind,
      fromMs: Number(from_ms),
      toMs: Number(to_ms),
      ...(node === null ? {} : { node }),
      text,
    }));
}

/**
 * Reads block ranges that contain bad blocks, oldest first: those that end in [fromMs, toMs), or by default those kept in memory.
 */
export function readMisses(
  database: Database.Database,
  validator: string,
  within?: { readonly fromMs: number; readonly toMs: number },
): readonly MissRange[] {
  const rows =
    within === undefined
      ? database
          .prepare("SELECT * FROM miss_ranges WHERE validator = ? ORDER BY from_ms DESC LIMIT ?")
          .safeIntegers()
          .all(validator, MAX_RECENT_RANGES)
          .toReversed()
      : database
          .prepare(
            "SELECT * FROM miss_ranges WHERE validator = ? AND from_ms >= ? AND to_ms >= ? AND to_ms < ? ORDER BY from_ms",
          )
          .safeIntegers()
          // A range is at most two minutes long.
          .all(validator, Math.floor(within.fromMs) - 2 * SPANS.minute, within.fromMs, within.toMs);
  return z
    .array(missRow)
    .parse(rows)
    .map(({ from_ms, to_ms, first_height: from, last_height: to, good, bad }) => ({
      fromMs: Number(from_ms),
      toMs: Number(to_ms),
      ...(from === null || to === null ? {} : { blocks: { from, to } }),
      good,
      bad,
    }));
}

/** Maximum number of ranges stored in the file per validator: enough for a month with lost blocks in every minute. */
const MAX_STORED_RANGES = 50_000;

function writeMisses(
  database: Database.Database,
  validator: string,
  ranges: readonly MissRange[],
  before: readonly MissRange[],
): void {
  const known = new Set(before);
  const lastMs = ranges.at(-1)?.fromMs ?? 0;
  if ((before.at(-1)?.fromMs ?? 0) > lastMs)
    prepared(database, "DELETE FROM miss_ranges WHERE validator = ? AND from_ms > ?").run(
      validator,
      Math.round(lastMs),
    );
  const insert = prepared(database, "INSERT OR REPLACE INTO miss_ranges VALUES (?, ?, ?, ?, ?, ?, ?)");
  for (const range of ranges) {
    if (known.has(range)) continue;
    const { fromMs, toMs, blocks, good, bad } = range;
    insert.run(
      validator,
      Math.round(fromMs),
      Math.round(toMs),
      blocks?.from ?? null,
      blocks?.to ?? null,
      good,
      bad,
    );
  }
  prepared(
    database,
    `DELETE FROM miss_ranges WHERE validator = ? AND from_ms <
       (SELECT from_ms FROM miss_ranges WHERE validator = ? ORDER BY from_ms DESC LIMIT 1 OFFSET ?)`,
  ).run(validator, validator, MAX_STORED_RANGES - 1);
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

/** Writes the difference between two states of a ledger. `before` is the state already in the file. */
export function writeLedger(
  database: Database.Database,
  validator: string,
  ledger: Ledger,
  before: Ledger = EMPTY_LEDGER,
): void {
  if (ledger === before) return;
  prepared(database, "INSERT OR REPLACE INTO ledgers VALUES (?, ?)").run(validator, encodeLedgerBody(ledger));
  for (const source of LEDGER_SOURCES)
    writePeriods(
      database,
      { validator, source },
      ledger.sources[source].rollups,
      before.sources[source].rollups,
    );
  if (ledger.misses !== before.misses) writeMisses(database, validator, ledger.misses, before.misses);
  const known = new Map(before.events.recent.map((event) => [event.id, event]));
  for (const event of ledger.events.recent) {
    if (known.get(event.id) === event) continue;
    const { id, kind, fromMs, toMs, node = null, text } = event;
    prepared(database, "INSERT OR REPLACE INTO ledger_events VALUES (?, ?, ?, ?, ?, ?, ?)").run(
      validator,
      id,
      kind,
      Math.round(fromMs),
      Math.round(toMs),
      node,
      text,
    );
  }
}

type PeriodsOf = Omit<RollupsOf, "span">;

function writePeriods(database: Database.Database, of: PeriodsOf, rollups: Rollups, before: Rollups): void {
  const { validator, source } = of;
  // A wrong clock counted blocks in it.
  for (const name of before.months.keys())
    if (!rollups.months.has(name))
      prepared(database, "DELETE FROM ledger_months WHERE validator = ? AND source = ? AND month = ?").run(
        validator,
        source,
        name,
      );
  const month = prepared(
    database,
    "INSERT OR REPLACE INTO ledger_months VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  for (const [name, record] of rollups.months) {
    if (before.months.get(name) === record) continue;
    const { coveredFromMs, finalized } = record;
    month.run(
      validator,
      source,
      name,
      Math.round(coveredFromMs),
      ...tallyValues(record),
      finalized?.atMs ?? null,
      finalized?.hash ?? null,
      ...backfilledValues(record),
    );
  }
  const rollup = prepared(
    database,
    "INSERT OR REPLACE INTO rollups VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  for (const span of SPAN_NAMES) {
    if (rollups[span] === before[span]) continue;
    const stored = before[span];
    const lastMs = rollups[span].at(-1)?.startMs ?? 0;
    if ((stored.at(-1)?.startMs ?? 0) > lastMs)
      prepared(
        database,
        "DELETE FROM rollups WHERE validator = ? AND source = ? AND span = ? AND start_ms > ?",
      ).run(validator, source, span, lastMs);
    let index = 0;
    let hasNew = false;
    for (const value of rollups[span]) {
      const { startMs } = value;
      // Both lists are sorted.
      while ((stored[index]?.startMs ?? Infinity) < startMs) index += 1;
      if (stored[index] === value) continue;
      hasNew ||= stored[index]?.startMs !== startMs;
      // In one list: the driver takes longer to collect single values than to bind them.
      rollup.run([validator, source, span, startMs, ...tallyValues(value), ...backfilledValues(value)]);
    }
    const [oldest] = rollups[span];
    if (hasNew && span !== "day" && oldest !== undefined)
      prepared(
        database,
        "DELETE FROM rollups WHERE validator = ? AND source = ? AND span = ? AND start_ms < ?",
      ).run(validator, source, span, span === "hour" ? lastMs - HOUR_RETENTION_MS : oldest.startMs);
  }
}

function backfilledValues({ backfilled: { good, bad, unknown } = NO_BLOCKS }: Tally): readonly bigint[] {
  return [good, bad, unknown];
}

function tallyValues({ counts, estimated }: Tally): readonly bigint[] {
  return [counts.good, counts.bad, counts.unknown, estimated.good, estimated.bad, estimated.unknown];
}
