import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { NodeError } from "../errors.ts";
import { prepareDatabase } from "./schema.ts";

const DATABASE_FILE = "node.db";
const PROCESS_FILE = "node.pid";

/**
 * Opens the database of a home directory (made when missing), or one in memory without a home. The database stays
 * locked for this process until it is closed or the process ends. Throws {@link NodeError} `home-in-use` while another
 * process has it, `home-unusable` when it cannot be made or is no database.
 */
export function openDatabase(home: string | undefined): Database.Database {
  if (home === undefined) return prepared(new Database(":memory:"));
  try {
    mkdirSync(home, { recursive: true });
    const database = prepared(new Database(join(home, DATABASE_FILE)));
    writeFileSync(join(home, PROCESS_FILE), `${process.pid}\n`);
    return database;
  } catch (fault) {
    throw isBusy(fault) ? homeInUse(home) : unusable(home, fault);
  }
}

function prepared(database: Database.Database): Database.Database {
  try {
    prepareDatabase(database);
    return database;
  } catch (fault) {
    database.close();
    throw fault;
  }
}

function isBusy(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && fault.code === "SQLITE_BUSY";
}

function homeInUse(home: string): NodeError {
  const pid = holder(join(home, PROCESS_FILE));
  const who = pid === undefined ? "another process" : `another process (${pid})`;
  return new NodeError(
    { code: "home-in-use", home, pid },
    `the home directory ${home} is in use by ${who}; stop it or choose another --home`,
  );
}

/** The process id that the holder wrote down; for the message only. */
function holder(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, "utf8").trim());
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

function unusable(home: string, cause: unknown): NodeError {
  return new NodeError(
    { code: "home-unusable", home },
    `the home directory ${home} cannot be used as a node's home`,
    { cause },
  );
}
