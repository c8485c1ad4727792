import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCostLedger, SPANS } from "../../../src/relayer/costs/cost-ledger.ts";
import type { RelayerStore } from "../../../src/relayer/state/store.ts";
import { openTestStore } from "../../support/relayer-store.ts";
import type { PaidTransaction } from "../../../src/relayer/result/submit-gate.ts";

const SIGNAL = new AbortController().signal;
const DAY_MS = 86_400_000;
/** 2027-01-15T08:00:00Z */
const START = 1_800_000_000_000;

let folder = "";
let store: RelayerStore;
let nowMs = START;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-ledger-"));
  store = await openTestStore(folder);
  nowMs = START;
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const openLedger = (chainId = "local-1") =>
  createCostLedger({ chainId, payer: "neutron1payer", store, sharing: () => [], nowMs: () => nowMs });
const flushed = () => store.queue.flushed(SIGNAL);

let hashes = 0;
const paid = (
  fee: bigint,
  queryIds: readonly bigint[],
  more: Partial<PaidTransaction> = {},
): PaidTransaction => ({
  hash: `AB${hashes++}`,
  height: 7n,
  fee,
  gasUsed: 1_000n,
  isFailed: false,
  results: queryIds.map((queryId) => ({
    queryId,
    owner: `o${queryId}`,
    connectionId: "connection-0",
    gas: 100n,
  })),
  updates: [],
  ...more,
});

describe("the cost ledger", () => {
  it("deletes nothing by a clock that is ahead of the chain", async () => {
    const ahead = createCostLedger({
      chainId: "local-1",
      payer: "neutron1payer",
      store,
      sharing: () => [],
      nowMs: () => nowMs,
      localTimeMs: () => START,
    });
    ahead.recordAt(paid(100n, [1n]), START);
    nowMs += 4_000 * 24 * 3_600_000;
    ahead.record(paid(7n, [1n]));
    ahead.record(paid(7n, [1n]));
    await flushed();
    const [kept] = await store.session.run("SELECT COUNT(*) AS count FROM query_cost WHERE start_ms < ?", [
      START + 1,
    ]);
    expect(Number(kept?.["count"])).toBeGreaterThan(0);
  });

  it("adds transactions by query in spans of five minutes, an hour and a day", async () => {
    const ledger = openLedger();
    ledger.record(paid(100n, [1n, 2n]));
    nowMs += 6 * 60_000;
    ledger.record(paid(7n, [2n], { isFailed: true }));
    await flushed();
    const byQuery = async (span: number, fromMs: number) =>
      (await ledger.byQuery(span, fromMs)).map(({ queryId, owner, fee, failedFee, results }) => [
        queryId,
        owner,
        fee,
        failedFee,
        results,
      ]);
    const all = [
      [1n, "o1", 50n, 0n, 1],
      [2n, "o2", 57n, 7n, 1],
    ];
    expect(await byQuery(SPANS.day, START - DAY_MS)).toEqual(all);
    expect(await byQuery(SPANS.hour, START)).toEqual(all);
    expect(await byQuery(SPANS.minutes, START + SPANS.minutes)).toEqual([[2n, "o2", 7n, 7n, 0]]);
    expect(await ledger.bySpan(SPANS.minutes, 0)).toEqual([
      { startMs: START, fee: 100n, gas: 1_000n },
      { startMs: START + SPANS.minutes, fee: 7n, gas: 1_000n },
    ]);
    expect(await openLedger("local-2").byQuery(SPANS.day, 0)).toEqual([]);
  });

  it("adds a transaction once, also when it is recorded again by another process", async () => {
    const first = paid(100n, [1n]);
    openLedger().record(first);
    await flushed();
    const again = openLedger();
    again.record(first);
    again.record(paid(1n, [1n]));
    again.recordAt(first, nowMs - DAY_MS);
    await flushed();
    expect(await again.byQuery(SPANS.day, 0)).toMatchObject([{ fee: 101n, results: 2 }]);
    expect(await again.newestHeight()).toBe(7n);
  });

  it("is as durable as the state directory", async () => {
    openLedger().begin(5n);
    openLedger().record(paid(12_345_678_901_234_567_890_123n, [1n]));
    await flushed();
    await store.close();
    store = await openTestStore(folder);
    const ledger = openLedger();
    nowMs += 5_000;
    ledger.begin(9n);
    await flushed();
    expect([await ledger.sinceMs(), await ledger.sinceHeight()]).toEqual([START, 5n]);
    expect(await ledger.byQuery(SPANS.day, 0)).toMatchObject([{ fee: 12_345_678_901_234_567_890_123n }]);
  });

  it("is exact for any fees", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 26n }), fc.bigInt({ min: 1n, max: 4n })), {
          minLength: 1,
          maxLength: 60,
        }),
        async (payments) => {
          const ledger = openLedger(`c${hashes}`);
          for (const [fee, queryId] of payments) ledger.record(paid(fee, [queryId, queryId + 1n]));
          await flushed();
          const total = payments.reduce((sum, [fee]) => sum + fee, 0n);
          for (const span of Object.values(SPANS)) {
            const sums = await ledger.byQuery(span, 0);
            expect(sums.reduce((sum, { fee }) => sum + fee, 0n)).toBe(total);
          }
        },
      ),
      { numRuns: 20 },
    ));

  it("deletes spans by age, and hashes by height", async () => {
    const ledger = openLedger();
    ledger.record(paid(1n, [1n]));
    await flushed();
    nowMs += 63 * DAY_MS;
    ledger.record(paid(2n, [1n], { height: 5_000n }));
    await flushed();
    expect(await ledger.bySpan(SPANS.day, 0)).toMatchObject([{ fee: 2n }]);
    expect(await ledger.bySpan(SPANS.minutes, 0)).toMatchObject([{ fee: 2n }]);
    const rows = await store.session.run("SELECT hash FROM paid_tx");
    expect(rows).toHaveLength(1);
  });

  it("begins again after a reset of the chain", async () => {
    const ledger = openLedger();
    ledger.begin(5n);
    ledger.record(paid(1n, [1n]));
    await flushed();
    nowMs += 1_000;
    ledger.reset();
    ledger.record(paid(2n, [1n]));
    await flushed();
    expect(await ledger.byQuery(SPANS.day, 0)).toMatchObject([{ fee: 2n }]);
    expect(await ledger.sinceMs()).toBe(START + 1_000);
  });
});
