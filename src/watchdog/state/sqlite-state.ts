import { join } from "node:path";
import Database from "libsql";
import { errorText } from "../../base/errors.ts";
import { FolderInUseError, lockFolder } from "../../ops/folder-lock.ts";
import { createPrivateFile } from "../../ops/private-file.ts";
import { migrateSchema } from "../../ops/sqlite-schema.ts";
import { WatchdogError } from "../watchdog-error.ts";
import { readAlerting, writeAlerting } from "./alert-rows.ts";
import { readLedgers, writeLedger } from "./ledger-rows.ts";
import { MIGRATIONS } from "./schema.ts";
import { readTrails, writeTrails } from "./trail-rows.ts";
import { EMPTY_STATE, type StateStore, type WatchdogState } from "./state-store.ts";

/** Name of the file in the state folder. */
export const STATE_FILE = "oracle-watchdog.sqlite";

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
    // What the file has. Each save writes the differences. A save that failed changes nothing here: the next one writes its
    // differences too.
    let stored = EMPTY_STATE;
    const save = database.transaction((state: WatchdogState) => writeState(database, state, stored));
    return {
      load: () => {
        stored = withFolderError(folder, () => readState(database));
        return stored;
      },
      save: (state) => {
        save.immediate(state);
        stored = state;
      },
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
  const file = join(folder, STATE_FILE);
  createPrivateFile(file);
  const database = new Database(file, { timeout: 5000 });
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
