import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEC18_ONE, formatDec18, parseDec18 } from "../../../src/platform/base/decimal.ts";
import { assess, rotationRisk } from "../../../src/watchdog/policy/assess.ts";
import {
  chainPolicy,
  type Policy,
  rewardCents,
  SPECIFIED_POLICY,
} from "../../../src/watchdog/policy/assessment.ts";
import type { MonthRecord } from "../../../src/watchdog/ledger/ledger-view.ts";
import { endRate, forecastOf } from "../../../src/watchdog/policy/month-forecast.ts";
import { allowedMisses, isAtLeast, type SuccessRate } from "../../../src/watchdog/policy/reward-tier.ts";
import { outageMisses, restartMisses, whatIf } from "../../../src/watchdog/policy/what-if.ts";
import { ledgerViewOf, monthRecord, rollup } from "../../support/watchdog/ledger-view.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const missed = (count: bigint, total = 1000n): SuccessRate => ({ good: total - count, total });
const QUADRATIC: Policy = { ...SPECIFIED_POLICY, curve: "revenue-quadratic" };

describe("the reward", () => {
  it.each([
    [1000n, 300_000n, 300_000n],
    [980n, 300_000n, 300_000n],
    [975n, 250_000n, 295_833n],
    [970n, 200_000n, 283_333n],
    [965n, 150_000n, 262_500n],
    [960n, 100_000n, 233_333n],
    [955n, 50_000n, 195_833n],
    [950n, 0n, 150_000n],
    [949n, 0n, 0n],
  ])("of %d good blocks in 1000: linear %d, quadratic %d cents", (good, linear, quadratic) => {
    const rate = { good, total: 1000n };
    expect([rewardCents(SPECIFIED_POLICY, rate), rewardCents(QUADRATIC, rate)]).toEqual([linear, quadratic]);
  });

  // x/revenue v9.1.3 keeper/performance_rating_test.go, with the exact decimals.
  it.each([
    [".005", ".9", ".005", ".9", 5n, 5n, "1.000000000000000000"],
    [".005", ".9", ".005", ".9", 5n, 6n, "0.999944598337950138"],
    [".005", ".9", ".005", ".9", 100n, 100n, "0.000000000000000000"],
    [".005", ".9", ".005", ".9", 50n, 0n, "0.887811634349030471"],
    [".005", ".9", ".005", ".9", 0n, 50n, "0.887811634349030471"],
    [".005", ".9", ".005", ".9", 100n, 0n, "0.500000000000000000"],
    [".005", ".9", ".005", ".9", 101n, 0n, "0.000000000000000000"],
    [".005", ".9", ".005", ".9", 75n, 75n, "0.457063711911357340"],
    [".005", ".9", ".05", ".8", 99n, 199n, "0.017115358571868268"],
    [".005", ".9", ".05", ".8", 30n, 100n, "0.909818405663281010"],
    [".005", ".95", ".02", ".95", 0n, 35n, "0.875000000000000000"],
    [".005", ".95", ".02", ".95", 30n, 20n, "0.845679012345679012"],
    [".005", ".95", ".02", ".95", 51n, 0n, "0.000000000000000000"],
  ])("follows the chain's rating: blocks %s/%s, votes %s/%s, missed %d and %d", (...given) => {
    const [blocksMiss, blocksLeast, votesMiss, votesLeast, blocks, votes, rating] = given;
    const policy = chainPolicy(
      {
        blocksAllowedToMiss: parseDec18(`0${blocksMiss}`),
        blocksRequired: parseDec18(`0${blocksLeast}`),
        votesAllowedToMiss: parseDec18(`0${votesMiss}`),
        votesRequired: parseDec18(`0${votesLeast}`),
        baseCompensation: 2500n,
        quoteAsset: "USD",
        schedule: "monthly",
      },
      SPECIFIED_POLICY,
    );
    expect(policy.currency).toBe("USD");
    expect(
      formatDec18(rewardCents({ ...policy, fullRewardCents: DEC18_ONE }, missed(votes), missed(blocks))),
    ).toBe(rating);
  });

  it("never falls when a block becomes good", () => {
    const curve = fc.constantFrom(SPECIFIED_POLICY, QUADRATIC);
    fc.assert(
      fc.property(
        curve,
        fc.bigInt(2n, 10n ** 7n),
        fc.integer({ min: 0, max: 1000 }),
        (policy, total, share) => {
          const good = (total * BigInt(share)) / 1001n;
          expect(
            rewardCents(policy, { good, total }) <= rewardCents(policy, { good: good + 1n, total }),
          ).toBe(true);
        },
      ),
    );
  });
});

describe("the misses that a boundary allows", () => {
  it("are the most that do not cross it", () => {
    fc.assert(
      fc.property(
        fc.bigInt(1n, 10n ** 12n),
        fc.constantFrom("full" as const, "none" as const),
        (total, boundary) => {
          const least = SPECIFIED_POLICY.least[boundary];
          const most = allowedMisses(total, least);
          expect([isAtLeast(missed(most, total), least), isAtLeast(missed(most + 1n, total), least)]).toEqual(
            [true, false],
          );
        },
      ),
    );
  });
});

describe("assess", () => {
  // Day 20 of 30, blocks of 1 s: 1,728,000 are over, 864,000 remain.
  const NOW = Date.UTC(2026, 10, 21);
  const OVER = 1_728_000n;
  const view = (bad: bigint, more: Parameters<typeof ledgerViewOf>[0] = {}) =>
    ledgerViewOf({ months: [monthRecord("2026-11", OVER - bad, bad)], ...more });
  const assessed = (ledger: ReturnType<typeof view>) =>
    assess({ ledger, nowMs: NOW, policy: SPECIFIED_POLICY, blockTimeMs: 1000 });

  it("says how much is left until each boundary", () => {
    const { rate, tier, rewardCents: cents, remainingBlocks, headroom } = assessed(view(51_840n));
    expect([rate, tier, cents, remainingBlocks]).toEqual([
      { good: 1_676_160n, total: OVER },
      "proportional",
      200_000n,
      864_000n,
    ]);
    // 2 % of 2,592,000 blocks are 51,840: none is left. 5 % are 129,600.
    expect(headroom).toMatchObject([
      { boundary: "full", state: "open", misses: 0n, outageMs: 0, requiredRate: 1 },
      { boundary: "none", state: "open", misses: 77_760n, outageMs: 77_760_000, requiredRate: 0.91 },
    ]);
  });

  it.each([
    [51_841n, "lost", "open"],
    [129_600n, "lost", "open"],
    [129_601n, "lost", "lost"],
  ])("with %d misses: full %s, none %s", (bad, full, none) => {
    expect(assessed(view(bad)).headroom.map(({ state }) => state)).toEqual([full, none]);
  });

  it("says when a tier is certain, and at the end of the month it is decided", () => {
    const at = (nowMs: number, bad: bigint) => {
      const ledger = ledgerViewOf({ months: [monthRecord("2026-11", 2_592_000n - 40_000n - bad, bad)] });
      return assess({ ledger, nowMs, policy: SPECIFIED_POLICY, blockTimeMs: 1000 }).headroom;
    };
    const lastHours = Date.UTC(2026, 11, 1) - 40_000_000;
    expect(at(lastHours, 100n).map(({ state }) => state)).toEqual(["clinched", "clinched"]);
    expect(at(lastHours, 11_841n).map(({ state }) => state)).toEqual(["open", "clinched"]);
    expect(at(lastHours, 11_840n).map(({ state }) => state)).toEqual(["clinched", "clinched"]);
  });

  it("says nothing certain of blocks that were not seen", () => {
    const month = monthRecord("2026-11", 900n, 100n);
    const lastHour = Date.UTC(2026, 11, 1) - 1_000_000;
    const at = (record: MonthRecord) =>
      assess({
        ledger: ledgerViewOf({ months: [record] }),
        nowMs: lastHour,
        policy: SPECIFIED_POLICY,
        blockTimeMs: 1000,
      }).headroom;
    expect(at(month)[0]).toMatchObject({ state: "lost", misses: -60n });
    const unseen = { ...month, coveredFromMs: lastHour - 1_000_000 };
    expect(at(unseen)).toMatchObject([
      { state: "open", misses: 0n, outageMs: 0, requiredRate: 1 },
      { state: "open", misses: 0n },
    ]);
    const unknown = { ...month, counts: { good: 900n, bad: 100n, unknown: 3000n } };
    expect(at(unknown).map(({ state }) => state)).toEqual(["open", "open"]);
    const good = { ...unseen, counts: { good: 1_000_000n, bad: 0n, unknown: 0n } };
    expect(at({ ...good, coveredFromMs: month.coveredFromMs }).map(({ state }) => state)).toEqual([
      "clinched",
      "clinched",
    ]);
    expect(at(good).map(({ state }) => state)).toEqual(["open", "open"]);
  });

  it("computes burn rates of three windows, and leaves out a window without blocks", () => {
    const minutes = [
      rollup(NOW - 2 * HOUR, { good: 80n, bad: 20n }),
      rollup(NOW - HOUR / 2, { good: 90n, bad: 10n }),
    ];
    const hours = [rollup(NOW - 2 * DAY, { good: 999n, bad: 1n })];
    expect(assessed(view(0n, { minutes, hours })).headroom.map(({ burnRates }) => burnRates)).toEqual([
      { "1h": 5, "6h": 7.5, "3d": expect.closeTo(0.05, 10) },
      { "1h": 2, "6h": expect.closeTo(3, 10), "3d": expect.closeTo(0.02, 10) },
    ]);
    expect(assessed(view(0n)).headroom[0]?.burnRates).toEqual({});
  });

  it("has no burn rate for a boundary that allows no miss", () => {
    const policy = { ...SPECIFIED_POLICY, least: { ...SPECIFIED_POLICY.least, full: DEC18_ONE } };
    const minutes = [rollup(NOW - HOUR / 2, { good: 90n, bad: 10n })];
    const { headroom } = assess({ ledger: view(0n, { minutes }), nowMs: NOW, policy, blockTimeMs: 1000 });
    expect(headroom.map(({ burnRates }) => burnRates["1h"])).toEqual([undefined, 2]);
  });

  it("forecasts from days with at least a quarter of the blocks of the fullest one", () => {
    const basis = (blocks: bigint) => {
      const days = [400n, 400n, blocks].map((good, index) => rollup(NOW - (index + 1) * DAY, { good }));
      return assessed(view(0n, { days })).forecast?.basis;
    };
    expect([basis(100n), basis(99n)]).toEqual(["recent days", "month so far"]);
  });

  it("expects no more misses than blocks are left", () => {
    expect(endRate({ good: 1n, bad: 0n, remaining: 5n }, 9n)).toEqual({ good: 1n, total: 6n });
  });

  it("forecasts with a band that recent outages widen", () => {
    const day = (index: number, bad: bigint) => rollup(NOW - (index + 1) * DAY, { good: 86_400n - bad, bad });
    const calm = Array.from({ length: 20 }, (_, index) => day(index, 864n));
    const { forecast } = assessed(view(17_280n, { days: calm }));
    expect(forecast).toMatchObject({
      basis: "recent days",
      middle: { good: 2_592_000n - 25_920n, total: 2_592_000n },
    });
    const rough = Array.from({ length: 20 }, (_, index) => day(index, index % 5 === 1 ? 4320n : 0n));
    const wide = assessed(view(17_280n, { days: rough })).forecast;
    const width = (one: typeof wide) => Number((one?.high.good ?? 0n) - (one?.low.good ?? 0n));
    // Four days of 20 had an outage of 1.2 hours: none is expected, and the ten days that remain may have some.
    expect(wide?.middle).toEqual({ good: 2_592_000n - 17_280n, total: 2_592_000n });
    expect(width(wide)).toBeGreaterThan(3 * width(forecast));
    expect(wide).toEqual(assessed(view(17_280n, { days: rough })).forecast);
  });

  /** A month of blocks of 1 s at {@link NOW}, from a share of bad blocks for each hour before it. */
  const hourly = (shareOf: (hoursAgo: number) => number, nowMs = NOW) => {
    const hours = Array.from({ length: 28 * 24 }, (_, index) => {
      const ago = 28 * 24 - index;
      const bad = BigInt(Math.round(3600 * shareOf(ago)));
      return rollup(nowMs - ago * HOUR, { good: 3600n - bad, bad });
    });
    const days = Array.from({ length: 28 }, (_, index) => {
      const own = hours.slice(index * 24, index * 24 + 24);
      const bad = own.reduce((sum, { counts }) => sum + counts.bad, 0n);
      return rollup(own[0]?.startMs ?? 0, { good: 86_400n - bad, bad });
    });
    const ofMonth = hours.filter(({ startMs }) => startMs >= Date.UTC(2026, 10, 1));
    const bad = ofMonth.reduce((sum, { counts }) => sum + counts.bad, 0n);
    const total = BigInt(ofMonth.length) * 3600n;
    const ledger = ledgerViewOf({
      months: [monthRecord("2026-11", total - bad, bad)],
      days,
      hours: hours.slice(-72),
      minutes: hours.slice(-12),
    });
    return assess({ ledger, nowMs, policy: SPECIFIED_POLICY, blockTimeMs: 1000 });
  };
  const expectedBad = ({ forecast, counts }: ReturnType<typeof hourly>): bigint =>
    (forecast?.middle.total ?? 0n) - (forecast?.middle.good ?? 0n) - counts.bad;

  it("does not apply an outage that is over to the rest of the month", () => {
    // 26 hours, which ended an hour ago, and then a week ago.
    for (const endedAgo of [7, 7 * 24]) {
      const after = hourly((ago) => (ago > endedAgo && ago <= endedAgo + 26 ? 1 : 0));
      expect([endedAgo, expectedBad(after)]).toEqual([endedAgo, 0n]);
      expect([after.forecast?.tiers.middle, after.forecast?.tiers.high]).toEqual([
        "proportional",
        "proportional",
      ]);
      // It may come back: the band has another one.
      expect((after.forecast?.low.good ?? 0n) + 80_000n < (after.forecast?.middle.good ?? 0n)).toBe(true);
      expect(after.headroom.map(({ lostInMs }) => lostInMs)).toEqual([undefined, undefined]);
    }
  });

  it("applies a loss that lasts, and one that comes back", () => {
    const bleed = hourly((ago) => (ago <= 100 ? 0.08 : 0));
    expect(expectedBad(bleed)).toBe(69_120n);
    // 2.5 h of each day: also while the last six hours are good.
    const daily = hourly((ago) => (ago % 24 > 10 && ago % 24 < 13 ? 1 : 0));
    expect(Number(expectedBad(daily))).toBeCloseTo((864_000 * 2) / 24, -3);
    const begun = hourly((ago) => (ago <= 1 ? 1 : 0));
    expect(expectedBad(begun)).toBe(12_000n);
    expect(bleed.forecast?.regimes).toMatchObject([
      { name: "now", badShare: 0.08, tier: "proportional" },
      { name: "days", badShare: 0.08 },
      { name: "month" },
    ]);
  });

  it("says when the loss that lasts crosses a boundary, within the month", () => {
    const bleed = hourly((ago) => (ago <= 100 ? 0.08 : 0));
    // 28,800 misses are over; 23,040 more cross the upper boundary, 100,800 more the lower one: not in ten days.
    expect(bleed.headroom.map(({ lostInMs }) => lostInMs)).toEqual([23_040_000 / 0.08, undefined]);
    const begun = hourly((ago) => (ago <= 1 ? 1 : 0));
    expect(begun.headroom.map(({ lostInMs }) => lostInMs)).toEqual([undefined, undefined]);
    const lost = hourly((ago) => (ago <= 15 ? 1 : 0));
    expect(lost.headroom[0]).toMatchObject({ state: "lost", lostInMs: undefined });
  });

  it("has a band of some width as long as blocks remain, also when nothing was ever missed", () => {
    const none = () => 0;
    for (const nowMs of [NOW, Date.UTC(2026, 10, 3), Date.UTC(2026, 11, 1) - HOUR]) {
      const { forecast } = hourly(none, nowMs);
      expect((forecast?.low.good ?? 0n) < (forecast?.high.good ?? 0n)).toBe(true);
      expect(forecast?.high).toEqual(forecast?.middle);
    }
    const over = hourly(none, Date.UTC(2026, 11, 1) - 1).forecast;
    expect(over?.low).toEqual(over?.high);
  });

  it("knows nothing without a block, and no headroom without a block time", () => {
    const empty = assess({
      ledger: ledgerViewOf({}),
      nowMs: NOW,
      policy: SPECIFIED_POLICY,
      blockTimeMs: 1000,
    });
    expect(empty).toMatchObject({ rate: undefined, tier: undefined, rewardCents: undefined, headroom: [] });
    const slow = assess({ ledger: view(1n), nowMs: NOW, policy: SPECIFIED_POLICY, blockTimeMs: undefined });
    expect(slow).toMatchObject({
      tier: "full",
      headroom: [],
      forecast: undefined,
      remainingBlocks: undefined,
    });
  });

  it("bounds the rate by the unknown blocks", () => {
    const record = monthRecord("2026-11", 90n, 5n, { counts: { good: 90n, bad: 5n, unknown: 5n } });
    const { bounds } = assessed(ledgerViewOf({ months: [record] }));
    expect(bounds).toEqual({ low: { good: 90n, total: 100n }, high: { good: 95n, total: 100n } });
  });

  it("says what an outage of four hours costs", () => {
    const days = Array.from({ length: 20 }, (_, index) => rollup(NOW - (index + 1) * DAY, { good: 86_400n }));
    const cost = whatIf(assessed(view(40_000n, { days })), outageMisses(4 * HOUR, 1000));
    // 54,400 of 2,592,000 blocks are 2.0988 %: 0.0988 of the 3 points of the band.
    expect(cost).toMatchObject({
      misses: 14_400n,
      without: { tier: "full", rewardCents: 300_000n },
      with: { tier: "proportional", rate: { good: 2_537_600n, total: 2_592_000n } },
      costCents: 9_877n,
      crosses: ["full"],
    });
  });

  it("counts no more misses than the month has blocks", () => {
    expect(whatIf(assessed(view(0n)), 10n ** 9n)).toMatchObject({
      misses: 864_000n,
      crosses: ["full", "none"],
    });
  });
});

describe("a restart of the sidecar", () => {
  it("costs what was measured", () => {
    // 25 s down: 22 failed blocks on a chain with one validator.
    expect(restartMisses({ downMs: 25_000, blockTimeMs: 1000, chainWaits: true })).toBe(22n);
    expect(restartMisses({ downMs: 25_000, blockTimeMs: 1000, chainWaits: false })).toBe(36n);
    expect(restartMisses({ downMs: 2_000, blockTimeMs: 1000, chainWaits: false })).toBe(13n);
  });
});

describe("rotation", () => {
  const months = (text: string) =>
    text.split("").flatMap((letter, index) => {
      if (letter === ".") return [];
      const good = letter === "e" ? 80n : letter === "h" ? 50n : 0n;
      const estimated = { good, bad: 0n, unknown: 0n };
      return [
        monthRecord(
          `2026-${String(index + 1).padStart(2, "0")}`,
          letter === "+" ? 99n : 80n,
          letter === "+" ? 1n : 20n,
          { estimated },
        ),
      ];
    });

  // One letter a month from January to October: + above, - below, e below and estimated, h half of it, . without a record.
  it.each([
    ["++++++++++", "none", 0, 0],
    ["+++++++++-", "next", 1, 1],
    ["++++++++--", "due", 2, 2],
    ["+++++-++-+", "next", 0, 2],
    ["+++++-+-+-", "due", 1, 3],
    ["++++-++-+-", "due", 1, 2],
    ["+++-+++-+-", "next", 1, 2],
    ["++++++++-e", "none", 0, 1],
    ["++++++++-.", "none", 0, 1],
    ["----+++++.", "none", 0, 0],
    // The oldest of six months is outside the window when this month ends.
    ["++++-+++-+", "none", 0, 1],
    ["+++++++++h", "next", 1, 1],
  ])("%s: %s", (text, state, inARow, inWindow) => {
    expect(rotationRisk("2026-11", months(text), SPECIFIED_POLICY)).toMatchObject({
      state,
      inARow,
      inWindow,
    });
  });

  it("uses the policy's boundary", () => {
    const policy = {
      ...SPECIFIED_POLICY,
      least: { full: (DEC18_ONE * 9n) / 10n, none: (DEC18_ONE * 8n) / 10n },
    };
    expect(rotationRisk("2026-11", months("++++++++--"), policy).state).toBe("none");
  });
});

describe("a forecast from no block", () => {
  const none = { good: 0n, bad: 0n, unknown: 0n };
  const samples = { days: [], hours: [], last: { "6h": none, "24h": none, "3d": none } };

  it("leaves all open while blocks remain", () => {
    const { low, high } = forecastOf({ good: 0n, bad: 0n, remaining: 1000n }, samples, SPECIFIED_POLICY);
    expect([low, high]).toEqual([
      { good: 0n, total: 1000n },
      { good: 1000n, total: 1000n },
    ]);
  });

  it("is made at the end of the month, too", () => {
    const { low, high } = forecastOf({ good: 0n, bad: 0n, remaining: 0n }, samples, SPECIFIED_POLICY);
    expect([low.total, high.total]).toEqual([0n, 0n]);
  });
});
