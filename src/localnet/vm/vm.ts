import { createNames, decodeModule } from "./decode-module.ts";
import { VmError, vmError } from "./errors.ts";
import { ColdCode, Execution, type ResolvedExports } from "./execution.ts";
import { GAS_COSTS, type GasCosts } from "./gas.ts";
import { type EntryPoint, type Host, RecordedHost } from "./host.ts";
import { createImports, hostFunctionType } from "./host-functions.ts";
import { Instances, type Instantiable } from "./instances.ts";
import { createHooks, type StartTrace, type Variant } from "./hooks.ts";
import { type FunctionType, functionType, typeName, type WasmModule } from "./module.ts";
import { I32 } from "./operators.ts";
import { restoredGlobals } from "./rewrite-helpers.ts";
import { rewriteModule, type RewriteOptions, REWRITER_VERSION } from "./rewrite.ts";
import { checkStatically, isHostFunction } from "./static-checks.ts";
import { validateFunction } from "./validate-function.ts";

/** Maximum VM gas limit. The VM reduces higher limits to this maximum, such as 2^64 - 1, the chain's value for no limit. */
const MAX_GAS = (1n << 63n) - 1n;

/**
 * Native stack bytes for a call and all nested calls to other contracts. Node's and the chain's frames use the rest of V8's 984 KiB.
 * The VM counts stack bytes itself, so that recursion ends at the same depth on every machine. A small function reaches a depth of
 * 10,000, as on the deployed chain.
 */
const STACK_BYTES = 840 * 1024;

/** Default size limit for the cache of compiled modules, in bytes of rewritten code. */
const CACHE_BYTES = 256 * 1024 * 1024;

/** Size limits, in bytes, for the caches of interruptible and traced modules, which are compiled separately from plain modules. */
const INTERRUPTIBLE_BYTES = 128 * 1024 * 1024;
const TRACED_BYTES = 64 * 1024 * 1024;

/**
 * Default VM gas after which the VM restarts a module's first long call. V8 optimizes a function while it runs, but uses the faster
 * code only from the function's next call on. An endless loop would therefore remain four times as slow. A loop uses this amount of
 * gas in 40 ms.
 */
const COLD_GAS = 50_000_000_000n;

/** Default size limit, in bytes, for memories and start states that the VM retains to reuse instances. */
const INSTANCE_BYTES = 64 * 1024 * 1024;

interface Call {
  /** SHA-256 hash of the code, in hex, which identifies the module in the cache. */
  readonly checksum: string;
  /** Returns the code. Called only if the cache does not contain the module. */
  readonly code: () => Uint8Array;
  readonly entryPoint: EntryPoint;
  /** The arguments env, info (instantiate and execute only) and message, each in JSON. */
  readonly args: readonly Uint8Array[];
  /** The call's VM gas limit. */
  readonly gasLimit: bigint;
  readonly host: Host;
  /** Remaining native stack bytes, for a call from within another call (`QueryLimits.stack`). */
  readonly stackLimit?: number;
  /** Starts a trace of the call, which slows down the call but otherwise does not affect it. */
  readonly trace?: StartTrace | undefined;
  /**
   * Called about every millisecond during the call. An exception thrown by `interrupt` ends the call and, like a bug, propagates
   * through the VM. If undefined, only the gas limit ends a long call, as in a block.
   */
  readonly interrupt?: (() => void) | undefined;
}

/** A call's result or error, with the gas used even if the call failed. */
export interface CallOutcome {
  /** Contents of the result region, or the error that ended the call. */
  readonly result: Uint8Array | VmError;
  /** VM gas used inside the VM by operators, by host functions, and for decoding the result. */
  readonly gasUsed: bigint;
  /** VM gas used outside the VM, as reported by the host. */
  readonly gasUsedExternally: bigint;
}

export interface Vm {
  /**
   * Validates code as the chain does on upload, and compiles it. Throws a `VmError` if the deployed chain would reject the code.
   */
  store(checksum: string, code: Uint8Array): WasmModule;
  call(call: Call): CallOutcome;
  /** Returns the message with which each call to stored code would fail, or undefined if the code can be instantiated. */
  instantiationProblem(checksum: string): string | undefined;
  /** Returns the size of the rewritten code in the cache, in bytes. */
  cachedBytes(): number;
  /** Returns the size of memories and start states retained from finished calls, in bytes. */
  instanceBytes(): number;
}

export interface VmOptions {
  readonly cacheBytes?: number;
  /** Size limit in bytes for retained memories and start states, or 0 to run each call in a new instance. */
  readonly instanceBytes?: number;
  /** VM gas after which the VM restarts a module's first long call, set only in tests. */
  readonly coldGas?: bigint;
  /** Gas costs to use instead of the deployed costs, set only in tests. */
  readonly costs?: GasCosts;
}

/** Creates a synchronous and deterministic virtual machine for contracts. The virtual machine's only state is caches. */
export function createVm(options: VmOptions = {}): Vm {
  const { cacheBytes = CACHE_BYTES, instanceBytes = INSTANCE_BYTES, costs = GAS_COSTS } = options;
  const { coldGas = COLD_GAS } = options;
  const running: Execution[] = [];
  const current = (): Execution => {
    const execution = running[running.length - 1];
    if (execution === undefined) throw new Error("this is a bug: a host function ran outside of a call");
    return execution;
  };
  const instances = new Instances({ env: createImports(current) }, createHooks(current), instanceBytes);
  const optimized = new WeakSet<CompiledModule>();
  const remove = (module: CompiledModule): void => instances.remove(module);
  const caches = {
    plain: createModuleCache(cacheBytes, remove),
    interruptible: createModuleCache(Math.min(cacheBytes, INTERRUPTIBLE_BYTES), remove),
    traced: createModuleCache(TRACED_BYTES, remove),
  };
  const compile = (checksum: string, module: WasmModule, variant: Variant): CompiledModule => {
    const compiled = compileModule(module, { variant, hostCall: costs.hostCall });
    caches[variant].add(checksum, compiled);
    return compiled;
  };
  return {
    store: (checksum, code) => {
      const module = decodeModule(code);
      checkStatically(module);
      compile(checksum, module, "plain");
      return module;
    },
    call: (call) => {
      const { checksum, code } = call;
      const variant = variantFor(call);
      const module = caches[variant].get(checksum) ?? compile(checksum, decodeModule(code()), variant);
      return runCall(call, module, { instances, running, costs, coldGas, optimized });
    },
    instantiationProblem: (checksum) => caches.plain.get(checksum)?.instantiationProblem,
    cachedBytes: () => caches.plain.bytes(),
    instanceBytes: () => instances.bytes(),
  };
}

function variantFor({ trace, interrupt }: Call): Variant {
  if (trace !== undefined) return "traced";
  return interrupt === undefined ? "plain" : "interruptible";
}

interface Machine {
  readonly instances: Instances;
  readonly running: Execution[];
  readonly costs: GasCosts;
  readonly coldGas: bigint;
  /** Modules that have already had a long call. */
  readonly optimized: WeakSet<CompiledModule>;
}

function runCall(call: Call, module: CompiledModule, machine: Machine): CallOutcome {
  if (module.instantiationProblem !== undefined)
    return {
      result: vmError("instantiation", module.instantiationProblem),
      gasUsed: 0n,
      gasUsedExternally: 0n,
    };
  if (variantFor(call) !== "plain" || machine.optimized.has(module)) return runOnce(call, module, machine);
  const host = new RecordedHost(call.host);
  try {
    return runOnce(call, module, machine, { host, coldGas: machine.coldGas });
  } catch (thrown) {
    if (!(thrown instanceof ColdCode)) throw thrown;
    machine.optimized.add(module);
    host.rewind();
    return runOnce(call, module, machine, { host });
  }
}

/** Runs a call in a new or reused instance. Throws `ColdCode` if the call uses more than `coldGas`. */
function runOnce(
  call: Call,
  module: CompiledModule,
  { instances, running, costs }: Machine,
  { host = call.host, coldGas }: { readonly host?: Host; readonly coldGas?: bigint } = {},
): CallOutcome {
  const limit = call.gasLimit > MAX_GAS ? MAX_GAS : call.gasLimit;
  const request = { length: call.args[0]?.length ?? 0, stackLimit: call.stackLimit ?? STACK_BYTES };
  const instance = instances.take(module, request);
  instance.exports.stack.value = request.stackLimit;
  const { interrupt, entryPoint } = call;
  const isReadOnly = entryPoint === "query";
  const execution = new Execution(instance, module, { host, costs, isReadOnly, limit, interrupt, coldGas });
  if (call.trace !== undefined) {
    const { functionName } = module;
    execution.trace = call.trace({ gas: execution, limit, functionName });
  }
  running.push(execution);
  let result: Uint8Array | VmError;
  try {
    result = execution.run(call.entryPoint, call.args, (allocation) =>
      instances.recordStart(instance, request, allocation),
    );
  } catch (thrown) {
    if (!(thrown instanceof VmError)) throw thrown;
    result = thrown;
  } finally {
    running.pop();
  }
  if (!(result instanceof VmError)) instances.release(instance);
  execution.trace?.end(result instanceof VmError ? result.message : undefined);
  const used = limit - execution.external - execution.gasLeft();
  const outcome = { result, gasUsed: used < 0n ? 0n : used, gasUsedExternally: execution.external };
  if (result instanceof VmError) return outcome;
  const decoded = withDecoding(outcome, result, limit, costs.resultByte);
  execution.trace?.decode(decoded.gasUsed - outcome.gasUsed);
  return decoded;
}

/** Adds the gas for decoding the result, which the chain charges by the result's length, even if the result is not JSON. */
function withDecoding(outcome: CallOutcome, result: Uint8Array, limit: bigint, perByte: bigint): CallOutcome {
  const gasUsed = outcome.gasUsed + perByte * BigInt(result.length);
  return gasUsed <= limit
    ? { ...outcome, gasUsed }
    : { ...outcome, result: vmError("result-gas", `(${result.length} bytes)`) };
}

/** Node's `WebAssembly`, which is missing from this project's types. */
declare const WebAssembly: { Module: new (bytes: Uint8Array) => object };

interface CompiledModule extends ResolvedExports, Instantiable {
  /** The reason why the module cannot be instantiated, for example wrong import types, segments out of range, or a start function. */
  readonly instantiationProblem: string | undefined;
  /** Size of the rewritten code in bytes. */
  readonly size: number;
}

function keyOf(checksum: string): string {
  return `${REWRITER_VERSION}/${checksum}`;
}

/** Creates a cache of compiled modules that, when full, removes the least recently used modules and passes them to `onRemove`. */
function createModuleCache(limit: number, onRemove: (module: CompiledModule) => void) {
  const modules = new Map<string, CompiledModule>();
  let bytes = 0;
  const remove = (key: string): void => {
    const module = modules.get(key);
    if (module === undefined) return;
    bytes -= module.size;
    modules.delete(key);
    onRemove(module);
  };
  return {
    get: (checksum: string): CompiledModule | undefined => {
      const key = keyOf(checksum);
      const module = modules.get(key);
      if (module === undefined) return undefined;
      modules.delete(key);
      modules.set(key, module);
      return module;
    },
    add: (checksum: string, module: CompiledModule) => {
      const key = keyOf(checksum);
      remove(key);
      modules.set(key, module);
      bytes += module.size;
      for (const oldest of modules.keys()) {
        if (bytes <= limit || oldest === key) return;
        remove(oldest);
      }
    },
    bytes: () => bytes,
  };
}

/** Validates function bodies, rewrites the module and compiles it. Instances of traced modules cannot be reused. */
function compileModule(module: WasmModule, options: RewriteOptions = {}): CompiledModule {
  const { variant = "plain" } = options;
  const shapes = module.bodies.map((_, at) => validateFunction(module, at));
  const bytes = rewriteModule(module, shapes, options);
  return {
    compiled: compileBytes(bytes),
    instantiationProblem: instantiationProblem(module),
    restoredGlobals: variant === "traced" ? undefined : restoredGlobals(module),
    size: bytes.length,
    otherExports: new Set(module.exports.filter(({ kind }) => kind !== "func").map(({ name }) => name)),
    mistypedFunctions: mistypedFunctions(module),
    functionName: variant === "traced" ? namesOrExports(module) : createNames(module),
  };
}

/** Returns function names for a trace, using export names for functions without a name, because most contracts have no name section. */
function namesOrExports(module: WasmModule): (index: number) => string | undefined {
  const names = createNames(module);
  const exported = new Map(
    module.exports.filter(({ kind }) => kind === "func").map(({ name, index }) => [index, name]),
  );
  return (index) => names(index) ?? exported.get(index);
}

/** Returns the exported functions with non-i32 parameters, for which JavaScript would throw (i64) or convert (float). */
function mistypedFunctions(module: WasmModule): ReadonlySet<string> {
  const isMistyped = (index: number): boolean =>
    functionType(module, index)?.params.some((type) => type !== I32) === true;
  const found = module.exports.filter(({ kind, index }) => kind === "func" && isMistyped(index));
  return new Set(found.map(({ name }) => name));
}

/** Compiles a module. V8 rejects modules that exceed its limits, for example with functions larger than 7.6 MB. */
function compileBytes(bytes: Uint8Array): object {
  try {
    return new WebAssembly.Module(bytes);
  } catch (thrown) {
    throw vmError("compile", thrown instanceof Error ? thrown.message : String(thrown));
  }
}

/** Returns the reason why V8 or the deployed VM could not instantiate the module, with the deployed message. */
function instantiationProblem(module: WasmModule): string | undefined {
  for (const { name, type } of module.imports) {
    if (!isHostFunction(name)) return `Error while importing "env"."${name}": unknown import.`;
    const expected = typeText(module.types[type]);
    const received = typeText(hostFunctionType(name));
    if (expected !== received)
      return `Error while importing "env"."${name}": incompatible import type. Expected ${expected} but received ${received}`;
  }
  const memory = module.exports.find(({ name }) => name === "memory");
  const table = module.tables[0]?.minimum ?? 0;
  const bytes = (module.memories[0]?.minimum ?? 0) * 65_536;
  if (module.elementSegments.some(({ offset, length }) => (offset ?? 0) + length > table))
    return "RuntimeError: undefined element: out of bounds table access";
  if (module.dataSegments.some(({ offset, length }) => (offset ?? 0) + length > bytes))
    return "RuntimeError: out of bounds memory access";
  // Report the trap of a start function, which runs before the call has any gas.
  if (module.start !== undefined) return "RuntimeError: unreachable";
  if (memory?.kind !== "memory")
    return `Could not get memory 'memory': ${memory === undefined ? "Missing export memory" : "Incompatible Export Type"}`;
  return undefined;
}

function typeText({ params, results }: FunctionType = { params: [], results: [] }): string {
  return `Function(FunctionType { params: [${typeNames(params)}], results: [${typeNames(results)}] })`;
}

function typeNames(types: readonly number[]): string {
  return types.map((type) => typeName(type).toUpperCase()).join(", ");
}
