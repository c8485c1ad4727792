import type { StartTrace } from "./call-trace.ts";
import { type CompiledModule, compileModule, createModuleCache } from "./compile.ts";
import { decodeModule } from "./decode-module.ts";
import { VmError, vmError } from "./errors.ts";
import { Execution } from "./execution.ts";
import { GAS_COSTS, type GasCosts } from "./gas.ts";
import type { EntryPoint, Host } from "./host.ts";
import { createImports } from "./host-functions.ts";
import { Instances } from "./instances.ts";
import { createHooks, type Variant } from "./hooks.ts";
import type { WasmModule } from "./module.ts";
import { checkStatically } from "./static-checks.ts";

/** Most VM gas that a counter holds. The chain gives 2^64 - 1 where it sets no limit. */
const MAX_GAS = (1n << 63n) - 1n;

/**
 * Native stack bytes for a call and its nested calls to other contracts. V8's stack is 984 KiB; Node's and the chain's frames use the
 * rest. The VM counts itself, so that a recursion ends at the same depth everywhere. A small function reaches a depth of 10,000, as
 * on the deployed chain.
 */
const STACK_BYTES = 840 * 1024;

/** Default bound of the compiled modules' cache, in bytes of rewritten code. */
const CACHE_BYTES = 256 * 1024 * 1024;

/** Bounds of the modules that are compiled again for calls that can be interrupted, and for traces. */
const INTERRUPTIBLE_BYTES = 128 * 1024 * 1024;
const TRACED_BYTES = 64 * 1024 * 1024;

/** Default bound of what is kept of finished calls, so that their instances can be used again: memories and start states. */
const INSTANCE_BYTES = 64 * 1024 * 1024;

interface Call {
  /** SHA-256 of the code, hex. It identifies the module in the cache. */
  readonly checksum: string;
  /** Returns the code's bytes; called only if the module is not in the cache. */
  readonly code: () => Uint8Array;
  readonly entryPoint: EntryPoint;
  /** JSON of env, info (instantiate and execute only) and message. */
  readonly args: readonly Uint8Array[];
  /** VM gas. */
  readonly gasLimit: bigint;
  readonly host: Host;
  /** Bytes of native stack left, for a call within a call (`QueryLimits.stack`). */
  readonly stackLimit?: number;
  /** Follows the call, which takes longer and is otherwise the same. */
  readonly trace?: StartTrace | undefined;
  /**
   * Called again and again while the call runs, about every millisecond. What it throws passes through the VM as a bug would, and ends
   * the call. Undefined: nothing but gas ends it, as in a block.
   */
  readonly interrupt?: (() => void) | undefined;
}

/** Outcome of a call. Gas is counted either way. */
export interface CallOutcome {
  /** Bytes of the result region, or the error. */
  readonly result: Uint8Array | VmError;
  /** VM gas used within the VM: operators, host functions, and the decoding of the result. */
  readonly gasUsed: bigint;
  /** VM gas used outside, as the host reported it. */
  readonly gasUsedExternally: bigint;
}

export interface Vm {
  /** Checks code as an upload does and compiles it. Throws a `VmError` for code that the deployed chain refuses. */
  store(checksum: string, code: Uint8Array): WasmModule;
  call(call: Call): CallOutcome;
  /** Returns why no instance could be made of stored code: every call of it would fail with this text. */
  instantiationProblem(checksum: string): string | undefined;
  /** Bytes of rewritten code in the cache. */
  cachedBytes(): number;
  /** Bytes that are kept of finished calls. */
  instanceBytes(): number;
}

export interface VmOptions {
  readonly cacheBytes?: number;
  /** With 0, each call has a new instance. */
  readonly instanceBytes?: number;
  /** Costs other than the deployed ones, for tests. */
  readonly costs?: GasCosts;
}

/**
 * Creates a virtual machine for contracts: synchronous, deterministic, without state but its caches of compiled modules and of
 * instances.
 */
export function createVm(options: VmOptions = {}): Vm {
  const { cacheBytes = CACHE_BYTES, instanceBytes = INSTANCE_BYTES, costs = GAS_COSTS } = options;
  const running: Execution[] = [];
  const current = (): Execution => {
    const execution = running[running.length - 1];
    if (execution === undefined) throw new Error("this is a bug: a host function ran outside of a call");
    return execution;
  };
  const instances = new Instances({ env: createImports(current) }, createHooks(current), instanceBytes);
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
      return runCall(call, module, { instances, running, costs });
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
}

function runCall(call: Call, module: CompiledModule, { instances, running, costs }: Machine): CallOutcome {
  if (module.instantiationProblem !== undefined)
    return {
      result: vmError("instantiation", module.instantiationProblem),
      gasUsed: 0n,
      gasUsedExternally: 0n,
    };
  const limit = call.gasLimit > MAX_GAS ? MAX_GAS : call.gasLimit;
  const request = { length: call.args[0]?.length ?? 0, stackLimit: call.stackLimit ?? STACK_BYTES };
  const instance = instances.take(module, request);
  instance.exports.stack.value = request.stackLimit;
  const { host, interrupt, entryPoint } = call;
  const isReadOnly = entryPoint === "query";
  const execution = new Execution(instance, module, { host, costs, isReadOnly, limit, interrupt });
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

/** Adds the gas of decoding the result, which the chain takes by its length whether or not it is JSON. */
function withDecoding(outcome: CallOutcome, result: Uint8Array, limit: bigint, perByte: bigint): CallOutcome {
  const gasUsed = outcome.gasUsed + perByte * BigInt(result.length);
  return gasUsed <= limit
    ? { ...outcome, gasUsed }
    : { ...outcome, result: vmError("result-gas", `(${result.length} bytes)`) };
}
