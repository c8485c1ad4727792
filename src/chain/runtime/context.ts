import type { KVStore } from "../store/kv-store.ts";
import type { ChainEvent } from "./events.ts";
import type { GasMeter } from "./gas.ts";

/** Why a transaction runs: `simulate` neither checks signatures nor keeps anything. */
export type ExecutionMode = "check" | "recheck" | "simulate" | "deliver";

/**
 * What a handler, hook or query sees of the world: one height, one store view, one gas meter, one list of events.
 * All of it is deterministic; `timeNs` is the block's time, nanoseconds since the Unix epoch.
 */
export interface Context {
  readonly chainId: string;
  readonly height: bigint;
  readonly timeNs: bigint;
  readonly mode: ExecutionMode;
  readonly gas: GasMeter;
  /** The store of a module; throws a plain error (our bug) when no module registered that name. */
  readonly store: (name: string) => KVStore;
  /** Appends an event of this message or block. */
  readonly emit: (event: ChainEvent) => void;
  /**
   * Runs `work` on a cache layer above this context. Its writes and events are kept when `work` returns and dropped
   * when it throws (the exception passes through). Gas stays spent either way.
   */
  readonly atomically: <T>(work: (inner: Context) => T) => T;
  /** The same stores and events under another gas meter. */
  readonly withGas: (gas: GasMeter) => Context;
}
