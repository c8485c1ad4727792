import { unreachable } from "../../../platform/base/errors.ts";
import { type Profile, SPECIFICATION } from "../deviations/deviations.ts";
import type { Branch } from "../store/cache-store.ts";
import type { Entry, KVStore } from "../store/kv-store.ts";
import type { ChainEvent } from "./events.ts";
import type { GasMeter } from "./gas.ts";
import { type Interrupt, interruptMeter } from "./interrupt.ts";

/** The purpose of an execution. `simulate` does not verify signatures and drops all writes. */
export type ExecutionMode = "check" | "recheck" | "simulate" | "deliver";

/** Everything that a handler, hook or query can read and change: one height, its stores, a gas meter and events. */
export interface Context {
  readonly chainId: string;
  readonly height: bigint;
  /** Block time, in nanoseconds since the Unix epoch. Chain code has no other clock. */
  readonly timeNs: bigint;
  readonly mode: ExecutionMode;
  /** Determines whether the chain follows the specification or the deployed chain where they differ. */
  readonly profile: Profile;
  readonly gas: GasMeter;
  /** Interrupts a simulation or query. Called whenever gas is consumed; long-running work that consumes no gas must call it. */
  readonly interrupt?: Interrupt | undefined;
  /** Opens a module's store. Throws a plain error (a bug) if no module registered the name. */
  readonly store: (name: string) => KVStore;
  /** Appends an event to the message or block. */
  readonly emit: (event: ChainEvent) => void;
  /**
   * Runs `work` on a branch above this context. Its writes and events are applied when `work` returns. If `work` throws, they are
   * dropped and the exception is rethrown. In both cases, the gas stays consumed.
   */
  readonly atomically: <T>(work: (inner: Context) => T) => T;
  /** Returns a context with the same stores and events but a different gas meter. */
  readonly withGas: (gas: GasMeter) => Context;
}

export interface BlockFacts {
  readonly chainId: string;
  readonly height: bigint;
  readonly timeNs: bigint;
  /** Default: `specification`. */
  readonly profile?: Profile;
}

interface ExecutionScope {
  readonly mode: ExecutionMode;
  readonly gas: GasMeter;
  readonly interrupt?: Interrupt | undefined;
  /** Receives the context's writes. */
  readonly branch: Branch;
  readonly emit: (event: ChainEvent) => void;
}

/** Creates a context. Every access to its stores consumes gas from its meter. */
export function createContext(block: BlockFacts, scope: ExecutionScope): Context {
  // A handler opens the same store for every read and write, so create each store's gas wrapper once. There are few stores and many
  // contexts, and creating a list is faster than creating a map.
  const opened: { readonly name: string; readonly store: KVStore }[] = [];
  const { interrupt } = scope;
  const gas = interrupt === undefined ? scope.gas : interruptMeter(scope.gas, interrupt);
  return {
    chainId: block.chainId,
    height: block.height,
    timeNs: block.timeNs,
    mode: scope.mode,
    profile: block.profile ?? SPECIFICATION,
    gas,
    interrupt,
    emit: scope.emit,
    store: (name) => {
      for (const known of opened) if (known.name === name) return known.store;
      const store = createGasStore(scope.branch.store(name), gas);
      opened.push({ name, store });
      return store;
    },
    atomically: (work) => runAtomically(block, scope, work),
    withGas: (other) => createContext(block, { ...scope, gas: other }),
  };
}

function runAtomically<T>(block: BlockFacts, scope: ExecutionScope, work: (inner: Context) => T): T {
  // The branch is on top of the raw stores, not the gas stores, because the final write must not consume gas.
  const branch = scope.branch.branch();
  const events: ChainEvent[] = [];
  const inner = createContext(block, { ...scope, branch, emit: (event) => events.push(event) });
  const result = work(inner);
  branch.write();
  for (const event of events) scope.emit(event);
  return result;
}

/**
 * Thrown to drop a branch, which only an exception can do. The `dryRun` that throws it also catches it, so a single error object
 * suffices: creating one with its stack each time would take a quarter of a contract query's time.
 */
const DROPPED = new Error("this is a bug: a dropped branch was not caught");

/** Runs `work` on a branch whose writes and events are dropped, and returns the result of `work`. Gas stays consumed. */
export function dryRun<T>(context: Context, work: (inner: Context) => T): T {
  const outcome: { result?: { readonly value: T } } = {};
  try {
    context.atomically((inner) => {
      outcome.result = { value: work(inner) };
      throw DROPPED;
    });
  } catch (thrown) {
    if (thrown !== DROPPED) throw thrown;
  }
  return outcome.result?.value ?? unreachable("a branch ended without a result");
}

/** Returns the context with a different list of events. Its branches also append to that list once their work has succeeded. */
export function collectEvents(context: Context, events: ChainEvent[]): Context {
  return {
    ...context,
    emit: (each) => {
      events.push(each);
    },
    atomically: (work) =>
      context.atomically((inner) => {
        const pending: ChainEvent[] = [];
        const result = work(collectEvents(inner, pending));
        events.push(...pending);
        return result;
      }),
    withGas: (gas) => collectEvents(context.withGas(gas), events),
  };
}

// Gas prices of the SDK's default KVGasConfig.
const HAS_COST = 1000;
const DELETE_COST = 1000;
const READ_COST_FLAT = 1000;
const READ_COST_PER_BYTE = 3;
const WRITE_COST_FLAT = 2000;
const WRITE_COST_PER_BYTE = 30;
const ITERATE_NEXT_COST_FLAT = 30;

/** Charges for reading an entry of this size from a store that only the deployed chain has. An absent value has size 0. */
export function chargeRead(gas: GasMeter, keyBytes: number, valueBytes: number): void {
  gas.charge(READ_COST_FLAT, "ReadFlat");
  gas.charge(READ_COST_PER_BYTE * keyBytes, "ReadPerByte");
  gas.charge(READ_COST_PER_BYTE * valueBytes, "ReadPerByte");
}

/** Charges for checking whether an entry exists, like {@link chargeRead}. */
export function chargeHas(gas: GasMeter): void {
  gas.charge(HAS_COST, "Has");
}

/** Charges for writing an entry, like {@link chargeRead}. */
export function chargeWrite(gas: GasMeter, keyBytes: number, valueBytes: number): void {
  gas.charge(WRITE_COST_FLAT, "WriteFlat");
  gas.charge(WRITE_COST_PER_BYTE * keyBytes, "WritePerByte");
  gas.charge(WRITE_COST_PER_BYTE * valueBytes, "WritePerByte");
}

/**
 * Creates a view of a store that consumes gas like the SDK's `gaskv`. The order of the charges is part of the behaviour: when the
 * gas runs out, the error text names the charge that exceeded the limit.
 */
export function createGasStore(parent: KVStore, gas: GasMeter): KVStore {
  return new GasStore(parent, gas);
}

// A class for the same reason as the cache store's layers: every transaction creates several.
class GasStore implements KVStore {
  readonly parent: KVStore;
  readonly gas: GasMeter;

  constructor(parent: KVStore, gas: GasMeter) {
    this.parent = parent;
    this.gas = gas;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    // Charge the cost by size after the read, because only the read returns the value's size.
    this.gas.charge(READ_COST_FLAT, "ReadFlat");
    const value = this.parent.get(key);
    this.gas.charge(READ_COST_PER_BYTE * key.length, "ReadPerByte");
    if (value !== undefined) this.gas.charge(READ_COST_PER_BYTE * value.length, "ReadPerByte");
    return value;
  }

  has(key: Uint8Array): boolean {
    chargeHas(this.gas);
    return this.parent.has(key);
  }

  set(key: Uint8Array, value: Uint8Array): void {
    chargeWrite(this.gas, key.length, value.length);
    this.parent.set(key, value);
  }

  delete(key: Uint8Array): void {
    this.gas.charge(DELETE_COST, "Delete");
    this.parent.delete(key);
  }

  iterate(start?: Uint8Array, end?: Uint8Array): IterableIterator<Entry> {
    return metered(this.parent.iterate(start, end), this.gas);
  }

  iterateReverse(start?: Uint8Array, end?: Uint8Array): IterableIterator<Entry> {
    return metered(this.parent.iterateReverse(start, end), this.gas);
  }
}

/**
 * Iterates like `gasIterator`: it charges for the first entry when it is created, and for the current entry before each step to
 * the next one. The first entry is therefore charged twice, and an empty range costs one flat charge.
 */
function metered(entries: IterableIterator<Entry>, gas: GasMeter): IterableIterator<Entry> {
  const first = entries.next();
  chargeSeek(first, gas);
  return walk(entries, first, gas);
}

function* walk(
  entries: IterableIterator<Entry>,
  first: IteratorResult<Entry>,
  gas: GasMeter,
): IterableIterator<Entry> {
  for (let at = first; at.done !== true; at = entries.next()) {
    yield at.value;
    chargeSeek(at, gas);
  }
}

function chargeSeek(at: IteratorResult<Entry>, gas: GasMeter): void {
  if (at.done !== true) {
    gas.charge(READ_COST_PER_BYTE * at.value[0].length, "ValuePerByte");
    gas.charge(READ_COST_PER_BYTE * at.value[1].length, "ValuePerByte");
  }
  gas.charge(ITERATE_NEXT_COST_FLAT, "IterNextFlat");
}
