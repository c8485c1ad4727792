import type { Context } from "../../runtime/context.ts";
import type { ChainModule } from "../../runtime/module.ts";
import type { PortRouter } from "../ibc/channel/ibc-module.ts";
import { type ContractHost, createContractHost, type HostParts } from "./contract-host.ts";
import { createDispatch, createMessageRunner } from "./dispatch.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { createMessageHandlers } from "./handlers.ts";
import { createContractApplication } from "./ibc-application.ts";
import { contractOfPort } from "./ibc-channels.ts";
import { contracts } from "./keeper.ts";
import { MODULE_NAME } from "./keys.ts";
import { createQuerier } from "./querier.ts";
import { createQueryHandlers } from "./queries.ts";
import type { WasmDeps, WasmOptions } from "./types.ts";

/** The module and its contract host, through which other modules call contracts. */
export interface WasmModule extends ChainModule {
  readonly host: ContractHost;
  /** Returns the application of a contract's port; undefined for any other port. */
  readonly application: PortRouter;
  /** Returns the code of a contract; undefined without such a contract. */
  readonly codeOf: (context: Context, address: Uint8Array) => bigint | undefined;
}

/** Creates the module `wasm`: wasmd's messages, queries and events, for binary contracts and for those written in TypeScript. */
export function createWasmModule(options: WasmOptions, deps: WasmDeps): WasmModule {
  const { bech32Prefix } = options;
  // The host and its parts call each other. The host reads `parts` at the first call, when both exist.
  const host: ContractHost = createContractHost(options, deps, () => parts);
  const parts: HostParts = {
    dispatch: createDispatch(createMessageRunner(options, deps), host),
    querier: createQuerier(options, deps, host),
  };
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createMessageHandlers(options, { host, vm: deps.vm }),
    queries: createQueryHandlers(bech32Prefix, host),
    initGenesis: (context, genesis) =>
      initGenesis(context, genesis, { ...options, vm: deps.vm, findHandler: deps.findMessage }),
    exportGenesis: (context) => exportGenesis(context, options),
    host,
    application: (context, portId) => {
      const address = contractOfPort(context, bech32Prefix, portId);
      if (address === undefined) return undefined;
      return createContractApplication(address, { bech32Prefix, calls: host.ibc, channels: deps.channels });
    },
    codeOf: (context, address) => contracts.get(context, address)?.codeId,
  };
}
