import { Buffer } from "node:buffer";
import { ByteWriter } from "./byte-reader.ts";
import { SECTION } from "./module.ts";
import { I32, OP } from "./operators.ts";

/** The source from which the VM gas of a running call is read. */
interface GasSource {
  /** VM gas used outside the VM. */
  readonly external: bigint;
  gasLeft(): bigint;
}

/** Information about a call when its tracing starts. */
export interface TracedCall {
  readonly gas: GasSource;
  /** VM gas available to the call. */
  readonly limit: bigint;
  /** Returns the name of a function in the module, if it has one. */
  readonly functionName: (index: number) => string | undefined;
}

/** Records where one contract call uses its gas, without changing the gas or the result. */
export interface CallTrace {
  /** Called when a function in the module begins. */
  enter(functionIndex: number): void;
  /** Called when the innermost function ends. */
  leave(): void;
  host<T>(name: string, run: () => T): T;
  /** Called when the call has ended. `error`: text of the error that ended it, if any. */
  end(error: string | undefined): void;
  /** Called with the VM gas used, after the end of the call, to decode the result. */
  decode(gas: bigint): void;
}

export type StartTrace = (call: TracedCall) => CallTrace;

/** Node's `WebAssembly`, which is missing from this project's types. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { readonly exports: Hooks };
};

/**
 * What a module is compiled for. `plain` code has no hooks, because a small loop takes half as long again with them, which is too
 * slow in a block. In `interruptible` code, a gas counter below zero calls a hook, which may refill it. `traced` code also calls
 * the other hooks.
 */
export type Variant = "plain" | "interruptible" | "traced";

/** JavaScript functions that the rewritten code calls. */
export interface Hooks {
  /** Called when the gas counter is below zero. Ends the call or refills the counter. */
  readonly refill: () => void;
  readonly enter: () => void;
  readonly leave: () => void;
}

/** Names of the hooks, in table order. */
const NAMES = ["refill", "enter", "leave"] as const;

/** Hook types, as encoded in a type section: the first takes a function index, the second no parameters. */
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
 * Returns a module that exports the hooks that it imports. It is needed because a table accepts only WebAssembly functions, and
 * an import in the contract would change all function indices.
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

/** The object to which the hooks report. */
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

/** Where a rewritten module has its hooks: the hook table's index, and the index of the first of the two hook types. */
export interface HookPlaces {
  readonly table: number;
  readonly type: number;
}

/** Appends a call to the hook that marks the beginning of a function. */
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

/** Puts the hooks into an instance's table, if it has one. */
export function installHooks(
  table: { set(index: number, value: unknown): void } | undefined,
  hooks: Hooks,
): void {
  if (table !== undefined) for (const [at, name] of NAMES.entries()) table.set(at, hooks[name]);
}
