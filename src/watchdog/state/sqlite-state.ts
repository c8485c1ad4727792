import { join } from "node:path";
import Database from "libsql";
import { z } from "zod";
import { errorText } from "../../base/errors.ts";
import { FolderInUseError, lockFolder } from "../../ops/folder-lock.ts";
import { migrateSchema } from "../../ops/sqlite-schema.ts";
import type { ActiveAlertState } from "../conditions/alert-state.ts";
import type { Baseline } from "../ledger/advance.ts";
import type { BlockCounts } from "../ledger/block-counts.ts";
import type { Month } from "../ledger/month.ts";
import type { Notification } from "../notify/notification.ts";
import { WatchdogError } from "../watchdog-error.ts";
import { MIGRATIONS } from "./schema.ts";
import type { StateStore, WatchdogState } from "./state-store.ts";

/** Name of the file in the state folder. */
export const STATE_FILE = "oracle-watchdog.sqlite";

const integer = z.bigint();
const baselineRow = z.object({
  chain_id: z.string(),
  success: integer,
  failure: integer,
  height: integer.nullable(),
  process_start_ms: integer.nullable(),
  at_ms: integer,
});
const monthRow = z.object({ month: z.string(), good: integer, bad: integer, unknown: integer });
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

/**
 * Opens or creates the state file in a folder. Throws {@link WatchdogError} when another process uses the folder, or when
 * the file cannot be read.
 */
export function openSqliteState(folder: string): StateStore {
  // Two watchdogs on one state would both count every block. SQLite's own locks last for one transaction only, so the
  // folder is locked until `close`.
  const lock = withFolderError(folder, () => lockFolder(folder));
  try {
    const database = withFolderError(folder, () => openDatabase(folder));
    const save = database.transaction((state: WatchdogState) => writeState(database, state));
    return {
      load: () => withFolderError(folder, () => readState(database)),
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
  // FULL: a committed transaction survives a power failure. The default of WAL mode (NORMAL) can lose the last ones.
  database.pragma("synchronous = FULL");
  try {
    migrateSchema(database, MIGRATIONS);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Runs `work` and converts its errors to {@link WatchdogError}, with the folder in the message. */
function withFolderError<T>(folder: string, work: () => T): T {
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
  const [baseline] = z.array(baselineRow).parse(rows("baseline"));
  return {
    ledger: {
      ...(baseline === undefined ? {} : { baseline: toBaseline(baseline) }),
      months: new Map(z.array(monthRow).parse(rows("months")).map(toMonth)),
    },
    alerts: new Map(z.array(alertRow).parse(rows("alerts")).map(toAlert)),
    notifications: z
      .array(notificationRow)
      .parse(rows("notifications"))
      .map(({ body }) => notification.parse(JSON.parse(body))),
  };
}

function toBaseline(row: z.output<typeof baselineRow>): Baseline {
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

function toAlert(row: z.output<typeof alertRow>): [string, ActiveAlertState] {
  const { id, phase, since_ms, last_active_ms, reason } = row;
  return [id, { phase, sinceMs: Number(since_ms), lastActiveMs: Number(last_active_ms), reason }];
}

function writeState(database: Database.Database, { ledger, alerts, notifications }: WatchdogState): void {
  const run = (sql: string, ...values: unknown[]): void => void database.prepare(sql).run(...values);
  run("DELETE FROM baseline");
  run("DELETE FROM alerts");
  run("DELETE FROM notifications");
  if (ledger.baseline !== undefined) {
    const { chainId, success, failure, height = null, processStartMs = null, atMs } = ledger.baseline;
    const values = [chainId, success, failure, height, processStartMs, atMs];
    run("INSERT INTO baseline VALUES (1, ?, ?, ?, ?, ?, ?)", ...values);
  }
  // Months are never deleted: the ledger keeps all of them.
  for (const [month, { good, bad, unknown }] of ledger.months)
    run("INSERT OR REPLACE INTO months VALUES (?, ?, ?, ?)", month, good, bad, unknown);
  for (const [id, { phase, sinceMs, lastActiveMs, reason }] of alerts)
    run("INSERT INTO alerts VALUES (?, ?, ?, ?, ?)", id, phase, sinceMs, lastActiveMs, reason);
  for (const [position, pending] of notifications.entries())
    run("INSERT INTO notifications VALUES (?, ?)", position, JSON.stringify(pending));
}
