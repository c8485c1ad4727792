import type { ByteWriter } from "./byte-reader.ts";
import { vmError } from "./errors.ts";
import { type HookPlaces, writeHookCall } from "./hooks.ts";
import { ENTRY_POINTS } from "./host.ts";
import { type ByteRange, functionType, type WasmModule } from "./module.ts";
import { MAX_MEMORY_PAGES } from "./static-checks.ts";
import { EMPTY_BLOCK, F32, F64, I32, I64, OP } from "./operators.ts";

/** Names of helper functions that the rewriter appends. The name of a helper that replaces an operator is the operator's opcode. */
const CANONICAL_F32 = "canonical f32";
const CANONICAL_F64 = "canonical f64";
export const CHARGE = "charge";
export const GROW = "grow";

export interface Helper {
  readonly params: readonly number[];
  readonly results: readonly number[];
  readonly code: (writer: ByteWriter, globals: Globals) => void;
}

/** Indices of the globals and hooks that the rewriter appends to a module. */
export interface Globals {
  /** Indices of the hooks' table and types. If undefined, the call ends when the gas counter falls below zero. */
  readonly hooks: HookPlaces | undefined;
  readonly gas: number;
  readonly stack: number;
  readonly tableIndex: number;
  readonly notANumber: number;
}

export const OP_I32_ADD = 0x6a;
export const OP_I32_SUB = 0x6b;
export const OP_I64_SUB = 0x7d;
const OP_I32_LT_S = 0x48;
const OP_I32_GT_U = 0x4b;
const OP_I64_LT_S = 0x53;
const OP_F32_PROMOTE = 0xbb;
const OP_F64_DEMOTE = 0xb6;
/** Opcodes of the truncations from f32 and f64 to integers, which may trap. */
const TRUNCATIONS = [
  [0xa8, 0xa9, 0xae, 0xaf],
  [0xaa, 0xab, 0xb0, 0xb1],
] as const;
const REPLACED: ReadonlySet<number> = new Set([...TRUNCATIONS.flat(), OP_F32_PROMOTE, OP_F64_DEMOTE]);

export function globalAccess(writer: ByteWriter, opcode: number, index: number): void {
  writer.u8(opcode);
  writer.varU32(index);
}

/** Appends code that ends the call if the stack counter is below zero. */
export function trapWithoutStack(writer: ByteWriter, { stack }: Globals): void {
  globalAccess(writer, OP.globalGet, stack);
  writeBytes(writer, OP.i32Const, 0x00, OP_I32_LT_S, OP.if, EMPTY_BLOCK, OP.unreachable, OP.end);
}

/** Appends code that ends the call, or calls a hook, if the gas counter is below zero. */
export function trapWithoutGas(writer: ByteWriter, { gas, hooks }: Globals): void {
  globalAccess(writer, OP.globalGet, gas);
  writeBytes(writer, OP.i64Const, 0x00, OP_I64_LT_S, OP.if, EMPTY_BLOCK);
  if (hooks === undefined) writer.u8(OP.unreachable);
  else writeHookCall(writer, "refill", hooks);
  writer.u8(OP.end);
}

/**
 * Returns the helper that makes an arithmetic operator's NaNs canonical. `neg`, `abs`, `copysign` and reinterpretations need no
 * helper, because they only copy or change bits.
 */
function canonicalHelper(opcode: number): string | undefined {
  if (opcode >= 0x8d && opcode <= 0x97) return CANONICAL_F32;
  return opcode >= 0x9b && opcode <= 0xa5 ? CANONICAL_F64 : undefined;
}

export function helperOf(name: string): Helper {
  if (name === GROW) return { params: [I32], results: [I32], code: writeGrow };
  if (name === CHARGE) return { params: [I64], results: [], code: writeCharge };
  if (name === CANONICAL_F32) return { params: [F32], results: [F32], code: writeCanonicalF32 };
  if (name === CANONICAL_F64) return { params: [F64], results: [F64], code: writeCanonicalF64 };
  const opcode = Number(name.slice("operator ".length));
  if (opcode === OP_F32_PROMOTE) return { params: [F32], results: [F64], code: writePromote };
  if (opcode === OP_F64_DEMOTE) return { params: [F64], results: [F32], code: writeDemote };
  const isDouble = TRUNCATIONS[1].some((truncation) => truncation === opcode);
  return {
    params: [isDouble ? F64 : F32],
    results: [opcode < 0xac ? I32 : I64],
    code: (writer, globals) => writeTruncate(writer, globals, { opcode, isDouble }),
  };
}

const LOCAL_0 = [OP.localGet, 0x00] as const;

function writeBytes(writer: ByteWriter, ...bytes: readonly number[]): void {
  for (const byte of bytes) writer.u8(byte);
}

function writeCharge(writer: ByteWriter, globals: Globals): void {
  globalAccess(writer, OP.globalGet, globals.gas);
  writeBytes(writer, ...LOCAL_0, OP_I64_SUB);
  globalAccess(writer, OP.globalSet, globals.gas);
  trapWithoutGas(writer, globals);
}

/**
 * Writes a helper for two cases of `memory.grow` that would take V8 thousands of times as long as the gas pays for. V8 creates a
 * new JavaScript buffer even if the memory grows by zero pages. V8 also requests memory from the system even if the memory would
 * grow beyond the maximum.
 */
function writeGrow(writer: ByteWriter): void {
  const size = [OP.memorySize, 0] as const;
  writeBytes(writer, ...LOCAL_0, OP.if, I32, ...LOCAL_0, OP.i32Const);
  writer.varSigned(MAX_MEMORY_PAGES);
  writeBytes(writer, ...size, OP_I32_SUB, OP_I32_GT_U, OP.if, I32, OP.i32Const, 0x7f, OP.else);
  writeBytes(writer, ...LOCAL_0, OP.memoryGrow, 0, OP.end, OP.else, ...size, OP.end);
}

/** Writes `select(x, NaN, x == x)`, which makes NaNs canonical. */
function writeCanonicalF32(writer: ByteWriter): void {
  writeBytes(writer, ...LOCAL_0, OP.f32Const, 0, 0, 0xc0, 0x7f);
  writeBytes(writer, ...LOCAL_0, ...LOCAL_0, 0x5b, OP.select);
}

function writeCanonicalF64(writer: ByteWriter): void {
  writeBytes(writer, ...LOCAL_0, OP.f64Const, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f);
  writeBytes(writer, ...LOCAL_0, ...LOCAL_0, 0x61, OP.select);
}

/** Writes a truncation to an integer that distinguishes NaNs from out-of-range numbers, for which V8 reports the same error. */
function writeTruncate(
  writer: ByteWriter,
  { notANumber }: Globals,
  { opcode, isDouble }: { readonly opcode: number; readonly isDouble: boolean },
): void {
  writeBytes(writer, ...LOCAL_0, ...LOCAL_0, isDouble ? 0x62 : 0x5c, OP.if, EMPTY_BLOCK, OP.i32Const, 0x01);
  globalAccess(writer, OP.globalSet, notANumber);
  writeBytes(writer, OP.unreachable, OP.end, ...LOCAL_0, opcode);
}

/**
 * Writes a float promotion that preserves a NaN's sign and upper payload bits, and sets the NaN's quiet bit. Computes the bits with
 * integers, because WebAssembly does not specify the payload.
 */
function writePromote(writer: ByteWriter): void {
  const bits = [...LOCAL_0, 0xbc, 0xad] as const; // i32.reinterpret_f32, i64.extend_i32_u
  writeBytes(writer, ...LOCAL_0, ...LOCAL_0, 0x5b, OP.if, F64, ...LOCAL_0, OP_F32_PROMOTE, OP.else);
  writeBytes(writer, ...bits, OP.i64Const);
  writer.varSigned(0x80000000);
  writeBytes(writer, 0x83, OP.i64Const, 32, 0x86); // i64.and, i64.shl: the sign
  writeBytes(writer, ...bits, OP.i64Const);
  writer.varSigned(0x003fffff);
  writeBytes(writer, 0x83, OP.i64Const, 29, 0x86, 0x84); // i64.or: the payload
  writeBytes(writer, OP.i64Const);
  writer.varSigned(0x7ff8);
  writeBytes(writer, OP.i64Const, 48, 0x86, 0x84, 0xbf, OP.end); // f64.reinterpret_i64
}

function writeDemote(writer: ByteWriter): void {
  const bits = [...LOCAL_0, 0xbd] as const; // i64.reinterpret_f64
  writeBytes(writer, ...LOCAL_0, ...LOCAL_0, 0x61, OP.if, F32, ...LOCAL_0, OP_F64_DEMOTE, OP.else);
  writeBytes(writer, ...bits, OP.i64Const, 32, 0x88, 0xa7, OP.i32Const); // i64.shr_u, i32.wrap_i64
  writer.varSigned(-0x80000000);
  writeBytes(writer, 0x71, ...bits, OP.i64Const, 29, 0x88, 0xa7, OP.i32Const); // i32.and: the sign
  writer.varSigned(0x003fffff);
  writeBytes(writer, 0x71, 0x72, OP.i32Const); // i32.or: the payload
  writer.varSigned(0x7fc00000);
  writeBytes(writer, 0x72, 0xbe, OP.end); // f32.reinterpret_i32
}

/** Returns the helper that makes an operator's NaNs deterministic. The helper either runs after the operator or replaces it. */
export function floatHelper(
  opcode: number,
): { readonly name: string; readonly isInstead: boolean } | undefined {
  const canonical = canonicalHelper(opcode);
  if (canonical !== undefined) return { name: canonical, isInstead: false };
  return REPLACED.has(opcode) ? { name: `operator ${opcode}`, isInstead: true } : undefined;
}

/** Maximum number of mutable globals in a contract whose instances are reused. */
const MAX_RESTORED_GLOBALS = 32;

/**
 * Returns the indices of a contract's mutable globals, which must be restored before an instance is reused. Returns undefined if
 * there are too many, or if any global is a float, because JavaScript does not preserve a NaN's bits. Rust contracts have one mutable
 * global, the stack pointer.
 */
export function restoredGlobals({ globals }: WasmModule): readonly number[] | undefined {
  const mutable = [...globals.keys()].filter((index) => globals[index]?.isMutable === true);
  const isExact = mutable.every((index) => globals[index]?.type === I32 || globals[index]?.type === I64);
  return isExact && mutable.length <= MAX_RESTORED_GLOBALS ? mutable : undefined;
}

/** Returns the index ranges of a table's non-empty elements. */
export function segmentsOf(table: Int32Array): ByteRange[] {
  const segments: { start: number; end: number }[] = [];
  for (const [at, index] of table.entries()) {
    const last = segments[segments.length - 1];
    if (index < 0) continue;
    if (last?.end === at) last.end++;
    else segments.push({ start: at, end: at + 1 });
  }
  return segments;
}

/**
 * Returns the index of the imported function `debug`. The rewriter removes calls of `debug`, because a call to JavaScript takes
 * twenty times longer than other code with the same gas. Returns undefined if there is no such import, or if its type is wrong and
 * the module cannot be instantiated.
 */
export function indexOfDebug(module: WasmModule): number | undefined {
  const index = module.imports
    .filter(({ kind }) => kind === "func")
    .findIndex(({ name }) => name === "debug");
  const { params = [], results = [] } = functionType(module, index) ?? {};
  return params.length === 1 && params[0] === I32 && results.length === 0 ? index : undefined;
}

/** Returns true if the VM calls functions with this name. Exports that the VM never calls would only slow down instances. */
export function isCallable(name: string): boolean {
  return name === "allocate" || name === "deallocate" || Object.hasOwn(ENTRY_POINTS, name);
}

export function resultBlock(results: readonly number[]): number {
  if (results.length > 1) throw vmError("compile", "a function has more than 1 results");
  return results[0] ?? EMPTY_BLOCK;
}
