import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import Database from "libsql";
import { getOrCreate } from "../base/caches.ts";
import { isRecord } from "../base/json.ts";
import { createPrivateFile } from "../process/private-file.ts";
import { EmptyDatabaseError } from "./sqlite-errors.ts";
import { createTurns, requireSupported, type SqlDatabase, type SqlSession } from "./sql-database.ts";

/**
 * Creates a database file with mode 0600 and without tables, unless the file exists. The file gets its name only once its first
 * page is written, so an empty file must have lost its content through a copy or a disk error. SQLite would treat an empty file as
 * a new database, so this function throws instead.
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
    // Set the version, because SQLite writes a new database's first page only with a change.
    database.exec("PRAGMA user_version = 0");
  } finally {
    database.close();
  }
  // Remove logs that a moved database left behind, because SQLite would write their pages into the new file.
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
  // Run one statement at a time, because a statement from another caller could otherwise join an open transaction.
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
 * Runs `work` in a write transaction. The driver's own `transaction` is not used: if the disk is full, SQLite rolls back by itself,
 * and the driver would report that its second rollback failed instead of the actual error.
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
    // Read integers as bigint, because numbers would lose digits above 2^53.
    const statement = getOrCreate(statements, sql, () => database.prepare(sql).safeIntegers(true));
    // For a statement that returns no rows, libsql's `all` also executes the statement, and returns an empty list.
    const rows: unknown = statement.all([...values]);
    return Array.isArray(rows) ? rows.filter(isRecord) : [];
  };
}

/** Prepared write statements, cached by database and SQL. */
const writers = new WeakMap<Database.Database, Map<string, Database.Statement>>();

/** Returns a write statement that is prepared only once per database, because preparing takes as long as running. */
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
  // Read the version before taking the write lock, because most files are already up to date.
  if (checkedVersion(database, migrations) === migrations.length) return;
  inTransaction(database, () => {
    // Another process may have upgraded the file since the first read.
    const version = checkedVersion(database, migrations);
    for (const sql of migrations.slice(version)) database.exec(sql);
    // Set the version in the same transaction, so that a crash leaves tables and version either both old or both new.
    database.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

function checkedVersion(database: Database.Database, migrations: readonly string[]): number {
  const rows: unknown = database.pragma("user_version");
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  return requireSupported(isRecord(row) ? Number(row["user_version"]) : 0, migrations);
}
