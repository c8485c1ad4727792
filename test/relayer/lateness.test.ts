import { describe, expect, it } from "vitest";
import { createHeightMarks } from "../../src/relayer/watch/head-watch.ts";
import { latenessOf, latestOf, lateText, type Present } from "../../src/relayer/health/lateness.ts";
import { answered, failed, handedOver, unchangedBy } from "../../src/relayer/registry/query-state.ts";
import { sampleState } from "./samples.ts";

/** Local blocks of one second from height 1 at 1,000 ms; remote blocks at these local heights. */
function present(localHeight: bigint, remote: readonly (readonly [bigint, bigint])[] = [], nowMs?: number) {
  const local = createHeightMarks(1_000);
  for (let height = 1n; height <= localHeight; height++)
    local.add({ height, atMs: Number(height) * 1_000, localHeight: height });
  const marks = createHeightMarks(1_000);
  for (const [height, at] of remote) marks.add({ height, atMs: Number(at) * 1_000, localHeight: at });
  const result: Present = {
    localHeight,
    nowMs: nowMs ?? Number(localHeight) * 1_000,
    localFrom: local.firstFrom,
    localBlockMs: 1_000,
    hasRemoteHalted: false,
    isRemotePaceKnown: true,
    remoteFrom: marks.firstFrom,
    overdue_blocks: undefined,
    marketBlocks: 0n,
    min_kv_update_period: 0n,
  };
  return result;
}

const answeredAt = (lastLocalHeight: bigint, remoteHeight: bigint, updatePeriod = 5n) =>
  sampleState({ lastLocalHeight, updatePeriod, lastRemoteHeight: { revision: 1n, height: remoteHeight } });

describe("latenessOf", () => {
  it("counts blocks and time from the height at which the result was due", () => {
    const state = answeredAt(10n, 7n);
    const remote = [[9n, 11n]] as const;
    expect(latenessOf(state, present(14n, remote))).toMatchObject({ dueHeight: 15n, blocks: 0n, ms: 0 });
    expect(latenessOf(state, present(15n, remote))).toMatchObject({ blocks: 0n, ms: 0 });
    expect(latenessOf(state, present(18n, remote))).toMatchObject({ blocks: 3n, ms: 3_000 });
    expect(latenessOf(state, present(18n, remote, 20_500))).toMatchObject({ blocks: 3n, ms: 5_500 });
  });

  it("is overdue beyond three periods and five blocks, or beyond the configured limit", () => {
    const state = answeredAt(10n, 7n);
    const remote = [[9n, 11n]] as const;
    const at = (height: bigint, limit?: bigint) =>
      latenessOf(state, {
        ...present(height, remote),
        overdue_blocks: limit === undefined ? undefined : Number(limit),
      }).isOverdue;
    expect([at(35n), at(36n)]).toEqual([false, true]);
    expect([at(17n, 2n), at(18n, 2n)]).toEqual([false, true]);
  });

  it("is overdue that much later when the fee market delays every result, unless a limit is configured", () => {
    const state = answeredAt(10n, 7n);
    const remote = [[9n, 11n]] as const;
    const at = (height: bigint, limit?: bigint) =>
      latenessOf(state, {
        ...present(height, remote),
        marketBlocks: 7n,
        overdue_blocks: limit === undefined ? undefined : Number(limit),
      }).isOverdue;
    expect([at(42n), at(43n)]).toEqual([false, true]);
    expect([at(17n, 2n), at(18n, 2n)]).toEqual([false, true]);
  });

  it("has one clock: blocks from before this process are counted with the block time", () => {
    const state = answeredAt(10n, 7n);
    const marks = createHeightMarks(10);
    for (const height of [60n, 61n, 63n])
      marks.add({ height, atMs: Number(height) * 1_000, localHeight: 0n });
    const at = { ...present(63n, [[9n, 11n]]), localFrom: marks.firstFrom, localBlockMs: marks.blockMs() };
    expect(latenessOf(state, at)).toMatchObject({ dueHeight: 15n, blocks: 48n, ms: 48_000 });
    // The block 62 was not seen, and came a second before the next one.
    expect(latenessOf(answeredAt(57n, 7n), at)).toMatchObject({ blocks: 1n, ms: 1_000 });
    const first = { ...at, localBlockMs: undefined };
    expect(latenessOf(state, first)).toMatchObject({ blocks: 48n, ms: undefined });
    expect(lateText(latenessOf(state, first))).toBe("48 blocks");
    expect(lateText(latenessOf(state, at))).toBe("48 blocks, 48 s");
  });

  it("counts a query without a result from its registration", () => {
    const state = sampleState({ registeredAtHeight: 8n });
    expect(latenessOf(state, present(30n))).toMatchObject({ dueHeight: 8n, blocks: 22n, isOverdue: true });
  });

  it("has no overdue query while the remote chain has no newer block, and gives the new block its time", () => {
    const state = answeredAt(10n, 7n, 1n);
    // The header of 8 proves the state at 7, which the query has.
    const before = present(40n, [[8n, 10n]]);
    expect(latenessOf(state, before)).toMatchObject({
      blocks: 29n,
      unanswerable: "no-newer-remote-block",
      isOverdue: false,
    });
    const after = [
      [8n, 10n],
      [9n, 40n],
    ] as const;
    expect(latenessOf(state, present(41n, after))).toMatchObject({
      unanswerable: undefined,
      isOverdue: false,
    });
    expect(latenessOf(state, present(49n, after)).isOverdue).toBe(false);
    expect(latenessOf(state, present(50n, after)).isOverdue).toBe(true);
  });

  it("is overdue without a newer remote block when the remote chain stands still", () => {
    const state = answeredAt(10n, 7n, 2n);
    const at = (height: bigint, hasRemoteHalted: boolean) =>
      latenessOf(state, { ...present(height, [[8n, 10n]]), hasRemoteHalted }).isOverdue;
    // Due in 12, and 3 × 2 + 5 blocks late.
    expect([at(23n, true), at(24n, true), at(24n, false)]).toEqual([false, true, false]);
  });

  it("gives a query with a least number of remote blocks between two results that time", () => {
    const state = answeredAt(10n, 7n, 1n);
    const at = { ...present(40n, [[9n, 11n]]), min_kv_update_period: 5n };
    expect(latenessOf(state, at)).toMatchObject({ unanswerable: "no-newer-remote-block", isOverdue: false });
    // Until the remote chain's pace is known, nobody can say that it has not halted.
    expect(latenessOf(state, { ...at, isRemotePaceKnown: false }).isOverdue).toBe(true);
    const later = { ...present(40n, [[13n, 20n]]), min_kv_update_period: 5n };
    expect(latenessOf(state, later).isOverdue).toBe(true);
  });

  it("has no overdue query whose failure is its own, and one whose failure is ours", () => {
    const at = { nowMs: 0, backoff: { minMs: 1, baseMs: 1, maxMs: 1 }, random: () => 0 };
    const lateAfter = (code: "rejected" | "read-failed") =>
      latenessOf(failed(sampleState(), { code, reason: "" }, at), present(100n));
    expect(lateAfter("rejected")).toMatchObject({ unanswerable: "failure", isOverdue: false, blocks: 100n });
    expect(lateAfter("read-failed")).toMatchObject({ unanswerable: undefined, isOverdue: true });
    const queries = [
      { id: 1, lateness: lateAfter("rejected") },
      { id: 2, lateness: latenessOf(answeredAt(90n, 7n), present(100n, [[9n, 91n]])) },
    ];
    expect(latestOf(queries)?.id).toBe(2);
    expect(latestOf(queries.slice(0, 1))).toBeUndefined();
  });

  it("counts a TX query, and a changed question, from when this relayer read it", () => {
    const tx = { ...sampleState({ type: "tx", lastLocalHeight: 3n, updatePeriod: 2n }), sinceHeight: 90n };
    expect(latenessOf(tx, present(100n))).toMatchObject({ dueHeight: 90n, blocks: 10n });
  });
});

describe("latenessOf a query whose values are unchanged", () => {
  const remote = (height: bigint) => ({ revision: 1n, height });
  /** Period 2. The result of the remote height 7 is in block 10, that of 50 would have been in block 53. */
  const last = handedOver(sampleState({ updatePeriod: 2n }), { at: remote(7n), hash: "a" });
  const read = { at: remote(50n), hash: "a", localHeight: 53n, maxAge: 100n };
  const state = unchangedBy(answered(last, { localHeight: 10n, remote: remote(7n) }), read) ?? last;
  const blocks = (to: bigint) =>
    Array.from({ length: Number(to) }, (_, index) => [BigInt(index) + 1n, BigInt(index) + 3n] as const);

  it("counts from the height at which it must be read again, and not from its last result", () => {
    expect(latenessOf(state, present(54n, blocks(52n)))).toMatchObject({ dueHeight: 55n, blocks: 0n, ms: 0 });
    expect(latenessOf(state, present(55n, blocks(53n)))).toMatchObject({ blocks: 0n, isOverdue: false });
    expect(latenessOf(state, present(58n, blocks(56n)))).toMatchObject({ dueHeight: 55n, blocks: 3n });
    // Nobody has read it: its value may have changed.
    expect([66n, 67n].map((height) => latenessOf(state, present(height, blocks(60n))).isOverdue)).toEqual([
      false,
      true,
    ]);
  });

  it("counts from the newer remote block that it needs, and without one from the height of the required result", () => {
    const late = [...blocks(51n), [52n, 80n]] as const;
    expect(latenessOf(state, present(79n, blocks(51n)))).toMatchObject({ dueHeight: 110n, blocks: 0n });
    expect(latenessOf(state, present(82n, late))).toMatchObject({ dueHeight: 81n, blocks: 1n });
    const tooLate = [...blocks(51n), [52n, 120n]] as const;
    expect(latenessOf(state, present(121n, tooLate))).toMatchObject({ dueHeight: 110n, blocks: 11n });
    const halted = [110n, 112n, 121n, 122n].map((height) => latenessOf(state, present(height, blocks(51n))));
    expect(halted.map((one) => [one.blocks, one.isOverdue])).toEqual([
      [0n, false],
      [2n, false],
      [11n, false],
      [12n, true],
    ]);
  });
});

describe("height marks", () => {
  it("find the first sight of a height, drop the oldest, and ignore lower heights", () => {
    const marks = createHeightMarks(4);
    expect(marks.firstFrom(1n)).toBeUndefined();
    for (const height of [5n, 7n, 6n, 9n]) marks.add({ height, atMs: Number(height), localHeight: 0n });
    expect([1n, 5n, 6n, 7n, 8n, 9n].map((height) => marks.firstFrom(height)?.height)).toEqual([
      5n,
      5n,
      7n,
      7n,
      9n,
      9n,
    ]);
    expect(marks.firstFrom(10n)).toBeUndefined();
    for (const height of [10n, 11n]) marks.add({ height, atMs: 0, localHeight: 0n });
    expect(marks.firstFrom(1n)?.height).toBe(9n);
    marks.clear();
    expect(marks.firstFrom(1n)).toBeUndefined();
  });

  it("have a block time after a gap of more blocks than the mean is over", () => {
    const marks = createHeightMarks(10);
    for (const [height, atMs] of [
      [1n, 0],
      [2n, 1_000],
      [502n, 501_000],
    ] as const)
      marks.add({ height, atMs, localHeight: height });
    expect(marks.blockMs()).toBe(1_000);
    marks.add({ height: 503n, atMs: 503_000, localHeight: 503n });
    expect(marks.blockMs()).toBe(2_000);
  });
});
