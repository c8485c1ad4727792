import type Database from "libsql";
import { CodedError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";

/** Thrown for a file that a newer program wrote. */
export class NewerSchemaError extends CodedError<{
  readonly code: "newer-schema";
  readonly version: number;
  readonly supported: number;
}> {}

/**
 * Upgrades a database to the newest version, in one transaction. The migration at index n upgrades from version n to
 * version n + 1; a new file has version 0. The SQL of a released migration must not change: append a new one instead.
 * Throws {@link NewerSchemaError}, and then leaves the file as it is.
 */
export function migrateSchema(database: Database.Database, migrations: readonly string[]): void {
  // Most files are up to date. Reading the version first avoids the write lock for them.
  if (checkedVersion(database, migrations) === migrations.length) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have upgraded the file since the first read.
    const version = checkedVersion(database, migrations);
    for (const sql of migrations.slice(version)) database.exec(sql);
    // The version is part of the transaction: after a crash, tables and version are either both old or both new.
    database.exec(`PRAGMA user_version = ${migrations.length}; COMMIT`);
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

function checkedVersion(database: Database.Database, migrations: readonly string[]): number {
  const rows: unknown = database.pragma("user_version");
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  const version = isRecord(row) ? Number(row["user_version"]) : 0;
  const supported = migrations.length;
  if (version > supported)
    throw new NewerSchemaError(
      { code: "newer-schema", version, supported },
      `a newer relaywatch wrote it (it has format ${version}, but this program supports at most format ${supported})`,
    );
  return version;
}
