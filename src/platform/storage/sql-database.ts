import { CodedError } from "../base/errors.ts";

/** A value to bind to a placeholder. Integers must fit into signed 64 bits. */
export type SqlValue = string | number | bigint | null;

/**
 * A database row, keyed by column name. Read values with {@link textOf} or {@link bigintOf}, because each driver represents
 * integers differently.
 */
export type SqlRow = Readonly<Record<string, unknown>>;

/** Runs SQL statements one after another. */
export interface SqlSession {
  /** Runs one statement with `?` placeholders and returns its rows, if any. */
  readonly run: (sql: string, values?: readonly SqlValue[]) => Promise<readonly SqlRow[]>;
}

/**
 * An SQLite or PostgreSQL database. Statements use only SQL that both databases accept, such as `BIGINT`, `TEXT`, `LIMIT`, `OFFSET`,
 * `CAST(… AS BIGINT)` and `INSERT … ON CONFLICT`.
 */
export interface SqlDatabase extends SqlSession {
  /**
   * Runs `work` in one transaction, which is durable once the promise resolves. Rolls back and rejects if `work` rejects. A
   * `SqlDatabase` runs one transaction at a time. `work` must use only the given session.
   */
  readonly transaction: <T>(work: (session: SqlSession) => Promise<T>) => Promise<T>;
  /** Waits for the current transaction, then closes the database. */
  readonly close: () => Promise<void>;
}

/** Returns a column's text; undefined if the column is NULL or absent. */
export function textOf(row: SqlRow | undefined, name: string): string | undefined {
  const value = row?.[name];
  return typeof value === "string" || typeof value === "number" || typeof value === "bigint"
    ? `${value}`
    : undefined;
}

/** Returns a column's integer, even if it is stored as text; undefined if the column is NULL or absent. */
export function bigintOf(row: SqlRow | undefined, name: string): bigint | undefined {
  const text = textOf(row, name);
  return text === undefined ? undefined : BigInt(text);
}

/** Returns a column's integer, which must be below 2^53, as a number, or 0 for NULL. */
export function numberOf(row: SqlRow | undefined, name: string): number {
  return Number(textOf(row, name) ?? "0");
}

/** Thrown for a database that a newer program version wrote. */
export class NewerSchemaError extends CodedError<{
  readonly code: "newer-schema";
  readonly version: number;
  readonly supported: number;
}> {}

/** Returns `version` if `migrations` can upgrade it. Throws {@link NewerSchemaError} for a later version. */
export function requireSupported(version: number, { length: supported }: readonly string[]): number {
  if (version <= supported) return version;
  throw new NewerSchemaError(
    { code: "newer-schema", version, supported },
    `it was written by a newer relaywatch (format ${version}, but this version supports at most format ${supported})`,
  );
}

/** Returns a function that runs one task at a time, in call order. A failed task does not prevent later tasks. */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work, work);
    last = result.catch(() => undefined);
    return result;
  };
}
