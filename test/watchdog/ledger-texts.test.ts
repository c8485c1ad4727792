import { describe, expect, it } from "vitest";
import { NO_BLOCKS } from "../../src/watchdog/ledger/ledger-view.ts";
import { nodeRestart, encodeParams, paramsChange } from "../../src/watchdog/ledger/ledger-events.ts";
import type { RevenueReading } from "../../src/watchdog/sources/observation.ts";

describe("the text of a restart", () => {
  it.each([
    [0n, "the node restarted"],
    [1n, "the node restarted; the result of 1 block is not known"],
    [2n, "the node restarted; the results of 2 blocks are not known"],
  ])("that lost %d blocks", (unknown, text) => {
    expect(nodeRestart("node", { counts: { ...NO_BLOCKS, unknown } }, 1, 2).text).toBe(text);
  });
});

describe("the text of changed parameters", () => {
  const PARAMS = {
    blocksAllowedToMiss: 5_000_000_000_000_000n,
    blocksRequired: 900_000_000_000_000_000n,
    votesAllowedToMiss: 5_000_000_000_000_000n,
    votesRequired: 900_000_000_000_000_000n,
    baseCompensation: 2500n,
    quoteAsset: "USD",
    schedule: "monthly",
  } as const;
  const viewOf = (change: object = {}): RevenueReading => ({
    params: { ...PARAMS, ...change },
  });
  const NONE = undefined;
  const textOf = (from: RevenueReading | undefined, to: RevenueReading | undefined): string =>
    paramsChange(encodeParams(from), encodeParams(to));

  it("names what changed, with shares in percent", () => {
    expect(
      textOf(viewOf(), viewOf({ votesRequired: 955_000_000_000_000_000n, baseCompensation: 3000n })),
    ).toBe(
      "the chain's reward parameters changed: votes required for any pay from 90 % to 95.5 %, pay of a full month from 2500 to 3000",
    );
  });

  it("says that there is a programme now, or none any more", () => {
    expect(textOf(NONE, viewOf())).toBe("the chain now has a reward programme");
    expect(textOf(viewOf(), NONE)).toBe("the chain no longer has a reward programme");
  });
});
