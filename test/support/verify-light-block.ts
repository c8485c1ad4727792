import type { LightBlock } from "../../src/comet/block-types.ts";
import { verifyHeader } from "../../src/comet/light-client.ts";
import type { NodeView } from "../../src/node/node-view.ts";

const CENTURY_NS = 100n * 365n * 86_400n * 1_000_000_000n;

/** Returns header, commit and validators of a height. Throws when the node does not have them. */
export function lightBlockAt(view: NodeView, height: bigint): LightBlock {
  const header = view.block(height)?.header;
  const commit = view.commit(height);
  const validatorSet = view.validators(height);
  if (header === undefined || commit === undefined || validatorSet === undefined) {
    throw new Error(`no light block at ${height}`);
  }
  return { header, commit, validatorSet };
}

/** Verifies a block with an earlier one, as a light client does right after the block. Throws when the block is invalid. */
export function verifyLightBlock(trusted: LightBlock, untrusted: LightBlock): void {
  verifyHeader(
    { header: trusted.header, validators: trusted.validatorSet },
    { header: untrusted.header, commit: untrusted.commit, validators: untrusted.validatorSet },
    {
      nowNs: untrusted.header.timeNs + 1n,
      trustingPeriodNs: CENTURY_NS,
      maxClockDriftNs: 10_000_000_000n,
      trustLevel: { numerator: 1n, denominator: 3n },
    },
  );
}
