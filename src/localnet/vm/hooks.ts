import { Buffer } from "node:buffer";
import { ByteWriter } from "./byte-reader.ts";
import { SECTION } from "./module.ts";
import { I32, OP } from "./operators.ts";

/** Reports a running call's VM gas. */
interface GasSource {
  /** VM gas that the chain has used outside the VM. */
  readonly external: bigint;
  gasLeft(): bigint;
}

/** Information about a call that a trace receives at its start. */
export interface TracedCall {
  readonly gas: GasSource;
  /** VM gas limit of the call. */
  readonly limit: bigint;
  /** Returns the name of a function in the module, if any. */
  readonly functionName: (index: number) => string | undefined;
}

/** Records where a contract call uses its gas, without affecting the call's gas or result. */
export interface CallTrace {
  /** Called when a function in the module starts. */
  enter(functionIndex: number): void;
  /** Called when the innermost function ends. */
  leave(): void;
  host<T>(name: string, run: () => T): T;
  /** Called when the call has ended, with the error message if the call failed. */
  end(error: string | undefined): void;
  /** Called after the end of the call, with the VM gas for decoding the result. */
  decode(gas: bigint): void;
}

export type StartTrace = (call: TracedCall) => CallTrace;

/** Node's `WebAssembly`, which is missing from this project's types. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { readonly exports: Hooks };
};

/**
 * Compilation variants of a module. `plain` code has no hooks, because a small loop with hooks takes 50 % longer, which is too slow
 * in a block. `interruptible` code calls a hook when the gas counter falls below zero, and the hook may refill the counter.
 * `traced` code also calls hooks at the start and end of each function.
 */
export type Variant = "plain" | "interruptible" | "traced";

/** JavaScript functions that rewritten code calls, to refill the gas counter or to trace function calls. */
export interface Hooks {
  /** Called when the gas counter is below zero, to either refill the counter or end the call. */
  readonly refill: () => void;
  readonly enter: () => void;
  readonly leave: () => void;
}

/** Names of the hooks, in table order. */
const NAMES = ["refill", "enter", "leave"] as const;

/** Hook types, as encoded in a type section: the first takes a function index, and the second takes no parameters. */
export const HOOK_TYPES = [Uint8Array.of(0x60, 1, I32, 0), Uint8Array.of(0x60, 0, 0)] as const;
/** The hook table, as encoded in a table section. */
export const HOOK_TABLE = Uint8Array.of(0x70, 0x01, NAMES.length, NAMES.length);

function typeOf(name: keyof Hooks): number {
  return name === "enter" ? 0 : 1;
}

function named(name: string, ...rest: readonly number[]): Uint8Array {
  return Uint8Array.of(name.length, ...Buffer.from(name), ...rest);
}

/**
 * Returns a module that imports the JavaScript hooks and re-exports them, because a table accepts only WebAssembly functions.
 * Importing the hooks into the contract would change all function indices.
 */
function bridge(): Uint8Array {
  const out = new ByteWriter(128);
  out.copy(Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00));
  const section = (id: number, items: readonly Uint8Array[]): void => {
    const content = new ByteWriter(64);
    content.varU32(items.length);
    for (const item of items) content.copy(item);
    out.u8(id);
    out.nested(content);
  };
  section(SECTION.type, HOOK_TYPES);
  section(
    SECTION.import,
    NAMES.map((name) => Uint8Array.of(0, ...named(name, 0, typeOf(name)))),
  );
  section(
    SECTION.export,
    NAMES.map((name, at) => named(name, 0, at)),
  );
  return out.bytes().slice();
}

/** The object to which the hooks forward calls. */
interface Hooked {
  refill(): void;
  readonly trace: Pick<CallTrace, "enter" | "leave"> | undefined;
}

export function createHooks(current: () => Hooked): Hooks {
  const imports = {
    "": {
      refill: () => current().refill(),
      enter: (index: number) => current().trace?.enter(index),
      leave: () => current().trace?.leave(),
    },
  };
  return new WebAssembly.Instance(new WebAssembly.Module(bridge()), imports).exports;
}

/** Indices of the hook table and of the first hook type in a rewritten module. The second hook type has the next index. */
export interface HookPlaces {
  readonly table: number;
  readonly type: number;
}

/** Appends a call to the hook `enter`, which marks the start of a function. */
export function writeEnter(writer: ByteWriter, places: HookPlaces, functionIndex: number): void {
  writer.u8(OP.i32Const);
  writer.varSigned(functionIndex);
  writeHookCall(writer, "enter", places);
}

/** Appends a call to a hook without parameters. */
export function writeHookCall(writer: ByteWriter, name: keyof Hooks, { table, type }: HookPlaces): void {
  writer.u8(OP.i32Const);
  writer.varSigned(NAMES.indexOf(name));
  writer.u8(OP.callIndirect);
  writer.varU32(type + typeOf(name));
  writer.varU32(table);
}

/** Stores the hooks in an instance's hook table, unless `table` is undefined. */
export function installHooks(
  table: { set(index: number, value: unknown): void } | undefined,
  hooks: Hooks,
): void {
  if (table !== undefined) for (const [at, name] of NAMES.entries()) table.set(at, hooks[name]);
}
