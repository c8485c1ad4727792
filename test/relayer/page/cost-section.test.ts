import { describe, expect, it } from "vitest";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import type { RelayerStatus } from "../../../src/relayer/health/relayer-status.ts";
import type { MarketStatus } from "../../../src/relayer/forecast/market-view.ts";
import { costSection } from "../../../src/relayer/page/cost-section.ts";
import { summarize } from "../../../src/relayer/page/overview-section.ts";
import {
  NOW_MS,
  sampleMarket,
  sampleMarketWithoutCapacity,
  sampleStatus,
  sampleView,
} from "../status-samples.ts";

type Samples = Parameters<typeof costSection>[1];

const sectionOf = (fields: Partial<RelayerStatus>, samples: Samples = []): string =>
  costSection(sampleStatus(fields), samples).text;
const textOf = (fields: Partial<RelayerStatus>, samples: Samples = []): string =>
  sectionOf(fields, samples)
    .replaceAll(/<.*?>/gs, " ")
    .replaceAll(/[\s\u202f]+/g, " ");

describe("what the page says about the fee market", () => {
  it("says that the market bears the demand, and names no remedy", () => {
    const text = textOf({ market: sampleMarket() });
    expect(text).toContain(
      "✓ demand within the market With every result on time, a block has 300 results. The fee market bears 400",
    );
    expect(text).not.toContain("What would change that");
    expect(summarize(sampleStatus({ market: sampleMarket() })).tone).toBe("good");
  });

  it("says how many results the market bears, how late they will be, and what each remedy costs", () => {
    const text = textOf({ market: sampleMarketWithoutCapacity() });
    expect(text).toContain(
      "! demand above the market With every result on time, a block would have 150 results. The fee market bears 100 at its current price, so in the steady state each result is 2.5 blocks late, for 2 505 600 000 untrn a day at the lowest price.",
    );
    for (const remedy of [
      "longer periods: each × 1.50 is on time, for 2 505 600 000 untrn a day",
      "higher ceiling: up to 0.01 untrn, one burst sends 930 results for 2 505 600 000 untrn; the steady state does not change",
      "no callbacks: late by 0 blocks: every result is on time, for 939 600 000 untrn a day",
    ])
      expect(text).toContain(remedy);
  });

  it("says how late results will be when that is more than a market may explain without a problem", () => {
    const market = sampleMarketWithoutCapacity();
    const late = { ...market, forecast: { ...market.forecast, lateBlocks: 2_000 } };
    expect(textOf({ market: late })).toContain("in the steady state each result is 2000 blocks late,");
  });

  it("says that no result is on time while others use the whole target", () => {
    const market = sampleMarketWithoutCapacity();
    const remedies = [{ kind: "fewer-callbacks", lateBlocks: Infinity, costPerDay: 0n }] as const;
    const none = {
      ...market.forecast,
      sustainableGas: 0n,
      sustainableResults: 0,
      lateBlocks: Infinity,
      remedies,
    };
    const text = textOf({ market: { ...market, forecast: none } });
    expect(text).toContain(
      "bears 0 at its current price, so in the steady state no result is on time: others use",
    );
    expect(text).toContain("no callbacks: late by ∞ blocks: others use the whole target");
    expect(text).not.toMatch(/Infinity|NaN/);
  });

  it("is the headline of a relayer without problems, and only then", () => {
    const market = sampleMarketWithoutCapacity();
    expect(summarize(sampleStatus({ market }))).toEqual({
      tone: "warn",
      headline: "Demand is above what the fee market bears",
    });
    const problems = [{ code: "account-cannot-pay", connectionId: undefined, text: "no coins" }] as const;
    expect(summarize(sampleStatus({ market, problems })).headline).toBe("Nothing is sent");
    const gate = { role: "standby", storeError: undefined, refusal: undefined } as const;
    expect(summarize(sampleStatus({ market, gate })).headline).toContain("Standby");
    const old = sampleMarketWithoutCapacity({ sinceReadMs: 61_000 });
    expect(summarize(sampleStatus({ market: old })).tone).toBe("good");
  });

  it("has two digits of less than ten results a block", () => {
    const market = sampleMarketWithoutCapacity();
    const few = { ...market.forecast, demandResults: 0.5, sustainableResults: 0.0567 };
    expect(textOf({ market: { ...market, forecast: few } })).toContain(
      "a block would have 0.5 results. The fee market bears 0.057 at its",
    );
  });

  it("does not take an old reading for the present", () => {
    const text = textOf({ market: sampleMarketWithoutCapacity({ sinceReadMs: 240_000 }) });
    expect(text).toContain("? not current The fee market was last read 240 s ago.");
    expect(text).not.toContain("demand above the market");
  });

  it("has the cost without a fee market", () => {
    const text = textOf({ market: undefined, queries: [sampleView()] });
    expect(text).toContain("The chain has no fee market, or it has not been read yet.");
    expect(text).toContain("Gas of a result 100 since the start");
  });

  it("shows price, phase, gas, and today's fees with their limit", () => {
    const queries = [sampleView(), sampleView({ id: 2n, results: 1, cost: { gas: 100n, fee: 30n } })];
    const text = textOf({ market: sampleMarket(), queries });
    expect(text).toContain("Gas price 1.04 × minimum 0.0026 untrn");
    expect(text).toContain("Phase steady the price stays where it is");
    expect(text).toContain("Gas of the next block 11.6 M target 15 M, others 3.4 M");
    expect(text).toContain("Gas of a result 100 since the start");
    expect(text).toContain("Fees of today (UTC) 0 untrn no daily limit");
    const { spending } = sampleStatus();
    const limits = { ...spending.limits, dailyFee: 5_000n };
    expect(textOf({ spending: { ...spending, fee: 1_234n, limits } })).toContain(
      "Fees of today (UTC) 1 234 untrn of 5 000 untrn",
    );
  });

  it("marks a price above the ceiling, and one above the cap", () => {
    const tone = (price: string): string | undefined =>
      /Gas price<\/dt><dd(?: class="(\w+)")?>/.exec(
        sectionOf({ market: sampleMarket({ price: parseDec18(price) }) }),
      )?.[1];
    expect([tone("0.005"), tone("0.0051"), tone("1.1")]).toEqual([undefined, "warn", "bad"]);
  });
});

describe("the owners", () => {
  it("are those with the most gas today, ten of them, each with the gas of its results", () => {
    const gasByOwner = new Map(
      Array.from({ length: 12 }, (_, index): [string, bigint] => [`neutron1o${index}`, BigInt(index + 1)]),
    );
    const { spending } = sampleStatus();
    const text = textOf({
      spending: { ...spending, fee: 780n, gasByOwner },
      queries: [
        sampleView({ owner: "neutron1o11", results: 2, cost: { gas: 186_000n, fee: 470n } }),
        sampleView({ owner: "neutron1o11", results: 2, cost: { gas: 58_000n, fee: 150n } }),
        sampleView({ owner: "neutron1o10", results: 0, cost: undefined }),
      ],
    });
    expect(text).toContain("12 owners with gas today, no budget used up");
    expect(text).toMatch(/neutron1o11 12 61 000 32 800 none neutron1o10 11 – – none neutron1o9 10 – – none/);
    expect(text).toContain("neutron1o2 ");
    expect(text).not.toContain("neutron1o1 ");
    expect(text).toContain("2 more owners in JSON .");
  });
});

it("the callback of an owner's result is what is left of its gas without the chain's for each key and the transactions'", () => {
  const { spending } = sampleStatus();
  const gasByOwner = new Map([["neutron1owner", 1n]]);
  const cost = { gas: 930_000n, fee: 0n };
  const queries = [sampleView({ results: 10, keyCount: 2, cost })];
  const text = (fields: Partial<RelayerStatus>, samples: Samples = []): string =>
    textOf({ spending: { ...spending, gasByOwner }, queries, ...fields }, samples);
  expect(text({})).toContain(" 93 000 36 600 none ");
  // Ten transactions with a client update each are a tenth of the gas of the last hour.
  const sample = { startMs: 0, included: 200, failed: 0, transactions: 10, updates: 10, gas: 19_500_000n };
  expect(text({}, [undefined, sample])).toContain(" 93 000 27 300 none ");
  // Of two transactions, one has the client update of both.
  expect(text({}, [{ ...sample, updates: 5, gas: 15_250_000n }])).toContain(" 93 000 27 300 none ");
  expect(text({ queries: [sampleView({ results: 10, keyCount: 4, cost })] })).toContain(" 93 000 0 none ");
  // A TX query has no keys, and its results cost the chain something too.
  expect(text({ queries: [sampleView({ type: "tx", results: 10, keyCount: 0, cost })] })).toContain(
    " 93 000 64 800 none ",
  );
});

/** Vertical positions of the lines of cap, ceiling and minimum, and of the highest prices. */
function plotOf(market: MarketStatus) {
  const section = sectionOf({ market });
  const lineAt = (style: string): number =>
    Number(new RegExp(`class="${style}" d="M0 ([\\d.]+)H`).exec(section)?.[1]);
  const runs = [...section.matchAll(/class="l-plain" d="M([^"]*)"/g)].map(([, path = ""]) =>
    path.split("L").map((point) => point.split(" ").map(Number)),
  );
  return { section, cap: lineAt("l-bad"), ceiling: lineAt("l-warn"), minimum: lineAt("l-axis"), runs };
}

const point = (minutesAgo: number, low: string, high: string) => ({
  startMs: NOW_MS - minutesAgo * 60_000,
  low: parseDec18(low),
  high: parseDec18(high),
});

describe("the plot of the price", () => {
  it("leaves a cap that is far above the price out of the scale", () => {
    const { section, cap, ceiling, minimum } = plotOf(sampleMarket());
    expect(section).toContain("cap 1 (off scale)");
    // On a linear axis, the minimum is in the middle between zero and a ceiling of twice the minimum.
    expect(132 - minimum).toBeCloseTo((132 - ceiling) / 2, 0);
    expect(cap).toBe(14);
    expect(ceiling).toBeGreaterThan(cap);
  });

  it("has the cap on a linear axis when it is near", () => {
    const { section, cap, ceiling, minimum } = plotOf(sampleMarket({ cap: parseDec18("0.01") }));
    expect(section).not.toContain("off scale");
    expect([132 - cap, 132 - ceiling, 132 - minimum]).toEqual([118, 59, 29.5]);
  });

  it("has all prices on a logarithmic axis when one of them came near the cap", () => {
    const day = [point(20, "0.0025", "0.0025"), point(15, "0.0025", "0.25"), point(10, "0.25", "0.5")];
    const { section, cap, ceiling, minimum, runs } = plotOf(sampleMarket({ day }));
    expect(section).not.toContain("off scale");
    // A factor of two is everywhere the same distance: minimum to ceiling, and 0.5 to the cap.
    const highest = runs[0]?.at(-1)?.[1] ?? 0;
    expect(minimum - ceiling).toBeCloseTo(highest - cap, 0);
    expect(cap).toBe(14);
  });

  it("has no line across a gap, in which no price was read", () => {
    const day = [point(600, "0.0025", "0.003"), point(595, "0.0025", "0.003"), point(60, "0.0025", "0.003")];
    expect(plotOf(sampleMarket({ day })).runs.map((run) => run.length)).toEqual([4, 2]);
    expect(plotOf(sampleMarket({ day: [] })).runs).toEqual([]);
  });

  it("keeps the texts beside the lines apart, also when all lines are at one place", () => {
    const one = parseDec18("0.0025");
    const { section } = plotOf(sampleMarket({ price: one, ceiling: one, cap: one, day: [] }));
    const ys = [...section.matchAll(/<text x="249" y="([\d.]+)"/g)].map(([, y]) => Number(y));
    expect(ys).toHaveLength(3);
    for (const [index, y] of ys.slice(1).entries()) expect(y - (ys[index] ?? 0)).toBeGreaterThanOrEqual(12);
    expect(Math.max(...ys)).toBeLessThanOrEqual(150);
  });
});

it("the plot of the gas has own and others' gas of each block, and the target", () => {
  const section = sectionOf({ market: sampleMarket() });
  expect(section).toContain("Gas of the last 3 blocks: own 8.7\u202fM (blue), others 5.1\u202fM");
  const most = 18.4;
  // Heights of bars are in proportion: 74 are 18.4 M.
  const height = (gas: number): string => String(Math.round((gas / most) * 740) / 10);
  const barsOf = (style: string): readonly (string | undefined)[] =>
    [...(new RegExp(`class="b-${style}" d="([^"]*)"`).exec(section)?.[1] ?? "").matchAll(/v-([\d.]+)h/g)].map(
      ([, value]) => value,
    );
  expect(barsOf("plain")).toEqual([height(8.7), height(11.6), height(5.8)]);
  expect(barsOf("unknown")).toEqual([height(6.8), height(3.4)]);
  expect(section).toContain(`class="l-warn" d="M0 ${Math.round((92 - (15 / most) * 74) * 10) / 10}h360"`);
  expect(sectionOf({ market: sampleMarket({ blocks: [] }) })).toContain("no block has been read yet");
});
