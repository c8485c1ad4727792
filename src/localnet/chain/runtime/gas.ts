import type { Entry, KVStore } from "../store/cache-store.ts";
import { ChainPanic } from "./errors.ts";

export interface GasMeter {
  /** The gas limit. If undefined, there is no limit. */
  readonly limit: bigint | undefined;
  /** Returns the gas consumed so far. After an out-of-gas error, this is more than `limit`, because the failed consumption is included. */
  readonly used: () => bigint;
  /**
   * Consumes gas. Throws `ErrOutOfGas` (sdk/11) if `used` exceeds `limit`. `location` is the SDK's descriptor for the cost
   * ("ReadFlat", "WritePerByte", "txSize", …), which the error message includes.
   */
  readonly consume: (amount: bigint, location: string) => void;
  /** Like `consume`, but takes a number, which is faster than a bigint, because every store access calls this method. */
  readonly charge: (amount: number, location: string) => void;
  /** Called for each consumption of gas. Set only while a transaction is profiled. */
  readonly observer?: GasObserver;
}

export type GasObserver = (amount: bigint, location: string) => void;

export function createGasMeter(limit?: bigint): GasMeter {
  let consumed = 0n;
  // Sum of the amounts passed to `charge`. The sum stays below 2^53, so a number is exact.
  let charged = 0;
  let chargeable = chargeableGas(limit, consumed);
  const used = (): bigint => consumed + BigInt(charged);
  const check = (location: string): void => {
    if (limit !== undefined && charged > chargeable) throw outOfGas(location, limit, used());
  };
  return {
    limit,
    used,
    consume: (amount, location) => {
      consumed += amount;
      chargeable = chargeableGas(limit, consumed);
      check(location);
    },
    charge: (amount, location) => {
      charged += amount;
      check(location);
    },
  };
}

/** Creates a separate meter with a limit. Afterwards, the caller must charge the used gas to the outer meter. */
export function createNestedMeter({ observer }: GasMeter, limit: bigint): GasMeter {
  const meter = createGasMeter(limit);
  return observer === undefined ? meter : observeMeter(meter, observer);
}

/** Returns a view of a meter that reports each consumption, including a consumption that exceeds the limit. */
export function observeMeter(meter: GasMeter, observer: GasObserver): GasMeter {
  return {
    limit: meter.limit,
    used: meter.used,
    observer,
    consume: (amount, location) => {
      observer(amount, location);
      meter.consume(amount, location);
    },
    charge: (amount, location) => {
      observer(BigInt(amount), location);
      meter.charge(amount, location);
    },
  };
}

/** Returns the remaining gas as a number. The result is exact for all values up to 2^53, which `charged` never exceeds. */
function chargeableGas(limit: bigint | undefined, consumed: bigint): number {
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit - consumed);
}

/** Creates the out-of-gas error, with the message that baseapp and `SetUpContextDecorator` print for Go's panic. */
export function outOfGas(location: string, wanted: bigint, used: bigint): ChainPanic {
  const words = `out of gas in location: ${location}; gasWanted: ${wanted}, gasUsed: ${used}`;
  return new ChainPanic("sdk", 11, `${words}: out of gas`, { description: "out of gas", wraps: [words] });
}

// Gas costs from the SDK's default KVGasConfig.
const HAS_COST = 1000;
const DELETE_COST = 1000;
const READ_COST_FLAT = 1000;
const READ_COST_PER_BYTE = 3;
const WRITE_COST_FLAT = 2000;
const WRITE_COST_PER_BYTE = 30;
const ITERATE_NEXT_COST_FLAT = 30;

/**
 * Charges the gas for reading an entry from a store that exists only on the deployed chain. If the entry does not exist,
 * `valueBytes` is 0.
 */
export function chargeRead(gas: GasMeter, keyBytes: number, valueBytes: number): void {
  gas.charge(READ_COST_FLAT, "ReadFlat");
  gas.charge(READ_COST_PER_BYTE * keyBytes, "ReadPerByte");
  gas.charge(READ_COST_PER_BYTE * valueBytes, "ReadPerByte");
}

/** Like {@link chargeRead}, but charges for checking whether an entry exists. */
export function chargeHas(gas: GasMeter): void {
  gas.charge(HAS_COST, "Has");
}

/** Like {@link chargeRead}, but charges for writing an entry. */
export function chargeWrite(gas: GasMeter, keyBytes: number, valueBytes: number): void {
  gas.charge(WRITE_COST_FLAT, "WriteFlat");
  gas.charge(WRITE_COST_PER_BYTE * keyBytes, "WritePerByte");
  gas.charge(WRITE_COST_PER_BYTE * valueBytes, "WritePerByte");
}

/**
 * Creates a view of a store that consumes gas like the SDK's `gaskv`. The order of the charges matters, because an out-of-gas error
 * names the charge that exceeded the limit.
 */
export function createGasStore(parent: KVStore, gas: GasMeter): KVStore {
  return new GasStore(parent, gas);
}

// The gas store is a class, because every transaction creates several gas stores, and a closure per method would be slower.
class GasStore implements KVStore {
  readonly parent: KVStore;
  readonly gas: GasMeter;

  constructor(parent: KVStore, gas: GasMeter) {
    this.parent = parent;
    this.gas = gas;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    // The gas per byte is charged after the read, because the value's size is unknown before the read.
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
 * Iterates like `gasIterator`, which charges for the first entry when the iterator is created, and for the current entry before
 * each step. The first entry is therefore charged twice. An empty range costs one flat charge.
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

/**
 * Throws {@link InterruptedError} if a simulation, query or other work outside a block has taken too long. The node passes this
 * function to simulations and queries. Blocks are never interrupted, because their result must not depend on a clock.
 */
export type Interrupt = () => void;

/** Thrown to interrupt work outside a block. No chain code handles this error, as it is neither a `ModuleError` nor a `QueryError`. */
export class InterruptedError extends Error {
  constructor(text: string) {
    super(text);
    this.name = "InterruptedError";
  }
}

/** Returns a view of a meter that calls `interrupt` before each consumption. */
export function interruptMeter(meter: GasMeter, interrupt: Interrupt): GasMeter {
  return {
    ...meter,
    consume: (amount, location) => {
      interrupt();
      meter.consume(amount, location);
    },
    charge: (amount, location) => {
      interrupt();
      meter.charge(amount, location);
    },
  };
}
