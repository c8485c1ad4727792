import { createNames } from "./decode-module.ts";
import { vmError } from "./errors.ts";
import type { ResolvedExports } from "./execution.ts";
import { hostFunctionType, isHostFunction } from "./host-functions.ts";
import type { Instantiable } from "./start-state.ts";
import { type FunctionType, functionType, typeName, type WasmModule } from "./module.ts";
import { I32 } from "./operators.ts";
import { restoredGlobals } from "./rewrite-helpers.ts";
import { REWRITER_VERSION, rewriteModule, type RewriteOptions } from "./rewrite.ts";
import { validateFunction } from "./validate-function.ts";

/** Node's `WebAssembly`, which is missing from this project's types. */
declare const WebAssembly: { Module: new (bytes: Uint8Array) => object };

/** A module that is ready to be called. */
export interface CompiledModule extends ResolvedExports, Instantiable {
  /** Why the module cannot be instantiated: imports of the wrong type, segments out of range, a start function. */
  readonly instantiationProblem: string | undefined;
  /** Size of the rewritten code, in bytes. */
  readonly size: number;
}

export interface ModuleCache {
  get(checksum: string): CompiledModule | undefined;
  add(checksum: string, module: CompiledModule): void;
  bytes(): number;
}

function keyOf(checksum: string): string {
  return `${REWRITER_VERSION}/${checksum}`;
}

/**
 * Creates a cache for compiled modules, keyed by checksum and rewriter version. When the cache is full, the least recently used
 * modules are removed and passed to `onRemove`.
 */
export function createModuleCache(limit: number, onRemove: (module: CompiledModule) => void): ModuleCache {
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
    get: (checksum) => {
      const key = keyOf(checksum);
      const module = modules.get(key);
      if (module === undefined) return undefined;
      modules.delete(key);
      modules.set(key, module);
      return module;
    },
    add: (checksum, module) => {
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

/** Validates function bodies, rewrites the module and compiles it. A module's instances are not reused for profiles. */
export function compileModule(module: WasmModule, options: RewriteOptions = {}): CompiledModule {
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

/** Function names for a trace. Most contracts are stripped, so that only the names of their exports remain. */
function namesOrExports(module: WasmModule): (index: number) => string | undefined {
  const names = createNames(module);
  const exported = new Map(
    module.exports.filter(({ kind }) => kind === "func").map(({ name, index }) => [index, name]),
  );
  return (index) => names(index) ?? exported.get(index);
}

/** JavaScript would throw for an i64 parameter, and would convert the value for a float parameter. */
function mistypedFunctions(module: WasmModule): ReadonlySet<string> {
  const isMistyped = (index: number): boolean =>
    functionType(module, index)?.params.some((type) => type !== I32) === true;
  const found = module.exports.filter(({ kind, index }) => kind === "func" && isMistyped(index));
  return new Set(found.map(({ name }) => name));
}

/** V8 rejects anything beyond its own limits, such as a function larger than 7.6 MB. */
function compileBytes(bytes: Uint8Array): object {
  try {
    return new WebAssembly.Module(bytes);
  } catch (thrown) {
    throw vmError("compile", thrown instanceof Error ? thrown.message : String(thrown));
  }
}

/** Returns why V8 or the deployed VM could not instantiate the module, in the deployed words. */
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
  // It runs before the call has gas.
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
