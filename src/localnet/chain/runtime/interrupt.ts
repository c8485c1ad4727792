import type { GasMeter } from "./gas.ts";

/**
 * Throws {@link InterruptedError} when work outside of a block has taken too long. The node gives it to simulations and queries, and
 * never to a block: chain code has no clock.
 */
export type Interrupt = () => void;

/** Work outside of a block was ended. Neither a module nor a contract may handle it, so it is no `ModuleError` and no `QueryError`. */
export class InterruptedError extends Error {
  constructor(text: string) {
    super(text);
    this.name = "InterruptedError";
  }
}

/** Returns a view of a meter that asks before each consumption whether the work may go on. */
export function interruptMeter(meter: GasMeter, interrupt: Interrupt): GasMeter {
  return {
    ...meter,
    consume: (amount, location) => {
      interrupt();
      meter.consume(amount, location);
    },
    charge: (amount, location) => {
      interrupt();
      meter.charge(amount, location);
    },
  };
}
