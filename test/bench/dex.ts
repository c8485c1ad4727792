import * as store from "../../src/chain/modules/dex/store.ts";
import { allBalances, allSupplies } from "../support/dex-world.ts";
import type { BenchRow } from "./bench-row.ts";
import { createRandom, type Market, type Random, type Workload, WORKLOADS } from "./dex-workloads.ts";
import { describeMachine, machineText } from "./machine.ts";
import { median, processorMs } from "./measure.ts";
import { tableText } from "./print-table.ts";

const BATCH = 1000;
const ALICE = "neutron1v9kxjcm9ta047h6lta047h6lta047h6l4wqwn5";

/** Runs of a workload. The first ones compile the code and are not counted. */
interface Repetitions {
  readonly warmUp: number;
  readonly measured: number;
}

/** `npm run bench:dex [-- --quick] [ID…]`: operations of the dex module a second, on one core. */
function main(args: readonly string[]): number {
  const ids = args.filter((argument) => argument !== "--quick");
  const repetitions = args.includes("--quick") ? { warmUp: 3, measured: 5 } : { warmUp: 5, measured: 25 };
  const chosen = WORKLOADS.filter(({ id }) => ids.length === 0 || ids.includes(id));
  if (chosen.length === 0) {
    process.stderr.write(
      `usage: npm run bench:dex [-- --quick] [${WORKLOADS.map(({ id }) => id).join("|")} …]\n`,
    );
    return 2;
  }
  for (const workload of chosen) checkFingerprint(workload);
  const rows = chosen.map((workload) => measure(workload, repetitions));
  process.stdout.write(`${machineText(describeMachine())}\n${tableText([{ group: "dex", rows }])}\n`);
  return 0;
}

/** Throws when 1,000 operations from the start do not give the figures of the deployed keeper. */
function checkFingerprint({ id, build, operation, fingerprint }: Workload): void {
  const random = createRandom();
  const market = build();
  market.counts.events = 0;
  for (let index = 0; index < BATCH; index++) operation(market, random, index)();
  const figures = figuresOf(market);
  for (const [name, expected] of Object.entries(fingerprint)) {
    if (figures[name] !== expected)
      throw new Error(`${id}: ${name} is ${figures[name]} after ${BATCH} operations, expected ${expected}`);
  }
}

function figuresOf({ world, counts }: Market): Readonly<Record<string, string>> {
  return world.read(0n, (context) => ({
    ...Object.fromEntries(
      allBalances(context)
        .filter(([address]) => address === ALICE)
        .map(([, denom, amount]) => [denom, amount.toString()]),
    ),
    ticks: [...store.allTicks(context)].length.toString(),
    trancheCount: store.getTrancheCount(context).toString(),
    shares: allSupplies(context)
      .filter(([denom]) => denom.startsWith("neutron/pool/"))
      .reduce((sum, [, amount]) => sum + amount, 0n)
      .toString(),
    events: counts.events.toString(),
  }));
}

/** Median of batches of 1,000 operations; the state is built again between batches where the workload says so. */
function measure(workload: Workload, { warmUp, measured }: Repetitions): BenchRow {
  const random = createRandom();
  let market = workload.build();
  let index = 0;
  const rates: number[] = [];
  for (let batch = 0; batch < warmUp + measured; batch++) {
    if (batch > 0 && workload.rebuildAfter !== undefined) market = workload.build();
    const milliseconds = runBatch(workload, { market, random, from: index });
    index += BATCH;
    if (batch >= warmUp) rates.push((BATCH * 1000) / milliseconds);
  }
  return {
    name: `${workload.id} ${workload.text}`,
    value: median(rates),
    unit: "ops/s",
    note: `median of ${measured} batches of 1,000, best ${Math.round(Math.max(...rates))}`,
    beside: `deployed keeper (Go) ${workload.deployed}`,
  };
}

interface Batch {
  readonly market: Market;
  readonly random: Random;
  readonly from: number;
}

/** Processor time of one batch in ms. The messages are encoded before. */
function runBatch({ operation }: Workload, { market, random, from }: Batch): number {
  const operations = Array.from({ length: BATCH }, (_, index) => operation(market, random, from + index));
  const start = processorMs();
  for (const operate of operations) operate();
  return processorMs() - start;
}

process.exitCode = main(process.argv.slice(2));
