import type { ChainModule } from "../../runtime/module.ts";
import { type ContractHost, createContractHost, type HostParts } from "./call/contract-host.ts";
import { createDispatch } from "./dispatch/dispatch.ts";
import { createMessageRunner } from "./dispatch/message-runner.ts";
import { createQuerier } from "./dispatch/querier.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { createMessageHandlers } from "./handlers.ts";
import { MODULE_NAME } from "./keys.ts";
import { createQueryHandlers } from "./queries.ts";
import type { WasmDeps, WasmOptions } from "./types.ts";

/** The module and its contract host, through which other modules call contracts. */
export interface WasmModule extends ChainModule {
  readonly host: ContractHost;
}

/** Creates the module `wasm`: wasmd's messages, queries and events for contracts that are written in TypeScript. */
export function createWasmModule(options: WasmOptions, deps: WasmDeps): WasmModule {
  // The host and its parts call each other. The host reads `parts` at the first call, when both exist.
  const host: ContractHost = createContractHost(options, deps, () => parts);
  const parts: HostParts = {
    dispatch: createDispatch(createMessageRunner(deps), host.reply),
    querier: createQuerier(options, deps, host.query),
  };
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createMessageHandlers(options, host),
    queries: createQueryHandlers(options.bech32Prefix, host),
    initGenesis: (context, genesis) => initGenesis(context, genesis, options, deps.findMessage),
    exportGenesis: (context) => exportGenesis(context, options),
    host,
  };
}
