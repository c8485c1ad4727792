import { describe, expect, it } from "vitest";
import { parseAttempts, readRelayerData } from "../../../src/relayer/report/relayer-data.ts";
import { costsByOwner, relayerReport } from "../../../src/relayer/report/relayer-report.ts";
import type { Attempt, AttemptFilter } from "../../../src/relayer/state/attempt.ts";
import { sampleRelayerData } from "../../support/report/sample-attempts.ts";

const [SAMPLE = expect.unreachable("no attempt")] = sampleRelayerData(1_000_000_000).attempts;

function logOf(attempts: readonly Attempt[]) {
  return {
    find: async ({ sinceMs = 0, untilMs = Infinity, limit }: AttemptFilter) =>
      attempts
        .filter(({ startedAtMs }) => startedAtMs >= sinceMs && startedAtMs < untilMs)
        .toSorted((a, b) => b.startedAtMs - a.startedAtMs)
        .slice(0, Math.min(limit, 1000)),
    costs: async () => [{ day: 1, owner: "o", attempts: 9, included: 8, gas: 7n, fee: 6n }],
  };
}

const attemptsAt = (count: number, atMs: (index: number) => number): readonly Attempt[] =>
  Array.from({ length: count }, (_, index) => ({
    ...SAMPLE,
    queryId: BigInt(index),
    startedAtMs: atMs(index),
  }));

describe("the data of a relayer report", () => {
  it.each([0, 1, 999, 1000, 1001, 3500])("have all of %i attempts once, in pages", async (count) => {
    const log = logOf(attemptsAt(count, (index) => 1000 + Math.floor(index / 3)));
    const data = await readRelayerData(log, [], { fromMs: 1000, toMs: 9_000_000 });
    expect(new Set(data.attempts.map(({ queryId }) => queryId)).size).toBe(count);
    expect(data.attempts).toHaveLength(count);
    expect(data.isCut).toBe(false);
  });

  it("say when attempts are left out, and use the costs of days then", async () => {
    for (const attempts of [attemptsAt(25_000, (index) => index), attemptsAt(1500, () => 5)]) {
      const data = await readRelayerData(logOf(attempts), [], { fromMs: 0, toMs: 9_000_000 });
      expect(data.isCut).toBe(true);
      expect(costsByOwner(data)).toEqual([expect.objectContaining({ owner: "o", attempts: 9, fee: 6n })]);
      expect(JSON.stringify(relayerReport(data).blocks)).toContain("Older attempts are left out");
    }
  });

  it("take an outcome of a newer relayer for one that was not broadcast", () => {
    const wire = {
      query_id: "1",
      connection_id: "connection-0",
      owner: "o",
      type: "kv",
      started_at: "2026-10-01T00:00:00.000Z",
      due_height: "5",
      remote_height: null,
      tx_hash: null,
      reason: null,
      local_height: null,
      gas: "0",
      fee: "0",
      simulations: 0,
    };
    const attempts = ["included", "teleported"].map((outcome) => ({ ...wire, outcome }));
    expect(parseAttempts(attempts).map(({ outcome }) => outcome)).toEqual(["included", "not-broadcast"]);
  });

  it.each([
    ["fine", { deadLetters: [] }],
    ["problem", {}],
    ["problem", { attempts: [{ ...SAMPLE, outcome: "not-broadcast" }], deadLetters: [] }],
    ["unseen", { attempts: [], deadLetters: [] }],
  ] as const)("are %s", (outcome, change) => {
    expect(relayerReport({ ...sampleRelayerData(1_000_000_000), ...change }).outcome).toBe(outcome);
  });
});
