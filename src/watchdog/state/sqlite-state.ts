import { existsSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { errorText } from "../../platform/base/errors.ts";
import { FolderInUseError, lockFolder } from "../../platform/process/folder-lock.ts";
import { createPrivateFile } from "../../platform/process/private-file.ts";
import { migrateSchema } from "../../platform/storage/sqlite-schema.ts";
import { WatchdogError } from "../watchdog-error.ts";
import { readAlerting, writeAlerting } from "./alert-rows.ts";
import { readLedgers, writeLedger } from "./ledger-rows.ts";
import { MIGRATIONS } from "./schema.ts";
import { readTrails, writeTrails } from "./trail-rows.ts";
import { EMPTY_STATE, type StateStore, type WatchdogState } from "./state-store.ts";

/** Name of the file in the state folder. */
export const STATE_FILE = "oracle-watchdog.sqlite";

/** Opens a database file. A test replaces it by one whose disk fails. */
export type OpenDatabase = (file: string, options: Database.Options) => Database.Database;

/**
 * Opens or creates the state file in a folder. Throws {@link WatchdogError} when another process uses the folder, or when
 * the file cannot be read.
 */
export function openSqliteState(folder: string, open: OpenDatabase = openFile): StateStore {
  // Two watchdogs on one state would both count every block. SQLite's own locks last for one transaction only, so the
  // folder is locked until `close`.
  const lock = withFolderError(folder, () => lockFolder(folder));
  try {
    const file = join(folder, STATE_FILE);
    let database = withFolderError(folder, () => {
      createPrivateFile(file);
      return openDatabase(file, open);
    });
    // What the file has. Each save writes the differences. A save that failed changes nothing here: the next one writes its
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
          // The folder is not the one that was opened, such as that of a disk which is not mounted any more. A new file
          // would hide what the old one has.
          if (!existsSync(file)) throw new Error(`${STATE_FILE} is not there any more`);
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
    // FULL: a committed transaction survives a power failure. The default of WAL mode (NORMAL) can lose the last ones.
    database.pragma("synchronous = FULL");
    migrateSchema(database, MIGRATIONS);
    return database;
  } catch (error) {
    closeQuietly(database);
    throw error;
  }
}

/** The driver's own `transaction` replaces the error of a full disk by that of its rollback. */
function inTransaction(database: Database.Database, work: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    work();
    database.exec("COMMIT");
  } catch (error) {
    // After a full disk SQLite has rolled back itself.
    if (database.inTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** Closes a database whose disk may be gone. Every save has ended, so nothing is lost. */
function closeQuietly(database: Database.Database): void {
  try {
    database.close();
  } catch {
    // It is not used any more.
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
  const { holder } = cause.facts;
  const text = `another watchdog (${holder}) uses the state in ${folder}; stop it, or choose another folder with state_dir`;
  return new WatchdogError({ code: "state-in-use", folder }, text, { cause });
}

function readState(database: Database.Database): WatchdogState {
  return {
    ledgers: readLedgers(database),
    trails: readTrails(database),
    alerting: readAlerting(database),
  };
}

function writeState(database: Database.Database, state: WatchdogState, stored: WatchdogState): void {
  for (const [validator, ledger] of state.ledgers)
    writeLedger(database, validator, ledger, stored.ledgers.get(validator));
  writeTrails(database, state.trails, stored.trails);
  writeAlerting(database, state.alerting, stored.alerting);
}
