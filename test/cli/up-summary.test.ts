import { describe, expect, it } from "vitest";
import { rateText } from "../../src/cli/commands/up-state.ts";

describe("the rate in the summary of a localnet", () => {
  const textOf = (good: bigint, bad: bigint): string =>
    rateText({
      current: {
        rate: good + bad === 0n ? undefined : { good, total: good + bad },
        tier: "proportional",
        counts: { good, bad, unknown: 0n },
      },
    });

  it("names the tier from half an hour of blocks on, and before that the number of blocks", () => {
    expect(textOf(0n, 0n)).toBe("no rate yet");
    expect(textOf(1n, 0n)).toBe("100.0000 % of 1 block, too early for a tier");
    expect(textOf(1_748n, 51n)).toBe("97.1650 % of 1799 blocks, too early for a tier");
    expect(textOf(1_748n, 52n)).toBe("97.1111 %, tier proportional");
  });
});
