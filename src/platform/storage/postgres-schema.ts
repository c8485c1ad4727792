import { NewerSchemaError } from "./sqlite-schema.ts";
import { POSTGRES_SCHEMA } from "./postgres-database.ts";
import { numberOf, type SqlDatabase, type SqlSession } from "./sql-database.ts";

/** Key of the advisory lock under which one process at a time upgrades the schema. */
const UPGRADE_LOCK = 7_208_965_143;

/**
 * Upgrades a database of PostgreSQL to the newest version, in one transaction, with the migrations of SQLite
 * (`src/platform/storage/sqlite-schema.ts`). Several processes may call it in parallel. Throws `NewerSchemaError`, and then changes nothing.
 */
export async function migratePostgres(database: SqlDatabase, migrations: readonly string[]): Promise<void> {
  await database.transaction(async (session) => {
    await session.run("SELECT pg_advisory_xact_lock(?)", [UPGRADE_LOCK]);
    // Without the check, a user without the right to create schemas could not use an existing one.
    const [schema] = await session.run("SELECT 1 FROM pg_namespace WHERE nspname = ?", [POSTGRES_SCHEMA]);
    if (schema === undefined) await session.run(`CREATE SCHEMA ${POSTGRES_SCHEMA}`);
    await session.run("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)");
    const version = await readVersion(session, migrations.length);
    if (version === migrations.length) return;
    for (const sql of migrations.slice(version)) await session.run(translated(sql));
    await session.run("DELETE FROM schema_version");
    await session.run("INSERT INTO schema_version (version) VALUES (?)", [migrations.length]);
  });
}

async function readVersion(session: SqlSession, supported: number): Promise<number> {
  const [row] = await session.run("SELECT version FROM schema_version");
  const version = numberOf(row, "version");
  if (version <= supported) return version;
  throw new NewerSchemaError(
    { code: "newer-schema", version, supported },
    `a newer relaywatch wrote it (it has format ${version}, but this program supports at most format ${supported})`,
  );
}

/** An INTEGER of SQLite has 64 bits, one of PostgreSQL 32. */
function translated(sql: string): string {
  return sql.replace(/\bINTEGER\b/g, "BIGINT");
}
