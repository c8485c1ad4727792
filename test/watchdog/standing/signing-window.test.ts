import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEC18_ONE, parseDec18 } from "../../../src/platform/base/decimal.ts";
import { allowedMisses, signingWindow } from "../../../src/watchdog/policy/standing.ts";
import type { SigningInfo, SlashingParams } from "../../../src/watchdog/sources/standing-readings.ts";

const params = (windowBlocks: bigint, minSigned: string): SlashingParams => ({
  windowBlocks,
  minSigned: parseDec18(minSigned),
});

const info = (more: Partial<SigningInfo>): SigningInfo => ({
  startHeight: 0n,
  indexOffset: 50_000n,
  missedBlocks: 0n,
  jailedUntilMs: 0,
  isTombstoned: false,
  ...more,
});

describe("allowedMisses", () => {
  it.each([
    [100n, "0.5", 50n],
    [10_000n, "0.05", 9500n],
    // Half to even, as the SDK rounds: 2.5 is 2, 3.5 is 4.
    [10n, "0.25", 8n],
    [10n, "0.35", 6n],
    [7n, "1", 0n],
    [7n, "0", 7n],
  ])("of a window of %s with at least %s signed is %s", (window, least, allowed) => {
    expect(allowedMisses(params(window, least))).toBe(allowed);
  });
});

describe("signingWindow", () => {
  const window = params(100n, "0.5");

  it("says what is signed, what is left, and when a total outage leads to jail", () => {
    const one = { params: window, info: info({ missedBlocks: 20n }), height: 9000n, growth: undefined };
    expect(signingWindow(one)).toEqual({
      windowBlocks: 100n,
      counted: 100n,
      missed: 20n,
      allowed: 50n,
      left: 30n,
      signed: { good: 80n, total: 100n },
      // Misses in the places of the 20 old ones do not count again.
      ifAllMissed: { least: 31n, most: 51n },
      atPresentRate: { kind: "unknown" },
    });
  });

  it("counts only the blocks that a young validator had, and knows that it cannot be jailed yet", () => {
    const young = info({ startHeight: 960n, indexOffset: 40n, missedBlocks: 40n });
    const one = { params: window, info: young, height: 1000n, growth: { missed: 10n, blocks: 10n } };
    expect(signingWindow(one)).toMatchObject({
      counted: 40n,
      signed: { good: 0n, total: 40n },
      left: 10n,
      // The block of height 1061 is the first one above 960 + 100.
      ifAllMissed: { least: 61n },
      atPresentRate: { kind: "jail", blocks: 61n },
    });
    expect(signingWindow({ ...one, height: undefined }).ifAllMissed?.least).toBe(11n);
    expect(signingWindow({ ...one, info: info({ indexOffset: 0n }) }).signed).toBeUndefined();
  });

  it("applies the present rate for at most one window", () => {
    const at = (missed: bigint, blocks: bigint) =>
      signingWindow({ params: window, info: info({}), height: 9000n, growth: { missed, blocks } })
        .atPresentRate;
    expect(at(60n, 60n)).toMatchObject({ kind: "jail", blocks: 51n });
    expect(at(51n, 100n)).toMatchObject({ kind: "jail", blocks: 100n });
    expect(at(50n, 100n)).toEqual({ kind: "never" });
    expect(at(0n, 60n)).toEqual({ kind: "never" });
    expect(at(-3n, 60n)).toEqual({ kind: "never" });
  });

  it("never jails where no block must be signed", () => {
    const none = signingWindow({
      params: params(100n, "0"),
      info: info({ missedBlocks: 100n }),
      height: 9000n,
      growth: { missed: 60n, blocks: 60n },
    });
    expect([none.ifAllMissed, none.atPresentRate]).toEqual([undefined, { kind: "never" }]);
  });
});

/** The window of the SDK: one place for each block, and a counter. */
function createWindow({ windowBlocks }: SlashingParams) {
  const places = Array.from({ length: Number(windowBlocks) }, () => false);
  let index = 0n;
  let missed = 0n;
  return {
    count: (isMissed: boolean): void => {
      const at = Number(index % windowBlocks);
      if (places[at] !== isMissed) missed += isMissed ? 1n : -1n;
      places[at] = isMissed;
      index += 1n;
    },
    info: (): SigningInfo => info({ indexOffset: index, missedBlocks: missed }),
  };
}

describe("the time to jail", () => {
  it("holds for every window, whatever was missed before", () => {
    const cases = fc.record({
      windowBlocks: fc.bigInt(1n, 40n),
      minSigned: fc.bigInt(1n, 100n).map((percent) => (DEC18_ONE * percent) / 100n),
      before: fc.array(fc.boolean(), { maxLength: 120 }),
    });
    let jails = 0;
    fc.assert(
      fc.property(cases, ({ before, ...rules }) => {
        const allowed = allowedMisses(rules);
        const window = createWindow(rules);
        let height = 0n;
        const isJailed = (): boolean => height > rules.windowBlocks && window.info().missedBlocks > allowed;
        const make = (isMissed: boolean): void => {
          window.count(isMissed);
          height += 1n;
        };
        for (const isMissed of before) {
          make(isMissed);
          if (isJailed()) return;
        }
        const told = signingWindow({ params: rules, info: window.info(), height, growth: undefined });
        if (told.ifAllMissed === undefined) {
          // All may be missed: also a whole window does not jail.
          expect(allowed).toBe(rules.windowBlocks);
          return;
        }
        let blocks = 0n;
        while (!isJailed()) {
          make(true);
          blocks += 1n;
        }
        jails += 1;
        expect(blocks).toBeGreaterThanOrEqual(told.ifAllMissed.least);
        expect(blocks).toBeLessThanOrEqual(told.ifAllMissed.most);
      }),
      { numRuns: 500, seed: 7 },
    );
    expect(jails).toBeGreaterThan(100);
  });

  it("is exact as long as the places of the next blocks were signed", () => {
    const rules = params(50n, "0.4");
    const window = createWindow(rules);
    for (let block = 0; block < 120; block++) window.count(block >= 110);
    const { left, ifAllMissed } = signingWindow({
      params: rules,
      info: window.info(),
      height: 120n,
      growth: undefined,
    });
    expect([left, ifAllMissed?.least]).toEqual([20n, 21n]);
    for (let block = 0n; block < left; block++) window.count(true);
    expect(window.info().missedBlocks).toBe(allowedMisses(rules));
  });
});
