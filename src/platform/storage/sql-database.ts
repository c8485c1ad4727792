import { CodedError } from "../base/errors.ts";

/** A value that a statement can bind. Integers have at most 63 bits. */
export type SqlValue = string | number | bigint | null;

/** A row by column name. Read it with {@link textOf} and {@link bigintOf}: the drivers represent integers differently. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** Runs statements, one after the other. */
export interface SqlSession {
  /** Runs one statement with `?` placeholders and returns its rows; none for a statement that returns no rows. */
  readonly run: (sql: string, values?: readonly SqlValue[]) => Promise<readonly SqlRow[]>;
}

/**
 * A database, SQLite or PostgreSQL. Statements use the SQL that both accept: `BIGINT`, `TEXT`,
 * `INSERT … ON CONFLICT`, `CAST(… AS BIGINT)`, `LIMIT` and `OFFSET`.
 */
export interface SqlDatabase extends SqlSession {
  /**
   * Runs `work` in one transaction, which is durable when the promise resolves. Rolls back and rejects when `work`
   * rejects. Transactions of one `SqlDatabase` run one at a time; `work` must use its session only.
   */
  readonly transaction: <T>(work: (session: SqlSession) => Promise<T>) => Promise<T>;
  /** Waits for the transaction in progress and closes. */
  readonly close: () => Promise<void>;
}

/** Returns the text of a column; undefined for NULL and for an absent column. */
export function textOf(row: SqlRow | undefined, name: string): string | undefined {
  const value = row?.[name];
  return typeof value === "string" || typeof value === "number" || typeof value === "bigint"
    ? `${value}`
    : undefined;
}

/** Returns the integer of a column, also of one that stores it as text; undefined for NULL and for an absent column. */
export function bigintOf(row: SqlRow | undefined, name: string): bigint | undefined {
  const text = textOf(row, name);
  return text === undefined ? undefined : BigInt(text);
}

/** As {@link bigintOf}, for columns whose integers are below 2^53. 0 for NULL. */
export function numberOf(row: SqlRow | undefined, name: string): number {
  return Number(textOf(row, name) ?? "0");
}

/** Thrown for a database that a newer program wrote. */
export class NewerSchemaError extends CodedError<{
  readonly code: "newer-schema";
  readonly version: number;
  readonly supported: number;
}> {}

/** Returns a schema version that `migrations` can upgrade. Throws {@link NewerSchemaError} for a later one. */
export function requireSupported(version: number, { length: supported }: readonly string[]): number {
  if (version <= supported) return version;
  throw new NewerSchemaError(
    { code: "newer-schema", version, supported },
    `a newer relaywatch wrote it (it has format ${version}, but this program supports at most format ${supported})`,
  );
}

/** Returns a function that runs one piece of work at a time, in the order of the calls. A failure does not stop later work. */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work, work);
    last = result.catch(() => undefined);
    return result;
  };
}
