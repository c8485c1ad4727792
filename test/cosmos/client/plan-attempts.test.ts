import { describe, expect, it } from "vitest";
import { planAttempts } from "../../../src/cosmos/client/endpoint-pool.ts";

type Candidate = Parameters<typeof planAttempts>[0][number];

function candidate(fields: Partial<Candidate> = {}, earliestHeight = 1n, catchingUp = false): Candidate {
  const status = { chainId: "a-1", latestHeight: 100n, latestTimeNs: 0n, earliestHeight, catchingUp };
  return {
    isSilent: false,
    restMs: 0,
    status,
    latencyMs: 20,
    lagBlocks: 0n,
    distrusted: undefined,
    ...fields,
  };
}

const order = (candidates: readonly Candidate[], height?: string): readonly number[] =>
  planAttempts(candidates, "commit", height === undefined ? {} : { height });

describe("planAttempts", () => {
  it("keeps the configured order of sound endpoints", () => {
    expect(
      order([candidate({ latencyMs: 90 }), candidate({ latencyMs: 3 }), candidate({ lagBlocks: 5n })]),
    ).toEqual([0, 1, 2]);
    expect(order([candidate({ status: undefined, latencyMs: undefined }), candidate()])).toEqual([0, 1]);
  });

  it("puts a clearly slower endpoint after a faster one", () => {
    expect(order([candidate({ latencyMs: 400 }), candidate({ latencyMs: 150 }), candidate()])).toEqual([
      2, 1, 0,
    ]);
  });

  it("puts endpoints that are behind or catching up after slow ones, and resting ones last", () => {
    const resting = candidate({ restMs: 50 });
    const behind = candidate({ lagBlocks: 6n });
    const syncing = candidate({}, 1n, true);
    const slow = candidate({ latencyMs: 5_000 });
    expect(order([resting, behind, syncing, slow])).toEqual([3, 1, 2, 0]);
    expect(order([candidate({ restMs: 50 }), candidate({ restMs: 20 })])).toEqual([1, 0]);
    const silent = candidate({ isSilent: true });
    expect(order([silent, resting, behind])).toEqual([2, 1, 0]);
  });

  it("puts endpoints that returned a wrong response after all others", () => {
    const distrusted = candidate({ distrusted: "invalid proof" });
    expect(order([distrusted, candidate({ restMs: 50 }), candidate({ lagBlocks: 6n })])).toEqual([2, 1, 0]);
    expect(order([distrusted])).toEqual([0, 0]);
  });

  it("reads a height from an endpoint that has not pruned it", () => {
    const pruned = candidate({}, 80n);
    expect(order([pruned, candidate()], "79")).toEqual([1, 0]);
    expect(order([pruned, candidate()], "80")).toEqual([0, 1]);
    expect(order([pruned, candidate()], "0")).toEqual([0, 1]);
    expect(order([pruned, candidate()])).toEqual([0, 1]);
  });

  it("tries a broadcast once at each endpoint, and a read of a lone endpoint twice", () => {
    expect(planAttempts([candidate({ latencyMs: 900 }), candidate()], "broadcast_tx_sync", {})).toEqual([
      1, 0,
    ]);
    expect(planAttempts([candidate()], "broadcast_tx_sync", {})).toEqual([0]);
    expect(order([candidate()])).toEqual([0, 0]);
  });
});
