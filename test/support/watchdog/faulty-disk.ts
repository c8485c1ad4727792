import Database from "libsql";
import type { OpenDatabase } from "../../../src/watchdog/state/sqlite-state.ts";

/** What the disk does. "full": SQLite cannot add pages. "error": each statement fails, and files cannot be opened. */
type DiskState = "works" | "full" | "error";

/** Opens databases on a disk that a test breaks and repairs. */
export interface FaultyDisk {
  readonly open: OpenDatabase;
  readonly set: (state: DiskState) => void;
  /** The next commit fails: its data is on the disk, or not. The connection is useless afterwards. */
  readonly failCommit: (outcome: "stored" | "lost") => void;
  readonly opened: () => number;
  /** Connections that are not closed. */
  readonly connected: () => number;
}

/** Creates a disk that works. A connection that saw an error never works again, as after a disk that went and came back. */
export function createFaultyDisk(): FaultyDisk {
  let state: DiskState = "works";
  let commit: "stored" | "lost" | undefined;
  let opened = 0;
  const connections: Database.Database[] = [];
  const broken = new WeakSet<Database.Database>();
  const limit = (database: Database.Database): void => {
    if (broken.has(database) || !database.open) return;
    const pages = state === "full" ? 1 : 1_073_741_823;
    // SQLite raises a limit below the present size to that size.
    database.pragma(`max_page_count = ${pages}`);
  };
  const check = (database: Database.Database): void => {
    if (state === "error") broken.add(database);
    if (broken.has(database)) throw ioError();
  };
  const execute = (database: Database.Database, sql: string): void => {
    check(database);
    if (sql !== "COMMIT" || commit === undefined) {
      database.exec(sql);
      return;
    }
    database.exec(commit === "stored" ? "COMMIT" : "ROLLBACK");
    commit = undefined;
    broken.add(database);
    throw ioError();
  };
  const open: OpenDatabase = (file, options) => {
    if (state === "error") throw ioError();
    const database = new Database(file, options);
    opened += 1;
    connections.push(database);
    limit(database);
    return new Proxy(database, {
      get: (target, name) => {
        if (name === "exec") return (sql: string) => execute(target, sql);
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...values: readonly unknown[]) => {
          if (name === "prepare" || name === "pragma") check(target);
          return Reflect.apply(value, target, values);
        };
      },
    });
  };
  return {
    open,
    set: (next) => {
      state = next;
      connections.forEach(limit);
    },
    failCommit: (outcome) => {
      commit = outcome;
    },
    opened: () => opened,
    connected: () => connections.filter((database) => database.open).length,
  };
}

function ioError(): Error {
  return Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR" });
}
