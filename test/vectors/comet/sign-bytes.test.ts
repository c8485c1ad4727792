import { describe, expect, it } from "vitest";
import { toHex } from "../../../src/base/bytes.ts";
import { BLOCK_ID_FLAG } from "../../../src/comet/block-types.ts";
import { commitSignBytes, VOTE_TYPE, voteSignBytes } from "../../../src/comet/commit-bytes.ts";
import { verifyEd25519 } from "../../../src/comet/ed25519.ts";
import { readRecordedChain, recordedBlock } from "../../support/comet/recorded-chain.ts";

describe("sign bytes", () => {
  const chains = [readRecordedChain("test-1"), readRecordedChain("test-2")];
  const blocks = chains.flatMap(({ blocks: of }) => [...of.values()]);

  it("of all recorded votes carry the recorded signatures", () => {
    let votes = 0;
    for (const { header, commit, validatorSet } of blocks) {
      for (const [index, sig] of commit.signatures.entries()) {
        if (sig.flag !== BLOCK_ID_FLAG.commit) continue;
        const bytes = voteSignBytes({
          type: VOTE_TYPE.precommit,
          height: commit.height,
          round: commit.round,
          blockId: commit.blockId,
          timestampNs: sig.timestampNs,
          chainId: header.chainId,
        });
        expect(toHex(commitSignBytes(header.chainId, commit)(index))).toBe(toHex(bytes));
        const key = validatorSet.validators[index]?.publicKey ?? new Uint8Array(0);
        expect(verifyEd25519(key, bytes, sig.signature)).toBe(true);
        votes += 1;
      }
    }
    // 14 and 29 blocks, each with one signer
    expect(votes).toBe(14 + 29);
  });

  it("of a vote for nil leave out the block", () => {
    const [chain] = chains;
    if (chain === undefined) throw new Error("no chain");
    const { commit } = recordedBlock(chain, 2n);
    const vote = {
      type: VOTE_TYPE.prevote,
      height: 1n,
      round: 0,
      timestampNs: 0n,
      chainId: "c",
      blockId: undefined,
    };
    // type 1, height 1 as sfixed64, an empty time, the chain id; no field 4
    expect(toHex(voteSignBytes(vote))).toBe("1008011101000000000000002a00320163");
    const nil = {
      ...commit,
      signatures: commit.signatures.map((sig) => ({ ...sig, flag: BLOCK_ID_FLAG.nil })),
    };
    expect(commitSignBytes("c", nil)(0).length).toBeLessThan(commitSignBytes("c", commit)(0).length);
  });
});
