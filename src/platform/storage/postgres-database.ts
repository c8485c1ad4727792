import pg from "pg";
import { isRecord } from "../base/json.ts";
import type { Secret } from "../base/secret.ts";
import type { PostgresAddress } from "./postgres-url.ts";
import {
  createTurns,
  numberOf,
  requireSupported,
  type SqlDatabase,
  type SqlRow,
  type SqlSession,
  type SqlValue,
} from "./sql-database.ts";

/** PostgreSQL schema for this program's tables, so that a database can also contain other tables. */
const POSTGRES_SCHEMA = "relaywatch";

export interface PostgresOptions {
  readonly address: PostgresAddress;
  readonly password: Secret | undefined;
  /** Application name that `pg_stat_activity` shows. */
  readonly applicationName: string;
  /** Deadline in ms for a connection attempt and for each statement. */
  readonly deadlineMs: number;
  /** Called when an idle connection fails. The next statement opens a new connection. */
  readonly onError: (error: Error) => void;
}

/** Maximum number of connections. One connection writes, so that transactions stay in order; the API reads through the others. */
const MAX_CONNECTIONS = 4;

/** Creates a PostgreSQL database, which opens a connection at the first statement, and a new one whenever a connection was lost. */
export function createPostgresDatabase(options: PostgresOptions): SqlDatabase {
  const pool = new pg.Pool(poolConfig(options));
  pool.on("error", options.onError);
  const inTurn = createTurns();
  return {
    run: async (sql, values) => rowsOf(await pool.query(numbered(sql), bound(values))),
    transaction: (work) => inTurn(() => inTransaction(pool, work)),
    close: () => inTurn(() => pool.end()),
  };
}

function poolConfig({ address, password, applicationName, deadlineMs }: PostgresOptions): pg.PoolConfig {
  const { host, port, user, database, sslMode } = address;
  return {
    host,
    port,
    user,
    database,
    ...(password === undefined ? {} : { password: () => password.reveal() }),
    ssl: sslMode === "disable" ? false : { rejectUnauthorized: sslMode === "verify-full" },
    application_name: applicationName,
    max: MAX_CONNECTIONS,
    keepAlive: true,
    connectionTimeoutMillis: deadlineMs,
    query_timeout: deadlineMs,
    statement_timeout: deadlineMs,
    idle_in_transaction_session_timeout: deadlineMs,
    lock_timeout: deadlineMs,
    options: `-c search_path=${POSTGRES_SCHEMA}`,
  };
}

async function inTransaction<T>(pool: pg.Pool, work: (session: SqlSession) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // Without a listener, losing a connection during a transaction would end the process.
  const onError = (error: Error): void => {
    broken = error;
  };
  client.on("error", onError);
  try {
    await client.query("BEGIN");
    const result = await work({
      run: async (sql, values) => rowsOf(await client.query(numbered(sql), bound(values))),
    });
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch((failed: unknown) => {
      broken = failed instanceof Error ? failed : new Error("rollback failed");
    });
    throw error;
  } finally {
    client.off("error", onError);
    // If `broken` is set, the pool closes the connection instead of reusing it.
    client.release(broken);
  }
}

/** Replaces the placeholders `?` with `$1`, `$2`, …. No statement may contain a `?` in a literal. */
function numbered(sql: string): string {
  let index = 0;
  return sql.replace(/\?/g, () => `$${++index}`);
}

/** Converts values for a statement, and replaces NUL, which untrusted text may contain but PostgreSQL text must not. */
export function bound(values: readonly SqlValue[] = []): unknown[] {
  return values.map((value) =>
    typeof value === "number" || value === null ? value : `${value}`.replaceAll("\0", "�"),
  );
}

/** Returns a statement's rows, or no rows for SQL with several statements, such as a migration. */
function rowsOf(result: unknown): readonly SqlRow[] {
  const rows: unknown = isRecord(result) ? result["rows"] : undefined;
  return Array.isArray(rows) ? rows.filter(isRecord) : [];
}

/** Key of the advisory lock that a process holds while it upgrades the schema. */
const UPGRADE_LOCK = 7_208_965_143;

/**
 * Upgrades a PostgreSQL database to the newest version in one transaction, with the same migrations as SQLite (`migrateSchema`).
 * Safe to call from several processes in parallel. Rejects with `NewerSchemaError`, without changes, if the database is too new.
 */
export async function migratePostgres(database: SqlDatabase, migrations: readonly string[]): Promise<void> {
  await database.transaction(async (session) => {
    await session.run("SELECT pg_advisory_xact_lock(?)", [UPGRADE_LOCK]);
    // Create the schema only if it is missing, so that a user without permission to create schemas can use an existing schema.
    const [schema] = await session.run("SELECT 1 FROM pg_namespace WHERE nspname = ?", [POSTGRES_SCHEMA]);
    if (schema === undefined) await session.run(`CREATE SCHEMA ${POSTGRES_SCHEMA}`);
    await session.run("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)");
    const [row] = await session.run("SELECT version FROM schema_version");
    const version = requireSupported(numberOf(row, "version"), migrations);
    if (version === migrations.length) return;
    for (const sql of migrations.slice(version)) await session.run(translated(sql));
    await session.run("DELETE FROM schema_version");
    await session.run("INSERT INTO schema_version (version) VALUES (?)", [migrations.length]);
  });
}

/** Translates a migration from SQLite to PostgreSQL, where only BIGINT has 64 bits, as SQLite's INTEGER does. */
function translated(sql: string): string {
  return sql.replace(/\bINTEGER\b/g, "BIGINT");
}
