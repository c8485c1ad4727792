import type { BenchRow, BenchSettings } from "./bench-row.ts";
import { runScenario, type Scenario, type ScenarioResult } from "./system/scenario.ts";

interface Case extends Scenario {
  readonly name: string;
  readonly goals: Partial<Record<"perSecond" | "perSecondAt93k" | "price" | "memory", string>>;
}

const WINDOW_MS = 25_000;
const base = { queries: 1_000, updatePeriod: 1, blockTimeMs: 980, windowMs: WINDOW_MS, callbacks: false };
const calm = { ...base, from: "calm" } as const;
/** As high as the price gets while blocks are full: without a limit by the price. */
const full = { ...base, from: "results", ceiling: "1000" } as const;
const PRICE = "at most 1.1";

function casesAt(roundTripMs: number): readonly Case[] {
  const at = { roundTripMs };
  return [
    {
      ...calm,
      ...at,
      name: `1,000 queries, ${roundTripMs} ms`,
      goals: { perSecond: "at least 500", price: PRICE },
    },
    {
      ...calm,
      ...at,
      name: `1,000 queries, callbacks, ${roundTripMs} ms`,
      callbacks: true,
      goals: { perSecondAt93k: "at least 150", price: PRICE },
    },
    {
      ...calm,
      ...at,
      name: `others use 8M, ${roundTripMs} ms`,
      traffic: "8M",
      goals: { perSecond: "at least 235", price: PRICE },
    },
    {
      ...base,
      ...at,
      name: `backlog of 5,000, then period 5, ${roundTripMs} ms`,
      queries: 5_000,
      updatePeriod: 5,
      from: "backlog",
      goals: { memory: "at most 300" },
    },
    {
      ...full,
      ...at,
      name: `ceiling at the cap, ${roundTripMs} ms`,
      goals: { perSecond: "at least 950" },
    },
    {
      ...full,
      ...at,
      name: `ceiling at the cap, callbacks, ${roundTripMs} ms`,
      callbacks: true,
      goals: { perSecondAt93k: "at least 290" },
    },
  ];
}

/** A cycle of reads, a simulation and a broadcast take longer than a block. */
const slow = { ...calm, roundTripMs: 400 } as const;

const CASES: readonly Case[] = [
  ...[0, 50, 200].flatMap(casesAt),
  {
    ...slow,
    name: "a pipeline of 1.5 blocks, 1,000 queries",
    goals: { perSecond: "at least 475", price: PRICE },
  },
  {
    ...slow,
    name: "a pipeline of 1.5 blocks, 1,000 queries, blocks of 1.3 s",
    blockTimeMs: 1_300,
    goals: { perSecond: "at least 375", price: PRICE },
  },
  {
    ...full,
    name: "200 ms blocks, 400 queries, 50 ms",
    queries: 400,
    blockTimeMs: 200,
    roundTripMs: 50,
    goals: { perSecond: "at least 1,000" },
  },
];

/** Of a quick run. */
const QUICK_CASES = 1;
const QUICK_WINDOW_MS = 5_000;

/** How well a relayer fills the blocks of a localnet: both as processes of their own, all queries due all the time. */
export async function benchRelayer({ quick, signal }: BenchSettings): Promise<readonly BenchRow[]> {
  const only = process.env["BENCH_RELAYER_CASE"];
  const afterBlocks = Number(process.env["BENCH_RELAYER_AFTER_BLOCKS"] ?? 0);
  const chosen = CASES.filter(({ name }) => only === undefined || name === only).map((one) => ({
    ...one,
    afterBlocks,
  }));
  const cases = quick
    ? chosen.slice(0, QUICK_CASES).map((one) => ({ ...one, windowMs: QUICK_WINDOW_MS }))
    : chosen;
  const rows: BenchRow[] = [];
  for (const one of cases) {
    const result = await runScenario(one, signal);
    rows.push(...(one.from === "backlog" ? backlogRows(one, result) : rowsOf(one, result)));
  }
  return rows;
}

function rowsOf(one: Case, { first, last, prices, relayerPeakMb }: ScenarioResult): readonly BenchRow[] {
  const seconds = (last.atMs - first.atMs) / 1_000;
  const blocks = last.localHeight - first.localHeight;
  const results = last.results - first.results;
  const transactions = last.transactions - first.transactions;
  const row = (name: string, value: number, unit: string, more: Partial<BenchRow> = {}): BenchRow => ({
    name: `${one.name}: ${name}`,
    value,
    unit,
    ...more,
  });
  const goal = (text: string | undefined): Partial<BenchRow> =>
    text === undefined ? {} : { beside: `goal: ${text}` };
  const gas = last.gas - first.gas;
  const failed = last.failedTransactions - first.failedTransactions;
  const note = `${results} results in ${transactions} transactions in ${blocks} blocks in ${seconds.toFixed(1)} s; ${failed} transactions failed, ${last.failures - first.failures} results`;
  return [
    row("KV results included", results / seconds, "results/s", { ...goal(one.goals.perSecond), note }),
    ...(one.callbacks
      ? [
          row("the same, if each took 93,000 gas", gas / seconds / 93_000, "results/s", {
            ...goal(one.goals.perSecondAt93k),
            note: "gas of a second / 93,000: a small callback on a deployed chain",
          }),
        ]
      : []),
    row("results of a block", results / blocks, "results", {
      note: `a block every ${((seconds * 1_000) / blocks).toFixed(0)} ms`,
    }),
    row("gas of a block", gas / blocks, "gas", {
      note: "the fee market aims at 15,000,000, and a block holds 30,000,000",
    }),
    row("highest price of gas", highest(prices, first.localHeight, last.localHeight), "× minimum", {
      ...goal(one.goals.price),
    }),
    ...costRows(one, { first, last }),
    row("gas of a result", gas / results, "gas"),
    row("due to included, 95 % within", lateAt(0.95, first, last), "blocks", {
      ...goal(`at most ${allowedLateness(one, results / blocks, last)}`),
      note: "two blocks more than the market allows, in the steps of the histogram",
    }),
    row("RPC calls of a result", (last.rpcCalls - first.rpcCalls) / results, "calls", goal("at most 1.3")),
    row(
      "simulations of a transaction",
      (last.simulations - first.simulations) / transactions,
      "simulations",
      goal("1"),
    ),
    row("transactions that failed", failed, "transactions", goal("0")),
    row("peak memory of the relayer", relayerPeakMb, "MB", goal(one.goals.memory)),
  ];
}

/** What a unit of used gas cost. */
function costRows(one: Case, { first, last }: Pick<ScenarioResult, "first" | "last">): readonly BenchRow[] {
  const paid = (last.fees - first.fees) / (last.gas - first.gas) / MINIMUM_PRICE;
  const goal = one.goals.price === undefined ? {} : { beside: `goal: ${PRICE}` };
  return [{ name: `${one.name}: fee for the gas used`, value: paid, unit: "× minimum", ...goal }];
}

/** Of the fee market of the localnet. */
const MINIMUM_PRICE = 0.0025;

function highest(prices: ScenarioResult["prices"], from: number, to: number): number {
  return Math.max(...prices.filter(({ height }) => height >= from && height <= to).map(({ price }) => price));
}

/** How long a backlog takes, and what it does to the price. */
function backlogRows(one: Case, { first, last, prices, relayerPeakMb }: ScenarioResult): readonly BenchRow[] {
  const row = (name: string, value: number, unit: string, beside?: string): BenchRow => ({
    name: `${one.name}: ${name}`,
    value,
    unit,
    ...(beside === undefined ? {} : { beside: `goal: ${beside}` }),
  });
  const most = highest(prices, 0, Number.POSITIVE_INFINITY);
  const peak = prices.findLast(({ price }) => price === most)?.height ?? 0;
  const returned = prices.find(({ height, price }) => height > peak && price <= 1.1)?.height;
  return [
    row(
      "blocks until each query has a result",
      last.localHeight - first.localHeight + 1,
      "blocks",
      "at most 12",
    ),
    row("highest price of gas", most, "× minimum", "at most 2"),
    row(
      "blocks until the price is at 1.1",
      (returned ?? Number.POSITIVE_INFINITY) - peak,
      "blocks",
      "at most 30",
    ),
    row("transactions that failed", last.failedTransactions - first.failedTransactions, "transactions", "0"),
    row("peak memory of the relayer", relayerPeakMb, "MB", one.goals.memory),
  ];
}

/** What is due beyond the results of a block waits for later ones, and two blocks are for the way of a result. */
function allowedLateness(
  { queries, updatePeriod }: Case,
  resultsOfBlock: number,
  { lateness }: ScenarioResult["last"],
): number {
  const blocks = 2 + Math.ceil(Math.max(0, queries / resultsOfBlock - updatePeriod));
  return [...lateness.keys()].find((bound) => bound >= blocks) ?? blocks;
}

/** The number of blocks within which this share of the results was included, rounded up to a bound of the histogram. */
function lateAt(share: number, first: ScenarioResult["first"], last: ScenarioResult["last"]): number {
  const results = last.results - first.results;
  for (const [bound, count] of last.lateness)
    if (count - (first.lateness.get(bound) ?? 0) >= share * results) return bound;
  return Number.POSITIVE_INFINITY;
}
