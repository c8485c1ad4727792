import type { LightBlock } from "../../src/comet/block-types.ts";
import { verifyHeader } from "../../src/comet/light-client.ts";

const CENTURY_NS = 100n * 365n * 86_400n * 1_000_000_000n;

/** Verifies a block from an earlier one as a light client would just after it; throws when it does not hold. */
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
