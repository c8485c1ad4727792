import { toHex, utf8 } from "../../../../platform/base/bytes.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import { GoJsonError, printGoObject, printGoString } from "../../../../platform/base/go-json.ts";
import { reportedText, VmError } from "../../../vm/errors.ts";
import { GAS_MULTIPLIER } from "../../../vm/gas.ts";
import type { EntryPoint, QueryLimits } from "../../../vm/host.ts";
import type { Vm } from "../../../vm/vm.ts";
import type { Context } from "../../runtime/context.ts";
import { ChainPanic } from "../../runtime/errors.ts";
import type { GasTracer } from "../../runtime/gas-trace.ts";
import type { Caller } from "./contract.ts";
import { consumeCallGas, gasForCall } from "./gas.ts";
import { codeBytes, contractStore, runningTransaction } from "./keeper.ts";
import { ErrVMError } from "./keys.ts";
import type { LoadedCode } from "./loading.ts";
import { createVmHost } from "./vm-host.ts";

/** A call to an entry point. */
interface BinaryCall {
  readonly entryPoint: EntryPoint;
  readonly code: LoadedCode;
  /** Present for `instantiate` and `execute`. */
  readonly caller?: Caller;
  readonly message: Uint8Array;
}

/** Calls entry points of binary contracts. */
export interface BinaryContracts {
  /**
   * Runs an entry point, consumes its gas and returns its result, decoded by `decode`. `decode` runs before the gas is consumed,
   * because Go loses the gas of a call whose result causes a panic. Throws ErrVMError or an out-of-gas error.
   */
  readonly call: <T>(context: Context, call: BinaryCall, decode: (result: Uint8Array) => T) => T;
}

interface BinaryDeps {
  readonly vm: Vm;
  readonly tracer: GasTracer;
  /** Returns the number of nested calls in progress, each made by a message of the previous one. */
  readonly messageDepth: () => number;
  readonly bech32Prefix: string;
  /** Runs a contract's encoded query and returns the encoded result. */
  readonly query: (context: Context, contract: LoadedCode, request: Uint8Array, gas: bigint) => Uint8Array;
}

/** Native stack size for a call, and the part that the chain's frames use per message around the call. */
const STACK_BYTES = 840 * 1024;
const STACK_OF_MESSAGE = 8 * 1024;

export function createBinaryContracts({
  vm,
  tracer,
  bech32Prefix,
  messageDepth,
  query,
}: BinaryDeps): BinaryContracts {
  // A query runs on the stack of the call that asks. Calls are synchronous, so that a variable is sound.
  let stackLimit: number | undefined;
  const withStack = <T>(limit: number, work: () => T): T => {
    const outer = stackLimit;
    stackLimit = limit;
    try {
      return work();
    } finally {
      stackLimit = outer;
    }
  };
  const run = <T>(context: Context, call: BinaryCall, decode: (result: Uint8Array) => T): T => {
    const { code, entryPoint } = call;
    const checksum = toHex(code.hash);
    const ask = (request: Uint8Array, limits: QueryLimits): Uint8Array =>
      withStack(limits.stack, () => query(context, call.code, request, limits.gas));
    const storage = contractStore(context, code.bytes);
    const { result, gasUsed } = vm.call({
      checksum,
      code: () => codeBytes(context, checksum),
      entryPoint,
      args: argumentsOf(context, call),
      gasLimit: gasForCall(context.gas),
      host: createVmHost({
        context,
        bech32Prefix,
        storage,
        query: ask,
        accessScale: entryPoint.startsWith("ibc_") ? 1n : GAS_MULTIPLIER,
      }),
      stackLimit: stackLimit ?? Math.max(0, STACK_BYTES - STACK_OF_MESSAGE * messageDepth()),
      trace: tracer.call(),
      interrupt: context.interrupt,
    });
    const outcome = result instanceof VmError ? undefined : attempt(() => decode(result));
    consumeCallGas(context.gas, gasUsed);
    if (result instanceof VmError) throw ErrVMError(reportedText(result));
    return outcome === undefined ? unreachable("a result was not decoded") : outcome();
  };
  return {
    call: (context, call, decode) =>
      tracer.span(
        context,
        "wasm",
        () => call.entryPoint,
        (inner) => run(inner, call, decode),
      ),
  };
}

/** Runs `work` and returns a function that returns its value or throws its exception. Panics are thrown immediately. */
function attempt<T>(work: () => T): () => T {
  try {
    const value = work();
    return () => value;
  } catch (error) {
    if (error instanceof ChainPanic) throw error;
    return () => {
      throw error instanceof GoJsonError ? ErrVMError(error.message) : error;
    };
  }
}

function argumentsOf(context: Context, { code, caller, message }: BinaryCall): readonly Uint8Array[] {
  const env = utf8(printEnv(context, code.address));
  return caller === undefined ? [env, message] : [env, utf8(printInfo(caller)), message];
}

/** Prints wasmvm 2.1's `Env`. Outside transactions, it has no transaction. */
function printEnv(context: Context, address: string): string {
  const index = runningTransaction(context);
  return printGoObject([
    [
      "block",
      printGoObject([
        ["height", context.height.toString()],
        ["time", `"${context.timeNs}"`],
        ["chain_id", printGoString(context.chainId)],
      ]),
    ],
    ["transaction", index === undefined ? "null" : printGoObject([["index", index.toString()]])],
    ["contract", printGoObject([["address", printGoString(address)]])],
  ]);
}

function printInfo({ sender, funds }: Caller): string {
  const coins = funds.map(({ denom, amount }) =>
    printGoObject([
      ["denom", printGoString(denom)],
      ["amount", `"${amount}"`],
    ]),
  );
  return printGoObject([
    ["sender", printGoString(sender)],
    ["funds", `[${coins.join(",")}]`],
  ]);
}
