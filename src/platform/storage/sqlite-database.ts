import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import Database from "libsql";
import { getOrCreate } from "../base/caches.ts";
import { isRecord } from "../base/json.ts";
import { createPrivateFile } from "../process/private-file.ts";
import { EmptyDatabaseError } from "./sqlite-errors.ts";
import { createTurns, requireSupported, type SqlDatabase, type SqlSession } from "./sql-database.ts";

/**
 * Creates a database file without tables and with mode 0600, unless it exists. The file appears only once its first page is
 * written, so an empty file has lost its content through a copy or a disk error. SQLite would treat an empty file as a new
 * database, so this function throws instead.
 */
export function createDatabaseFile(path: string): void {
  if (existsSync(path)) {
    if (statSync(path).size > 0) return;
    throw new EmptyDatabaseError("the file is empty (0 bytes)");
  }
  const unfinished = `${path}.new`;
  rmSync(unfinished, { force: true });
  createPrivateFile(unfinished);
  const database = new Database(unfinished);
  try {
    // Write the first page.
    database.exec("PRAGMA user_version = 0");
  } finally {
    database.close();
  }
  // A log left behind by a moved file does not belong to the new file, but SQLite would write its pages into it.
  for (const log of ["-wal", "-shm", "-journal"]) rmSync(`${path}${log}`, { force: true });
  renameSync(unfinished, path);
}

/** Maximum number of cached compiled statements, more than the daemons use. */
const MAX_STATEMENTS = 100;

/**
 * Wraps an open SQLite database. Statements run synchronously, so a returned promise costs only a microtask. If the database has
 * `synchronous = FULL`, a commit is on disk before its promise resolves.
 */
export function createSqliteDatabase(database: Database.Database): SqlDatabase {
  const session: SqlSession = { run: createRunner(database) };
  // Run statements in turn, because another caller's statement during a transaction would become part of it.
  const inTurn = createTurns();
  return {
    run: (sql, values) => inTurn(() => session.run(sql, values)),
    transaction: (work) => inTurn(() => inAsyncTransaction(database, () => work(session))),
    close: () =>
      inTurn(async () => {
        database.close();
      }),
  };
}

/**
 * Runs `work` in a write transaction. Does not use the driver's own `transaction`: on a full disk, SQLite itself rolls back, and
 * the driver would report its failed second rollback instead of the actual error.
 */
export function inTransaction<T>(database: Database.Database, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    throw rolledBack(database, error);
  }
}

/** Like {@link inTransaction}, for asynchronous work. */
async function inAsyncTransaction<T>(database: Database.Database, work: () => Promise<T>): Promise<T> {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = await work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    throw rolledBack(database, error);
  }
}

function rolledBack(database: Database.Database, error: unknown): unknown {
  if (database.inTransaction) database.exec("ROLLBACK");
  return error;
}

function createRunner(database: Database.Database): SqlSession["run"] {
  const statements = new Map<string, Database.Statement>();
  return async (sql, values = []) => {
    if (statements.size >= MAX_STATEMENTS && !statements.has(sql)) statements.clear();
    // As numbers, integers above 2^53 would lose digits.
    const statement = getOrCreate(statements, sql, () => database.prepare(sql).safeIntegers(true));
    // libsql also executes statements that return no rows in this call and returns an empty list.
    const rows: unknown = statement.all([...values]);
    return Array.isArray(rows) ? rows.filter(isRecord) : [];
  };
}

/** Prepared write statements, by database and SQL. */
const writers = new WeakMap<Database.Database, Map<string, Database.Statement>>();

/** Returns a write statement, prepared only once per database, because preparing takes as long as running it. */
export function prepared(database: Database.Database, sql: string): Database.Statement {
  const ofFile = getOrCreate(writers, database, () => new Map<string, Database.Statement>());
  return getOrCreate(ofFile, sql, () => database.prepare(sql));
}

/**
 * Upgrades a database to the newest version in one transaction. The migration at index n upgrades from version n to version n + 1.
 * A new file has version 0. Never change a released migration's SQL: append a new migration instead. If this function throws
 * `NewerSchemaError`, the file is unchanged.
 */
export function migrateSchema(database: Database.Database, migrations: readonly string[]): void {
  // Most files are up to date, so read the version first to avoid the write lock.
  if (checkedVersion(database, migrations) === migrations.length) return;
  inTransaction(database, () => {
    // Another process may have upgraded the file since the first read.
    const version = checkedVersion(database, migrations);
    for (const sql of migrations.slice(version)) database.exec(sql);
    // The version is part of the transaction, so after a crash, tables and version are either both old or both new.
    database.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

function checkedVersion(database: Database.Database, migrations: readonly string[]): number {
  const rows: unknown = database.pragma("user_version");
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  return requireSupported(isRecord(row) ? Number(row["user_version"]) : 0, migrations);
}
