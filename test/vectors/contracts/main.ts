import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { createVm } from "../../../src/localnet/vm/vm.ts";
import { type ProbeOutcome, replayProbe } from "../../support/contract-probe.ts";
import { replayModules } from "../../support/module-recordings.ts";
import { replayChain } from "../../support/contract-chain.ts";
import type { StoreOutcome } from "../../support/contract-chain-state.ts";
import {
  readBinary,
  readCalls,
  readSequences,
  replayCall,
  replayProfiled,
} from "../../support/contract-calls.ts";

/** Fewest recorded calls of each sequence that must agree. A sequence that is not listed must agree completely. */
const expected = readExpected("expected.json");
/** The same for transactions, queries and dumps of a sequence's chain. */
const expectedCases = readExpected("expected-cases.json");
/** The same for entries of the stores after the last block: `sequence/store`. */
const expectedState = readExpected("expected-state.json");

function readExpected(name: string): Readonly<Record<string, number>> {
  const text = readFileSync(`test/vectors/contracts/${name}`, "utf8");
  return z.record(z.string(), z.number()).parse(JSON.parse(text));
}

const USAGE = `usage: npm run conformance:contracts -- [--only SEQUENCE] DIR…
  --only SEQUENCE  replay the chain of one sequence only, without the calls by themselves; can be given several times
`;

/**
 * `npm run conformance:contracts -- DIR`: replays the recorded calls of contracts, then the chains that made them, then the recorded messages
 * of modules in `test/fixtures`. Prints the differences, and `N of M` for each. `--only SEQUENCE` replays the chain of one sequence.
 */
function main(words: readonly string[]): number {
  const { values, positionals: folders } = parseArgs({
    args: [...words],
    options: { only: { type: "string", multiple: true } },
    allowPositionals: true,
  });
  if (folders.length === 0) {
    process.stderr.write(USAGE);
    return 2;
  }
  const isGood = folders.flatMap((folder) =>
    values.only === undefined
      ? [
          ...readSequences(folder).map((sequence) => replaySequence(folder, sequence)),
          ...readSequences(folder).map((sequence) => replayCases(folder, sequence)),
          ...replayProbe(folder).map(printProbe),
        ]
      : values.only.map((sequence) => replayCases(folder, sequence)),
  );
  if (values.only === undefined) isGood.push(...replayModules().map(printProbe));
  return isGood.length > 0 && isGood.every(Boolean) ? 0 : 1;
}

/** Replays one sequence on a virtual machine of its own. Returns whether as many calls agree as expected. */
function replaySequence(folder: string, sequence: string): boolean {
  const vm = createVm();
  const calls = readCalls(join(folder, sequence));
  let equal = 0;
  for (const call of calls) {
    const code = (): Uint8Array => readBinary(folder, call.checksum);
    const replay = (): string | undefined => replayCall(vm, call, code);
    // The second time, on an instance that was used. The third time, with a profile: the gas is the same to the unit.
    const difference = replay() ?? replay() ?? replayProfiled(vm, call, code);
    if (difference === undefined) equal++;
    else process.stdout.write(`${sequence} call ${call.id} ${call.fn}: ${difference}\n`);
  }
  const wanted = expected[sequence] ?? calls.length;
  process.stdout.write(
    `${sequence}: ${equal} of ${calls.length} VM calls${equal < wanted ? `, ${wanted} expected` : ""}\n`,
  );
  return equal >= wanted && calls.length > 0;
}

/** Replays the chain of one sequence. Returns whether as many cases agree as expected. */
function replayCases(folder: string, sequence: string): boolean {
  const { cases, stores } = replayChain(folder, sequence);
  for (const { id, differences } of cases)
    for (const difference of differences) process.stdout.write(`${sequence} ${id}: ${difference}\n`);
  const equal = cases.filter(({ differences }) => differences.length === 0).length;
  const wanted = expectedCases[sequence] ?? cases.length;
  const short = equal < wanted ? `, ${wanted} expected` : "";
  process.stdout.write(`${sequence}: ${equal} of ${cases.length} cases${short}\n`);
  const hasState = stores.map((store) => printStore(sequence, store)).every(Boolean);
  return equal >= wanted && cases.length > 0 && hasState;
}

/** Prints the entries of a store that differ. Returns whether as many agree as expected. */
function printStore(sequence: string, { store, equal, total, differences }: StoreOutcome): boolean {
  for (const difference of differences) process.stdout.write(`${sequence} state ${difference}\n`);
  const wanted = expectedState[`${sequence}/${store}`] ?? total;
  const short = equal < wanted ? `, ${wanted} expected` : "";
  process.stdout.write(`${sequence} ${store} state: ${equal} of ${total} entries${short}\n`);
  return equal >= wanted;
}

function printProbe({ name, total, differences }: ProbeOutcome): boolean {
  for (const difference of differences) process.stdout.write(`${difference}\n`);
  process.stdout.write(`${name}: ${total - differences.length} of ${total}\n`);
  return total - differences.length >= (expected[name] ?? total);
}

process.exitCode = main(process.argv.slice(2));
