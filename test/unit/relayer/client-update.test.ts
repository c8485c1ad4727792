import { revisionOfChainId } from "../../../src/comet/chain-revision.ts";
import { describe, expect, it } from "vitest";
import type { LightBlockBytes } from "../../../src/client/chain-client.ts";
import {
  createTrustFinder,
  knowsHeight,
  type TrustDeps,
} from "../../../src/relayer/connection/client-update.ts";
import { RelayError } from "../../../src/relayer/relay-error.ts";

const HOUR_NS = 3_600_000_000_000n;
const at = (height: bigint, revision = 2n) => ({ revision, height });
const client = {
  clientId: "07-tendermint-0",
  chainId: "test-2",
  latestHeight: at(100n),
  trustingPeriodNs: HOUR_NS,
};
const signal = new AbortController().signal;

/** Chains on which block N is of minute N; the client holds the given heights. */
function chains(nowMinutes: bigint, heights: readonly bigint[] = []) {
  const asked = { times: 0, heights: 0, blocks: [] as bigint[] };
  const deps: TrustDeps = {
    nowNs: () => nowMinutes * (HOUR_NS / 60n),
    local: {
      consensusTimeNs: async (_id, height) => {
        asked.times += 1;
        return height.height * (HOUR_NS / 60n);
      },
      consensusHeights: async () => {
        asked.heights += 1;
        return [at(9_999n, 1n), ...heights.map((height) => at(height))];
      },
    },
    remote: {
      lightBlock: async (height): Promise<LightBlockBytes> => {
        asked.blocks.push(height);
        const empty = new Uint8Array();
        return {
          height,
          timeNs: 0n,
          appHash: empty,
          signedHeader: empty,
          validatorSet: Uint8Array.of(Number(height)),
        };
      },
    },
  };
  return { deps, asked };
}

describe("finding what a client trusts", () => {
  it("is the latest height for what is above it, with the validators of the block after", async () => {
    const { deps, asked } = chains(120n);
    const finder = createTrustFinder(deps, client, signal);
    expect(await finder.below(at(150n))).toEqual({ height: at(100n), validatorSet: Uint8Array.of(101) });
    await finder.below(at(151n));
    expect(asked).toEqual({ times: 1, heights: 0, blocks: [101n] });
  });

  it("compares heights as numbers, of its revision alone, strictly below", async () => {
    const { deps, asked } = chains(120n, [9n, 100n, 90n, 80n]);
    const finder = createTrustFinder(deps, client, signal);
    expect((await finder.below(at(100n))).height).toEqual(at(90n));
    expect((await finder.below(at(90n))).height).toEqual(at(80n));
    expect(asked.heights).toBe(1);
  });

  it.each<readonly [string, bigint, bigint]>([
    ["nothing is below", 5n, 60n],
    ["what is below is no longer trusted", 100n, 160n],
    ["what is below is trusted for less than five minutes more", 150n, 155n],
  ])("refuses when %s", async (_what, height, nowMinutes) => {
    const { deps } = chains(nowMinutes, [90n]);
    const found = createTrustFinder(deps, client, signal).below(at(height));
    await expect(found).rejects.toSatisfy(
      (error) => error instanceof RelayError && error.facts.code === "no-trusted-height",
    );
  });
});

describe("knowsHeight", () => {
  it("wants revision and height", () => {
    expect([at(100n), at(101n), at(100n, 3n)].map((height) => knowsHeight(client, height))).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe("revisionOf", () => {
  it("reads the ending of a chain id as IBC does", () => {
    const ids = ["test-2", "neutron-1", "a-b-12", "chain", "chain-0", "chain-01", "-1", "a--1"];
    expect(ids.map(revisionOfChainId)).toEqual([2n, 1n, 12n, 0n, 0n, 0n, 0n, 0n]);
  });
});
