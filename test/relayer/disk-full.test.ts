import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RelayerStore } from "../../src/relayer/state/store.ts";
import { openTestStore } from "../support/relayer-store.ts";
import { sampleAttempt } from "./samples.ts";

const SIGNAL = new AbortController().signal;

let folder = "";
let store: RelayerStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-full-"));
  store = await openTestStore(folder);
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Limits the file to its present size, so that SQLite reports a full disk; undefined: no limit. */
async function limitFile(isFull: boolean): Promise<void> {
  await store.session.run(`PRAGMA max_page_count = ${isFull ? 1 : 1_000_000}`);
}

/** More than fits into the free part of the pages that exist. */
function noteMany(): void {
  for (let index = 0; index < 500; index++) {
    store.journal.recordDeadLetter({
      queryId: 3n,
      hash: `${index}`.padStart(64, "0"),
      remoteHeight: BigInt(index),
      reason: "x".repeat(400),
      atMs: index,
    });
  }
}

describe("a full disk", () => {
  it("loses no write, is named, and is over as soon as there is space", async () => {
    await limitFile(true);
    noteMany();
    await expect.poll(() => store.queue.status().error).toMatch(/full/);
    expect(store.queue.status().pending).toBeGreaterThan(0);
    // Reads come from memory and go on.
    expect(store.journal.deadLetters()).toHaveLength(500);
    await limitFile(false);
    await store.queue.flushed(SIGNAL);
    expect(store.queue.status()).toMatchObject({ pending: 0, error: undefined });
    await store.journal.reload();
    expect(store.journal.deadLetters()).toHaveLength(500);
  });

  it("keeps attempts in a bounded queue", async () => {
    await limitFile(true);
    for (let index = 0; index < 150_000; index++)
      store.attempts.note([sampleAttempt({ reason: "x".repeat(500), startedAtMs: Date.now() })]);
    await expect.poll(() => store.queue.status().error).toMatch(/full/);
    expect(store.queue.status()).toMatchObject({ pending: 200, dropped: expect.any(Number) });
    await limitFile(false);
    await store.queue.flushed(SIGNAL);
    expect((await store.attempts.find({ limit: 1_000 })).length).toBeGreaterThan(0);
  });
});
