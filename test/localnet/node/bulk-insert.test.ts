import Database from "libsql";
import { afterEach, describe, expect, it } from "vitest";
import { createBulkInsert } from "../../../src/localnet/node/storage/rows.ts";

const database = new Database(":memory:");

afterEach(() => {
  database.exec("DROP TABLE IF EXISTS pairs");
});

function createTable(): void {
  database.exec("CREATE TABLE pairs (name TEXT PRIMARY KEY, value BLOB)");
}

function stored(): readonly unknown[] {
  return database
    .prepare("SELECT name, value FROM pairs ORDER BY rowid")
    .raw()
    .all()
    .map((row: unknown) => (Array.isArray(row) ? [row[0], row[1] === null ? null : [...row[1]]] : row));
}

describe("a bulk insert", () => {
  it.each([0, 1, 7, 8, 63, 64, 65, 73, 200])("writes %d rows, each once and in order", (count) => {
    createTable();
    const rows = Array.from({ length: count }, (_, index) => [`name ${index}`, Uint8Array.of(index)]);
    createBulkInsert(database, "INSERT INTO pairs (name, value)", 2)(rows);
    expect(stored()).toEqual(rows.map((_, index) => [`name ${index}`, [index]]));
  });

  it("follows OR IGNORE and OR REPLACE for equal keys, also within one statement", () => {
    createTable();
    const rows = Array.from({ length: 70 }, (_, index) => [`name ${index % 2}`, Uint8Array.of(index)]);
    createBulkInsert(database, "INSERT OR IGNORE INTO pairs (name, value)", 2)(rows);
    expect(stored()).toEqual([
      ["name 0", [0]],
      ["name 1", [1]],
    ]);
    createBulkInsert(database, "INSERT OR REPLACE INTO pairs (name, value)", 2)(rows);
    expect(stored()).toEqual([
      ["name 0", [68]],
      ["name 1", [69]],
    ]);
  });

  it("writes null", () => {
    createTable();
    createBulkInsert(database, "INSERT INTO pairs (name, value)", 2)([["a", null]]);
    expect(stored()).toEqual([["a", null]]);
  });
});
