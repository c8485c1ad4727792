import type { GasMeter } from "../runtime/gas.ts";
import type { Entry, KVStore } from "./kv-store.ts";

const HAS_COST = 1000n;
const DELETE_COST = 1000n;
const READ_COST_FLAT = 1000n;
const READ_COST_PER_BYTE = 3n;
const WRITE_COST_FLAT = 2000n;
const WRITE_COST_PER_BYTE = 30n;
const ITERATE_NEXT_COST_FLAT = 30n;

/** A view of a store that charges gas as the SDK's `gaskv` with its default `KVGasConfig`. */
export function createGasStore(parent: KVStore, gas: GasMeter): KVStore {
  return {
    get: (key) => {
      gas.consume(READ_COST_FLAT, "ReadFlat");
      const value = parent.get(key);
      gas.consume(READ_COST_PER_BYTE * BigInt(key.length), "ReadPerByte");
      if (value !== undefined) gas.consume(READ_COST_PER_BYTE * BigInt(value.length), "ReadPerByte");
      return value;
    },
    has: (key) => {
      gas.consume(HAS_COST, "Has");
      return parent.has(key);
    },
    set: (key, value) => {
      gas.consume(WRITE_COST_FLAT, "WriteFlat");
      gas.consume(WRITE_COST_PER_BYTE * BigInt(key.length), "WritePerByte");
      gas.consume(WRITE_COST_PER_BYTE * BigInt(value.length), "WritePerByte");
      parent.set(key, value);
    },
    delete: (key) => {
      gas.consume(DELETE_COST, "Delete");
      parent.delete(key);
    },
    iterate: (start, end) => metered(parent.iterate(start, end), gas),
    iterateReverse: (start, end) => metered(parent.iterateReverse(start, end), gas),
  };
}

/** Charges for the first position with the call, and for the position that is left with every step, as `gasIterator`. */
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
    gas.consume(READ_COST_PER_BYTE * BigInt(at.value[0].length), "ValuePerByte");
    gas.consume(READ_COST_PER_BYTE * BigInt(at.value[1].length), "ValuePerByte");
  }
  gas.consume(ITERATE_NEXT_COST_FLAT, "IterNextFlat");
}
