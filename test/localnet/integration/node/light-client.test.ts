import { describe, expect, it } from "vitest";
import { toHex, utf8 } from "../../../../src/platform/base/bytes.ts";
import type { ValidatorSet } from "../../../../src/cosmos/comet/block-types.ts";
import { testValidatorSeed, validatorKey } from "../../../../src/localnet/node/consensus/validators.ts";
import type { NodeView } from "../../../../src/localnet/node/base/node-view.ts";
import { startTestNode } from "../../../support/test-node.ts";
import { lightBlockAt, verifyLightBlock } from "../../../support/comet/light-block.ts";

/** Verifies all steps by one height and all steps by three heights. Returns their number. */
function verifyChain(view: NodeView): number {
  const { latestHeight } = view.status();
  let verified = 0;
  for (const step of [1n, 3n]) {
    for (let height = 1n; height + step <= latestHeight; height++) {
      verifyLightBlock(lightBlockAt(view, height), lightBlockAt(view, height + step));
      verified += 1;
    }
  }
  return verified;
}

describe("a light client", () => {
  it("accepts the headers of a chain with several validators", async () => {
    const node = await startTestNode({ powers: [10n, 7n, 3n, 1n] });
    node.view.broadcast(utf8("a=1"));
    node.control.produce(30);
    expect(verifyChain(node.view)).toBe(29 + 27);
    const proposers = new Set(
      Array.from({ length: 30 }, (_, at) =>
        toHex(node.view.block(BigInt(at + 1))?.header.proposerAddress ?? new Uint8Array()),
      ),
    );
    expect(proposers.size).toBe(4);
    await node.stop();
  });

  it("accepts the headers of a large validator set with absent validators", async () => {
    const powers = Array.from({ length: 100 }, (_, index) => BigInt(200 - index));
    const node = await startTestNode({ powers });
    node.control.produce(2);
    const absent = [2, 50, 99].map((index) => validatorKey(testValidatorSeed("kv-1", index)).address);
    node.control.setAbsent(absent);
    node.control.produce(6);
    expect(verifyChain(node.view)).toBe(7 + 5);
    expect(node.view.commit(5n)?.signatures.filter((one) => one.flag === 1)).toHaveLength(3);
    await node.stop();
  });

  it("accepts changes of the validator set two heights after the update", async () => {
    const node = await startTestNode({ powers: [10n, 10n, 10n] });
    node.control.produce(3);
    node.control.setValidator(testValidatorSeed("kv-1", 7), 15n);
    const changed = node.control.produce(1);
    const [before, after] = [changed + 1n, changed + 2n].map((height) => node.view.validators(height));
    node.control.produce(3);
    expect(node.view.results(changed)?.validatorUpdates).toHaveLength(1);
    expect(node.view.validators(changed + 1n)?.validators).toHaveLength(3);
    expect(node.view.validators(changed + 2n)?.validators).toHaveLength(4);
    const keys = (set: ValidatorSet | undefined) =>
      set?.validators.map((one) => [toHex(one.publicKey), one.priority]);
    expect(keys(before)).toEqual(keys(node.view.validators(changed + 1n)));
    expect(after).toBeUndefined();
    node.control.setValidator(testValidatorSeed("kv-1", 0), 0n);
    node.control.produce(70);
    expect(node.view.validators(node.view.status().latestHeight)?.validators).toHaveLength(3);
    expect(verifyChain(node.view)).toBeGreaterThan(140);
    const header = node.view.block(changed + 2n)?.header;
    expect(header?.validatorsHash).toEqual(node.view.block(changed + 1n)?.header.nextValidatorsHash);
    await node.stop();
  });

  it("accepts a block of the next round when the proposer is absent, and no block is made without a quorum", async () => {
    const node = await startTestNode({ powers: [10n, 10n, 10n, 10n] });
    node.control.produce(1);
    const proposer = node.view.validators(2n)?.proposer?.address ?? new Uint8Array();
    node.control.setAbsent([proposer]);
    node.control.produce(1);
    expect(node.view.commit(2n)?.round).toBe(1);
    expect(node.view.block(2n)?.header.proposerAddress).not.toEqual(proposer);
    const others =
      node.view
        .validators(3n)
        ?.validators.slice(0, 2)
        .map((one) => one.address) ?? [];
    node.control.setAbsent(others);
    expect(() => node.control.produce(1)).toThrow(
      expect.objectContaining({ facts: { code: "no-quorum", height: 3n } }),
    );
    node.control.setAbsent([]);
    expect(node.control.produce(1)).toBe(3n);
    verifyLightBlock(lightBlockAt(node.view, 1n), lightBlockAt(node.view, 3n));
    await node.stop();
  });
});
