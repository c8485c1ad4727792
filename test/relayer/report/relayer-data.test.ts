import { describe, expect, it } from "vitest";
import { ATTEMPTS, parseKeyCounts, readRelayerData } from "../../../src/relayer/report/relayer-data.ts";
import { costsByOwner, relayerReport } from "../../../src/relayer/report/relayer-report.ts";
import { formatCount } from "../../../src/platform/base/text.ts";
import type { Attempt, AttemptFilter, AttemptLog } from "../../../src/relayer/state/attempt.ts";
import { sampleRelayerData, summaryOf } from "../../support/report/sample-attempts.ts";

const [SAMPLE = expect.unreachable("no attempt")] = sampleRelayerData(1_000_000_000).attempts;

const NOTHING = { deadLetters: [], keys: new Map<bigint, number>() };

function logOf(attempts: readonly Attempt[]) {
  return {
    find: async ({ sinceMs = 0, untilMs = Infinity, limit }: AttemptFilter) =>
      attempts
        .filter(({ startedAtMs }) => startedAtMs >= sinceMs && startedAtMs < untilMs)
        .toSorted((a, b) => b.startedAtMs - a.startedAtMs)
        .slice(0, Math.min(limit, 1000)),
    summary: async (range: Parameters<AttemptLog["summary"]>[0]) => summaryOf(attempts, range),
    costs: async () => [{ day: 1, owner: "o", attempts: 9, included: 8, gas: 7n, fee: 6n }],
  };
}

const attemptsAt = (count: number, atMs: (index: number) => number): readonly Attempt[] =>
  Array.from({ length: count }, (_, index) => ({
    ...SAMPLE,
    outcome: "included",
    queryId: BigInt(index),
    startedAtMs: atMs(index),
  }));

describe("the data of a relayer report", () => {
  it.each([0, 1, 999, 1000, 1001, 3500])("have all of %i attempts once, in pages", async (count) => {
    const log = logOf(attemptsAt(count, (index) => 1000 + Math.floor(index / 3)));
    const data = await readRelayerData(log, NOTHING, { fromMs: 1000, toMs: 9_000_000 });
    expect(new Set(data.attempts.map(({ queryId }) => queryId)).size).toBe(count);
    expect(data.attempts).toHaveLength(count);
    expect(data.isCut).toBe(false);
  });

  it("say when attempts are left out, and use the costs of days then", async () => {
    for (const attempts of [attemptsAt(25_000, (index) => index), attemptsAt(1500, () => 5)]) {
      const data = await readRelayerData(logOf(attempts), NOTHING, { fromMs: 0, toMs: 9_000_000 });
      expect(data.isCut).toBe(true);
      expect(costsByOwner(data)).toEqual([expect.objectContaining({ owner: "o", attempts: 9, fee: 6n })]);
      const text = JSON.stringify(relayerReport(data).blocks);
      expect(text).toContain("Costs cover whole days");
      // Head, chart and table are those of the whole time.
      const { length } = attempts;
      expect(text).toContain(`${length} attempts, ${length} results`);
      expect(text).toContain(`["included","${formatCount(length)}"]`);
      expect(relayerReport(data).data).toMatchObject({ outcomes: { included: length } });
    }
    const older = attemptsAt(25_000, (index) => (index < 5_000 ? 1_000_000 : 8_000_000));
    const [, chart] = relayerReport(
      await readRelayerData(logOf(older), NOTHING, { fromMs: 0, toMs: 9_000_000 }),
    ).blocks;
    expect(JSON.stringify(chart)).toContain("most: 20000 in");
    expect(JSON.stringify(chart)).toMatch(/"bars":".*[^ ▁].*[^ ▁]/);
  });

  it("are fine when a result is on the chain, or one with the same values", async () => {
    const outcomeAfter = async (outcome: Attempt["outcome"]) => {
      const attempts = attemptsAt(2, () => 5).map((attempt) => ({ ...attempt, outcome }));
      return relayerReport(await readRelayerData(logOf(attempts), NOTHING, { fromMs: 0, toMs: 9 })).outcome;
    };
    for (const outcome of ["included", "redundant", "unchanged"] as const)
      expect(await outcomeAfter(outcome), outcome).toBe("fine");
    expect(await outcomeAfter("not-broadcast")).toBe("problem");
  });

  it("separate what the contracts use: the rest of the gas after the chain's for each key and the transactions'", async () => {
    const at = (gas: bigint, fields: Partial<Attempt>): Attempt => ({
      ...SAMPLE,
      outcome: "included",
      gas,
      fee: gas / 100n,
      ...fields,
    });
    const later = (SAMPLE.localHeight ?? 0n) + 1n;
    const attempts = [
      // 195,000 of the 390,000 are the transaction's, so half of each share.
      at(240_000n, { queryId: 1n, owner: "a", txHash: "AA" }),
      at(150_000n, { queryId: 2n, owner: "b", txHash: "AA" }),
      // A second client update.
      at(280_000n, { queryId: 3n, owner: "c", txHash: "BB", remoteHeight: 9n }),
      at(280_000n, { queryId: 3n, owner: "c", txHash: "BB", connectionId: "connection-1" }),
      // A later block, for which the first transaction has updated the client.
      at(203_200n, { queryId: 6n, owner: "f", txHash: "EE", localHeight: later }),
      // The update of a transaction that failed is not there for the next one.
      at(300_000n, { queryId: 7n, owner: "g", txHash: "FF", remoteHeight: 10n, outcome: "rejected" }),
      at(288_200n, { queryId: 8n, owner: "g", txHash: "GG", remoteHeight: 10n, localHeight: later }),
      at(500_000n, { queryId: 4n, owner: "d", txHash: "CC", outcome: "rejected" }),
      at(0n, { queryId: 5n, owner: "e", txHash: undefined, outcome: "read-failed" }),
    ];
    const keys = new Map([
      [1n, 1],
      [2n, 2],
    ]);
    const data = await readRelayerData(logOf(attempts), { deadLetters: [], keys }, { fromMs: 0, toMs: 9e15 });
    const callbacks = Object.fromEntries(costsByOwner(data).map((cost) => [cost.owner, cost.callbackGas]));
    expect(callbacks).toEqual({
      a: 120_000n - 28_200n,
      b: 75_000n - 2n * 28_200n,
      c: 560_000n - 280_000n - 2n * 28_200n,
      d: 0n,
      e: undefined,
      f: 203_200n - 110_000n - 28_200n,
      g: 288_200n - 195_000n - 28_200n,
    });
  });

  it("have the callbacks' part of days from the attempts that were read", async () => {
    const [most = expect.unreachable("no cost"), unread] = costsByOwner({
      ...sampleRelayerData(1_000_000_000),
      isCut: true,
      costs: [
        { day: 1, owner: "neutron1contract-b", attempts: 9, included: 8, gas: 10_000_000n, fee: 6n },
        { day: 1, owner: "neutron1unread", attempts: 9, included: 8, gas: 7n, fee: 5n },
      ],
    });
    expect(most.owner).toBe("neutron1contract-b");
    // Of about 121,300 gas, 10.8 % are the transaction's, and the chain's are those of 1.51 keys.
    expect(Number(most.callbackGas) / 1e7).toBeCloseTo(1 - 0.108 - (1.51 * 28_200) / 121_300, 2);
    expect(unread).toMatchObject({ owner: "neutron1unread", callbackGas: undefined });
  });

  it("have the number of keys of KV queries, also when an older relayer does not say it", () => {
    const common = { type: "kv", owner: "o" };
    const found = parseKeyCounts([
      { ...common, id: "1", key_count: 3 },
      { ...common, id: "2" },
      { ...common, id: "3", type: "tx", key_count: 0 },
    ]);
    expect([...found]).toEqual([[1n, 3]]);
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
    expect(ATTEMPTS.parse(attempts).map(({ outcome }) => outcome)).toEqual(["included", "not-broadcast"]);
  });

  it.each([
    ["fine", { deadLetters: [] }],
    ["problem", {}],
    [
      "problem",
      {
        summary: { outcomes: [{ outcome: "not-broadcast", part: 0, attempts: 1 }], lateness: [] },
        deadLetters: [],
      },
    ],
    ["unseen", { summary: { outcomes: [], lateness: [] }, deadLetters: [] }],
  ] as const)("are %s", (outcome, change) => {
    expect(relayerReport({ ...sampleRelayerData(1_000_000_000), ...change }).outcome).toBe(outcome);
  });
});

describe("the lateness in a relayer report", () => {
  const blocksOf = (lateness: readonly (readonly [blocks: number, attempts: number])[]): unknown => {
    const data = sampleRelayerData(1_000_000_000);
    const summary = {
      ...data.summary,
      lateness: lateness.map(([blocks, attempts]) => ({ blocks, attempts })),
    };
    return relayerReport({ ...data, summary }).data["lateness_blocks"];
  };

  it("is that of the result in the middle, and of the last twentieth, whatever their order", () => {
    const each = Array.from({ length: 100 }, (_, index) => [99 - index, 1] as const);
    expect(blocksOf(each)).toEqual({ p50: 50, p95: 95, max: 99 });
    expect(blocksOf([[7, 1]])).toEqual({ p50: 7, p95: 7, max: 7 });
    expect(
      blocksOf([
        [4, 6],
        [0, 94],
      ]),
    ).toEqual({ p50: 0, p95: 4, max: 4 });
    expect(
      blocksOf([
        [4, 5],
        [0, 95],
      ]),
    ).toEqual({ p50: 0, p95: 4, max: 4 });
  });
});
