import type { GasMeter } from "../runtime/gas.ts";
import type { Entry, KVStore } from "./kv-store.ts";

// Gas prices of the SDK's default KVGasConfig.
const HAS_COST = 1000n;
const DELETE_COST = 1000n;
const READ_COST_FLAT = 1000n;
const READ_COST_PER_BYTE = 3n;
const WRITE_COST_FLAT = 2000n;
const WRITE_COST_PER_BYTE = 30n;
const ITERATE_NEXT_COST_FLAT = 30n;

/**
 * The costs of keys and values below this length come from a table. Creating a bigint for every access would take more
 * time than the access itself.
 */
const COMMON_LENGTHS = 512;
const READ_COSTS = Array.from({ length: COMMON_LENGTHS }, (_, length) => READ_COST_PER_BYTE * BigInt(length));
const WRITE_COSTS = Array.from(
  { length: COMMON_LENGTHS },
  (_, length) => WRITE_COST_PER_BYTE * BigInt(length),
);

function readCost(bytes: Uint8Array): bigint {
  return READ_COSTS[bytes.length] ?? READ_COST_PER_BYTE * BigInt(bytes.length);
}

function writeCost(bytes: Uint8Array): bigint {
  return WRITE_COSTS[bytes.length] ?? WRITE_COST_PER_BYTE * BigInt(bytes.length);
}

/**
 * Creates a view of a store that consumes gas as the SDK's `gaskv`. The sequence of charges is part of the behaviour:
 * when the gas runs out, the error text names the charge that exceeded the limit.
 */
export function createGasStore(parent: KVStore, gas: GasMeter): KVStore {
  return {
    get: (key) => {
      // The cost by size follows the read, because only the read returns the size of the value.
      gas.consume(READ_COST_FLAT, "ReadFlat");
      const value = parent.get(key);
      gas.consume(readCost(key), "ReadPerByte");
      if (value !== undefined) gas.consume(readCost(value), "ReadPerByte");
      return value;
    },
    has: (key) => {
      gas.consume(HAS_COST, "Has");
      return parent.has(key);
    },
    set: (key, value) => {
      gas.consume(WRITE_COST_FLAT, "WriteFlat");
      gas.consume(writeCost(key), "WritePerByte");
      gas.consume(writeCost(value), "WritePerByte");
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
    gas.consume(readCost(at.value[0]), "ValuePerByte");
    gas.consume(readCost(at.value[1]), "ValuePerByte");
  }
  gas.consume(ITERATE_NEXT_COST_FLAT, "IterNextFlat");
}
