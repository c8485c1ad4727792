import Database from "libsql";
import { describe, expect, it } from "vitest";
import { migrateSchema, createSqliteDatabase } from "../../src/platform/storage/sqlite-database.ts";
import { createAttemptLog } from "../../src/relayer/state/attempt-log.ts";
import { dayOf } from "../../src/relayer/state/attempt.ts";
import { MIGRATIONS } from "../../src/relayer/state/store.ts";
import { createWriteQueue } from "../../src/platform/storage/write-queue.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { sampleAttempt } from "./samples.ts";

const SIGNAL = new AbortController().signal;
const DAY_MS = 86_400_000;

function openLog(
  startMs: number,
  limits = { max_age: 10 * DAY_MS, max_attempts: 1_000 },
  localTimeMs?: () => number,
) {
  const file = new Database(":memory:");
  migrateSchema(file, MIGRATIONS);
  const database = createSqliteDatabase(file);
  const clock = createManualClock(startMs);
  const queue = createWriteQueue({ database, clock, random: () => 0, onError: () => {} });
  const time = { nowMs: clock.nowMs, ...(localTimeMs === undefined ? {} : { localTimeMs }) };
  const open = (chain: string) => createAttemptLog(chain, limits, { database, queue, ...time });
  return { log: open("local-1"), other: open("local-2"), clock, flushed: () => queue.flushed(SIGNAL) };
}

describe("the attempt log", () => {
  it("returns what was noted, with integers above 2^53 and 18-decimal fees", async () => {
    const { log, flushed } = openLog(10_000);
    const full = sampleAttempt({
      queryId: 9_007_199_254_740_993n,
      dueHeight: 9_007_199_254_740_995n,
      fee: 12_345_678_901_234_567_890_123n,
      localHeight: 77n,
      txHash: "AB",
    });
    const failed = sampleAttempt({ outcome: "read-failed", reason: "x".repeat(2_000), startedAtMs: 5 });
    log.note([full, failed]);
    await flushed();
    expect(await log.find({ limit: 10 })).toEqual([full, { ...failed, reason: "x".repeat(500) }]);
  });

  it("counts all attempts of a range by outcome, part and lateness", async () => {
    const { log, other, flushed } = openLog(10_000);
    const at = (startedAtMs: number, fields: Parameters<typeof sampleAttempt>[0] = {}) =>
      sampleAttempt({ outcome: "included", dueHeight: 5n, localHeight: 7n, startedAtMs, ...fields });
    log.note([999, 1_000, 1_001, 1_999, 2_999, 3_000].map((atMs) => at(atMs)));
    log.note([at(2_500, { localHeight: 5n }), at(2_500, { outcome: "rejected", localHeight: undefined })]);
    other.note([at(1_500)]);
    await flushed();
    const { outcomes, lateness } = await log.summary({ fromMs: 1_000, toMs: 3_000, parts: 2 });
    expect(new Set(outcomes)).toEqual(
      new Set([
        { outcome: "included", part: 0, attempts: 3 },
        { outcome: "included", part: 1, attempts: 2 },
        { outcome: "rejected", part: 1, attempts: 1 },
      ]),
    );
    expect(new Set(lateness)).toEqual(
      new Set([
        { blocks: 2, attempts: 4 },
        { blocks: 0, attempts: 1 },
      ]),
    );
  });

  it("takes over attempts of before whose results were in no transaction, and reads unknown outcomes as those", async () => {
    const last = MIGRATIONS.findIndex((sql) => sql.includes("outcome = 'not-broadcast'"));
    const file = new Database(":memory:");
    migrateSchema(file, MIGRATIONS.slice(0, last));
    const insert = (outcome: string, startedAtMs: number): void => {
      const columns =
        "chain, query_id, connection_id, owner, type, started_at_ms, due_height, remote_height, outcome, gas, fee, simulations";
      file.exec(
        `INSERT INTO attempts (${columns}) VALUES ('local-1', '1', 'c', 'o', 'kv', ${startedAtMs}, 1, 1, '${outcome}', 0, '0', 0)`,
      );
    };
    insert("lost", 1);
    insert("included", 2);
    migrateSchema(file, MIGRATIONS);
    insert("of a newer program", 3);
    const stored = file.prepare("SELECT outcome FROM attempts ORDER BY started_at_ms").all();
    expect(stored).toEqual(
      ["not-broadcast", "included", "of a newer program"].map((outcome) => ({ outcome })),
    );
    const database = createSqliteDatabase(file);
    const clock = createManualClock(10);
    const queue = createWriteQueue({ database, clock, random: () => 0, onError: () => {} });
    const limits = { max_age: DAY_MS, max_attempts: 10 };
    const log = createAttemptLog("local-1", limits, { database, queue, nowMs: clock.nowMs });
    const outcomes = (await log.find({ limit: 10 })).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(["not-broadcast", "included", "not-broadcast"]);
  });

  it("deletes nothing by a clock that is ahead of the chain", async () => {
    const start = 100 * DAY_MS;
    const { log, clock, flushed } = openLog(start, undefined, () => start);
    await clock.advance(40 * DAY_MS);
    log.note([sampleAttempt({ startedAtMs: start - 1_000 }), sampleAttempt({ startedAtMs: clock.nowMs() })]);
    await flushed();
    expect(await log.find({ limit: 10 })).toHaveLength(2);
  });

  it("filters by query, connection, owner, outcome and time, newest first, up to the limit", async () => {
    const { log, other, flushed } = openLog(10_000);
    const all = [1, 2, 3, 4, 5, 6].map((index) =>
      sampleAttempt({
        queryId: BigInt(index % 2),
        connectionId: `connection-${index % 3}`,
        owner: index > 3 ? "late" : "early",
        outcome: index === 4 ? "not-broadcast" : "included",
        startedAtMs: index * 100,
      }),
    );
    log.note(all);
    await flushed();
    const times = async (filter: Omit<Parameters<typeof log.find>[0], "limit">, limit = 100) =>
      (await log.find({ ...filter, limit })).map(({ startedAtMs }) => startedAtMs);
    expect(await times({ queryId: 1n })).toEqual([500, 300, 100]);
    expect(await times({ queryId: 1n }, 2)).toEqual([500, 300]);
    expect(await times({ connectionId: "connection-0" })).toEqual([600, 300]);
    expect(await times({ owner: "late" })).toEqual([600, 500, 400]);
    expect(await times({ outcome: "not-broadcast" })).toEqual([400]);
    expect(await times({ sinceMs: 200, untilMs: 400 })).toEqual([300, 200]);
    expect(await other.find({ limit: 9 })).toEqual([]);
  });

  it("sums cost by owner and day, beyond 63 bits", async () => {
    const { log, flushed } = openLog(100 * DAY_MS);
    const big = 9_000_000_000_000_000_000n;
    const at = (day: number) => day * DAY_MS + 5;
    log.note([
      sampleAttempt({ owner: "a", startedAtMs: at(99), gas: 5n, fee: big }),
      sampleAttempt({ owner: "a", startedAtMs: at(99), gas: 6n, fee: big, outcome: "not-broadcast" }),
      sampleAttempt({ owner: "b", startedAtMs: at(99), gas: 7n, fee: 1n }),
    ]);
    log.note([
      sampleAttempt({ owner: "a", startedAtMs: at(99), gas: 1n, fee: big }),
      sampleAttempt({ owner: "a", startedAtMs: at(100), gas: 1n, fee: 2n }),
    ]);
    await flushed();
    const day = dayOf(at(99));
    expect(await log.costs({ from: day, to: day })).toEqual([
      { day, owner: "a", attempts: 3, included: 2, gas: 12n, fee: big * 3n },
      { day, owner: "b", attempts: 1, included: 1, gas: 7n, fee: 1n },
    ]);
    expect(await log.costs({ from: day + 1, to: day + 9 })).toHaveLength(1);
  });

  it("deletes attempts by age and by number, and keeps their cost", async () => {
    const { log, clock, flushed } = openLog(100.5 * DAY_MS, { max_age: DAY_MS, max_attempts: 500 });
    const now = clock.nowMs();
    log.note([sampleAttempt({ startedAtMs: now - DAY_MS - 1 }), sampleAttempt({ startedAtMs: now - 10 })]);
    await flushed();
    expect(await log.find({ limit: 9 })).toHaveLength(1);
    for (let index = 0; index < 1_000; index += 10)
      log.note(
        Array.from({ length: 10 }, (_, offset) => sampleAttempt({ startedAtMs: now + index + offset })),
      );
    await flushed();
    const kept = await log.find({ limit: 1_000 });
    expect(kept).toHaveLength(500);
    expect(kept.at(-1)?.startedAtMs).toBe(now + 500);
    expect(await log.costs({ from: 0, to: 200 })).toMatchObject([{ attempts: 1 }, { attempts: 1_001 }]);
  });
});
