import Database from "libsql";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { errorText } from "../../platform/base/errors.ts";
import { MINUTE_MS } from "../../platform/base/time.ts";
import { FolderInUseError, lockFolder } from "../../platform/process/folder-lock.ts";
import {
  createDatabaseFile,
  inTransaction,
  migrateSchema,
  prepared,
} from "../../platform/storage/sqlite-database.ts";
import { isDamaged, isDiskFull, MAKE_ROOM } from "../../platform/storage/sqlite-errors.ts";
import type { LedgerView } from "../ledger/ledger-view.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Span } from "../ledger/rollups.ts";
import { decodeLedgerBody } from "./ledger-body.ts";
import { readEvents, readLedgers, readMisses, readMonths, readRollups, writeLedger } from "./ledger-rows.ts";
import { MIGRATIONS } from "./schema.ts";
import { EMPTY_STATE, type StateStore, WatchdogError, type WatchdogState } from "./state-store.ts";
import { readRows } from "./stored-values.ts";
import { type Payment, storedPayment } from "../sources/payment-result.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import { alertEvent } from "../alerts/alert-event.ts";
import { alertState, pastAlert, type PastAlert } from "../alerts/alert-state.ts";
import type { AlertingState } from "../alerts/plan-alerts.ts";
import { storedSilence } from "../alerts/silence.ts";
import { pollHistory, type PollHistory } from "../conditions/poll-history.ts";

export const STATE_FILE = "oracle-watchdog.sqlite";

/** Opens a SQLite database file. Tests pass their own function to simulate a failing disk. */
export type OpenDatabase = (file: string, options: Database.Options) => Database.Database;

/** Opens or creates the state file in a folder. Throws {@link WatchdogError} if the folder is in use or the file unreadable. */
export function openSqliteState(folder: string, open: OpenDatabase = openFile): StateStore {
  // Lock the folder until `close`, because SQLite's own locks only last for a transaction, and two watchdogs with one state would
  // both count every block.
  const lock = withFolderError(folder, () => lockFolder(folder));
  try {
    const file = join(folder, STATE_FILE);
    let database = withFolderError(folder, () => {
      createDatabaseFile(file);
      return openDatabase(file, open);
    });
    // Each save writes the state's differences from `stored`, which is the file's content. If a save fails, `stored` stays unchanged, so
    // the next save also writes the failed save's differences.
    let stored = EMPTY_STATE;
    const load = (): WatchdogState => {
      stored = withFolderError(folder, () => readState(database));
      return stored;
    };
    return {
      load,
      save: (state) => {
        inTransaction(database, () => writeState(database, state, stored));
        stored = state;
      },
      reopen: () => {
        closeQuietly(database);
        database = withFolderError(folder, () => {
          // If the file is gone, its disk may not be mounted any more. Don't create a new file, which would hide the old one's
          // content.
          if (!existsSync(file)) throw new Error(`${STATE_FILE} no longer exists`);
          return openDatabase(file, open);
        });
        load();
      },
      close: () => {
        closeQuietly(database);
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function openFile(file: string, options: Database.Options): Database.Database {
  return new Database(file, options);
}

function openDatabase(file: string, open: OpenDatabase): Database.Database {
  const database = open(file, { timeout: 5000 });
  try {
    database.pragma("journal_mode = WAL");
    // FULL makes committed transactions survive a power failure. In WAL mode, NORMAL could lose the last transactions.
    database.pragma("synchronous = FULL");
    migrateSchema(database, MIGRATIONS);
    return database;
  } catch (error) {
    closeQuietly(database);
    throw error;
  }
}

/** Closes a database. Ignores errors, because all saves have finished and the disk may be gone. */
function closeQuietly(database: Database.Database): void {
  try {
    database.close();
  } catch {
    // The database is not used any more, so ignore the error.
  }
}

/** Runs `work` and turns any error into a {@link WatchdogError} whose message names the folder. */
function withFolderError<T>(folder: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof WatchdogError) throw cause;
    if (cause instanceof FolderInUseError) throw inUse(folder, cause);
    const text = `the state in ${folder} cannot be used: ${errorText(cause)}; ${adviceOn(cause)}`;
    throw new WatchdogError({ code: "state-unusable", folder }, text, { cause });
  }
}

function adviceOn(cause: unknown): string {
  if (isDiskFull(cause)) return MAKE_ROOM;
  return isDamaged(cause)
    ? `${STATE_FILE} is damaged; restore a backup, or move the file away: counting then starts over, and past months are lost`
    : "check state_dir";
}

function inUse(folder: string, cause: FolderInUseError): WatchdogError {
  const { holder } = cause.facts;
  const text = `another watchdog (${holder}) is using the state in ${folder}; stop it, or choose another folder with state_dir`;
  return new WatchdogError({ code: "state-in-use", folder }, text, { cause });
}

const moveRow = z.object({ channel: z.string(), from_id: z.string(), to_id: z.string() });

function readState(database: Database.Database): WatchdogState {
  const payments = readPayments(database);
  const moves = readRows(database, "SELECT * FROM channel_moves", moveRow);
  return {
    ledgers: readLedgers(database),
    pollHistories: readPollHistories(database),
    alerting: readAlerting(database),
    ...(payments === undefined ? {} : { payments }),
    ...(moves.length === 0
      ? {}
      : { moves: new Map(moves.map(({ channel, from_id: from, to_id: to }) => [channel, { from, to }])) }),
  };
}

function writeState(database: Database.Database, state: WatchdogState, stored: WatchdogState): void {
  for (const [validator, ledger] of state.ledgers)
    writeLedger(database, validator, ledger, stored.ledgers.get(validator));
  writePollHistories(database, state.pollHistories, stored.pollHistories);
  writeAlerting(database, state.alerting, stored.alerting);
  writePayments(database, state.payments, stored.payments);
  const insert = prepared(database, "INSERT OR REPLACE INTO channel_moves VALUES (?, ?, ?)");
  for (const [channel, move] of state.moves ?? [])
    if (stored.moves?.get(channel) !== move) insert.run(channel, move.from, move.to);
}

/** The ledgers in a state file, which can be read while a watchdog is running. */
export interface LedgerFile {
  /** Returns the names of all validators with a ledger in the file, in alphabetical order. */
  readonly validators: () => readonly string[];
  /** Returns a validator's counts; undefined if the validator is not in the file. */
  readonly view: (validator: string) => LedgerView | undefined;
  /** Returns the time of the validator's last counted reading. */
  readonly checkpointMs: (validator: string) => number | undefined;
  readonly close: () => void;
}

/** Opens the state file in a folder for reading only. Throws if the file does not exist or has another format version. */
export function openLedgerFile(folder: string): LedgerFile {
  const database = new Database(join(folder, STATE_FILE), {
    readonly: true,
    fileMustExist: true,
    timeout: 5000,
  });
  try {
    requireVersion(database, folder);
  } catch (error) {
    database.close();
    throw error;
  }
  const read = (validator: string): Ledger | undefined => {
    const sql = "SELECT body FROM ledgers WHERE validator = ?";
    const [row] = readRows(database, sql, z.object({ body: z.string() }), validator);
    return row && decodeLedgerBody(row.body);
  };
  const names = "SELECT validator FROM ledgers ORDER BY validator";
  return {
    validators: () =>
      readRows(database, names, z.object({ validator: z.string() })).map(({ validator }) => validator),
    view: (validator) => {
      const ledger = read(validator);
      return ledger && viewOf(database, validator, ledger.chainId);
    },
    checkpointMs: (validator) => read(validator)?.sources.calls.checkpoint?.atMs,
    close: () => database.close(),
  };
}

function viewOf(database: Database.Database, validator: string, chainId: string | undefined): LedgerView {
  const rollups =
    (span: Span): LedgerView["days"] =>
    (fromMs, toMs, source = "calls") =>
      readRollups(database, { validator, source, span }, fromMs, toMs);
  return {
    validator,
    chainId,
    months: (source = "calls") => readMonths(database, validator, source),
    days: rollups("day"),
    hours: rollups("hour"),
    minutes: rollups("minute"),
    misses: (fromMs, toMs) => {
      const where = "WHERE validator = ? AND from_ms >= ? AND to_ms >= ? AND to_ms < ? ORDER BY from_ms";
      // Ranges are at most two minutes long, so start reading two minutes earlier.
      return readMisses(database, where, validator, Math.floor(fromMs) - 2 * MINUTE_MS, fromMs, toMs);
    },
    events: (fromMs, toMs) => {
      const where = "WHERE validator = ? AND to_ms >= ? AND from_ms < ? ORDER BY from_ms, id";
      return readEvents(database, where, validator, fromMs, toMs);
    },
  };
}

function requireVersion(database: Database.Database, folder: string): void {
  const [{ user_version: version }] = z
    .tuple([z.object({ user_version: z.number() })])
    .parse(database.pragma("user_version"));
  if (version !== MIGRATIONS.length)
    throw new Error(
      `the state in ${folder} has format ${version}, but this program reads format ${MIGRATIONS.length}; start the watchdog once to upgrade it, or use a newer relaywatch`,
    );
}

const paymentRow = z.object({ validator: z.string(), body: z.string() });

/** Each validator's payments by validator name, oldest first. */
type Payments = ReadonlyMap<string, readonly Payment[]>;

const NO_PAYMENTS: Payments = new Map();

/** Reads all validators' payments from the table `payments`; undefined if it is empty. */
function readPayments(database: Database.Database): Payments | undefined {
  const all = new Map<string, Payment[]>();
  const sql = "SELECT validator, body FROM payments ORDER BY validator, month";
  for (const { validator, body } of readRows(database, sql, paymentRow)) {
    const payment = storedPayment.parse(JSON.parse(body));
    all.set(validator, [...(all.get(validator) ?? []), payment]);
  }
  return all.size === 0 ? undefined : all;
}

/** Writes the payments that are new or have changed since `before`. */
function writePayments(
  database: Database.Database,
  all: Payments = NO_PAYMENTS,
  before: Payments = NO_PAYMENTS,
): void {
  if (all === before) return;
  const insert = prepared(database, "INSERT OR REPLACE INTO payments VALUES (?, ?, ?)");
  for (const [validator, payments] of all) {
    const known = new Set(before.get(validator));
    for (const payment of payments)
      if (!known.has(payment))
        insert.run(validator, payment.month, JSON.stringify(z.encode(storedPayment, payment)));
  }
}

const queuedEvent = alertEvent.extend({
  dead: z.strictObject({ atMs: z.number(), reason: z.string() }).exactOptional(),
});

const bodyRow = z.object({ body: z.string() });
const deliveryRow = z.object({ channel: z.string(), body: z.string() });

/** Reads the alerting state from the tables `alert_states`, `silences`, `outbox` and `alert_history`. */
function readAlerting(database: Database.Database): AlertingState {
  const rows = <T>(table: string, row: z.ZodType<T>): readonly T[] =>
    readRows(database, `SELECT * FROM ${table} ORDER BY 1`, row);
  const bodies = <T>(table: string, body: z.ZodType<T>): readonly T[] =>
    z.array(body).parse(rows(table, bodyRow).map((one): unknown => JSON.parse(one.body)));
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

/** Writes the alerting state's changes since `before`, as part of the caller's transaction. */
function writeAlerting(
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

/** Replaces all rows of a table, writing each row's index to its first column. */
function replaceRows(database: Database.Database, table: string, rows: readonly (readonly string[])[]): void {
  prepared(database, `DELETE FROM ${table}`).run();
  for (const [position, values] of rows.entries()) {
    const marks = values.map(() => "?").join(", ");
    prepared(database, `INSERT INTO ${table} VALUES (?, ${marks})`).run(position, ...values);
  }
}

const historyRow = z.object({ validator: z.string(), body: z.string() });

type PollHistories = ReadonlyMap<string, PollHistory>;

function readPollHistories(database: Database.Database): PollHistories {
  const rows = readRows(database, "SELECT * FROM trails", historyRow);
  return new Map(rows.map(({ validator, body }) => [validator, pollHistory.parse(JSON.parse(body))]));
}

/** Writes the poll histories that have changed since `before`, as part of the caller's transaction. */
function writePollHistories(database: Database.Database, all: PollHistories, before: PollHistories): void {
  const insert = prepared(database, "INSERT OR REPLACE INTO trails VALUES (?, ?)");
  for (const [validator, history] of all)
    if (history !== before.get(validator))
      insert.run(validator, JSON.stringify(z.encode(pollHistory, history)));
}
