import { describe, expect, it } from "vitest";
import { createActivity } from "../../../src/relayer/page/activity.ts";
import type { EndedAttempt } from "../../../src/relayer/state/attempt.ts";

const MINUTE = 60_000;
const START = 1_000 * MINUTE;

const ATTEMPT: EndedAttempt = {
  queryId: 1n,
  connectionId: "connection-0",
  owner: "neutron1owner",
  type: "kv",
  startedAtMs: START,
  durationMs: 400,
  dueHeight: 5n,
  remoteHeight: 4n,
  txHash: "AA",
  outcome: "included",
  reason: undefined,
  localHeight: 6n,
  gas: 10n,
  fee: 2n,
  simulations: 1,
};

function scene() {
  const clock = { nowMs: START };
  const activity = createActivity(() => clock.nowMs);
  const passedOn: EndedAttempt[] = [];
  const sink = activity.sink({ note: (attempts) => passedOn.push(...attempts) });
  const note = (...attempts: readonly Partial<EndedAttempt>[]) =>
    sink.note(attempts.map((attempt) => ({ ...ATTEMPT, ...attempt })));
  return { clock, activity, note, passedOn };
}

describe("the activity of the last hour", () => {
  it("counts results, failures, transactions, client updates and gas by minute, and passes attempts on", () => {
    const { clock, activity, note, passedOn } = scene();
    note({}, { queryId: 2n }, { txHash: "BB" }, { txHash: "CC", remoteHeight: 5n });
    clock.nowMs += MINUTE;
    note(
      { outcome: "rejected", txHash: undefined, localHeight: undefined, gas: 0n, fee: 0n },
      { outcome: "superseded", txHash: undefined, localHeight: undefined, gas: 0n, fee: 0n },
      { outcome: "redundant", txHash: undefined, localHeight: undefined, gas: 0n, fee: 0n },
      { outcome: "unchanged", txHash: undefined, localHeight: undefined, gas: 0n, fee: 0n },
    );
    expect(activity.samples().slice(-3)).toEqual([
      undefined,
      { startMs: START, included: 4, failed: 0, transactions: 3, updates: 2, gas: 40n },
      { startMs: START + MINUTE, included: 0, failed: 1, transactions: 0, updates: 0, gas: 0n },
    ]);
    expect(passedOn).toHaveLength(8);
  });

  it("has one sample for each minute, also for those without an attempt, and forgets older ones", () => {
    const { clock, activity, note } = scene();
    expect(activity.samples().filter((sample) => sample !== undefined)).toHaveLength(1);
    note({});
    clock.nowMs += 59 * MINUTE;
    expect(activity.samples()[0]).toMatchObject({ startMs: START, included: 1 });
    clock.nowMs += MINUTE;
    note({});
    expect(activity.samples()).toHaveLength(60);
    expect(activity.samples().reduce((sum, sample) => sum + (sample?.included ?? 0), 0)).toBe(1);
  });

  it("does not show samples of the future after the clock was set back", () => {
    const { clock, activity, note } = scene();
    clock.nowMs += 30 * MINUTE;
    note({});
    clock.nowMs = START + MINUTE;
    note({});
    expect(activity.samples().reduce((sum, sample) => sum + (sample?.included ?? 0), 0)).toBe(1);
  });

  it("adds up the cost of each query", () => {
    const { activity, note } = scene();
    note({}, {}, { queryId: 2n, gas: 0n, fee: 0n, outcome: "not-broadcast" });
    expect(activity.costOf(1n)).toEqual({ gas: 20n, fee: 4n });
    expect(activity.costOf(2n)).toBeUndefined();
  });

  it("keeps a bounded number of costs", () => {
    const { activity, note } = scene();
    note(...Array.from({ length: 20_001 }, (_, index) => ({ queryId: BigInt(index) })));
    expect(activity.costOf(0n)).toBeUndefined();
    expect(activity.costOf(20_000n)).toBeDefined();
  });
});
