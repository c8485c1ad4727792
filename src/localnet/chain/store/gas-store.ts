import type { GasMeter } from "../runtime/gas.ts";
import type { Entry, KVStore } from "./kv-store.ts";

// Gas prices of the SDK's default KVGasConfig.
const HAS_COST = 1000;
const DELETE_COST = 1000;
const READ_COST_FLAT = 1000;
const READ_COST_PER_BYTE = 3;
const WRITE_COST_FLAT = 2000;
const WRITE_COST_PER_BYTE = 30;
const ITERATE_NEXT_COST_FLAT = 30;

/**
 * Creates a view of a store that consumes gas as the SDK's `gaskv`. The sequence of charges is part of the behaviour:
 * when the gas runs out, the error text names the charge that exceeded the limit.
 */
export function createGasStore(parent: KVStore, gas: GasMeter): KVStore {
  return new GasStore(parent, gas);
}

// A class for the same reason as the layers of the cache store: every transaction creates several.
class GasStore implements KVStore {
  readonly parent: KVStore;
  readonly gas: GasMeter;

  constructor(parent: KVStore, gas: GasMeter) {
    this.parent = parent;
    this.gas = gas;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    // The cost by size follows the read, because only the read returns the size of the value.
    this.gas.charge(READ_COST_FLAT, "ReadFlat");
    const value = this.parent.get(key);
    this.gas.charge(READ_COST_PER_BYTE * key.length, "ReadPerByte");
    if (value !== undefined) this.gas.charge(READ_COST_PER_BYTE * value.length, "ReadPerByte");
    return value;
  }

  has(key: Uint8Array): boolean {
    this.gas.charge(HAS_COST, "Has");
    return this.parent.has(key);
  }

  set(key: Uint8Array, value: Uint8Array): void {
    this.gas.charge(WRITE_COST_FLAT, "WriteFlat");
    this.gas.charge(WRITE_COST_PER_BYTE * key.length, "WritePerByte");
    this.gas.charge(WRITE_COST_PER_BYTE * value.length, "WritePerByte");
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
 * Iterates like `gasIterator`: it charges for the first entry when it is created, and for the current entry before each
 * step to the next. The first entry is thus charged twice, and an empty range costs one flat charge.
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
