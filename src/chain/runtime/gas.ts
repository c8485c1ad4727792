import { ModuleError } from "./module-error.ts";

/** Counts gas; throws sdk/11 (out of gas) as soon as `used` exceeds `limit`. */
export interface GasMeter {
  /** Gas that may be used; undefined: without limit. */
  readonly limit: bigint | undefined;
  readonly used: () => bigint;
  /** Charges gas; `location` is the SDK's word for what costs ("ReadFlat", "WritePerByte", "txSize", …). */
  readonly consume: (amount: bigint, location: string) => void;
}

/** Creates a meter that has used nothing. */
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

/** The error of a meter that ran over; text as the SDK's ante handler gives it. */
function outOfGas(location: string, wanted: bigint, used: bigint): ModuleError {
  return new ModuleError(
    "sdk",
    11,
    `out of gas in location: ${location}; gasWanted: ${wanted}, gasUsed: ${used}: out of gas`,
  );
}
