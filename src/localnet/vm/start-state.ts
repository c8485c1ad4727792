import { Buffer } from "node:buffer";
import type { EXPORTS } from "./rewrite.ts";

/** A global of a rewritten module. */
interface WasmGlobal<T> {
  value: T;
}

/** A rewritten module's exports, as V8 returns them. */
export interface WasmExports {
  readonly [EXPORTS.memory]: { readonly buffer: ArrayBuffer };
  readonly [EXPORTS.table]?: { readonly length: number; get(index: number): unknown };
  readonly [EXPORTS.hooks]?: { set(index: number, value: unknown): void };
  readonly [EXPORTS.gas]: WasmGlobal<bigint>;
  readonly [EXPORTS.stack]: WasmGlobal<number>;
  readonly [EXPORTS.tableIndex]: WasmGlobal<number>;
  readonly [EXPORTS.notANumber]: WasmGlobal<number>;
  readonly [name: `${typeof EXPORTS.globalPrefix}${number}`]: WasmGlobal<number | bigint>;
  readonly [name: `${typeof EXPORTS.functionPrefix}${string}`]: ((...args: number[]) => unknown) | undefined;
}

/** What instances are created from. */
export interface Instantiable {
  readonly compiled: object;
  /** Indices of the contract's mutable globals, which are restored. Undefined if the contract's instances cannot be reused. */
  readonly restoredGlobals: readonly number[] | undefined;
}

/** Size, in bytes, of the block next to the image that is cleared as a whole. */
const CLEARED = 16 * 1024;
const ZEROS = Buffer.alloc(256 * 1024);

/**
 * The state of a fresh instance after its first call, `allocate(length)`. If this call uses no host function, the state depends
 * only on the length. Nearly every contract grows its memory during this call but not later, and a memory cannot shrink, so this
 * is the state to which an instance can be restored.
 */
export interface StartState {
  /** What `allocate` returned. */
  readonly pointer: number;
  /** VM gas that `allocate` used. */
  readonly gas: bigint;
  /** Number of native stack bytes that sufficed for `allocate`. */
  readonly stackLimit: number;
  readonly memoryLength: number;
  /** The memory without the zeros at its start and end, and the address at which this part begins. */
  readonly image: Uint8Array;
  readonly imageStart: number;
  /** Values of the mutable globals. */
  readonly globals: readonly (number | bigint)[];
}

/** An instance for one call. */
export interface Instance {
  readonly module: Instantiable;
  readonly exports: WasmExports;
  /** The contract's mutable globals. */
  readonly globals: readonly WasmGlobal<number | bigint>[];
  /** The call's first allocation, if it has already happened. */
  start: StartState | undefined;
}

/** Restores a used instance, whose memory must have the same size, to the start state. */
export function restore(instance: Instance, start: StartState): Instance {
  const { image, imageStart, globals } = start;
  const memory = new Uint8Array(instance.exports.memory.buffer);
  const imageEnd = imageStart + image.length;
  memory.set(image, imageStart);
  for (let end = imageStart, size = CLEARED; end > 0; end -= size, size = nextSize(size))
    clear(memory, Math.max(0, end - size), end);
  for (let from = imageEnd, size = CLEARED; from < memory.length; from += size, size = nextSize(size))
    clear(memory, from, Math.min(memory.length, from + size));
  for (const [at, global] of instance.globals.entries()) global.value = globals[at] ?? 0;
  instance.start = start;
  return instance;
}

/** Calls write near the image (stack below, heap above), so the parts that are checked grow with their distance from it. */
function nextSize(size: number): number {
  return Math.min(size * 2, ZEROS.length);
}

/** Most of a memory has never been written to, and comparing is faster than filling. */
function clear(memory: Uint8Array, from: number, to: number): void {
  if (ZEROS.compare(memory, from, to, 0, to - from) !== 0) memory.fill(0, from, to);
}

/** Returns an instance's state after its first allocation. */
export function startStateOf(
  { exports, globals }: Instance,
  allocation: Pick<StartState, "pointer" | "gas" | "stackLimit">,
): StartState {
  const { buffer } = exports.memory;
  return {
    ...allocation,
    memoryLength: buffer.byteLength,
    ...imageOf(buffer),
    globals: globals.map(({ value }) => value),
  };
}

/** Trims zeros from both ends of a memory, in 4-byte words. */
function imageOf(buffer: ArrayBuffer): Pick<StartState, "image" | "imageStart"> {
  const words = new Uint32Array(buffer);
  let start = 0;
  let end = words.length;
  while (start < end && words[start] === 0) start++;
  while (end > start && words[end - 1] === 0) end--;
  return { image: new Uint8Array(buffer.slice(start * 4, end * 4)), imageStart: start * 4 };
}
