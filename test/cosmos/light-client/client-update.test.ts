import { revisionOfChainId } from "../../../src/cosmos/comet/ibc-height.ts";
import { describe, expect, it } from "vitest";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import type { LightBlockBytes } from "../../../src/cosmos/client/chain-client.ts";
import {
  createTrustFinder,
  isUpdatedTo,
  type TrustDeps,
} from "../../../src/cosmos/light-client/client-update.ts";
import { LightClientError } from "../../../src/cosmos/light-client/client-queries.ts";

const HOUR_NS = 3_600_000_000_000n;
const at = (height: bigint, revision = 2n) => ({ revision, height });
const client = {
  clientId: "07-tendermint-0",
  chainId: "test-2",
  latestHeight: at(100n),
  trustingPeriodNs: HOUR_NS,
  trustLevel: { numerator: 1n, denominator: 3n },
};
const signal = new AbortController().signal;

/** Chains whose block N has the time of minute N. The client has consensus states at `heights`. */
function chains(nowMinutes: bigint, heights: readonly bigint[] = [], missing: readonly bigint[] = []) {
  const reads = { times: 0, heights: 0, blocks: [] as bigint[] };
  const deps: TrustDeps = {
    localTimeMs: () => Number(nowMinutes) * 60_000,
    local: {
      consensusState: async (_id, height) => {
        reads.times += 1;
        return {
          timeNs: height.height * (HOUR_NS / 60n),
          nextValidatorsHash: Uint8Array.of(Number(height.height)),
        };
      },
      consensusHeights: async () => {
        reads.heights += 1;
        return [at(9_999n, 1n), ...heights.map((height) => at(height))];
      },
    },
    remote: {
      lightBlock: async (height): Promise<LightBlockBytes> => {
        reads.blocks.push(height);
        if (missing.includes(height))
          throw new ClientError(
            {
              code: "rpc",
              endpoint: "node",
              method: "commit",
              rpcCode: -32603,
              data: `height ${height} is not available, lowest height is 500`,
            },
            "pruned",
          );
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
  return { deps, reads };
}

describe("createTrustFinder", () => {
  it("chooses the latest height for blocks above it, with the validator set of the next block, and reads each once", async () => {
    const { deps, reads } = chains(120n);
    const finder = createTrustFinder(deps, client, signal);
    expect(await finder.below(at(150n))).toEqual({ height: at(100n), validatorSet: Uint8Array.of(101) });
    await finder.below(at(151n));
    expect(reads).toEqual({ times: 1, heights: 0, blocks: [101n] });
  });

  it("compares heights as numbers, within one revision, strictly below", async () => {
    const { deps, reads } = chains(120n, [9n, 100n, 90n, 80n]);
    const finder = createTrustFinder(deps, client, signal);
    expect((await finder.below(at(100n))).height).toEqual(at(90n));
    expect((await finder.below(at(90n))).height).toEqual(at(80n));
    expect(reads.heights).toBe(1);
  });

  it("tries the next trusted height when no endpoint has the header after the first one", async () => {
    const { deps, reads } = chains(120n, [80n, 90n, 100n], [101n]);
    const finder = createTrustFinder(deps, client, signal);
    expect(await finder.below(at(150n))).toEqual({ height: at(90n), validatorSet: Uint8Array.of(91) });
    expect(reads.blocks).toEqual([101n, 91n]);
  });

  it("names the missing headers when no endpoint has any, after a few tries", async () => {
    const listed = [50n, 60n, 70n, 80n, 90n, 100n];
    const { deps, reads } = chains(
      120n,
      listed,
      listed.map((height) => height + 1n),
    );
    await expect(createTrustFinder(deps, client, signal).below(at(150n))).rejects.toThrow(
      "no endpoint of test-2 has the headers 101, 91, 81, 71, which follow the trusted heights of 07-tendermint-0",
    );
    expect(reads.blocks).toHaveLength(4);
  });

  it("does not try other heights after an error of the endpoint", async () => {
    const { deps } = chains(120n, [90n, 100n]);
    const failing = { ...deps, remote: { lightBlock: () => Promise.reject(new Error("broken")) } };
    await expect(createTrustFinder(failing, client, signal).below(at(150n))).rejects.toThrow("broken");
  });

  it.each<readonly [string, bigint, bigint]>([
    ["no height is below", 5n, 60n],
    ["the height below has expired", 100n, 160n],
    ["the height below expires within five minutes", 150n, 155n],
  ])("throws when %s", async (_case, height, nowMinutes) => {
    const { deps } = chains(nowMinutes, [90n]);
    const trust = createTrustFinder(deps, client, signal).below(at(height));
    await expect(trust).rejects.toSatisfy(
      (error) => error instanceof LightClientError && error.facts.code === "no-trusted-height",
    );
  });
});

describe("isUpdatedTo", () => {
  it("compares revision and height", () => {
    expect([at(100n), at(101n), at(100n, 3n)].map((height) => isUpdatedTo(client, height))).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe("revisionOfChainId", () => {
  it("parses the suffix of a chain id as ibc-go does", () => {
    const ids = ["test-2", "neutron-1", "a-b-12", "chain", "chain-0", "chain-01", "-1", "a--1"];
    expect(ids.map(revisionOfChainId)).toEqual([2n, 1n, 12n, 0n, 0n, 0n, 0n, 0n]);
  });
});
