import {
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openBlockStore } from "../../../src/localnet/node/storage/block-store.ts";
import { openDatabase } from "../../../src/localnet/node/storage/open-database.ts";
import { EXIT } from "../../../src/platform/base/errors.ts";
import { toExit } from "../../../src/platform/cli/run-process.ts";
import { createDatabaseFile, inTransaction } from "../../../src/platform/storage/sqlite-database.ts";
import { isDamaged, isDiskFull, isDiskProblem } from "../../../src/platform/storage/sqlite-errors.ts";
import { openTestStore } from "../../support/relayer-store.ts";
import { openSqliteState } from "../../../src/watchdog/state/sqlite-state.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-database-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
}

/** Opens a database that has a table `t` and room for `pages` more pages. */
function openFull(path: string): Database.Database {
  const database = new Database(path);
  database.exec("CREATE TABLE IF NOT EXISTS t (x); PRAGMA max_page_count = 4");
  return database;
}

const BIG = "x".repeat(50_000);

describe("a transaction on a full disk", () => {
  it("has the error of the disk, stores nothing of it, and the next one works", () => {
    const database = openFull(join(folder, "a.db"));
    const insert = database.prepare("INSERT INTO t VALUES (?)");
    const error = errorOf(() =>
      inTransaction(database, () => {
        insert.run("first");
        insert.run(BIG);
      }),
    );
    expect(String(error)).toContain("database or disk is full");
    expect(String(error)).not.toContain("no transaction is active");
    expect(isDiskProblem(error)).toBe(true);
    expect(inTransaction(database, () => insert.run("second"))).toMatchObject({ changes: 1 });
    expect(database.prepare("SELECT x FROM t").pluck().all()).toEqual(["second"]);
    database.close();
  });

  it("ends a node with the reason, as something to try again, and keeps its blocks", () => {
    const { database, transaction, close } = openDatabase(folder);
    const save = (key: string, value: string): void =>
      transaction(() => void database.prepare("INSERT INTO meta VALUES (?, ?)").run(key, value));
    save("before", "kept");
    database.exec(`PRAGMA max_page_count = ${statSync(join(folder, "node.db")).size / 4096}`);
    const error = errorOf(() => save("after", BIG));
    expect(toExit(error, true)).toEqual({
      exitCode: EXIT.tryAgain,
      message: expect.stringMatching(/^cannot write .*node\.db; .* start again: database or disk is full$/),
    });
    close();
    const again = openDatabase(folder);
    expect(again.database.prepare("SELECT key FROM meta").pluck().all()).toEqual(["before"]);
    again.close();
  });
});

describe("a start on a full disk", () => {
  const STARTS: Readonly<Record<string, () => unknown>> = {
    node: () => openDatabase(folder).close(),
    relayer: async () => (await openTestStore(folder)).close(),
    watchdog: () => openSqliteState(folder).close(),
  };

  it.each(Object.entries(STARTS))(
    "of a %s says so, as something to try again, and takes no lock",
    async (_, start) => {
      const place = join(folder, "lock.pid");
      symlinkSync("/dev/full", place);
      const error = await Promise.resolve()
        .then(start)
        .catch((thrown: unknown) => thrown);
      expect(toExit(error, true)).toEqual({
        exitCode: EXIT.tryAgain,
        message: expect.stringMatching(
          /ENOSPC: no space left on device.*free space on its disk, and start again$/,
        ),
      });
      rmSync(place);
      await start();
    },
  );

  it("is known by SQLite's error, too", () => {
    const full = Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
    expect(isDiskFull(new Error("cannot be opened", { cause: full }))).toBe(true);
    expect(isDiskFull(Object.assign(new Error("read-only"), { code: "SQLITE_READONLY" }))).toBe(false);
  });
});

describe("a database file", () => {
  it("appears as a whole, also after a start that was killed", () => {
    const path = join(folder, "a.db");
    writeFileSync(`${path}.new`, "half of a page");
    createDatabaseFile(path);
    expect(readdirSync(folder)).toEqual(["a.db"]);
    expect([statSync(path).size, statSync(path).mode & 0o777]).toEqual([4096, 0o600]);
    openFull(path).close();
    const { size } = statSync(path);
    createDatabaseFile(path);
    expect(statSync(path).size).toBe(size);
  });

  it("of 0 bytes is damaged, not new: a watchdog's state and a node's home say what to do", () => {
    openSqliteState(folder).close();
    openBlockStore(folder).close();
    for (const name of readdirSync(folder))
      if (/\.sqlite|node\.db/.test(name)) truncateSync(join(folder, name));
    const state = errorOf(() => openSqliteState(folder));
    expect(isDamaged(state)).toBe(true);
    expect(toExit(state, true)).toEqual({
      exitCode: EXIT.badConfig,
      message: expect.stringMatching(/the file is empty \(0 bytes\); .* is damaged; restore a backup/),
    });
    const home = errorOf(() => openBlockStore(folder));
    expect(toExit(home, true)).toEqual({
      exitCode: EXIT.badConfig,
      message: expect.stringMatching(
        /the file is empty \(0 bytes\); its node\.db is damaged; restore a backup/,
      ),
    });
  });
});
