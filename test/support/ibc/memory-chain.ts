import { createContext } from "../../../src/chain/runtime/execution-context.ts";
import type { Context } from "../../../src/chain/runtime/context.ts";
import type { ChainEvent } from "../../../src/chain/runtime/events.ts";
import { createGasMeter } from "../../../src/chain/runtime/gas.ts";
import { createCacheStore } from "../../../src/chain/store/cache-store.ts";
import type { Entry, KVStore } from "../../../src/chain/store/kv-store.ts";

/** A chain without blocks: stores in memory, and a context of any height and time over them. */
export interface MemoryChain {
  readonly store: KVStore;
  readonly events: ChainEvent[];
  readonly at: (height: bigint, timeNs: bigint) => Context;
}

const EMPTY: KVStore = {
  get: () => undefined,
  has: () => false,
  set: () => {
    throw new Error("the empty store below is not written to");
  },
  delete: () => {
    throw new Error("the empty store below is not written to");
  },
  iterate: () => nothing(),
  iterateReverse: () => nothing(),
};

function* nothing(): IterableIterator<Entry> {}

/** Creates a chain with one store, "ibc". */
export function createMemoryChain(chainId: string): MemoryChain {
  const store = createCacheStore(EMPTY);
  const events: ChainEvent[] = [];
  return {
    store,
    events,
    at: (height, timeNs) =>
      createContext(
        { chainId, height, timeNs },
        {
          mode: "deliver",
          gas: createGasMeter(),
          stores: (name) => {
            if (name !== "ibc") throw new Error(`no store ${name}`);
            return store;
          },
          emit: (event) => events.push(event),
        },
      ),
  };
}
