import type { Profile } from "../../src/localnet/chain/deviations/deviations.ts";
import * as cases from "./dex-cases.ts";
import { runScenario } from "./dex-scenario.ts";
import type { VectorLine } from "./dex-vector-lines.ts";

const KINDS: Readonly<Record<string, (line: VectorLine, profile: Profile) => string | undefined>> = {
  scenario: runScenario,
  math: cases.runMath,
  encoding: cases.runEncoding,
  store_key: cases.runStoreKeys,
  sortable: cases.runSortable,
  genesis: cases.runGenesis,
  genesis_validate: cases.runGenesisValidate,
};

/** Runs one line of a vectors file on a chain of a profile; returns the first difference, or undefined. Throws for a kind that it does not know. */
export function runVectorLine(line: VectorLine, profile: Profile): string | undefined {
  const run = KINDS[String(line["kind"])];
  if (run === undefined) throw new Error(`line ${line.id}: unknown kind ${String(line["kind"])}`);
  return run(line, profile);
}
