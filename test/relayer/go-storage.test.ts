import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { utf8 } from "../../src/platform/base/bytes.ts";
import {
  addGoEntry,
  emptyGoStorage,
  flockHolder,
  type GoStorage,
  importGoStorage,
  readGoStorage,
} from "../../src/relayer/from-leveldb/import-leveldb.ts";
import { fixtureFile } from "../support/fixture-file.ts";
import { openTestStore } from "../support/relayer-store.ts";

const FIXTURE = fileURLToPath(fixtureFile("go-relayer/leveldb"));
const hash = (index: number): string => (0xabc000 + index).toString(16).padStart(64, "0");

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-go-storage-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const contentOf = (directory: string): readonly (readonly [string, string])[] =>
  readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), "hex")]);

describe("the storage of the Go relayer", () => {
  it("is read whole, from tables and log, and stays as it is", async () => {
    const before = contentOf(FIXTURE);
    const storage = await readGoStorage(FIXTURE, folder);
    expect(contentOf(FIXTURE)).toEqual(before);
    expect(readdirSync(folder)).toEqual([]);
    expect([...storage.progress]).toEqual([
      [1n, 6_999_990n],
      [18_446_744_073_709_551_615n, 42n],
      [7n, 7_000_000n],
    ]);
    expect(storage.committed.map((tx) => tx.hash)).toEqual(
      Array.from({ length: 200 }, (_, index) => hash(index)),
    );
    expect(storage.submitted).toEqual([
      { queryId: 7n, hash: hash(300) },
      { queryId: 7n, hash: hash(301) },
    ]);
    expect(storage.unsuccessful).toEqual([
      {
        queryId: 7n,
        hash: hash(400),
        message: "could not submit proof: execute wasm contract failed",
        atMs: Date.UTC(2024, 8, 19, 12, 0, 1, 123),
      },
      { queryId: 7n, hash: hash(401), message: "Code: 5, Log: out of gas", atMs: Date.UTC(2024, 8, 19, 13) },
    ]);
    expect(storage.heights.get(`7 ${hash(301)}`)).toBe(7_000_003n);
    expect(storage.unknown).toBe(1);
  });

  it("is refused with a reason when it is no LevelDB, or damaged", async () => {
    await expect(readGoStorage(folder, folder)).rejects.toThrow(
      `cannot read the Go relayer's storage in ${folder}: no LevelDB found; pass the directory from RELAYER_STORAGE_PATH`,
    );
    const damaged = join(folder, "damaged");
    cpSync(FIXTURE, damaged, { recursive: true });
    rmSync(join(damaged, "000004.ldb"));
    await expect(readGoStorage(damaged, folder)).rejects.toMatchObject({
      facts: { code: "storage-unreadable", directory: damaged },
      message: expect.stringMatching(
        /cannot read the Go relayer's storage in .*missing files.*; copy it again/,
      ),
    });
    writeFileSync(join(damaged, "CURRENT"), "nonsense");
    await expect(readGoStorage(damaged, folder)).rejects.toThrow("cannot read the Go relayer's storage");
    expect(readdirSync(folder)).toEqual(["damaged"]);
  });

  it.each([
    ["7x", "5"],
    ["007000000000000000000000", "5"],
    ["18446744073709551616", "5"],
    ["7", "many"],
    ["7", "-1"],
    [`7${hash(1)}`, "Committed"],
    [`7${hash(1)}`, '{"status":"Lost"}'],
    [`unsuccessful_txs7${hash(1)}`, '{"message":"x","error_time":"yesterday"}'],
    [`cached_txs7${hash(1)}`, '{"height":"7"}'],
    ["cached_txs7", "5"],
    ["toString7", "5"],
  ])("counts an entry %s = %s that it cannot read", (key, value) => {
    const storage = emptyGoStorage();
    addGoEntry(storage, utf8(key), utf8(value));
    expect(storage).toEqual({ ...emptyGoStorage(), unknown: 1 });
  });

  it("is in use while a process has locked it", () => {
    const locks = `1: POSIX  ADVISORY  WRITE 11 fd:01:77 0 EOF
2: FLOCK  ADVISORY  WRITE 4711 fd:01:131077 0 EOF
3: FLOCK  ADVISORY  WRITE 12 fd:01:7 0 EOF
`;
    expect(flockHolder(locks, 131_077n)).toBe(4711);
    expect(flockHolder(locks, 77n)).toBeUndefined();
  });

  it("may have bytes that are no text", () => {
    const storage = emptyGoStorage();
    addGoEntry(storage, Uint8Array.of(0xff), Uint8Array.of(0xff));
    addGoEntry(storage, utf8("7"), Uint8Array.of(0xff));
    addGoEntry(storage, utf8(`7${hash(1)}`), Uint8Array.of(0xff));
    expect(storage).toEqual({ ...emptyGoStorage(), unknown: 3 });
  });
});

describe("the import", () => {
  it("continues the searches, below what was on its way, and sends nothing twice", async () => {
    const storage = await readGoStorage(FIXTURE, folder);
    const first = await openTestStore(join(folder, "state"));
    const imported = importGoStorage(storage, first.journal);
    const none = { relayed: 0, sending: 0, deadLetters: 0, isKnown: false };
    expect(imported).toEqual([
      { ...none, id: 1n, searchedTo: 6_999_990n },
      { id: 7n, searchedTo: 6_999_997n, relayed: 200, sending: 2, deadLetters: 2, isKnown: false },
      { ...none, id: 18_446_744_073_709_551_615n, searchedTo: 42n },
    ]);
    await first.close();
    const { journal, close } = await openTestStore(join(folder, "state"));
    expect(journal.searchedTo(7n)).toBe(6_999_997n);
    for (const index of [0, 199, 400, 401]) expect(journal.isHandled(7n, hash(index))).toBe(true);
    for (const index of [300, 301]) expect(journal.isHandled(7n, hash(index))).toBe(false);
    expect(journal.sending().map((tx) => [tx.hash, tx.remoteHeight])).toEqual([
      [hash(300), 6_999_998n],
      [hash(301), 7_000_003n],
    ]);
    // Newest first, with what the resubmission needs.
    expect(journal.deadLetters()).toMatchObject([
      { hash: hash(401), remoteHeight: 6_999_600n, reason: "Code: 5, Log: out of gas" },
      { hash: hash(400), remoteHeight: 6_999_500n },
    ]);
    // The block in which the Go relayer stopped is above its progress.
    journal.recordSearched(7n, 7_000_002n);
    expect(journal.isHandled(7n, hash(0))).toBe(true);
    await close();
  });

  it("leaves a query alone that the relayer knows", async () => {
    const { journal, close } = await openTestStore(undefined);
    journal.recordSearched(7n, 9n);
    const storage = await readGoStorage(FIXTURE, folder);
    importGoStorage(storage, journal);
    expect(journal.searchedTo(7n)).toBe(9n);
    expect(journal.deadLetters()).toEqual([]);
    // A repetition changes nothing.
    expect(importGoStorage(storage, journal).every(({ isKnown }) => isKnown)).toBe(true);
    await close();
  });

  it("knows nothing about a transaction on its way without a height", async () => {
    const { journal, close } = await openTestStore(undefined);
    const storage: GoStorage = { ...emptyGoStorage(), submitted: [{ queryId: 3n, hash: hash(1) }] };
    expect(importGoStorage(storage, journal)).toMatchObject([{ id: 3n, searchedTo: undefined, sending: 0 }]);
    await close();
  });
});
