import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openJournal } from "../../../src/relayer/state/journal.ts";
import { fileModes } from "../../support/file-modes.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-journal-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const deadLetter = (hash: string, atMs: number) => ({
  queryId: 3n,
  hash,
  remoteHeight: 9n,
  reason: "no",
  atMs,
});

describe("the journal", () => {
  it("is durable, even when it was never closed", () => {
    const first = openJournal(folder, "local-1");
    first.noteSearched(3n, 9_007_199_254_740_993n);
    first.noteIncluded(3n, "aa", 9_007_199_254_740_994n);
    first.noteDeadLetter(deadLetter("bb", 5));
    const second = openJournal(folder, "local-1");
    expect(second.searchedTo(3n)).toBe(9_007_199_254_740_993n);
    expect(second.isHandled(3n, "aa")).toBe(true);
    expect(second.isHandled(3n, "bb")).toBe(true);
    expect(second.isHandled(4n, "aa")).toBe(false);
    expect(second.deadLetters()).toEqual([deadLetter("bb", 5)]);
    second.close();
    first.close();
  });

  it("creates a folder that only its user can read", () => {
    const stateDir = join(folder, "state");
    const journal = openJournal(stateDir, "local-1");
    journal.noteSearched(3n, 7n);
    const { ".": directory, ...files } = fileModes(stateDir);
    expect(directory).toBe("700");
    expect(Object.keys(files)).toContain("relayer.sqlite");
    expect(new Set(Object.values(files))).toEqual(new Set(["600"]));
    journal.close();
  });

  it("keeps local chains apart", () => {
    const one = openJournal(folder, "local-1");
    const other = openJournal(folder, "local-2");
    one.noteSearched(3n, 7n);
    one.noteDeadLetter(deadLetter("bb", 5));
    expect(other.searchedTo(3n)).toBeUndefined();
    expect(other.deadLetters()).toEqual([]);
    one.close();
    other.close();
  });

  it("drops included transactions up to the searched height, and keeps higher ones and dead letters", () => {
    const journal = openJournal(undefined, "local-1");
    journal.noteIncluded(3n, "low", 9n);
    journal.noteIncluded(3n, "high", 10n);
    journal.noteDeadLetter(deadLetter("refused", 1));
    journal.noteSearched(3n, 9n);
    expect(["low", "high", "refused"].map((hash) => journal.isHandled(3n, hash))).toEqual([
      false,
      true,
      true,
    ]);
    journal.close();
  });

  it("keeps a limited number of dead letters and lists the newest first", () => {
    const journal = openJournal(undefined, "local-1");
    for (let index = 0; index < 1_010; index++) journal.noteDeadLetter(deadLetter(`tx${index}`, index));
    const listed = journal.deadLetters();
    expect(listed).toHaveLength(1_000);
    expect(listed[0]?.hash).toBe("tx1009");
    expect(listed.at(-1)?.hash).toBe("tx10");
    expect(journal.isHandled(3n, "tx9")).toBe(false);
    journal.close();
  });

  it("forgets a removed query, and no other", () => {
    const journal = openJournal(undefined, "local-1");
    for (const id of [3n, 4n]) {
      journal.noteSearched(id, 7n);
      journal.noteDeadLetter({ ...deadLetter("bb", 1), queryId: id });
    }
    journal.forget(3n);
    expect([journal.searchedTo(3n), journal.searchedTo(4n)]).toEqual([undefined, 7n]);
    expect(journal.deadLetters().map(({ queryId }) => queryId)).toEqual([4n]);
    journal.close();
  });

  it("deletes everything of a chain that was reset, also after a restart, but not for an endpoint that is behind", () => {
    const first = openJournal(folder, "local-1");
    first.noteLocalHeight(1_000n);
    first.noteSearched(3n, 70n);
    first.noteDeadLetter(deadLetter("bb", 5));
    first.noteLocalHeight(980n);
    expect(first.searchedTo(3n)).toBe(70n);
    first.close();
    const second = openJournal(folder, "local-1");
    second.noteLocalHeight(4n);
    expect(second.searchedTo(3n)).toBeUndefined();
    expect(second.deadLetters()).toEqual([]);
    second.noteSearched(3n, 2n);
    second.noteLocalHeight(5n);
    expect(second.searchedTo(3n)).toBe(2n);
    second.close();
  });

  it("names a directory that it cannot use", () => {
    writeFileSync(join(folder, "file"), "not a directory");
    expect(() => openJournal(join(folder, "file"), "local-1")).toThrow(
      /state_dir .*file: the journal cannot be opened/,
    );
    writeFileSync(join(folder, "relayer.sqlite"), "not a database".repeat(99));
    expect(() => openJournal(folder, "local-1")).toThrow(/the journal cannot be opened/);
  });
});
