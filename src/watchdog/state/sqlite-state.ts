import { existsSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
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
import { readAlerting, writeAlerting, readPollHistories, writePollHistories } from "./alert-rows.ts";
import { decodeLedgerBody } from "./ledger-body.ts";
import { readEvents, readLedgers, readMisses, readMonths, readRollups, writeLedger } from "./ledger-rows.ts";
import { readPayments, writePayments } from "./payment-rows.ts";
import { MIGRATIONS } from "./schema.ts";
import { EMPTY_STATE, type StateStore, WatchdogError, type WatchdogState } from "./state-store.ts";
import { readRows } from "./stored-values.ts";

export const STATE_FILE = "oracle-watchdog.sqlite";

/** Opens a database file. Tests replace this function with one whose disk fails. */
export type OpenDatabase = (file: string, options: Database.Options) => Database.Database;

/** Opens or creates the state file in a folder. Throws {@link WatchdogError} if the folder is in use or the file unreadable. */
export function openSqliteState(folder: string, open: OpenDatabase = openFile): StateStore {
  // Two watchdogs with the same state would both count every block. SQLite's own locks last for only one transaction, so lock the
  // folder until `close`.
  const lock = withFolderError(folder, () => lockFolder(folder));
  try {
    const file = join(folder, STATE_FILE);
    let database = withFolderError(folder, () => {
      createDatabaseFile(file);
      return openDatabase(file, open);
    });
    // The file's contents. Each save writes the differences. A failed save changes nothing here, so the next save writes its
    // differences too.
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
          // The folder is not the one that was opened, e.g. because its disk is no longer mounted. A new file would hide the old
          // one's contents.
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
    // FULL: a committed transaction survives a power failure. WAL mode's default (NORMAL) can lose the last transactions.
    database.pragma("synchronous = FULL");
    migrateSchema(database, MIGRATIONS);
    return database;
  } catch (error) {
    closeQuietly(database);
    throw error;
  }
}

/** Closes a database whose disk may be gone. Nothing is lost, since all saves have finished. */
function closeQuietly(database: Database.Database): void {
  try {
    database.close();
  } catch {
    // It is not used any more.
  }
}

/** Runs `work` and converts any error to a {@link WatchdogError} whose message names the folder. */
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
  /** Validator names, sorted. */
  readonly validators: () => readonly string[];
  /** Undefined if the validator is not in the file. */
  readonly view: (validator: string) => LedgerView | undefined;
  /** Returns the time of the last counted reading. */
  readonly checkpointMs: (validator: string) => number | undefined;
  readonly close: () => void;
}

/** Opens the state file in a folder read-only. Throws if there is none, or if its format is not the current one. */
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
      // A range is at most two minutes long.
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
