import { utf8 } from "../../../../platform/base/bytes.ts";
import type { EntryPoint } from "../../../vm/host.ts";
import type { Vm } from "../../../vm/vm.ts";
import type { Context } from "../../runtime/context.ts";
import type { GasTracer } from "../../runtime/gas-trace.ts";
import { type BinaryContracts, createBinaryContracts } from "./binary-contract.ts";
import { parseQueryResult, parseResponse, printReply } from "./contract-result.ts";
import {
  type Caller,
  type ContractCode,
  ContractError,
  type ContractResponse,
  type ContractScope,
  type Reply,
} from "./contract.ts";
import { contractStore, createCodeRegistry, readOnly, transactionIndex } from "./keeper.ts";
import type { LoadedCode } from "./loading.ts";
import { parseMessageJson, printMessageJson } from "./message-json.ts";
import { answerQuery, type ContractQuerier, queryFromTypeScript, type SmartQueries } from "./querier.ts";
import type { WasmOptions } from "./types.ts";

/**
 * Contract entry points, for TypeScript code and for binary code in the virtual machine. Messages are JSON. All methods throw
 * `ContractError` for the contract's own error, and `ModuleError` for others.
 */
export interface EntryPoints {
  readonly instantiate: Call<[caller: Caller, message: Uint8Array]>;
  readonly execute: Call<[caller: Caller, message: Uint8Array]>;
  readonly migrate: Call<[message: Uint8Array]>;
  readonly sudo: Call<[message: Uint8Array]>;
  readonly reply: Call<[reply: Reply]>;
  /** Returns JSON. */
  readonly query: (context: Context, code: LoadedCode, message: Uint8Array) => Uint8Array;
  /** Runs an IBC entry point and reads its result with `decode`. TypeScript code has no IBC entry points. */
  readonly ibc: <T>(
    context: Context,
    code: LoadedCode,
    call: { readonly entryPoint: EntryPoint; readonly message: Uint8Array },
    decode: (result: Uint8Array) => T,
  ) => T;
}

type Call<Args extends unknown[]> = (context: Context, code: LoadedCode, ...args: Args) => ContractResponse;

interface EntryPointDeps extends Pick<SmartQueries, "isDeterministic"> {
  readonly vm: Vm;
  readonly tracer: GasTracer;
  /** Looked up on each call. */
  readonly querier: () => ContractQuerier;
  /** Returns the number of nested calls in progress, each made by a message of the previous one. */
  readonly messageDepth: () => number;
}

export function createEntryPoints(options: WasmOptions, deps: EntryPointDeps): EntryPoints {
  const { querier } = deps;
  const find = createCodeRegistry(options.codes);
  const typescript = typescriptEntryPoints(find, querier);
  const binary = binaryEntryPoints(
    createBinaryContracts({
      ...deps,
      bech32Prefix: options.bech32Prefix,
      query: (context, contract, request, gas) =>
        answerQuery(querier(), { context, contract, gas }, request, deps),
    }),
  );
  const of = (code: LoadedCode): EntryPoints => (find(code.hash) === undefined ? binary : typescript);
  return {
    instantiate: (context, code, caller, message) => of(code).instantiate(context, code, caller, message),
    execute: (context, code, caller, message) => of(code).execute(context, code, caller, message),
    migrate: (context, code, message) => of(code).migrate(context, code, message),
    sudo: (context, code, message) => of(code).sudo(context, code, message),
    reply: (context, code, reply) => of(code).reply(context, code, reply),
    query: (context, code, message) => of(code).query(context, code, message),
    ibc: (context, code, call, decode) => of(code).ibc(context, code, call, decode),
  };
}

function binaryEntryPoints(contracts: BinaryContracts): EntryPoints {
  const call = (
    context: Context,
    code: LoadedCode,
    entryPoint: EntryPoint,
    args: { readonly caller?: Caller; readonly message: Uint8Array },
  ): ContractResponse =>
    contracts.call(context, { code, entryPoint, ...args }, (result) => parseResponse(result, code.address));
  return {
    instantiate: (context, code, caller, message) => call(context, code, "instantiate", { caller, message }),
    execute: (context, code, caller, message) => call(context, code, "execute", { caller, message }),
    migrate: (context, code, message) => call(context, code, "migrate", { message }),
    sudo: (context, code, message) => call(context, code, "sudo", { message }),
    reply: (context, code, reply) => call(context, code, "reply", { message: printReply(reply) }),
    query: (context, code, message) =>
      contracts.call(context, { code, entryPoint: "query", message }, parseQueryResult),
    ibc: (context, code, ibcCall, decode) => contracts.call(context, { code, ...ibcCall }, decode),
  };
}

/** Price per message byte for TypeScript code, which replaces the metered parsing in binary code. */
const MESSAGE_BYTE_COST = 5n;

function typescriptEntryPoints(
  find: (hash: Uint8Array) => ContractCode | undefined,
  querier: () => ContractQuerier,
): EntryPoints {
  const open = (
    context: Context,
    code: LoadedCode,
    size: number,
    access: "read" | "write" = "write",
  ): ContractScope => {
    context.gas.consume(MESSAGE_BYTE_COST * BigInt(size), "wasm contract");
    const { address, bytes } = code;
    const storage = contractStore(context, bytes);
    return {
      chainId: context.chainId,
      height: context.height,
      timeNs: context.timeNs,
      transactionIndex: () => transactionIndex(context),
      address,
      storage: access === "read" ? readOnly(storage) : storage,
      query: (request) => queryFromTypeScript(querier(), context, code, request),
      useGas: (amount) => context.gas.consume(amount, "wasm contract"),
    };
  };
  const entry = <K extends keyof ContractCode>(code: LoadedCode, name: K): NonNullable<ContractCode[K]> => {
    const contract = find(code.hash);
    const found = contract?.[name];
    if (found === undefined || found === null)
      throw new ContractError(`contract ${contract?.name ?? ""} has no entry point ${name}`);
    return found;
  };
  return {
    instantiate: (context, code, caller, message) =>
      entry(code, "instantiate")(open(context, code, message.length), caller, parseMessageJson(message)),
    execute: (context, code, caller, message) =>
      entry(code, "execute")(open(context, code, message.length), caller, parseMessageJson(message)),
    migrate: (context, code, message) =>
      entry(code, "migrate")(open(context, code, message.length), parseMessageJson(message)),
    sudo: (context, code, message) =>
      entry(code, "sudo")(open(context, code, message.length), parseMessageJson(message)),
    reply: (context, code, reply) => entry(code, "reply")(open(context, code, sizeOf(reply)), reply),
    query: (context, code, message) => {
      const response = entry(code, "query")(
        open(context, code, message.length, "read"),
        parseMessageJson(message),
      );
      return utf8(printMessageJson(response));
    },
    ibc: (_context, code, { entryPoint }) => {
      throw new ContractError(`contract ${find(code.hash)?.name ?? ""} has no entry point ${entryPoint}`);
    },
  };
}

function sizeOf({ result }: Reply): number {
  if (!result.ok) return result.error.length;
  return result.responses.reduce((sum, { value }) => sum + value.length, 0);
}
