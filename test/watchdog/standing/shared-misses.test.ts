import { describe, expect, it } from "vitest";
import { createGrowthTracker } from "../../../src/watchdog/sources/slashing-reader.ts";
import type { VoteReports } from "../../../src/watchdog/sources/observation.ts";
import { createCommitTracker, createVoteTracker } from "../../../src/watchdog/sources/shared-misses.ts";

describe("createCommitTracker", () => {
  const members = [
    { address: "own", votingPower: 10n },
    { address: "a", votingPower: 50n },
    { address: "b", votingPower: 30n },
    { address: "c", votingPower: 10n },
  ];
  const commit = (height: number, ...missing: readonly string[]) => ({
    height: BigInt(height),
    missing: new Set(missing),
  });

  it("compares the commits that the validator missed", () => {
    const track = createCommitTracker("own");
    track(commit(1, "a", "b"), members);
    track(commit(2, "own", "b"), members);
    track(commit(3, "own", "b", "c"), members);
    const shared = track(commit(4, "own", "a", "b"), members);
    // a and c missed one of three, b all.
    expect(shared).toEqual({
      seen: 4,
      missed: 3,
      others: 3,
      missing: 1,
      power: { others: 90n, missing: 30n },
    });
  });

  it("compares all commits while the validator missed none, and says who is alone", () => {
    const track = createCommitTracker("own");
    track(commit(1, "a"), members);
    expect(track(commit(2, "a"), members)).toMatchObject({ seen: 2, missed: 0, missing: 1 });
    expect(createCommitTracker("own")(commit(1, "own"), members)).toMatchObject({ missed: 1, missing: 0 });
  });

  it("sees a commit once, and forgets all but the last ten", () => {
    const track = createCommitTracker("own");
    for (let poll = 0; poll < 3; poll++) track(commit(1, "own", "a"), members);
    expect(track(commit(1, "own", "a"), members)).toMatchObject({ seen: 1, missed: 1 });
    for (let height = 2; height < 11; height++) track(commit(height), members);
    expect(track(commit(11), members)).toMatchObject({ seen: 10, missed: 0 });
  });
});

describe("createVoteTracker", () => {
  const votes = (total: number, missed: number): VoteReports => ({
    total: BigInt(total),
    absent: 0n,
    withPrice: BigInt(total - missed),
  });
  const page = (all: Readonly<Record<string, VoteReports>>) => new Map(Object.entries(all));

  it("compares the votes of the last half minute", () => {
    const track = createVoteTracker("own");
    expect(track(page({ own: votes(100, 0), a: votes(100, 50), b: votes(90, 0) }), 0)).toEqual({});
    track(page({ own: votes(110, 5), a: votes(110, 50), b: votes(90, 0) }), 10_000);
    const { sharedVotes, voteComparison } = track(
      page({ own: votes(140, 35), a: votes(140, 85), b: votes(90, 0) }),
      40_000,
    );
    // b is not in the set any more: its counts stand still. The reading of 10,000 is the oldest one of the window.
    expect(sharedVotes).toEqual({ seen: 30, missed: 30, others: 1, missing: 1 });
    expect(voteComparison).toMatchObject({
      measure: "votes",
      own: { good: 105n, total: 140n },
      rank: 1,
      compared: 2,
    });
  });

  it("says that the validator is alone", () => {
    const track = createVoteTracker("own");
    track(page({ own: votes(10, 0), a: votes(10, 0), b: votes(10, 0) }), 0);
    const { sharedVotes } = track(page({ own: votes(20, 10), a: votes(20, 4), b: votes(20, 0) }), 10_000);
    expect(sharedVotes).toEqual({ seen: 10, missed: 10, others: 2, missing: 0 });
  });

  it("compares the last two polls when they are further apart, but not after a long gap", () => {
    const track = createVoteTracker("own");
    track(page({ own: votes(10, 0), a: votes(10, 0) }), 0);
    expect(track(page({ own: votes(20, 10), a: votes(20, 10) }), 60_000).sharedVotes).toMatchObject({
      seen: 10,
    });
    expect(track(page({ own: votes(30, 10), a: votes(30, 10) }), 400_000)).toEqual({});
  });

  it("begins again when the counters do", () => {
    const track = createVoteTracker("own");
    track(page({ own: votes(100, 0), a: votes(100, 0) }), 0);
    expect(track(page({ own: votes(3, 0), a: votes(3, 0) }), 10_000)).toEqual({});
    expect(track(page({ own: votes(13, 0), a: votes(13, 0) }), 20_000).sharedVotes).toMatchObject({
      seen: 10,
    });
    expect(track(page({ a: votes(20, 0) }), 25_000)).toEqual({});
  });
});

describe("createGrowthTracker", () => {
  const info = (indexOffset: number, missedBlocks: number, startHeight = 1) => ({
    startHeight: BigInt(startHeight),
    indexOffset: BigInt(indexOffset),
    missedBlocks: BigInt(missedBlocks),
    jailedUntilMs: 0,
    isTombstoned: false,
  });

  it("has the quickest growth of the last minute and of the last five", () => {
    const growth = createGrowthTracker();
    expect(growth(info(1000, 0), 0)).toBeUndefined();
    // Nine blocks are too few.
    expect(growth(info(1009, 9), 9000)).toBeUndefined();
    expect(growth(info(1030, 30), 30_000)).toEqual({ missed: 30n, blocks: 30n, isOver: false });
    for (let second = 35; second <= 240; second += 5) growth(info(1000 + second, 30), second * 1000);
    // In the last minute nothing was missed; in the last five, 30 blocks were, until they are older.
    expect(growth(info(1245, 30), 245_000)).toEqual({ missed: 30n, blocks: 245n, isOver: true });
    expect(growth(info(1340, 30), 340_000)).toEqual({ missed: 0n, blocks: 300n, isOver: true });
    // A burst is quicker in the last minute.
    expect(growth(info(1360, 50), 360_000)).toEqual({ missed: 20n, blocks: 20n, isOver: false });
  });

  it("is negative while old misses leave the window", () => {
    const growth = createGrowthTracker();
    growth(info(1000, 50), 0);
    expect(growth(info(1020, 30), 20_000)).toEqual({ missed: -20n, blocks: 20n, isOver: true });
  });

  it.each([
    ["a release from jail", info(5, 0)],
    ["another entry into the set", info(1100, 0, 900)],
  ])("begins again with %s", (_case, next) => {
    const growth = createGrowthTracker();
    growth(info(1000, 50), 0);
    expect(growth(next, 20_000)).toBeUndefined();
  });
});
