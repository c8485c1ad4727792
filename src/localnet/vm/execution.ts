import type { CallTrace } from "./hooks.ts";
import { fromHostError, VmError, vmError, type WasmFrame } from "./errors.ts";
import { type GasCosts, regionCost } from "./gas.ts";
import type { Host, Metered } from "./host.ts";
import type { Instance, StartState, WasmExports } from "./instances.ts";
import { readRegion, regionAt, writeRegion } from "./regions.ts";
import { EXPORTS } from "./rewrite.ts";

/** Maximum nesting depth of calls to exported functions. A host function called by an entry point may itself call `allocate`. */
const MAX_CALL_DEPTH = 2;

/** Maximum size of a result, in bytes. */
const MAX_RESULT = 64 * 1024 * 1024;

/** Messages of V8 traps (Node 20 to 24), each with the deployed VM's message for the same trap. */
const TRAPS: readonly (readonly [text: string, deployed: string])[] = [
  ["unreachable", "unreachable"],
  ["memory access out of bounds", "out of bounds memory access"],
  ["divide by zero", "integer divide by zero"],
  ["remainder by zero", "integer divide by zero"],
  ["divide result unrepresentable", "integer overflow"],
  ["float unrepresentable in integer range", "integer overflow"],
  ["table index is out of bounds", "undefined element: out of bounds table access"],
  ["Maximum call stack size exceeded", "call stack exhausted"],
];

/** Information about a module that error messages need. */
export interface ResolvedExports {
  readonly otherExports: ReadonlySet<string>;
  /** Exported functions with a parameter that is not an i32, which the VM never calls. */
  readonly mistypedFunctions: ReadonlySet<string>;
  /** Returns the name of a function in the module, if any. */
  readonly functionName: (index: number) => string | undefined;
}

/** VM gas between calls to `interrupt`, which a loop uses in 0.1 ms and host functions use in a few milliseconds. */
const SLICE = 100_000_000n;

/** Thrown if a long call runs in code that V8 has not optimized yet, so that the VM restarts the call. */
export class ColdCode extends Error {}

/** The pointer returned by a call's first allocation, and the VM gas that the allocation used. */
type Allocation = Pick<StartState, "pointer" | "gas">;

/** A contract call, with its instance, its gas and its host. */
export class Execution {
  readonly host: Host;
  readonly costs: GasCosts;
  readonly isReadOnly: boolean;
  /** VM gas that the chain has used outside the VM, for storage and queries. */
  external = 0n;
  /** The call's trace, or undefined if the call is not traced. */
  trace: CallTrace | undefined;
  private readonly instance: Instance;
  private readonly exports: WasmExports;
  private readonly module: ResolvedExports;
  private readonly interrupt: (() => void) | undefined;
  /** Maximum amount of VM gas in the module's counter. */
  private readonly slice: bigint;
  /** VM gas that the call may still use but that is not yet in the module's counter. */
  private reserve: bigint;
  private callDepth = 0;
  private hasCalledHost = false;

  constructor(
    instance: Instance,
    module: ResolvedExports,
    options: {
      readonly host: Host;
      readonly costs: GasCosts;
      readonly isReadOnly: boolean;
      /** VM gas limit of the call. */
      readonly limit: bigint;
      readonly interrupt: (() => void) | undefined;
      /** VM gas after which the call throws `ColdCode`. If undefined, the call never throws `ColdCode`. */
      readonly coldGas: bigint | undefined;
    },
  ) {
    this.instance = instance;
    this.exports = instance.exports;
    this.module = module;
    this.host = options.host;
    this.costs = options.costs;
    this.isReadOnly = options.isReadOnly;
    this.interrupt = options.interrupt;
    this.slice = this.interrupt === undefined ? (options.coldGas ?? options.limit) : SLICE;
    this.reserve = options.limit;
    this.exports.gas.value = 0n;
    this.moveReserve();
  }

  /**
   * Writes the arguments, calls the entry point, reads the result and frees the result's region. If the instance is new and its first
   * allocation used no host function, calls `onStart` with this allocation.
   */
  run(
    entryPoint: string,
    args: readonly Uint8Array[],
    onStart: (allocation: Allocation) => void,
  ): Uint8Array {
    const pointers = args.map((arg, at) => {
      if (at > 0) return this.allocate(arg);
      return this.writeNew(this.allocateFirst(arg.length, onStart), arg);
    });
    const pointer = this.callWithResult(entryPoint, pointers);
    const result = this.read(pointer, MAX_RESULT);
    this.callWithoutResult("deallocate", [pointer]);
    return result;
  }

  private allocateFirst(length: number, onStart: (allocation: Allocation) => void): number {
    const { instance } = this;
    if (instance.start !== undefined) {
      this.charge(instance.start.gas);
      return instance.start.pointer;
    }
    const gas = this.gasLeft();
    const pointer = this.callWithResult("allocate", [length]);
    if (!this.hasCalledHost) onStart({ pointer, gas: gas - this.gasLeft() });
    return pointer;
  }

  private buffer(): ArrayBuffer {
    return this.exports.memory.buffer;
  }

  gasLeft(): bigint {
    const left = this.exports.gas.value + this.reserve;
    return left < 0n ? 0n : left;
  }

  /** Refills the module's gas counter, which is below zero, or ends the call if the reserve is insufficient. */
  refill(): void {
    if (this.exports.gas.value + this.reserve < 0n) throw vmError("gas");
    this.moveReserve();
    this.interrupt?.();
  }

  private moveReserve(): void {
    const { gas } = this.exports;
    const left = gas.value + this.reserve;
    gas.value = left < this.slice ? left : this.slice;
    this.reserve = left - gas.value;
  }

  stackLeft(): number {
    return this.exports.stack.value;
  }

  /** Calls `interrupt`, if defined. Host functions that are slow relative to their gas use this method. */
  checkInterrupt(): void {
    this.interrupt?.();
  }

  /** Charges VM gas. If too little gas is left, uses up the remaining gas and ends the call. */
  charge(cost: bigint): void {
    const { gas } = this.exports;
    const left = gas.value - cost;
    if (left < 0n && left + this.reserve < 0n) {
      gas.value = 0n;
      this.reserve = 0n;
      throw vmError("gas");
    }
    gas.value = left;
    if (left < 0n) this.refill();
  }

  /** Charges the fixed gas cost of calling a host function. */
  enterHost(): void {
    this.hasCalledHost = true;
    this.charge(this.costs.hostCall);
  }

  chargeExternal(used: bigint): void {
    this.external += used;
    this.charge(used);
  }

  /** Calls the host, and charges the gas that the host used. */
  ask<T>(question: (host: Host) => Metered<T>): T {
    let reply: Metered<T>;
    try {
      reply = question(this.host);
    } catch (thrown) {
      throw fromHostError(thrown);
    }
    this.chargeExternal(reply.gas);
    return reply.value;
  }

  /** Reads a region, and charges gas before checking the region's length. */
  read(pointer: number, maxLength: number): Uint8Array {
    const buffer = this.buffer();
    const region = regionAt(buffer, pointer);
    this.charge(regionCost(this.costs, region.length));
    if (region.length > maxLength)
      throw vmError("communication", `Region length too big. Got ${region.length}, limit ${maxLength}`);
    return readRegion(buffer, region);
  }

  /** Reads a region, or returns undefined if the pointer is null. */
  readOptional(pointer: number, maxLength: number): Uint8Array | undefined {
    return pointer === 0 ? undefined : this.read(pointer, maxLength);
  }

  write(pointer: number, data: Uint8Array): void {
    writeRegion(this.buffer(), pointer, data);
  }

  /** Writes `data` to a new region, which the contract allocates, and returns a pointer to the region. */
  allocate(data: Uint8Array): number {
    return this.writeNew(this.callWithResult("allocate", [data.length]), data);
  }

  private writeNew(pointer: number, data: Uint8Array): number {
    if (pointer === 0) throw vmError("communication", "Got a zero Wasm address");
    this.write(pointer, data);
    return pointer;
  }

  /** Calls an exported function that returns a pointer. */
  private callWithResult(name: string, args: readonly number[]): number {
    const result = this.call(name, args);
    if (result === undefined) throw mismatch(name, 1, 0);
    if (typeof result !== "number")
      throw vmError(
        "conversion",
        `wasmer value to u32. Input: ${typeof result === "bigint" ? result : "a float"}`,
      );
    return result >>> 0;
  }

  /** Calls an exported function that returns nothing. */
  private callWithoutResult(name: string, args: readonly number[]): void {
    if (this.call(name, args) !== undefined) throw mismatch(name, 0, 1);
  }

  private call(name: string, args: readonly number[]): unknown {
    const called = this.exports[`${EXPORTS.functionPrefix}${name}`];
    if (called === undefined)
      throw vmError(
        "resolve",
        this.module.otherExports.has(name) ? "Incompatible Export Type" : `Missing export ${name}`,
      );
    if (++this.callDepth > MAX_CALL_DEPTH) throw vmError("call-depth");
    if (called.length !== args.length || this.module.mistypedFunctions.has(name))
      throw vmError(
        "runtime",
        `Parameters of type [${args.map(() => "I32").join(", ")}] did not match signature`,
      );
    try {
      return called(...args);
    } catch (thrown) {
      throw this.trapOf(thrown);
    } finally {
      this.callDepth--;
    }
  }

  /**
   * Converts a trap to a VM error. If the module's counter is used up but the reserve is not, returns {@link ColdCode}. Rethrows
   * any other exception, which is a bug.
   */
  private trapOf(thrown: unknown): Error {
    const { gas } = this.exports;
    if (gas.value < 0n) return gas.value + this.reserve < 0n ? vmError("gas") : new ColdCode();
    if (thrown instanceof VmError) return runtimeError(thrown.message, thrown.facts.stack);
    if (!(thrown instanceof Error)) throw thrown;
    const text = this.trapText(thrown);
    if (text === undefined) throw thrown;
    return runtimeError(text, framesOf(thrown, this.module));
  }

  private trapText({ message }: Error): string | undefined {
    const { stack, table, "not a number": notANumber, "table index": tableIndex } = this.exports;
    if (message === "unreachable" && stack.value < 0) return "call stack exhausted";
    if (message === "unreachable" && notANumber.value !== 0) return "invalid conversion to integer";
    if (message.startsWith("null function or function signature"))
      return table?.get(tableIndex.value >>> 0) === null
        ? "uninitialized element"
        : "indirect call type mismatch";
    return TRAPS.find(([text]) => message === text)?.[1];
  }
}

function runtimeError(text: string, stack: readonly WasmFrame[] | undefined): VmError {
  return vmError("runtime", text, stack);
}

function mismatch(name: string, expected: number, actual: number): VmError {
  return vmError("result-mismatch", `'${name}'. Expected: ${expected}, actual: ${actual}.`);
}

/** Parses the WebAssembly frames in a V8 error's stack. */
function framesOf({ stack }: Error, module: ResolvedExports): WasmFrame[] {
  return [...(stack ?? "").matchAll(/wasm-function\[(\d+)\]/g)].map(([, digits = "0"]) => {
    const index = Number(digits);
    return { index, name: module.functionName(index) };
  });
}
