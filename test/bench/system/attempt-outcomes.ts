import { join } from "node:path";
import Database from "libsql";
import { STORE_FILE } from "../../../src/relayer/state/store.ts";

/** Numbers of attempts by outcome, most first. */
interface AttemptOutcomes {
  /** Of results that were proven. */
  readonly proven: ReadonlyMap<string, number>;
  /** Of attempts that ended before anything was proven. */
  readonly unproven: ReadonlyMap<string, number>;
}

/** Counts the attempts in the state directory of a relayer that has ended. */
export function readOutcomes(stateDir: string): AttemptOutcomes {
  const database = new Database(join(stateDir, STORE_FILE), { readonly: true });
  try {
    return { proven: count(database, "<> 0"), unproven: count(database, "= 0") };
  } finally {
    database.close();
  }
}

function count(database: Database.Database, heightIs: string): ReadonlyMap<string, number> {
  const sql = `SELECT outcome, COUNT(*) AS number FROM attempts WHERE remote_height ${heightIs} GROUP BY outcome ORDER BY number DESC`;
  const rows: unknown[] = database.prepare(sql).all();
  return new Map(rows.map((row) => [text(row, "outcome"), Number(text(row, "number"))]));
}

function text(row: unknown, name: string): string {
  return String(Reflect.get(Object(row), name));
}
