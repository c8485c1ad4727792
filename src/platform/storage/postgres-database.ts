import pg from "pg";
import { isRecord } from "../base/json.ts";
import type { Secret } from "../base/secret.ts";
import type { PostgresAddress } from "./postgres-url.ts";
import type { SqlDatabase, SqlRow, SqlSession, SqlValue } from "./sql-database.ts";

/** Schema of PostgreSQL that holds the tables, so that they may share a database with others. */
export const POSTGRES_SCHEMA = "relaywatch";

export interface PostgresOptions {
  readonly address: PostgresAddress;
  readonly password: Secret | undefined;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Deadline of a connection attempt and of each statement, ms. */
  readonly deadlineMs: number;
  /** Called for an error of an idle connection. The next statement opens a new one. */
  readonly onError: (error: Error) => void;
}

/** One connection writes, so that transactions keep their order. Reads of the API use the others. */
const MAX_CONNECTIONS = 4;

/** Creates a database of PostgreSQL. Connects at the first statement; a lost connection is replaced by the next one. */
export function createPostgresDatabase(options: PostgresOptions): SqlDatabase {
  const pool = new pg.Pool(poolConfig(options));
  pool.on("error", options.onError);
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work, work);
    last = result.catch(() => undefined);
    return result;
  };
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
  // Without a listener, the loss of a connection during a transaction would end the process.
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
    // With an error, the pool closes the connection instead of using it again.
    client.release(broken);
  }
}

/** Replaces each `?` by `$1`, `$2`, …. No statement of this house has a `?` in a literal. */
function numbered(sql: string): string {
  let index = 0;
  return sql.replace(/\?/g, () => `$${++index}`);
}

function bound(values: readonly SqlValue[] = []): unknown[] {
  // PostgreSQL has no text with NUL, and untrusted texts may hold one.
  return values.map((value) =>
    typeof value === "number" || value === null ? value : `${value}`.replaceAll("\0", "�"),
  );
}

/** A text with several statements, such as a migration, has a list of results. Their rows are of no interest. */
function rowsOf(result: unknown): readonly SqlRow[] {
  const rows: unknown = isRecord(result) ? result["rows"] : undefined;
  return Array.isArray(rows) ? rows.filter(isRecord) : [];
}
