import { toHex } from "../../src/platform/base/bytes.ts";
import {
  type Context,
  type ExecutionMode,
  createContext,
  type ChainEvent,
} from "../../src/localnet/chain/runtime/context.ts";
import { type Profile, SPECIFICATION } from "../../src/localnet/chain/deviations/deviations.ts";
import { createGasMeter, type GasMeter } from "../../src/localnet/chain/runtime/gas.ts";
import {
  type CacheStore,
  createBranch,
  createCacheStore,
  type KVStore,
} from "../../src/localnet/chain/store/cache-store.ts";

/** Stores in memory with contexts over them. */
export interface MemoryWorld {
  /** Creates a context. Default: height 10, no gas limit. */
  readonly context: (block?: Partial<BlockPlace>) => Context;
  /** All events of all contexts, in order. */
  readonly events: ChainEvent[];
  /** Returns all entries of a store as hex, in order of keys. */
  readonly dump: (store: string) => readonly (readonly [key: string, value: string])[];
}

/** Properties of a context. */
export interface BlockPlace {
  readonly height: bigint;
  readonly timeNs: bigint;
  readonly gas: GasMeter;
  readonly mode: ExecutionMode;
  readonly profile: Profile;
}

const EMPTY: KVStore = {
  get: () => undefined,
  has: () => false,
  set: () => undefined,
  delete: () => undefined,
  iterate: () => [][Symbol.iterator](),
  iterateReverse: () => [][Symbol.iterator](),
};

/** Creates stores in memory. A store is created when it is first used. */
export function createMemoryWorld(chainId = "test-1"): MemoryWorld {
  const stores = new Map<string, CacheStore>();
  const events: ChainEvent[] = [];
  const open = (name: string): CacheStore => {
    const store = stores.get(name) ?? createCacheStore(EMPTY);
    stores.set(name, store);
    return store;
  };
  return {
    events,
    context: ({
      height = 10n,
      timeNs = 0n,
      gas = createGasMeter(),
      mode = "deliver",
      profile = SPECIFICATION,
    } = {}) =>
      createContext(
        { chainId, height, timeNs, profile },
        {
          mode,
          gas,
          branch: { store: open, branch: () => createBranch(open), write: () => undefined },
          emit: (event) => events.push(event),
        },
      ),
    dump: (name) => [...open(name).iterate()].map(([key, value]) => [toHex(key), toHex(value)] as const),
  };
}
