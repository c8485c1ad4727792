import { describe, expect, it } from "vitest";
import { BLOCK_ID_FLAG } from "../../src/cosmos/comet/block-types.ts";
import type { BlockIDFlag } from "../../src/cosmos/proto/gen/tendermint/types/validator.ts";
import { SignedHeader } from "../../src/cosmos/proto/gen/tendermint/types/types.ts";
import {
  type HeaderPath,
  isTrusted,
  MAX_HEADERS,
  planHeaderPath,
  type SignedBlock,
  signedBlock,
} from "../../src/relayer/connection/intermediate-headers.ts";

const THIRD = { numerator: 1n, denominator: 3n };

/** A chain whose block N has the validators `validatorsAt(N)`, each with power 10. All sign. */
type Chain = (height: bigint) => readonly string[];

function blockOf(names: readonly string[]): SignedBlock {
  return { signers: new Set(names), validators: new Map(names.map((name) => [name, 10n])) };
}

/** Reads what the plan asks for until it is known. */
function follow(chain: Chain, from: bigint, to: bigint) {
  const blocks = new Map<bigint, SignedBlock>();
  let reads = 0;
  let path: HeaderPath = planHeaderPath({ from, to }, blocks, THIRD);
  while (path.kind === "read") {
    expect(blocks.has(path.height)).toBe(false);
    blocks.set(path.height, blockOf(chain(path.height)));
    reads += 1;
    path = planHeaderPath({ from, to }, blocks, THIRD);
  }
  return { heights: path.heights, reads };
}

/** Whether a client at `from` accepts each header in turn. */
function isAccepted(chain: Chain, from: bigint, heights: readonly bigint[]): boolean {
  return heights.every((height, index) => {
    const trusted = heights[index - 1] ?? from;
    const validators = chain(trusted + 1n);
    const signed = chain(height).filter((name) => validators.includes(name)).length;
    return height > trusted && (height === trusted + 1n || signed * 3 > validators.length);
  });
}

describe("planHeaderPath", () => {
  it("needs no header on the way while enough of the trusted validators sign", () => {
    expect(follow(() => ["a", "b"], 10n, 5_000n)).toEqual({ heights: [5_000n], reads: 2 });
  });

  it("goes over the last block of the old validators: the block after it names the new ones", () => {
    const chain: Chain = (height) => (height < 700n ? ["a"] : ["b"]);
    const { heights, reads } = follow(chain, 10n, 1_000_010n);
    expect(heights).toEqual([699n, 1_000_010n]);
    expect(isAccepted(chain, 10n, heights)).toBe(true);
    expect(reads).toBeLessThan(60);
  });

  it("takes few headers when the validators change slowly", () => {
    // One of ten is replaced every ten blocks.
    const chain: Chain = (height) => Array.from({ length: 10 }, (_, at) => `${height / 10n + BigInt(at)}`);
    const { heights } = follow(chain, 100n, 400n);
    expect(isAccepted(chain, 100n, heights)).toBe(true);
    expect(heights.length).toBeLessThan(9);
    expect(heights.at(-1)).toBe(400n);
  });

  it("ends after a bounded number of headers, and goes on from there", () => {
    const chain: Chain = (height) => [`${height}`];
    const first = follow(chain, 10n, 50n);
    expect(first.heights).toHaveLength(MAX_HEADERS);
    expect(first.heights).toEqual(first.heights.map((_, index) => 11n + BigInt(index)));
    let at = 10n;
    for (let paths = 0; at < 50n && paths < 5; paths++) at = follow(chain, at, 50n).heights.at(-1) ?? at;
    expect(at).toBe(50n);
  });

  it("accepts the next block whatever its signers are, as its validators are known", () => {
    expect(follow((height) => [`${height}`], 10n, 11n).heights).toEqual([11n]);
  });
});

describe("isTrusted", () => {
  const powers = (entries: readonly (readonly [string, bigint])[]) => new Map(entries);
  it.each<readonly [string, readonly (readonly [string, bigint])[], readonly string[], boolean]>([
    [
      "more than a third",
      [
        ["a", 34n],
        ["b", 66n],
      ],
      ["a"],
      true,
    ],
    [
      "exactly a third",
      [
        ["a", 1n],
        ["b", 2n],
      ],
      ["a"],
      false,
    ],
    [
      "a third, rounded down as CometBFT does",
      [
        ["a", 34n],
        ["b", 67n],
      ],
      ["a"],
      true,
    ],
    ["strangers only", [["a", 1n]], ["b", "c"], false],
    [
      "all",
      [
        ["a", 1n],
        ["b", 1n],
      ],
      ["a", "b", "c"],
      true,
    ],
  ])("says whether %s of the trusted power signed", (_case, trusted, signers, expected) => {
    expect(isTrusted(powers(trusted), { signers: new Set(signers) }, THIRD)).toBe(expected);
  });

  it("uses the trust level of the client", () => {
    const trusted = powers([
      ["a", 60n],
      ["b", 40n],
    ]);
    const signed = { signers: new Set(["a"]) };
    expect(isTrusted(trusted, signed, { numerator: 2n, denominator: 3n })).toBe(false);
    expect(isTrusted(trusted, signed, THIRD)).toBe(true);
  });
});

describe("signedBlock", () => {
  it("counts validators that voted for the block as signers, and none that were absent or voted for none", () => {
    const vote = (blockIdFlag: BlockIDFlag, name: number) => ({
      blockIdFlag,
      validatorAddress: Uint8Array.of(name),
      timestamp: undefined,
      signature: new Uint8Array(),
    });
    const { absent, commit, nil } = BLOCK_ID_FLAG;
    const signatures = [vote(absent, 1), vote(commit, 2), vote(nil, 3)];
    const header = SignedHeader.encode({
      header: undefined,
      commit: { height: 5n, round: 0, blockId: undefined, signatures },
    });
    const empty = new Uint8Array();
    const block = { height: 5n, timeNs: 0n, appHash: empty, validatorSet: empty };
    expect([...signedBlock({ ...block, signedHeader: header.finish() }).signers]).toEqual(["02"]);
    expect([...signedBlock({ ...block, signedHeader: empty }).signers]).toEqual([]);
  });
});
