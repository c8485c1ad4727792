import { join } from "node:path";
import Database from "libsql";
import { z } from "zod";
import { errorText } from "../../base/errors.ts";
import { type AlertState, INACTIVE } from "../conditions/alert-state.ts";
import type { CounterMark } from "../ledger/advance.ts";
import type { BlockCounts } from "../ledger/block-counts.ts";
import type { Month } from "../ledger/month.ts";
import type { Notice } from "../notify/notification.ts";
import { WatchdogError } from "../watchdog-error.ts";
import { FolderInUseError, lockFolder } from "../../ops/folder-lock.ts";
import type { StateStore, WatchdogState } from "./state-store.ts";

/** Name of the file in the state folder. */
export const STATE_FILE = "oracle-watchdog.sqlite";

const SCHEMA_VERSION = 1;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS mark (
    id INTEGER PRIMARY KEY CHECK (id = 1), chain_id TEXT NOT NULL, success INTEGER NOT NULL, failure INTEGER NOT NULL,
    height INTEGER, process_start_ms INTEGER, at_ms INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS months (
    month TEXT PRIMARY KEY, good INTEGER NOT NULL, bad INTEGER NOT NULL, unknown INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS alert (
    id INTEGER PRIMARY KEY CHECK (id = 1), phase TEXT NOT NULL, since_ms INTEGER NOT NULL, seen_ms INTEGER NOT NULL,
    reason TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS notices (position INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;`;

const integer = z.bigint();
const markRow = z.object({
  chain_id: z.string(),
  success: integer,
  failure: integer,
  height: integer.nullable(),
  process_start_ms: integer.nullable(),
  at_ms: integer,
});
const monthRow = z.object({ month: z.string(), good: integer, bad: integer, unknown: integer });
const alertRow = z.object({
  phase: z.enum(["pending", "firing"]),
  since_ms: integer,
  seen_ms: integer,
  reason: z.string(),
});
const notice = z.strictObject({
  id: z.string(),
  alert: z.string(),
  status: z.enum(["firing", "resolved"]),
  chainId: z.string(),
  sinceMs: z.number(),
  atMs: z.number(),
  summary: z.string(),
  action: z.string(),
}) satisfies z.ZodType<Notice>;
const noticeRow = z.object({ body: z.string() });

/**
 * Opens or creates the state in a folder, locked while open, so that two watchdogs never count into one.
 * @throws {WatchdogError} when another process has it, or it is not usable.
 */
export function openSqliteState(folder: string): StateStore {
  const lock = naming(folder, () => lockFolder(folder));
  try {
    const database = naming(folder, () => openDatabase(folder));
    const save = database.transaction((state: WatchdogState) => writeState(database, state));
    return {
      load: () => naming(folder, () => readState(database)),
      save: (state) => save.immediate(state),
      close: () => {
        database.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function openDatabase(folder: string): Database.Database {
  const database = new Database(join(folder, STATE_FILE), { timeout: 5000 });
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT;`);
  requireVersion(database);
  return database;
}

function requireVersion(database: Database.Database): void {
  const rows: unknown = database.pragma("user_version");
  const version = z.array(z.object({ user_version: z.number() })).parse(rows)[0]?.user_version;
  if (version === SCHEMA_VERSION) return;
  if (version !== 0)
    throw new Error(`it is of format ${version}, and this program knows format ${SCHEMA_VERSION}`);
  database.pragma(`user_version = ${SCHEMA_VERSION}`);
}

/** Does `work`; what it throws becomes an error that names the folder. */
function naming<T>(folder: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof WatchdogError) throw cause;
    if (cause instanceof FolderInUseError) throw inUse(folder, cause);
    const text = `the state in ${folder} cannot be used: ${errorText(cause)}; check state_dir`;
    throw new WatchdogError({ code: "state-unusable", folder }, text, { cause });
  }
}

function inUse(folder: string, cause: FolderInUseError): WatchdogError {
  const text = `another watchdog uses the state in ${folder}; stop it, or choose another folder with state_dir`;
  return new WatchdogError({ code: "state-in-use", folder }, text, { cause });
}

function readState(database: Database.Database): WatchdogState {
  const rows = (table: string): unknown[] =>
    database.prepare(`SELECT * FROM ${table} ORDER BY 1`).safeIntegers().all();
  const mark = z.array(markRow).parse(rows("mark"))[0];
  const alert = z.array(alertRow).parse(rows("alert"))[0];
  const months = z.array(monthRow).parse(rows("months"));
  return {
    ledger: { ...(mark === undefined ? {} : { mark: toMark(mark) }), months: new Map(months.map(toMonth)) },
    alert: alert === undefined ? INACTIVE : toAlert(alert),
    notices: z
      .array(noticeRow)
      .parse(rows("notices"))
      .map(({ body }) => notice.parse(JSON.parse(body))),
  };
}

function toMark(row: z.output<typeof markRow>): CounterMark {
  return {
    chainId: row.chain_id,
    success: row.success,
    failure: row.failure,
    ...(row.height === null ? {} : { height: row.height }),
    ...(row.process_start_ms === null ? {} : { processStartMs: Number(row.process_start_ms) }),
    atMs: Number(row.at_ms),
  };
}

function toMonth({ month, good, bad, unknown }: z.output<typeof monthRow>): [Month, BlockCounts] {
  return [month, { good, bad, unknown }];
}

function toAlert(row: z.output<typeof alertRow>): AlertState {
  return { phase: row.phase, sinceMs: Number(row.since_ms), seenMs: Number(row.seen_ms), reason: row.reason };
}

function writeState(database: Database.Database, { ledger, alert, notices }: WatchdogState): void {
  const run = (sql: string, ...values: unknown[]): void => void database.prepare(sql).run(...values);
  run("DELETE FROM mark");
  run("DELETE FROM alert");
  run("DELETE FROM notices");
  const { mark } = ledger;
  if (mark !== undefined) {
    const { chainId, success, failure, height = null, processStartMs = null, atMs } = mark;
    run(
      "INSERT INTO mark VALUES (1, ?, ?, ?, ?, ?, ?)",
      chainId,
      success,
      failure,
      height,
      processStartMs,
      atMs,
    );
  }
  for (const [month, { good, bad, unknown }] of ledger.months)
    run("INSERT OR REPLACE INTO months VALUES (?, ?, ?, ?)", month, good, bad, unknown);
  if (alert.phase !== "inactive")
    run("INSERT INTO alert VALUES (1, ?, ?, ?, ?)", alert.phase, alert.sinceMs, alert.seenMs, alert.reason);
  for (const [position, one] of notices.entries())
    run("INSERT INTO notices VALUES (?, ?)", position, JSON.stringify(one));
}
