import {
  createContext,
  type Context,
  type ExecutionMode,
  type ChainEvent,
} from "../../../src/localnet/chain/runtime/context.ts";
import { createGasMeter } from "../../../src/localnet/chain/runtime/gas.ts";
import {
  type CacheStore,
  createBranch,
  createCacheStore,
  type Entry,
  type KVStore,
} from "../../../src/localnet/chain/store/cache-store.ts";

/** A chain without blocks: one store in memory, and contexts of any height and time. */
export interface MemoryChain {
  readonly store: KVStore;
  readonly events: ChainEvent[];
  readonly at: (height: bigint, timeNs: bigint, mode?: ExecutionMode) => Context;
}

const EMPTY: KVStore = {
  get: () => undefined,
  has: () => false,
  set: () => {
    throw new Error("the base store is read-only");
  },
  delete: () => {
    throw new Error("the base store is read-only");
  },
  iterate: () => nothing(),
  iterateReverse: () => nothing(),
};

function* nothing(): IterableIterator<Entry> {}

/** Creates a chain with the store "ibc". */
export function createMemoryChain(chainId: string): MemoryChain {
  const store = createCacheStore(EMPTY);
  const events: ChainEvent[] = [];
  const open = (name: string): CacheStore => {
    if (name !== "ibc") throw new Error(`no store ${name}`);
    return store;
  };
  return {
    store,
    events,
    at: (height, timeNs, mode = "deliver") =>
      createContext(
        { chainId, height, timeNs },
        {
          mode,
          gas: createGasMeter(),
          branch: { store: open, branch: () => createBranch(open), write: () => undefined },
          emit: (event) => events.push(event),
        },
      ),
  };
}
