import type { ChainModule } from "../../runtime/module.ts";
import { createDispatch } from "./dispatch/dispatch.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { createMessageHandlers } from "./handlers.ts";
import type { ContractHost, HostParts } from "./call/contract-host.ts";
import { createContractHost } from "./call/contract-host.ts";
import { MODULE_NAME } from "./keys.ts";
import { createMessageRunner } from "./dispatch/message-runner.ts";
import { createQuerier } from "./dispatch/querier.ts";
import { createQueryHandlers } from "./queries.ts";
import type { WasmDeps, WasmOptions } from "./types.ts";

/** The contract host as a module; other modules call contracts through `host`. */
export interface WasmModule extends ChainModule {
  readonly host: ContractHost;
}

/** The module `wasm`: contracts written in TypeScript behind wasmd's messages, queries and events. */
export function createWasmModule(options: WasmOptions, deps: WasmDeps): WasmModule {
  // Contracts call messages and queries that come back to the host: the parts are looked up when they are used.
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
