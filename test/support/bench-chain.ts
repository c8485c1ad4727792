import type { JsonObject } from "../../src/platform/base/json.ts";
import { WORKBENCH_MODULES } from "../../src/workbench/modules/workbench-modules.ts";
import { startTestChain, type TestChain, type TestChainOptions } from "./test-chain.ts";

/** Starts an application with the modules of the workbench, as {@link startTestChain}. */
export function startBenchChain(appState: JsonObject, options: TestChainOptions = {}): TestChain {
  return startTestChain(appState, { moreModules: WORKBENCH_MODULES.create, ...options });
}
