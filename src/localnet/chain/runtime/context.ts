import type { KVStore } from "../store/kv-store.ts";
import type { ChainEvent } from "./events.ts";
import type { GasMeter } from "./gas.ts";

/** Why a transaction runs. `simulate` does not verify signatures and drops all writes. */
export type ExecutionMode = "check" | "recheck" | "simulate" | "deliver";

/** Everything that a handler, hook or query can read and change: one height, its stores, a gas meter, events. */
export interface Context {
  readonly chainId: string;
  readonly height: bigint;
  /** Time of the block, in nanoseconds since the Unix epoch. Chain code has no other clock. */
  readonly timeNs: bigint;
  readonly mode: ExecutionMode;
  readonly gas: GasMeter;
  /** Opens a module's store. Throws a plain error (a bug) when no module registered the name. */
  readonly store: (name: string) => KVStore;
  /** Appends an event to the message or block. */
  readonly emit: (event: ChainEvent) => void;
  /**
   * Runs `work` on a branch above this context. Keeps its writes and events when `work` returns; drops them and rethrows
   * when it throws. Gas stays consumed in both cases.
   */
  readonly atomically: <T>(work: (inner: Context) => T) => T;
  /** Returns a context with the same stores and events and another gas meter. */
  readonly withGas: (gas: GasMeter) => Context;
}
