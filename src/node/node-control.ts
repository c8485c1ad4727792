import type { Production } from "./consensus/production.ts";
import type { Engine } from "./consensus/engine.ts";
import type { Validators } from "./consensus/validators.ts";

/** Commands to a running local chain. A real network has none of them. */
export interface NodeControl {
  readonly halt: () => void;
  readonly resume: () => void;
  readonly isHalted: () => boolean;
  /** Makes `count` blocks immediately, also on a halted chain. Returns the last height. Throws `NodeError` `no-quorum`. */
  readonly produce: (count: number) => bigint;
  /** Replaces the absent validators (20-byte addresses). They do not sign from now on; all others do. */
  readonly setAbsent: (addresses: readonly Uint8Array[]) => void;
  /** Lower-case hex addresses of the absent validators. */
  readonly absent: () => readonly string[];
  /**
   * Sets the power of the validator of a 32-byte seed with the next block; 0 removes it. Returns the 20-byte address.
   * Throws `NodeError` `bad-validator-update`.
   */
  readonly setValidator: (seed: Uint8Array, power: bigint) => Uint8Array;
}

/** Creates the control of a node. */
export function createNodeControl(deps: {
  readonly production: Production;
  readonly engine: Engine;
  readonly validators: Validators;
}): NodeControl {
  const { production, engine, validators } = deps;
  return {
    halt: production.halt,
    resume: production.resume,
    isHalted: production.isHalted,
    produce: (count) => {
      for (let made = 0; made < count; made++) production.produceNow();
      return engine.state().height;
    },
    setAbsent: validators.setAbsent,
    absent: validators.absent,
    setValidator: (seed, power) => validators.schedule(seed, power, engine.state().nextValidators).address,
  };
}
