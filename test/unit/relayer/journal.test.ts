import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openJournal } from "../../../src/relayer/state/journal.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-journal-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const bad = (hash: string, atMs: number) => ({ queryId: 3n, hash, remoteHeight: 9n, reason: "no", atMs });

describe("the journal", () => {
  it("knows after a restart what it knew before, even when it was never closed", () => {
    const first = openJournal(folder, "local-1");
    first.noteSearched(3n, 9_007_199_254_740_993n);
    first.noteIncluded(3n, "aa", 9_007_199_254_740_994n);
    first.noteUnsuccessful(bad("bb", 5));
    const second = openJournal(folder, "local-1");
    expect(second.searchedTo(3n)).toBe(9_007_199_254_740_993n);
    expect(second.isHandled(3n, "aa")).toBe(true);
    expect(second.isHandled(3n, "bb")).toBe(true);
    expect(second.isHandled(4n, "aa")).toBe(false);
    expect(second.unsuccessful()).toEqual([bad("bb", 5)]);
    second.close();
    first.close();
  });

  it("keeps chains apart", () => {
    const one = openJournal(folder, "local-1");
    const other = openJournal(folder, "local-2");
    one.noteSearched(3n, 7n);
    one.noteUnsuccessful(bad("bb", 5));
    expect(other.searchedTo(3n)).toBeUndefined();
    expect(other.unsuccessful()).toEqual([]);
    one.close();
    other.close();
  });

  it("drops what was included once its height is searched for good, not what is above", () => {
    const journal = openJournal(undefined, "local-1");
    journal.noteIncluded(3n, "low", 9n);
    journal.noteIncluded(3n, "high", 10n);
    journal.noteUnsuccessful(bad("refused", 1));
    journal.noteSearched(3n, 9n);
    expect(["low", "high", "refused"].map((hash) => journal.isHandled(3n, hash))).toEqual([
      false,
      true,
      true,
    ]);
    journal.close();
  });

  it("lists the newest 1,000 unsuccessful transactions and keeps no more", () => {
    const journal = openJournal(undefined, "local-1");
    for (let index = 0; index < 1_010; index++) journal.noteUnsuccessful(bad(`tx${index}`, index));
    const listed = journal.unsuccessful();
    expect(listed).toHaveLength(1_000);
    expect(listed[0]?.hash).toBe("tx1009");
    expect(listed.at(-1)?.hash).toBe("tx10");
    expect(journal.isHandled(3n, "tx9")).toBe(false);
    journal.close();
  });

  it("forgets a query that was removed, and no other", () => {
    const journal = openJournal(undefined, "local-1");
    for (const id of [3n, 4n]) {
      journal.noteSearched(id, 7n);
      journal.noteUnsuccessful({ ...bad("bb", 1), queryId: id });
    }
    journal.forget(3n);
    expect([journal.searchedTo(3n), journal.searchedTo(4n)]).toEqual([undefined, 7n]);
    expect(journal.unsuccessful().map(({ queryId }) => queryId)).toEqual([4n]);
    journal.close();
  });

  it("forgets all of a chain that started over, even if it was not there to see it, and nothing for an endpoint that lags", () => {
    const first = openJournal(folder, "local-1");
    first.noteLocalHeight(1_000n);
    first.noteSearched(3n, 70n);
    first.noteUnsuccessful(bad("bb", 5));
    first.noteLocalHeight(980n);
    expect(first.searchedTo(3n)).toBe(70n);
    first.close();
    const second = openJournal(folder, "local-1");
    second.noteLocalHeight(4n);
    expect(second.searchedTo(3n)).toBeUndefined();
    expect(second.unsuccessful()).toEqual([]);
    second.noteSearched(3n, 2n);
    second.noteLocalHeight(5n);
    expect(second.searchedTo(3n)).toBe(2n);
    second.close();
  });

  it("says what is wrong with a directory that it can't use", () => {
    writeFileSync(join(folder, "file"), "not a directory");
    expect(() => openJournal(join(folder, "file"), "local-1")).toThrow(
      /state_dir .*file: the journal can't be opened/,
    );
    writeFileSync(
      join(folder, "relayer.sqlite"),
      "this is no database, however long one looks at it".repeat(99),
    );
    expect(() => openJournal(folder, "local-1")).toThrow(/the journal can't be opened there/);
  });
});
