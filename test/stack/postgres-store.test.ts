import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createCostLedger, SPANS } from "../../src/relayer/costs/cost-ledger.ts";
import { createProblemTimeline } from "../../src/relayer/health/problem-timeline.ts";
import { LOCAL_CHAIN } from "../../src/relayer/state/journal.ts";
import { dayOf } from "../../src/relayer/state/attempt.ts";
import { MIGRATIONS, type RelayerStore } from "../../src/relayer/state/store.ts";
import { createPostgresDatabase, migratePostgres } from "../../src/platform/storage/postgres-database.ts";
import type { SqlDatabase } from "../../src/platform/storage/sql-database.ts";
import { openTestStore } from "../support/relayer-store.ts";
import { type PostgresServer, startPostgres } from "../support/stack/postgres-server.ts";
import { sampleAttempt } from "../relayer/samples.ts";
import type { PaidTransaction } from "../../src/relayer/result/submit-gate.ts";

const SIGNAL = new AbortController().signal;

let server: PostgresServer;
let url: string;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());
beforeEach(async () => {
  url = await server.createDatabase();
});

const open = (): Promise<RelayerStore> => openTestStore(server.placeOf(url));

function connect(): SqlDatabase {
  const { address, password } = server.placeOf(url);
  return createPostgresDatabase({
    address,
    password,
    applicationName: "test",
    deadlineMs: 5_000,
    onError: () => {},
  });
}

const deadLetter = { queryId: 3n, hash: "bb", remoteHeight: 9n, reason: "no", atMs: 1_795_262_970_310 };

describe("the store in PostgreSQL", () => {
  it("adds costs exactly and once, and keeps the time line, as SQLite does", async () => {
    const first = await open();
    let nowMs = 1_800_000_000_000;
    const ledgerOn = (store: RelayerStore) =>
      createCostLedger({
        chainId: "local-1",
        payer: "neutron1payer",
        store,
        sharing: () => [],
        nowMs: () => nowMs,
      });
    const timelineOn = (store: RelayerStore) =>
      createProblemTimeline({ chainId: "local-1", account: "neutron1a", store, nowMs: () => nowMs });
    const paid = (hash: string): PaidTransaction => ({
      hash,
      height: 9_007_199_254_740_993n,
      fee: 12_345_678_901_234_567_890_123n,
      gasUsed: 300_000n,
      isFailed: false,
      results: [{ queryId: 9_007_199_254_740_995n, owner: "o", connectionId: "connection-0", gas: 5n }],
      updates: [],
    });
    const ledger = ledgerOn(first);
    ledger.begin(5n);
    for (const hash of ["A", "B", "A"]) ledger.record(paid(hash));
    await first.queue.flushed(SIGNAL);
    ledger.record(paid("C"));
    const timeline = timelineOn(first);
    timeline.record([{ code: "queries-overdue", connectionId: "connection-0", text: "late" }]);
    nowMs += 1_000;
    timeline.record([]);
    timeline.save();
    await first.queue.flushed(SIGNAL);
    await first.close();

    const second = await open();
    const again = ledgerOn(second);
    expect(await again.sinceMs()).toBe(1_800_000_000_000);
    expect(await again.newestHeight()).toBe(9_007_199_254_740_993n);
    for (const span of Object.values(SPANS))
      expect(await again.byQuery(span, 0)).toEqual([
        {
          queryId: 9_007_199_254_740_995n,
          owner: "o",
          results: 3,
          gas: 900_000n,
          fee: 3n * 12_345_678_901_234_567_890_123n,
          updateFee: 0n,
          failedFee: 0n,
        },
      ]);
    expect(await again.bySpan(SPANS.hour, 0)).toMatchObject([{ gas: 900_000n }]);
    const loaded = timelineOn(second);
    await loaded.load();
    expect(loaded.runs()).toEqual([{ fromMs: 1_800_000_000_000, untilMs: 1_800_000_001_000 }]);
    expect(loaded.problems()).toMatchObject([{ code: "queries-overdue", reason: "late" }]);
    again.reset();
    nowMs += 400_000;
    again.record(paid("A"));
    await second.queue.flushed(SIGNAL);
    expect(await again.byQuery(SPANS.day, 0)).toMatchObject([{ results: 1 }]);
    await second.close();
  });

  it("keeps the journal, as SQLite does", async () => {
    const first = await open();
    const { journal } = first;
    journal.recordSearched(3n, 9_007_199_254_740_993n);
    journal.recordIncluded(3n, "low", 9n);
    journal.recordIncluded(3n, "aa", 9_007_199_254_740_994n);
    journal.recordDeadLetter(deadLetter);
    journal.recordSending({ queryId: 3n, hash: "cc", remoteHeight: 11n, localHeight: 12n });
    journal.recordSending({ queryId: 3n, hash: "aa", remoteHeight: 11n, localHeight: 12n });
    journal.recordIncluded(3n, "aa", 9_007_199_254_740_994n);
    journal.recordBlock(LOCAL_CHAIN, { height: 9_007_199_254_740_995n, hash: "AB" });
    journal.recordSearched(3n, 9_007_199_254_740_993n);
    await first.queue.flushed(SIGNAL);
    const second = await open();
    expect(second.journal.searchedTo(3n)).toBe(9_007_199_254_740_993n);
    expect(["low", "aa", "bb"].map((hash) => second.journal.isHandled(3n, hash))).toEqual([
      false,
      true,
      true,
    ]);
    expect(second.journal.deadLetters()).toEqual([deadLetter]);
    expect(second.journal.sending()).toEqual([
      { queryId: 3n, hash: "cc", remoteHeight: 11n, localHeight: 12n },
    ]);
    expect(second.journal.knownBlock(LOCAL_CHAIN)).toEqual({ height: 9_007_199_254_740_995n, hash: "AB" });
    second.journal.forget(3n);
    await second.close();
    await first.journal.reload();
    expect([first.journal.searchedTo(3n), first.journal.sending()]).toEqual([undefined, []]);
    await first.close();
  });

  it("keeps attempts and cost, with integers above 2^53, 18-decimal fees, and texts with NUL", async () => {
    const store = await open();
    // Attempts of long ago are deleted.
    const startMs = Date.now() - 60_000;
    const day = dayOf(startMs);
    const attempts = Array.from({ length: 250 }, (_, index) =>
      sampleAttempt({
        queryId: 9_007_199_254_740_993n + BigInt(index),
        startedAtMs: startMs,
        localHeight: 7n,
        fee: 12_345_678_901_234_567_890_123n,
        outcome: index % 2 === 0 ? "included" : "rejected",
        reason: index % 2 === 0 ? undefined : "a\0b",
      }),
    );
    store.attempts.note(attempts);
    await store.queue.flushed(SIGNAL);
    const [newest] = await store.attempts.find({
      queryId: 9_007_199_254_741_242n,
      sinceMs: startMs,
      limit: 5,
    });
    expect(newest).toEqual({ ...attempts[249], reason: "a�b" });
    expect(await store.attempts.costs({ from: day, to: day })).toEqual([
      {
        day,
        owner: "neutron1owner",
        attempts: 250,
        included: 125,
        gas: 2_500n,
        fee: 250n * 12_345_678_901_234_567_890_123n,
      },
    ]);
    const range = { fromMs: day * 86_400_000, toMs: (day + 1) * 86_400_000, parts: 1 };
    const { outcomes, lateness } = await store.attempts.summary(range);
    expect(new Set(outcomes)).toEqual(
      new Set(["included", "rejected"].map((outcome) => ({ outcome, part: 0, attempts: 125 }))),
    );
    expect(lateness).toEqual([{ blocks: 2, attempts: 250 }]);
    await store.close();
  });

  it("is upgraded from version 2 with its content, once, by several processes at the same time", async () => {
    const database = connect();
    await migratePostgres(database, MIGRATIONS.slice(0, 2));
    await database.run("INSERT INTO tx_progress VALUES ('local-1', '3', '9007199254740993')");
    await database.run("INSERT INTO local_height VALUES ('local-1', '9007199254740999')");
    await database.close();
    const stores = await Promise.all([1, 2, 3, 4].map(open));
    for (const { journal, close } of stores) {
      expect(journal.searchedTo(3n)).toBe(9_007_199_254_740_993n);
      expect(journal.knownBlock(LOCAL_CHAIN)).toEqual({ height: 9_007_199_254_740_999n, hash: "" });
      await close();
    }
    expect(await server.query(url, "SELECT version FROM relaywatch.schema_version")).toEqual([
      { version: `${MIGRATIONS.length}` },
    ]);
  });

  it("refuses a newer schema with both versions, and leaves it as it is", async () => {
    await (await open()).close();
    const newer = MIGRATIONS.length + 1;
    await server.query(url, `UPDATE relaywatch.schema_version SET version = ${newer}`);
    await expect(open()).rejects.toThrow(
      `it was written by a newer relaywatch (format ${newer}, but this version supports at most format ${newer - 1}); use that relaywatch, or another database`,
    );
    expect(await server.query(url, "SELECT version FROM relaywatch.schema_version")).toEqual([
      { version: `${newer}` },
    ]);
  });

  it("names the database that it cannot use, and never the password", async () => {
    const place = server.placeOf(url);
    const wrongPassword = { ...place, password: undefined };
    await expect(openTestStore(wrongPassword)).rejects.toThrow(
      /^store 127\.0\.0\.1:\d+\/test_\d+: the database cannot be used: .*; store must point to a database/,
    );
    const missing = { ...place, address: { ...place.address, database: "nothing_here" } };
    const error: unknown = await openTestStore(missing).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('database "nothing_here" does not exist');
    expect(JSON.stringify([error, String(error)])).not.toContain(server.password);
  });

  it("loses nothing that was flushed when the server is killed, and goes on when it is back", async () => {
    const store = await open();
    for (let index = 1n; index <= 50n; index++) store.journal.recordIncluded(3n, `tx${index}`, index);
    await store.queue.flushed(SIGNAL);
    await server.crash();
    store.journal.recordIncluded(3n, "during the crash", 99n);
    await expect
      .poll(() => store.queue.status(), { timeout: 20_000 })
      .toMatchObject({ pending: 1, error: expect.any(String) });
    await server.start();
    await store.queue.flushed(SIGNAL);
    expect(store.queue.status()).toMatchObject({ pending: 0, error: undefined });
    const after = await open();
    expect(after.journal.isHandled(3n, "during the crash")).toBe(true);
    for (let index = 1n; index <= 50n; index++) expect(after.journal.isHandled(3n, `tx${index}`)).toBe(true);
    await after.close();
    await store.close();
  });
});
