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
import { contractStore, createCodeRegistry, type LoadedCode, readOnly, transactionIndex } from "./keeper.ts";
import { parseMessageJson, printMessageJson } from "./message-json.ts";
import { answerQuery, type ContractQuerier, queryFromTypeScript, type SmartQueries } from "./querier.ts";
import type { WasmOptions } from "./types.ts";

/** A call to an entry point whose result is a response. */
export type EntryCall =
  | {
      readonly entryPoint: "instantiate" | "execute";
      readonly caller: Caller;
      /** JSON. */
      readonly message: Uint8Array;
    }
  | { readonly entryPoint: "migrate" | "sudo"; readonly message: Uint8Array }
  | { readonly entryPoint: "reply"; readonly reply: Reply };

/**
 * Contract entry points, for TypeScript code and for binary code in the virtual machine. All methods throw `ContractError` for the
 * contract's own error, and `ModuleError` for others.
 */
export interface EntryPoints {
  readonly call: (context: Context, code: LoadedCode, call: EntryCall) => ContractResponse;
  /** `message` and the result are JSON. */
  readonly query: (context: Context, code: LoadedCode, message: Uint8Array) => Uint8Array;
  /** Runs an IBC entry point and reads its result with `decode`. TypeScript code has no IBC entry points. */
  readonly ibc: <T>(
    context: Context,
    code: LoadedCode,
    call: { readonly entryPoint: EntryPoint; readonly message: Uint8Array },
    decode: (result: Uint8Array) => T,
  ) => T;
}

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
    call: (context, code, call) => of(code).call(context, code, call),
    query: (context, code, message) => of(code).query(context, code, message),
    ibc: (context, code, call, decode) => of(code).ibc(context, code, call, decode),
  };
}

function binaryEntryPoints(contracts: BinaryContracts): EntryPoints {
  return {
    call: (context, code, call) => {
      const message = call.entryPoint === "reply" ? printReply(call.reply) : call.message;
      return contracts.call(context, { ...call, code, message }, (result) =>
        parseResponse(result, code.address),
      );
    },
    query: (context, code, message) =>
      contracts.call(context, { code, entryPoint: "query", message }, parseQueryResult),
    ibc: (context, code, call, decode) => contracts.call(context, { code, ...call }, decode),
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
    call: (context, code, call) => {
      if (call.entryPoint === "reply")
        return entry(code, "reply")(open(context, code, sizeOf(call.reply)), call.reply);
      const { length } = call.message;
      if (!("caller" in call))
        return entry(code, call.entryPoint)(open(context, code, length), parseMessageJson(call.message));
      const run = entry(code, call.entryPoint);
      return run(open(context, code, length), call.caller, parseMessageJson(call.message));
    },
    query: (context, code, message) => {
      const run = entry(code, "query");
      const response = run(open(context, code, message.length, "read"), parseMessageJson(message));
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
