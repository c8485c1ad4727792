import type Database from "libsql";
import { isRecord } from "../base/json.ts";
import type { SqlDatabase, SqlRow, SqlSession, SqlValue } from "./sql-database.ts";

/** Statements that stay compiled. The programs of this house use fewer. */
const MAX_STATEMENTS = 100;

/**
 * Wraps an open SQLite database. Statements run synchronously, so a returned promise costs a microtask only. A commit is
 * on disk before its promise resolves when the database has `synchronous = FULL`.
 */
export function createSqliteDatabase(database: Database.Database): SqlDatabase {
  const session: SqlSession = { run: createRunner(database) };
  let last: Promise<unknown> = Promise.resolve();
  // A statement of another caller inside a transaction would become a part of it.
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work, work);
    last = result.catch(() => undefined);
    return result;
  };
  return {
    run: (sql, values) => inTurn(() => session.run(sql, values)),
    transaction: (work) => inTurn(() => inTransaction(database, () => work(session))),
    close: () =>
      inTurn(async () => {
        database.close();
      }),
  };
}

async function inTransaction<T>(database: Database.Database, work: () => Promise<T>): Promise<T> {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = await work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // After a full disk SQLite has rolled back itself.
    if (database.inTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function createRunner(database: Database.Database): SqlSession["run"] {
  const statements = new Map<string, Database.Statement>();
  return async (sql, values = []) => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      if (statements.size >= MAX_STATEMENTS) statements.clear();
      // As numbers, integers above 2^53 would lose digits.
      statement = database.prepare(sql).safeIntegers(true);
      statements.set(sql, statement);
    }
    return rowsOf(statement, values);
  };
}

function rowsOf(statement: Database.Statement, values: readonly SqlValue[]): readonly SqlRow[] {
  // libsql executes statements without rows in the same call and returns an empty list.
  const rows: unknown = statement.all([...values]);
  return Array.isArray(rows) ? rows.filter(isRecord) : [];
}
