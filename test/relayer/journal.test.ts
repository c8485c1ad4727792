import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Journal } from "../../src/relayer/state/journal.ts";
import { type RelayerStore, STORE_FILE } from "../../src/relayer/state/store.ts";
import { fileModes } from "../support/file-modes.ts";
import { fixtureFile } from "../support/fixture-file.ts";
import { openTestStore } from "../support/relayer-store.ts";

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

/** Resolves when everything that was noted is durable. */
const flushed = ({ queue }: RelayerStore): Promise<void> => queue.flushed(new AbortController().signal);

describe("the journal", () => {
  it("is durable when it is flushed, even when it was never closed", async () => {
    const [stateDir, copy] = [join(folder, "state"), join(folder, "copy")];
    const first = await openTestStore(stateDir);
    first.journal.recordSearched(3n, 9_007_199_254_740_993n);
    first.journal.recordIncluded(3n, "aa", 9_007_199_254_740_994n);
    first.journal.recordDeadLetter(deadLetter("bb", 5));
    first.journal.recordBlock("connection-0", { height: 9_007_199_254_740_995n, hash: "AA" });
    await flushed(first);
    // What the disk has at this instant: a process that was killed has it too.
    cpSync(stateDir, copy, { recursive: true });
    const second = await openTestStore(copy);
    const { journal } = second;
    expect(journal.searchedTo(3n)).toBe(9_007_199_254_740_993n);
    expect(journal.isHandled(3n, "aa")).toBe(true);
    expect(journal.isHandled(3n, "bb")).toBe(true);
    expect(journal.isHandled(4n, "aa")).toBe(false);
    expect(journal.deadLetters()).toEqual([deadLetter("bb", 5)]);
    expect(journal.knownBlock("connection-0")).toEqual({ height: 9_007_199_254_740_995n, hash: "AA" });
    await second.close();
    await first.close();
  });

  it("ends a dead letter that was acknowledged, which is not searched again, also after a restart", async () => {
    const first = await openTestStore(folder);
    first.journal.recordDeadLetter(deadLetter("bb", 5));
    expect(first.journal.acknowledgeDeadLetter(3n, "cc")).toBe(false);
    expect(first.journal.acknowledgeDeadLetter(3n, "bb")).toBe(true);
    expect([first.journal.deadLetters(), first.journal.isHandled(3n, "bb")]).toEqual([[], true]);
    await first.close();
    const second = await openTestStore(folder);
    expect([second.journal.deadLetters(), second.journal.isHandled(3n, "bb")]).toEqual([[], true]);
    await second.close();
  });

  it("writes what is left when it is closed", async () => {
    const first = await openTestStore(folder);
    first.journal.recordSearched(3n, 7n);
    await first.close();
    const second = await openTestStore(folder);
    expect(second.journal.searchedTo(3n)).toBe(7n);
    await second.close();
  });

  it("creates a folder that only its user can read", async () => {
    const stateDir = join(folder, "state");
    const store = await openTestStore(stateDir);
    store.journal.recordSearched(3n, 7n);
    await flushed(store);
    const { ".": directory, ...files } = fileModes(stateDir);
    expect(directory).toBe("700");
    expect(Object.keys(files)).toContain("relayer.sqlite");
    expect(new Set(Object.values(files))).toEqual(new Set(["600"]));
    await store.close();
  });

  it("keeps local chains apart", async () => {
    const one = await openTestStore(folder);
    one.journal.recordSearched(3n, 7n);
    one.journal.recordDeadLetter(deadLetter("bb", 5));
    await one.close();
    const other = await openTestStore(folder, "local-2");
    expect(other.journal.searchedTo(3n)).toBeUndefined();
    expect(other.journal.deadLetters()).toEqual([]);
    await other.close();
  });

  it("shows what another process wrote after a reload", async () => {
    const store = await openTestStore(folder);
    const other = new Database(join(folder, STORE_FILE));
    other.exec("INSERT INTO tx_progress (chain, query_id, height) VALUES ('local-1', '3', '7')");
    other.close();
    expect(store.journal.searchedTo(3n)).toBeUndefined();
    await store.journal.reload();
    expect(store.journal.searchedTo(3n)).toBe(7n);
    await store.close();
  });

  // In memory and after a restart: the two must not differ.
  describe.each(["at once", "after a restart"])("%s", (when) => {
    let store: RelayerStore;
    beforeEach(async () => {
      store = await openTestStore(folder);
    });
    afterEach(() => store.close());
    const journalNow = async (): Promise<Journal> => {
      await flushed(store);
      if (when === "after a restart") await store.journal.reload();
      return store.journal;
    };

    it("drops included transactions up to the searched height, and keeps higher ones and dead letters", async () => {
      store.journal.recordIncluded(3n, "low", 9n);
      store.journal.recordIncluded(3n, "high", 10n);
      store.journal.recordDeadLetter(deadLetter("refused", 1));
      store.journal.recordSearched(3n, 9n);
      const journal = await journalNow();
      expect(["low", "high", "refused"].map((hash) => journal.isHandled(3n, hash))).toEqual([
        false,
        true,
        true,
      ]);
    });

    it("keeps a limited number of dead letters and lists the newest first", async () => {
      for (let index = 0; index < 1_010; index++)
        store.journal.recordDeadLetter(deadLetter(`tx${index}`, index));
      const journal = await journalNow();
      const listed = journal.deadLetters();
      expect(listed).toHaveLength(1_000);
      expect(listed[0]?.hash).toBe("tx1009");
      expect(listed.at(-1)?.hash).toBe("tx10");
      expect(journal.isHandled(3n, "tx9")).toBe(false);
    });

    it("lists a dead letter once, with its newest reason", async () => {
      store.journal.recordDeadLetter(deadLetter("bb", 1));
      store.journal.recordDeadLetter({ ...deadLetter("bb", 2), reason: "newer" });
      expect((await journalNow()).deadLetters()).toEqual([{ ...deadLetter("bb", 2), reason: "newer" }]);
    });

    it("removes a dead letter, so that its transaction can be sent again", async () => {
      store.journal.recordDeadLetter(deadLetter("bb", 1));
      expect(store.journal.removeDeadLetter(3n, "bb")).toBe(true);
      expect(store.journal.removeDeadLetter(3n, "bb")).toBe(false);
      const journal = await journalNow();
      expect(journal.deadLetters()).toEqual([]);
      expect(journal.isHandled(3n, "bb")).toBe(false);
    });

    it("forgets a removed query, and no other", async () => {
      for (const id of [3n, 4n]) {
        store.journal.recordSearched(id, 7n);
        store.journal.recordDeadLetter({ ...deadLetter("bb", 1), queryId: id });
      }
      store.journal.forget(3n);
      const journal = await journalNow();
      expect([journal.searchedTo(3n), journal.searchedTo(4n)]).toEqual([undefined, 7n]);
      expect(journal.deadLetters().map(({ queryId }) => queryId)).toEqual([4n]);
    });

    it("deletes everything at a reset", async () => {
      store.journal.recordSearched(3n, 70n);
      store.journal.recordDeadLetter(deadLetter("bb", 5));
      store.journal.recordBlock("", { height: 5n, hash: "AA" });
      store.journal.reset();
      store.journal.recordSearched(3n, 2n);
      const journal = await journalNow();
      expect(journal.searchedTo(3n)).toBe(2n);
      expect(journal.deadLetters()).toEqual([]);
      expect(journal.isHandled(3n, "bb")).toBe(false);
      expect(journal.knownBlock("")).toBeUndefined();
    });
  });

  it("names a directory that it cannot use", async () => {
    writeFileSync(join(folder, "file"), "not a directory");
    await expect(openTestStore(join(folder, "file"))).rejects.toThrow(
      /state_dir .*file: the journal cannot be opened/,
    );
    await expect(openTestStore("/proc/none/state")).rejects.toThrow(
      /must be a directory that is writable by this user/,
    );
  });

  it("says of a damaged file what to do with it, also when only its tables are damaged", async () => {
    const file = join(folder, "relayer.sqlite");
    const damaged = /relayer\.sqlite is damaged; restore a backup, or move the file away/;
    writeFileSync(file, "not a database".repeat(99));
    await expect(openTestStore(folder)).rejects.toThrow(damaged);
    // The version is on the first page.
    writeFileSync(file, readFileSync(fixtureFile("state/relayer-4.sqlite")).fill(0x5a, 4096));
    await expect(openTestStore(folder)).rejects.toThrow(damaged);
    // The failed attempts hold no lock.
    rmSync(file);
    await (await openTestStore(folder)).close();
  });
});
