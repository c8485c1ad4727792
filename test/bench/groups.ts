import { benchAttack } from "./attack.ts";
import type { BenchRow, BenchSettings } from "./bench-row.ts";
import { benchChain } from "./chain.ts";
import { benchClient } from "./client.ts";
import { benchContracts } from "./contracts.ts";
import { benchIbcRelayer } from "./ibc-relayer.ts";
import { benchKeeper } from "./keeper.ts";
import { benchLightClient } from "./light-client.ts";
import { benchNode } from "./node.ts";
import { benchParser } from "./parser.ts";
import { benchProofs } from "./proofs.ts";
import { benchRelayer } from "./relayer.ts";
import { benchReport } from "./report.ts";
import { benchRestart } from "./restart.ts";
import { benchStaking } from "./staking.ts";
import { benchStartUp } from "./start-up.ts";
import { benchSystem } from "./system.ts";
import { benchWatchdog } from "./watchdog.ts";

/** Measures the figures of one group. */
export type BenchGroup = (settings: BenchSettings) => readonly BenchRow[] | Promise<readonly BenchRow[]>;

/** Groups by name, in the order in which they run. */
export const BENCH_GROUPS: Readonly<Record<string, BenchGroup>> = {
  proofs: benchProofs,
  "light-client": benchLightClient,
  client: benchClient,
  parser: benchParser,
  watchdog: benchWatchdog,
  report: benchReport,
  keeper: benchKeeper,
  chain: benchChain,
  contracts: benchContracts,
  staking: benchStaking,
  node: benchNode,
  "ibc-relayer": benchIbcRelayer,
  "start-up": benchStartUp,
  restart: benchRestart,
  system: benchSystem,
  relayer: benchRelayer,
  attack: benchAttack,
};
