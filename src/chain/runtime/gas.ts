import type { ModuleError } from "./module-error.ts";
import { ErrOutOfGas } from "./sdk-errors.ts";

/** Counts the gas of one transaction or query. */
export interface GasMeter {
  /** Undefined: no limit. */
  readonly limit: bigint | undefined;
  /** Gas consumed so far. It can exceed `limit`: the consumption that fails is counted too. */
  readonly used: () => bigint;
  /**
   * Consumes gas. Throws `ErrOutOfGas` (sdk/11) when `used` exceeds `limit`. `location` is the SDK's descriptor of the
   * cost ("ReadFlat", "WritePerByte", "txSize", …); the error text contains it.
   */
  readonly consume: (amount: bigint, location: string) => void;
}

/** Creates a meter at zero. */
export function createGasMeter(limit?: bigint): GasMeter {
  let used = 0n;
  return {
    limit,
    used: () => used,
    consume: (amount, location) => {
      used += amount;
      if (limit !== undefined && used > limit) throw outOfGas(location, limit, used);
    },
  };
}

/** Whether more gas was consumed than the limit allows (the SDK's `IsPastLimit`). */
export function isPastLimit({ limit, used }: GasMeter): boolean {
  return limit !== undefined && used() > limit;
}

/** The text is that of baseapp and `SetUpContextDecorator`, which recover from the panic of Go's meter. */
function outOfGas(location: string, wanted: bigint, used: bigint): ModuleError {
  return ErrOutOfGas(`out of gas in location: ${location}; gasWanted: ${wanted}, gasUsed: ${used}`);
}
