import type { Production } from "./consensus/production.ts";
import type { Engine } from "./consensus/engine.ts";
import type { Validators } from "./consensus/validators.ts";

/** Orders to a running chain: what a rehearsal needs and no real network has. */
export interface NodeControl {
  readonly halt: () => void;
  readonly resume: () => void;
  readonly isHalted: () => boolean;
  /** Makes blocks at once, halted or not; answers the last height. Throws `NodeError` `no-quorum`. */
  readonly produce: (count: number) => bigint;
  /** These validators (20-byte addresses) do not sign from now on; all others do. */
  readonly setAbsent: (addresses: readonly Uint8Array[]) => void;
  /** Lower-case hex addresses of those who do not sign. */
  readonly absent: () => readonly string[];
  /** Gives the validator of a 32-byte seed this power (0 removes it) with the next block; answers its address. Throws `NodeError`. */
  readonly setValidator: (seed: Uint8Array, power: bigint) => Uint8Array;
}

/** Creates the control of a chain. */
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
