import type { JsonObject } from "../../src/platform/base/json.ts";
import { CHAINS, type LocalnetChains } from "../../src/localnet/accounts/chains.ts";
import { WORKBENCH_MODULES } from "../../src/workbench/modules/workbench-modules.ts";
import { startTestChain, type TestChain, type TestChainOptions } from "./test-chain.ts";

/** The chains of the default localnet, of which the local one has the modules of the workbench. */
export const BENCH_CHAINS: LocalnetChains = {
  ...CHAINS,
  local: { ...CHAINS.local, settings: { ...CHAINS.local.settings, modules: { tokenfactory: {} } } },
};

/** Starts an application with the modules of the workbench, as {@link startTestChain}. */
export function startBenchChain(appState: JsonObject, options: TestChainOptions = {}): TestChain {
  return startTestChain(appState, { moreModules: WORKBENCH_MODULES.create, ...options });
}
