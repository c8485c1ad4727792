import type { GasMeter } from "./gas.ts";

/**
 * Throws {@link InterruptedError} if work outside a block has taken too long. The node passes it to simulations and queries but
 * never to a block, because chain code has no clock.
 */
export type Interrupt = () => void;

/** Work outside a block was interrupted. Not a `ModuleError` or `QueryError`, since no module or contract may handle it. */
export class InterruptedError extends Error {
  constructor(text: string) {
    super(text);
    this.name = "InterruptedError";
  }
}

/** Returns a view of a meter that checks before each consumption whether the work may continue. */
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
