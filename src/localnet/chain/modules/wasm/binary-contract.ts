import { toHex, utf8 } from "../../../../platform/base/bytes.ts";
import { bad, good, unreachable } from "../../../../platform/base/errors.ts";
import { GoJsonError, printGoJson, printGoObject, printGoString } from "../../../../platform/base/go-json.ts";
import type { JsonObject } from "../../../../platform/base/json.ts";
import { HostError, reportedText, VmError } from "../../../vm/errors.ts";
import { GAS_MULTIPLIER } from "../../../vm/gas.ts";
import type { EntryPoint, Host, Metered, QueryLimits, StorageEntry } from "../../../vm/host.ts";
import type { Vm } from "../../../vm/vm.ts";
import type { Context } from "../../runtime/context.ts";
import { formatAddress, tryParseAddress } from "../../runtime/address.ts";
import { ChainPanic, isOutOfGas } from "../../runtime/errors.ts";
import type { GasTracer } from "../../runtime/gas-trace.ts";
import type { Entry, KVStore } from "../../store/cache-store.ts";
import type { Caller } from "./contract.ts";
import { consumeCallGas, gasForCall } from "./gas.ts";
import { codeBytes, contractStore, type LoadedCode, runningTransaction } from "./keeper.ts";
import { ErrVMError } from "./keys.ts";

/** A call to an entry point of a binary contract. */
interface BinaryCall {
  readonly entryPoint: EntryPoint;
  readonly code: LoadedCode;
  /** The call's sender and funds, present only for `instantiate` and `execute`. */
  readonly caller?: Caller;
  readonly message: Uint8Array;
}

/** Calls entry points of contracts whose code is a WebAssembly binary. */
export interface BinaryContracts {
  /**
   * Runs an entry point, consumes its gas and returns its decoded result. Decodes the result before consuming the gas, because in
   * Go, the call's gas is not charged if decoding panics. Throws ErrVMError or an out-of-gas error.
   */
  readonly call: <T>(context: Context, call: BinaryCall, decode: (result: Uint8Array) => T) => T;
}

interface BinaryDeps {
  readonly vm: Vm;
  readonly tracer: GasTracer;
  /** Returns the current nesting depth of contract calls, where each call was started by a message from the previous call. */
  readonly messageDepth: () => number;
  readonly bech32Prefix: string;
  /** Runs a contract's encoded query and returns the encoded result. */
  readonly query: (context: Context, contract: LoadedCode, request: Uint8Array, gas: bigint) => Uint8Array;
}

/** Native stack size of a call, in bytes, and the number of bytes by which each enclosing message reduces the stack size. */
const STACK_BYTES = 840 * 1024;
const STACK_OF_MESSAGE = 8 * 1024;

export function createBinaryContracts({
  vm,
  tracer,
  bech32Prefix,
  messageDepth,
  query,
}: BinaryDeps): BinaryContracts {
  // Stack limit of the running call. A query runs on the stack of the contract that sent it. A variable is safe here, because calls
  // are synchronous.
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

/**
 * Runs `work`, and returns a function that returns the result or throws the error of `work`. A `GoJsonError` is converted to
 * ErrVMError. If `work` panics, the panic is thrown immediately.
 */
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
  return caller === undefined ? [env, message] : [env, utf8(printGoJson(infoOf(caller))), message];
}

/** Converts a caller to the `MessageInfo` of wasmvm 2.1. */
function infoOf({ sender, funds }: Caller): JsonObject {
  return { sender, funds: funds.map(({ denom, amount }) => ({ denom, amount: amount.toString() })) };
}

/** Prints the `Env` of wasmvm 2.1 as JSON. In queries and block hooks, `transaction` is null. */
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
    ["contract", printGoJson({ address })],
  ]);
}

const MAX_ADDRESS_BYTES = 255;

/** Maximum number of iterators per call, as in the deployed VM. Iterators stay open until the call ends. */
export const MAX_ITERATORS = 32_768;

/** The parts of the chain that a binary contract can access during one call. */
interface HostScope {
  readonly context: Context;
  readonly bech32Prefix: string;
  /** The contract's own entries, with unprefixed keys. */
  readonly storage: KVStore;
  /** Runs an encoded query and returns the encoded result. Throws only panics. */
  readonly query: (request: Uint8Array, limits: QueryLimits) => Uint8Array;
  /**
   * Units of VM gas that the contract pays for one unit of chain gas when it accesses the chain. The value is 1 in IBC entry
   * points, because wasmd does not convert gas there. The chain's own gas meter is always charged in full.
   */
  readonly accessScale: bigint;
}

/** An iterator opened by a call, and its current entry. */
interface OpenIterator {
  readonly entries: IterableIterator<Entry>;
  at: Entry | undefined;
}

/** Creates the virtual machine's interface to the chain for one call. Each access immediately consumes the chain's gas. */
export function createVmHost({ context, bech32Prefix, storage, query, accessScale }: HostScope): Host {
  const iterators: OpenIterator[] = [];
  const metered = <T>(work: () => T): Metered<T> => {
    const before = context.gas.used();
    const value = orHostError(work);
    return { value, gas: (context.gas.used() - before) * accessScale };
  };
  return {
    get: (key) => metered(() => storage.get(key)),
    set: (key, value) => metered(() => setEntry(storage, key, value)).gas,
    remove: (key) => metered(() => storage.delete(key)).gas,
    scan: (start, end, isDescending) =>
      metered(() => {
        const entries = isDescending ? storage.iterateReverse(start, end) : storage.iterate(start, end);
        const iterator = { entries, at: nextOf(entries) };
        if (iterators.length >= MAX_ITERATORS)
          throw new HostError({ kind: "user", message: `Reached iterator limit (${MAX_ITERATORS})` });
        return iterators.push(iterator) - 1;
      }),
    next: (id) => {
      const iterator = iterators[id];
      if (iterator === undefined) throw new HostError({ kind: "no-iterator", id });
      return metered(() => leave(iterator));
    },
    query: (request, limits) => metered(() => query(request, limits)),
    validateAddress: (text) => addressProblem(bech32Prefix, text),
    canonicalizeAddress: (text) => tryParseAddress(bech32Prefix, text),
    humanizeAddress: (canonical) => {
      if (canonical.length === 0) return bad("addresses cannot be empty: unknown address");
      return canonical.length > MAX_ADDRESS_BYTES
        ? bad(`address max length is ${MAX_ADDRESS_BYTES}, got ${canonical.length}: unknown address`)
        : good(formatAddress(bech32Prefix, canonical));
    },
  };
}

/** Writes an entry. As in the SDK's store, an empty key panics before any gas is consumed. */
function setEntry(storage: KVStore, key: Uint8Array, value: Uint8Array): void {
  if (key.length === 0) throw new HostError({ kind: "panic" });
  storage.set(key, value);
}

function nextOf(entries: IterableIterator<Entry>): Entry | undefined {
  const step = entries.next();
  return step.done === true ? undefined : step.value;
}

function leave(iterator: OpenIterator): StorageEntry | undefined {
  const left = iterator.at;
  if (left !== undefined) iterator.at = nextOf(iterator.entries);
  return left;
}

function addressProblem(prefix: string, text: string): string | undefined {
  const parsed = tryParseAddress(prefix, text);
  if (!parsed.ok) return parsed.error;
  return formatAddress(prefix, parsed.value) === text ? undefined : "address not normalized";
}

/** Runs `work`. Converts a chain panic to an error that makes the virtual machine end the call. */
function orHostError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ChainPanic)) throw error;
    throw new HostError({ kind: isOutOfGas(error) ? "out-of-gas" : "panic" });
  }
}
