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

/** PostgreSQL schema that contains the tables, so that they can share a database with other tables. */
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

/**
 * Creates a PostgreSQL database. The first statement opens a connection. If a connection is lost, the next statement opens a new
 * one.
 */
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
    // Given an error, the pool closes the connection instead of reusing it.
    client.release(broken);
  }
}

/** Replaces each `?` with `$1`, `$2`, …. This works because no statement contains a `?` in a literal. */
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

/** Returns a result's rows. SQL with several statements, such as a migration, yields a list of results, whose rows are ignored. */
function rowsOf(result: unknown): readonly SqlRow[] {
  const rows: unknown = isRecord(result) ? result["rows"] : undefined;
  return Array.isArray(rows) ? rows.filter(isRecord) : [];
}

/** Key of the advisory lock that a process holds while it upgrades the schema. */
const UPGRADE_LOCK = 7_208_965_143;

/**
 * Upgrades a PostgreSQL database to the newest version in one transaction, with the SQLite migrations (`migrateSchema`). Several
 * processes may call it in parallel. If it throws `NewerSchemaError`, the database is unchanged.
 */
export async function migratePostgres(database: SqlDatabase, migrations: readonly string[]): Promise<void> {
  await database.transaction(async (session) => {
    await session.run("SELECT pg_advisory_xact_lock(?)", [UPGRADE_LOCK]);
    // Without this check, a user who may not create schemas could not use an existing schema.
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

/** Translates a migration from SQLite to PostgreSQL. An INTEGER has 64 bits in SQLite, but only 32 bits in PostgreSQL. */
function translated(sql: string): string {
  return sql.replace(/\bINTEGER\b/g, "BIGINT");
}
