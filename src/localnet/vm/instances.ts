import { Buffer } from "node:buffer";
import { type Hooks, installHooks } from "./hooks.ts";
import { EXPORTS } from "./rewrite.ts";

/** Node's `WebAssembly`, which is missing from this project's types. */
declare const WebAssembly: {
  Instance: new (module: object, imports: object) => { readonly exports: WasmExports };
};

/** Maximum memory size of a reusable instance, in bytes. It would take longer to restore a larger memory than to create a new instance. */
const MAX_MEMORY = 4 * 1024 * 1024;
/** Maximum number of start states per module. A few start states are enough, because the length of the first argument varies little. */
const MAX_STARTS = 8;
/**
 * Maximum number of idle instances per module. A module needs several instances if contracts with the same code call each other.
 */
const MAX_IDLE = 4;

/** A call's requirements for an instance: the first argument's length and the native stack limit, both in bytes. */
export interface InstanceRequest {
  readonly length: number;
  readonly stackLimit: number;
}

/** A module's idle instances and its start states, keyed by the first argument's length. */
interface Reusable {
  readonly starts: Map<number, StartState>;
  readonly idle: Instance[];
  bytes: number;
}

/**
 * Provides each call with an instance in its initial state. Creating an instance takes longer than most calls, so this class resets a used
 * instance's memory and globals instead. Only memory and globals can change, because no operator writes to a table or drops a segment. An
 * instance is discarded if its call failed or grew the memory beyond the start state.
 */
export class Instances {
  private readonly imports: object;
  private readonly hooks: Hooks;
  private readonly maxBytes: number;
  /** Instances and start states, keyed by module, least recently used first. */
  private readonly reusable = new Map<Instantiable, Reusable>();
  private total = 0;

  /** Creates a pool that retains at most `maxBytes` of idle instances' memories and start states. */
  constructor(imports: object, hooks: Hooks, maxBytes: number) {
    this.imports = imports;
    this.hooks = hooks;
    this.maxBytes = maxBytes;
  }

  /** Returns the total size of idle instances' memories and start states, in bytes. */
  bytes(): number {
    return this.total;
  }

  /** Returns a new or reused instance, whose gas and stack counters the caller must set. */
  take(module: Instantiable, { length, stackLimit }: InstanceRequest): Instance {
    const start = this.reusable.get(module)?.starts.get(length);
    const idle =
      start !== undefined && stackLimit >= start.stackLimit ? this.takeIdle(module, start) : undefined;
    if (start !== undefined && idle !== undefined) return restore(idle, start);
    const { exports } = new WebAssembly.Instance(module.compiled, this.imports);
    installHooks(exports[EXPORTS.hooks], this.hooks);
    const globals = (module.restoredGlobals ?? []).flatMap(
      (index) => exports[`${EXPORTS.globalPrefix}${index}`] ?? [],
    );
    return { module, exports, globals, start: undefined };
  }

  private takeIdle(module: Instantiable, { memoryLength }: StartState): Instance | undefined {
    const reusable = this.use(module);
    const at = reusable.idle.findIndex(({ exports }) => exports.memory.buffer.byteLength === memoryLength);
    if (at < 0) return undefined;
    this.count(reusable, -memoryLength);
    return reusable.idle.splice(at, 1)[0];
  }

  /**
   * Records a new instance's state after its first call, which must be a call to `allocate` that used no host function.
   */
  recordStart(
    instance: Instance,
    { length, stackLimit }: InstanceRequest,
    allocation: Pick<StartState, "pointer" | "gas">,
  ): void {
    const { module, exports } = instance;
    if (module.restoredGlobals === undefined || exports.memory.buffer.byteLength > MAX_MEMORY) return;
    const reusable = this.use(module);
    const known = reusable.starts.get(length);
    if (known !== undefined && known.stackLimit <= stackLimit) return;
    this.removeStart(reusable, length);
    if (reusable.starts.size === MAX_STARTS)
      for (const oldest of [...reusable.starts.keys()].slice(0, 1)) this.removeStart(reusable, oldest);
    const start = startStateOf(instance, { ...allocation, stackLimit });
    reusable.starts.set(length, start);
    this.count(reusable, start.image.length);
    this.evict();
  }

  private removeStart(reusable: Reusable, length: number): void {
    this.count(reusable, -(reusable.starts.get(length)?.image.length ?? 0));
    reusable.starts.delete(length);
  }

  /** Makes an instance available again after a successful call. */
  release(instance: Instance): void {
    const reusable = this.reusable.get(instance.module);
    if (reusable === undefined || reusable.idle.length === MAX_IDLE) return;
    const length = instance.exports.memory.buffer.byteLength;
    if (![...reusable.starts.values()].some(({ memoryLength }) => memoryLength === length)) return;
    reusable.idle.push(instance);
    this.count(reusable, length);
    this.evict();
  }

  /** Discards the instances and start states of a module that has been removed from the cache. */
  remove(module: Instantiable): void {
    this.total -= this.reusable.get(module)?.bytes ?? 0;
    this.reusable.delete(module);
  }

  private use(module: Instantiable): Reusable {
    const reusable = this.reusable.get(module) ?? { starts: new Map(), idle: [], bytes: 0 };
    this.reusable.delete(module);
    this.reusable.set(module, reusable);
    return reusable;
  }

  private count(reusable: Reusable, bytes: number): void {
    reusable.bytes += bytes;
    this.total += bytes;
  }

  private evict(): void {
    for (const module of this.reusable.keys()) {
      if (this.total <= this.maxBytes) return;
      this.remove(module);
    }
  }
}

/** A global that a rewritten module exports. */
interface WasmGlobal<T> {
  value: T;
}

/** Exports of a rewritten module, as V8 returns them. */
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

export interface Instantiable {
  readonly compiled: object;
  /** Indices of the mutable globals to restore, or undefined if instances cannot be reused. */
  readonly restoredGlobals: readonly number[] | undefined;
}

/** Size in bytes of the first memory block to compare with zeros, on either side of the restored bytes. */
const CLEARED = 16 * 1024;
const ZEROS = Buffer.alloc(256 * 1024);

/**
 * The state of a new instance after its first call, `allocate(length)`. If `allocate` uses no host function, the state depends only on the
 * length. Used instances are restored to this state because memory cannot shrink, and nearly all contracts grow their memory only in the
 * first `allocate`.
 */
export interface StartState {
  /** Pointer that `allocate` returned. */
  readonly pointer: number;
  /** VM gas used by `allocate`. */
  readonly gas: bigint;
  /** The native stack limit, in bytes, with which `allocate` succeeded. */
  readonly stackLimit: number;
  readonly memoryLength: number;
  /** The memory without zeros at its start and end, and the address of its first byte. */
  readonly image: Uint8Array;
  readonly imageStart: number;
  /** Values of the contract's mutable globals, in the order of {@link Instance.globals}. */
  readonly globals: readonly (number | bigint)[];
}

/** A module instance that runs one call at a time. */
export interface Instance {
  readonly module: Instantiable;
  readonly exports: WasmExports;
  /** The contract's mutable globals. */
  readonly globals: readonly WasmGlobal<number | bigint>[];
  /** The state after the call's first allocation, if the instance has been restored to it. */
  start: StartState | undefined;
}

/** Restores a used instance to a start state. `instance` and `start` must have the same memory size. */
function restore(instance: Instance, start: StartState): Instance {
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

/**
 * Returns the size of the next memory block to compare with zeros. Blocks grow with their distance from the restored bytes, because most
 * writes are near these bytes.
 */
function nextSize(size: number): number {
  return Math.min(size * 2, ZEROS.length);
}

/** Zeroes a memory range unless it is all zeros already, because comparing is faster than filling and most memory is zero. */
function clear(memory: Uint8Array, from: number, to: number): void {
  if (ZEROS.compare(memory, from, to, 0, to - from) !== 0) memory.fill(0, from, to);
}

function startStateOf(
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

/** Returns a copy of a memory without the zeros at both ends, in units of 4 bytes. */
function imageOf(buffer: ArrayBuffer): Pick<StartState, "image" | "imageStart"> {
  const words = new Uint32Array(buffer);
  let start = 0;
  let end = words.length;
  while (start < end && words[start] === 0) start++;
  while (end > start && words[end - 1] === 0) end--;
  return { image: new Uint8Array(buffer.slice(start * 4, end * 4)), imageStart: start * 4 };
}
