import { type Hooks, installHooks } from "./hooks.ts";
import { EXPORTS } from "./rewrite.ts";
import {
  type Instance,
  type Instantiable,
  restore,
  type StartState,
  startStateOf,
  type WasmExports,
} from "./start-state.ts";

/** Node's `WebAssembly`, which is missing from this project's types. */
declare const WebAssembly: {
  Instance: new (module: object, imports: object) => { readonly exports: WasmExports };
};

/** Maximum memory of a reusable instance, in bytes. A larger memory takes longer to restore than to create. */
const MAX_MEMORY = 4 * 1024 * 1024;
/** Maximum number of start states per module. The lengths of a chain's first arguments differ by a few bytes. */
const MAX_STARTS = 8;
/** Maximum number of idle instances per module. Several are needed when a contract's calls are nested in its own calls. */
const MAX_IDLE = 4;

/** What a call requires of its instance: the length of its first argument, and its native stack bytes. */
export interface InstanceRequest {
  readonly length: number;
  readonly stackLimit: number;
}

/** A module's start states by length, and its idle instances. */
interface Reusable {
  readonly starts: Map<number, StartState>;
  readonly idle: Instance[];
  bytes: number;
}

/**
 * Gives each call an instance that is as good as new. Creating an instance takes longer than most calls, so the memory and
 * globals of instances from finished calls are restored instead. Nothing else in an instance can change, because no operator
 * writes to a table or drops a segment. An instance is discarded if its call failed or grew the memory beyond the start state.
 */
export class Instances {
  private readonly imports: object;
  private readonly hooks: Hooks;
  private readonly maxBytes: number;
  /** Keyed by module, least recently used first. */
  private readonly reusable = new Map<Instantiable, Reusable>();
  private total = 0;

  /** Keeps at most `maxBytes` of idle memories and start states. */
  constructor(imports: object, hooks: Hooks, maxBytes: number) {
    this.imports = imports;
    this.hooks = hooks;
    this.maxBytes = maxBytes;
  }

  /** Returns the total size of idle memories and start states, in bytes. */
  bytes(): number {
    return this.total;
  }

  /** Returns an instance for a call. Its counters are not set yet. */
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

  /** Records the state after a new instance's first call, an `allocate` that called no host function. */
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

  /** Takes back an instance after a successful call. */
  release(instance: Instance): void {
    const reusable = this.reusable.get(instance.module);
    if (reusable === undefined || reusable.idle.length === MAX_IDLE) return;
    const length = instance.exports.memory.buffer.byteLength;
    if (![...reusable.starts.values()].some(({ memoryLength }) => memoryLength === length)) return;
    reusable.idle.push(instance);
    this.count(reusable, length);
    this.evict();
  }

  /** Forgets a module that has been removed from the cache. */
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
