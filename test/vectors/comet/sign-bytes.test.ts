import { describe, expect, it } from "vitest";
import { toHex } from "../../../src/platform/base/bytes.ts";
import { BLOCK_ID_FLAG } from "../../../src/cosmos/comet/block-types.ts";
import { commitSignBytes } from "../../../src/cosmos/comet/block-hashes.ts";
import { verifyFast } from "../../../src/cosmos/comet/validator-key.ts";
import { readRecordedChain, recordedBlock } from "../../support/comet/recorded-chain.ts";

describe("sign bytes", () => {
  const chains = [readRecordedChain("test-1"), readRecordedChain("test-2")];
  const blocks = chains.flatMap((chain) => [...chain.blocks.values()]);

  it("of all recorded votes verify with the recorded signatures", () => {
    let votes = 0;
    for (const { header, commit, validatorSet } of blocks) {
      const signBytes = commitSignBytes(header.chainId, commit);
      for (const [index, sig] of commit.signatures.entries()) {
        if (sig.flag !== BLOCK_ID_FLAG.commit) continue;
        const key = validatorSet.validators[index]?.publicKey ?? new Uint8Array(0);
        expect(verifyFast({ publicKey: key, message: signBytes(index), signature: sig.signature })).toBe(
          true,
        );
        votes += 1;
      }
    }
    // The recorded chains have 14 and 29 blocks with one signer each.
    expect(votes).toBe(14 + 29);
  });

  it("of a vote for nil have no block id", () => {
    const [chain] = chains;
    if (chain === undefined) throw new Error("no recorded chain");
    const { commit } = recordedBlock(chain, 2n);
    const signatures = commit.signatures.map((sig) => ({ ...sig, flag: BLOCK_ID_FLAG.nil, timestampNs: 0n }));
    const nil = { ...commit, height: 1n, round: 0, signatures };
    // Length, type 2, height 1 as sfixed64, an empty time, the chain id; no field 4.
    expect(toHex(commitSignBytes("c", nil)(0))).toBe("1008021101000000000000002a00320163");
  });
});
