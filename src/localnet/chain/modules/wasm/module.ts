import * as wire from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import type { Context, ChainModule } from "../../runtime/context.ts";
import { messageHandlers } from "../../runtime/handlers.ts";
import type { PortRouter } from "../ibc/channel/ibc-module.ts";
import { type ContractHost, createContractHost, type HostParts } from "./contract-host.ts";
import { type GasTracer, type SpanKind, UNTRACED } from "../../runtime/gas-trace.ts";
import { createDispatch, createMessageRunner, type RunMessage } from "./dispatch.ts";
import { exportGenesis, initGenesis } from "./genesis.ts";
import { codeMessages } from "./code-handlers.ts";
import { contractMessages } from "./handlers.ts";
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
  // The host and its parts call each other, so the host reads `parts` at the first call, when both exist.
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
    messages: messageHandlers(wire.Msg, {
      ...codeMessages(options, host, deps.vm),
      ...contractMessages(options, host),
    }),
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
  const traced =
    <Args extends unknown[], T>(
      kind: SpanKind,
      name: (...args: Args) => string,
      call: (context: Context, ...args: Args) => T,
    ) =>
    (context: Context, ...args: Args): T =>
      span(
        context,
        kind,
        () => name(...args),
        (inner) => call(inner, ...args),
      );
  return {
    ...host,
    instantiate: traced("contract", ({ codeId }) => `instantiate code ${codeId}`, host.instantiate),
    execute: traced("contract", (address) => `execute ${address}`, host.execute),
    migrate: traced(
      "contract",
      ({ address, codeId }) => `migrate ${address} to code ${codeId}`,
      host.migrate,
    ),
    sudo: traced("contract", (address) => `sudo ${address}`, host.sudo),
    reply: traced("contract", (address, { id }) => `reply ${id} to ${address}`, host.reply),
    query: traced("query", (address) => `query ${address}`, host.query),
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
