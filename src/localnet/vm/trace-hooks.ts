import type { ByteWriter } from "./byte-writer.ts";
import type { CallTrace } from "./call-trace.ts";
import { I32, OP } from "./operators.ts";

/** Node's `WebAssembly`, which the types of this project do not include. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (
    module: object,
    imports: object,
  ) => { readonly exports: { readonly enter: () => void; readonly leave: () => void } };
};

/** The two hooks of a module that is compiled for a trace: each function calls one when it begins and one when it ends. */
export interface Hooks {
  readonly enter: () => void;
  readonly leave: () => void;
}

/**
 * A table takes functions of WebAssembly only, so that the hooks pass through this module. An import in the contract itself would
 * change the indices of all functions.
 *
 * ```wat
 * (module
 *   (import "" "enter" (func (param i32))) (import "" "leave" (func))
 *   (export "enter" (func 0)) (export "leave" (func 1)))
 * ```
 */
const BRIDGE = Uint8Array.of(
  0x00,
  0x61,
  0x73,
  0x6d,
  0x01,
  0x00,
  0x00,
  0x00,
  0x01,
  0x08,
  0x02,
  0x60,
  0x01,
  0x7f,
  0x00,
  0x60,
  0x00,
  0x00,
  0x02,
  0x13,
  0x02,
  0x00,
  0x05,
  0x65,
  0x6e,
  0x74,
  0x65,
  0x72,
  0x00,
  0x00,
  0x00,
  0x05,
  0x6c,
  0x65,
  0x61,
  0x76,
  0x65,
  0x00,
  0x01,
  0x07,
  0x11,
  0x02,
  0x05,
  0x65,
  0x6e,
  0x74,
  0x65,
  0x72,
  0x00,
  0x00,
  0x05,
  0x6c,
  0x65,
  0x61,
  0x76,
  0x65,
  0x00,
  0x01,
);

/** Creates the hooks. They report to the call that `current` returns. */
export function createHooks(current: () => Pick<CallTrace, "enter" | "leave"> | undefined): Hooks {
  const imports = {
    "": {
      enter: (index: number) => current()?.enter(index),
      leave: () => current()?.leave(),
    },
  };
  return new WebAssembly.Instance(new WebAssembly.Module(BRIDGE), imports).exports;
}

/** Places of the hooks in their table. */
const ENTER = 0;
const LEAVE = 1;

/** Types of the hooks, in the encoding of a type section. */
export const HOOK_TYPES = [Uint8Array.of(0x60, 1, I32, 0), Uint8Array.of(0x60, 0, 0)] as const;
/** A table of two functions, in the encoding of a table section. */
export const HOOK_TABLE = Uint8Array.of(0x70, 0x01, 2, 2);

/** Where a rewritten module has the hooks: index of their table, and of the first of their two types. */
export interface HookPlaces {
  readonly table: number;
  readonly type: number;
}

/** Appends a call of the hook for the begin of a function. */
export function writeEnter(writer: ByteWriter, { table, type }: HookPlaces, functionIndex: number): void {
  writer.u8(OP.i32Const);
  writer.varSigned(functionIndex);
  writeHookCall(writer, ENTER, { table, type });
}

/** Appends a call of the hook for the end of a function. */
export function writeLeave(writer: ByteWriter, { table, type }: HookPlaces): void {
  writeHookCall(writer, LEAVE, { table, type: type + 1 });
}

function writeHookCall(writer: ByteWriter, hook: number, { table, type }: HookPlaces): void {
  writer.u8(OP.i32Const);
  writer.varSigned(hook);
  writer.u8(OP.callIndirect);
  writer.varU32(type);
  writer.varU32(table);
}

/** Puts the hooks into the table of an instance. */
export function installHooks(
  table: { set(index: number, value: unknown): void } | undefined,
  { enter, leave }: Hooks,
): void {
  table?.set(ENTER, enter);
  table?.set(LEAVE, leave);
}
