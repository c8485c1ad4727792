import type { Context } from "../../runtime/context.ts";
import type { ChainModule } from "../../runtime/module.ts";
import type { PortRouter } from "../ibc/channel/ibc-module.ts";
import { type ContractHost, createContractHost, type HostParts } from "./contract-host.ts";
import { type GasTracer, UNTRACED } from "../../runtime/gas-trace.ts";
import { createDispatch, createMessageRunner, type RunMessage } from "./dispatch.ts";
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
  /** Returns the application for a contract's port, or undefined for any other port. */
  readonly application: PortRouter;
  /** Returns a contract's code id, or undefined if there is no such contract. */
  readonly codeOf: (context: Context, address: Uint8Array) => bigint | undefined;
}

/** Creates the `wasm` module: wasmd's messages, queries and events, for both binary contracts and contracts in TypeScript. */
export function createWasmModule(options: WasmOptions, deps: WasmDeps): WasmModule {
  const { bech32Prefix } = options;
  // The host and its parts call each other. The host reads `parts` at the first call, when both exist.
  const { tracer = UNTRACED } = deps;
  const host: ContractHost = tracedHost(
    createContractHost(options, { ...deps, tracer }, () => parts),
    tracer,
  );
  const parts: HostParts = {
    dispatch: createDispatch(tracedRunner(createMessageRunner(options, deps), tracer), host),
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

/** Returns a host that traces each call as a span. */
function tracedHost(host: ContractHost, { span }: GasTracer): ContractHost {
  return {
    ...host,
    instantiate: (context, contract) =>
      span(
        context,
        "contract",
        () => `instantiate code ${contract.codeId}`,
        (inner) => host.instantiate(inner, contract),
      ),
    execute: (context, address, caller, message) =>
      span(
        context,
        "contract",
        () => `execute ${address}`,
        (inner) => host.execute(inner, address, caller, message),
      ),
    migrate: (context, migration) =>
      span(
        context,
        "contract",
        () => `migrate ${migration.address} to code ${migration.codeId}`,
        (inner) => host.migrate(inner, migration),
      ),
    sudo: (context, address, message) =>
      span(
        context,
        "contract",
        () => `sudo ${address}`,
        (inner) => host.sudo(inner, address, message),
      ),
    reply: (context, address, reply) =>
      span(
        context,
        "contract",
        () => `reply ${reply.id} to ${address}`,
        (inner) => host.reply(inner, address, reply),
      ),
    query: (context, address, message) =>
      span(
        context,
        "query",
        () => `query ${address}`,
        (inner) => host.query(inner, address, message),
      ),
  };
}

/** Traces each contract message as a span, since the messages that it sends may belong to any module. */
function tracedRunner(run: RunMessage, { span }: GasTracer): RunMessage {
  return (context, contract, message) =>
    span(
      context,
      "message",
      () => `message of ${contract}`,
      (inner) => run(inner, contract, message),
    );
}
