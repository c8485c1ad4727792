import { poolDenom } from "../../src/localnet/chain/modules/dex/types.ts";
import * as store from "../../src/localnet/chain/modules/dex/store.ts";
import { parseAddress } from "../../src/localnet/chain/runtime/address.ts";
import { createStandInBank } from "../support/dex-stand-in-bank.ts";
import { createRealBank } from "../support/dex-world.ts";
import type { BenchRow } from "./bench-row.ts";
import {
  ALICE,
  type BankFactory,
  createRandom,
  type Market,
  type Random,
  TOKENS,
  type Workload,
  WORKLOADS,
} from "./dex-workloads.ts";
import { describeMachine, machineText } from "./machine.ts";
import { median, processorMs } from "./measure.ts";
import { tableText } from "./print-table.ts";

const BATCH = 1000;

/** Runs of a workload. The first ones compile the code and are not counted. */
interface Repetitions {
  readonly warmUp: number;
  readonly measured: number;
}

/**
 * `npm run bench:dex [-- --quick] [--real-bank] [ID…]`: operations of the dex module a second, on one thread. The bank is that of
 * the bench of the deployed keeper, or with `--real-bank` the bank and auth modules of the program.
 */
function main(args: readonly string[]): number {
  const ids = args.filter((argument) => !argument.startsWith("--"));
  const bank = args.includes("--real-bank") ? createRealBank : createStandInBank;
  const repetitions = args.includes("--quick") ? { warmUp: 3, measured: 5 } : { warmUp: 5, measured: 25 };
  const chosen = WORKLOADS.filter(({ id }) => ids.length === 0 || ids.includes(id));
  if (chosen.length === 0 || chosen.length < ids.length) {
    const known = WORKLOADS.map(({ id }) => id).join("|");
    process.stderr.write(`usage: npm run bench:dex [-- --quick] [--real-bank] [${known} …]\n`);
    return 2;
  }
  for (const workload of chosen) checkFingerprint(workload, bank);
  const rows = chosen.map((workload) => measure(workload, bank, repetitions));
  process.stdout.write(`${machineText(describeMachine())}\n${tableText([{ group: "dex", rows }])}\n`);
  return 0;
}

/** Throws when 1,000 operations from the start do not give the figures of the deployed keeper. */
function checkFingerprint({ id, build, operation, fingerprint }: Workload, bank: BankFactory): void {
  const random = createRandom();
  const market = build(bank);
  market.counts.events = 0;
  for (let index = 0; index < BATCH; index++) operation(market, random, index)();
  const figures = figuresOf(market);
  for (const [name, expected] of Object.entries(fingerprint)) {
    if (figures[name] !== expected)
      throw new Error(`${id}: ${name} is ${figures[name]} after ${BATCH} operations, expected ${expected}`);
  }
}

function figuresOf({ world, counts }: Market): Readonly<Record<string, string>> {
  const alice = parseAddress("neutron", ALICE);
  return world.read(0n, (context) => {
    const pools = [...store.poolMetadata.entries(context)].map(([id]) => poolDenom(id));
    return {
      ...Object.fromEntries(
        TOKENS.map((denom) => [denom, world.bank.balance(context, alice, denom).amount.toString()]),
      ),
      ticks: [...store.allTicks(context)].length.toString(),
      trancheCount: store.trancheCount.get(context).toString(),
      shares: pools.reduce((sum, denom) => sum + world.bank.supply(context, denom), 0n).toString(),
      events: counts.events.toString(),
    };
  });
}

/** Median of batches of 1,000 operations; the state is built again between batches where the workload says so. */
function measure(workload: Workload, bank: BankFactory, { warmUp, measured }: Repetitions): BenchRow {
  const random = createRandom();
  let market = workload.build(bank);
  let index = 0;
  const rates: number[] = [];
  for (let batch = 0; batch < warmUp + measured; batch++) {
    if (batch > 0 && workload.rebuildAfter !== undefined) market = workload.build(bank);
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
