import { createBranch, type StoreSource } from "../store/branch.ts";
import { createGasStore } from "../store/gas-store.ts";
import type { KVStore } from "../store/kv-store.ts";
import type { Context, ExecutionMode } from "./context.ts";
import type { ChainEvent } from "./events.ts";
import type { GasMeter } from "./gas.ts";

/** Data of the block that a context belongs to. */
export interface BlockFacts {
  readonly chainId: string;
  readonly height: bigint;
  readonly timeNs: bigint;
}

/** Stores, gas meter and event sink of a context. */
export interface ExecutionScope {
  readonly mode: ExecutionMode;
  readonly gas: GasMeter;
  readonly stores: StoreSource;
  readonly emit: (event: ChainEvent) => void;
}

/** Creates a context. Every access to its stores consumes gas of its meter. */
export function createContext(block: BlockFacts, scope: ExecutionScope): Context {
  // A handler opens the same store for every read and write, so the gas wrapper of each store is created once. The stores are
  // few and the contexts many: a list is created faster than a map.
  const opened: { readonly name: string; readonly store: KVStore }[] = [];
  return {
    chainId: block.chainId,
    height: block.height,
    timeNs: block.timeNs,
    mode: scope.mode,
    gas: scope.gas,
    emit: scope.emit,
    store: (name) => {
      for (const known of opened) if (known.name === name) return known.store;
      const store = createGasStore(scope.stores(name), scope.gas);
      opened.push({ name, store });
      return store;
    },
    atomically: (work) => runAtomically(block, scope, work),
    withGas: (gas) => createContext(block, { ...scope, gas }),
  };
}

function runAtomically<T>(block: BlockFacts, scope: ExecutionScope, work: (inner: Context) => T): T {
  // The branch is above the raw stores, not above the gas stores: the write at the end must not consume gas.
  const branch = createBranch(scope.stores);
  const events: ChainEvent[] = [];
  const inner = createContext(block, { ...scope, stores: branch.store, emit: (event) => events.push(event) });
  const result = work(inner);
  branch.write();
  for (const event of events) scope.emit(event);
  return result;
}
