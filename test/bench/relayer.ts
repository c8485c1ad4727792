import type { BenchRow, BenchSettings } from "./bench-row.ts";
import { runScenario, type Scenario, type ScenarioResult } from "./system/scenario.ts";

interface Case extends Scenario {
  readonly name: string;
  readonly goals: Partial<Record<"perSecond" | "memory", string>>;
}

const WINDOW_MS = 25_000;
const base = { queries: 1_000, updatePeriod: 1, blockTimeMs: 980, windowMs: WINDOW_MS };

const CASES: readonly Case[] = [
  ...[0, 50, 200].map((roundTripMs) => ({
    ...base,
    name: `1,000 queries, ${roundTripMs} ms`,
    roundTripMs,
    callbacks: false,
    goals: { perSecond: "at least 950" },
  })),
  ...[0, 50, 200].map((roundTripMs) => ({
    ...base,
    name: `1,000 queries, callbacks, ${roundTripMs} ms`,
    roundTripMs,
    callbacks: true,
    goals: {},
  })),
  {
    ...base,
    name: "5,000 queries, period 5",
    queries: 5_000,
    updatePeriod: 5,
    roundTripMs: 0,
    callbacks: false,
    goals: { memory: "at most 300" },
  },
  {
    ...base,
    name: "200 ms blocks, 400 queries, 50 ms",
    queries: 400,
    blockTimeMs: 200,
    roundTripMs: 50,
    callbacks: false,
    goals: { perSecond: "at least 1,000" },
  },
];

/** Of a quick run. */
const QUICK_CASES = 1;
const QUICK_WINDOW_MS = 5_000;

/** How well a relayer fills the blocks of a localnet: both as processes of their own, all queries due all the time. */
export async function benchRelayer({ quick, signal }: BenchSettings): Promise<readonly BenchRow[]> {
  const only = process.env["BENCH_RELAYER_CASE"];
  const chosen = only === undefined ? CASES : CASES.filter(({ name }) => name === only);
  const cases = quick
    ? chosen.slice(0, QUICK_CASES).map((one) => ({ ...one, windowMs: QUICK_WINDOW_MS }))
    : chosen;
  const rows: BenchRow[] = [];
  for (const one of cases) rows.push(...rowsOf(one, await runScenario(one, signal)));
  return rows;
}

function rowsOf(one: Case, { first, last, relayerPeakMb }: ScenarioResult): readonly BenchRow[] {
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
            ...goal("at least 290"),
            note: "gas of a second / 93,000: a small callback on a deployed chain",
          }),
        ]
      : []),
    row("results of a block", results / blocks, "results", {
      note: `a block every ${((seconds * 1_000) / blocks).toFixed(0)} ms`,
    }),
    row("gas of a block", gas / blocks, "gas", {
      note: "the budget is 27,000,000: 90 % of the fee market's limit",
    }),
    row("gas of a result", gas / results, "gas"),
    row("due to included, 95 % within", lateAt(0.95, first, last), "blocks", {
      ...(one.callbacks ? { note: "a block holds a quarter of what is due" } : goal("at most 2")),
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

/** The number of blocks within which this share of the results was included, rounded up to a bound of the histogram. */
function lateAt(share: number, first: ScenarioResult["first"], last: ScenarioResult["last"]): number {
  const results = last.results - first.results;
  for (const [bound, count] of last.lateness)
    if (count - (first.lateness.get(bound) ?? 0) >= share * results) return bound;
  return Number.POSITIVE_INFINITY;
}
