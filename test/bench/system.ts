import type { BenchRow, BenchSettings } from "./bench-row.ts";
import { runScenario, type Scenario, type ScenarioResult } from "./system/scenario.ts";

const QUERIES = { queries: 300, updatePeriod: 1, from: "results" } as const;

/** Figures of the Go relayer with 300 queries that are always due and blocks of 1 s, measured on another machine. */
interface GoRelayer {
  readonly perSecond: string;
  readonly rpcCalls: string;
  readonly gas: string;
  readonly txBytes: string;
  readonly sentKb: string;
  readonly receivedKb: string;
}

const GO_AT_0_MS: GoRelayer = {
  perSecond: "22.9",
  rpcCalls: "14.6",
  gas: "221,412",
  txBytes: "2,145",
  sentKb: "12.1",
  receivedKb: "22.3",
};

const GO_AT_50_MS: GoRelayer = {
  perSecond: "1.65",
  rpcCalls: "11.7",
  gas: "238,283",
  txBytes: "2,186",
  sentKb: "10.1",
  receivedKb: "19.6",
};

interface Case extends Omit<Scenario, "queries" | "updatePeriod" | "from"> {
  readonly name: string;
  readonly go?: GoRelayer;
  /** Whether the memory of this run is reported. */
  readonly tellsMemory?: true;
}

/** The first case has no callbacks, as the measured Go relayer. It is the longest and shows the memory use of a minute. */
const CASES: readonly Case[] = [
  {
    name: "1 s blocks",
    blockTimeMs: 1_000,
    roundTripMs: 0,
    callbacks: false,
    windowMs: 60_000,
    go: GO_AT_0_MS,
    tellsMemory: true,
  },
  {
    name: "1 s blocks, 50 ms round trip",
    blockTimeMs: 1_000,
    roundTripMs: 50,
    callbacks: false,
    windowMs: 20_000,
    go: GO_AT_50_MS,
  },
  { name: "200 ms blocks", blockTimeMs: 200, roundTripMs: 0, callbacks: false, windowMs: 10_000 },
  {
    name: "200 ms blocks, 50 ms round trip",
    blockTimeMs: 200,
    roundTripMs: 50,
    callbacks: false,
    windowMs: 10_000,
  },
  { name: "200 ms blocks, callbacks", blockTimeMs: 200, roundTripMs: 0, callbacks: true, windowMs: 10_000 },
];

/** Of a quick run. */
const QUICK_CASES = 2;
const QUICK_WINDOW_MS = 5_000;

/** KV results on a localnet: localnet and relayer as processes of their own, 300 queries due at every block. */
export async function benchSystem({ quick, signal }: BenchSettings): Promise<readonly BenchRow[]> {
  const cases = quick
    ? CASES.slice(0, QUICK_CASES).map((one) => ({ ...one, windowMs: QUICK_WINDOW_MS }))
    : CASES;
  const rows: BenchRow[] = [];
  for (const one of cases) {
    const result = await runScenario({ ...one, ...QUERIES }, signal);
    rows.push(...rowsOf(one, result));
  }
  return rows;
}

function rowsOf(one: Case, result: ScenarioResult): readonly BenchRow[] {
  const { first, last } = result;
  const seconds = (last.atMs - first.atMs) / 1_000;
  const results = last.results - first.results;
  if (results === 0) throw new Error(`${one.name}: no result was included`);
  const transactions = last.transactions - first.transactions;
  const each = (of: (counters: typeof first) => number): number => (of(last) - of(first)) / results;
  const row = (name: string, value: number, unit: string, more: Partial<BenchRow> = {}): BenchRow => ({
    name: `${one.name}: ${name}`,
    value,
    unit,
    ...more,
  });
  const go = (figure: string | undefined): Partial<BenchRow> =>
    figure === undefined ? {} : { beside: `Go relayer ${figure}` };
  const note = `${results} results in ${transactions} transactions in ${seconds.toFixed(1)} s, ${last.failures - first.failures} failures`;
  return [
    row("KV results included", results / seconds, "results/s", { ...go(one.go?.perSecond), note }),
    row(
      "RPC calls of a result",
      each(({ rpcCalls }) => rpcCalls),
      "calls",
      {
        ...go(one.go?.rpcCalls),
        note: "both chains; ten or fewer share a request",
      },
    ),
    row(
      "gas of a result",
      each(({ gas }) => gas),
      "gas",
      {
        ...go(one.go?.gas),
        note: `${last.clientUpdates - first.clientUpdates} client updates among them`,
      },
    ),
    row(
      "transaction bytes of a result",
      each(({ txBytes }) => txBytes),
      "B",
      go(one.go?.txBytes),
    ),
    row("sent for a result", each(({ bytesSent }) => bytesSent) / 1_000, "kB", {
      ...go(one.go?.sentKb),
      note: "bodies of RPC requests",
    }),
    row("received for a result", each(({ bytesReceived }) => bytesReceived) / 1_000, "kB", {
      ...go(one.go?.receivedKb),
      note: "bodies of RPC responses",
    }),
    ...(one.tellsMemory === undefined ? [] : memoryRows(one, result, seconds)),
  ];
}

function memoryRows(one: Case, result: ScenarioResult, seconds: number): readonly BenchRow[] {
  const note = `largest resident memory, ${Math.round(seconds)} s of this work and its preparation`;
  return [
    { name: `${one.name}: peak memory of the relayer`, value: result.relayerPeakMb, unit: "MB", note },
    { name: `${one.name}: peak memory of the localnet`, value: result.localnetPeakMb, unit: "MB", note },
  ];
}
