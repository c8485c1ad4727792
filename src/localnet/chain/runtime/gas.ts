import { ChainPanic } from "./errors.ts";

export interface GasMeter {
  /** Undefined: no limit. */
  readonly limit: bigint | undefined;
  /** Returns the gas consumed so far. It can exceed `limit`, since failed consumption also counts. */
  readonly used: () => bigint;
  /**
   * Consumes gas. Throws `ErrOutOfGas` (sdk/11) if `used` exceeds `limit`. `location` is the SDK's descriptor for the cost
   * ("ReadFlat", "WritePerByte", "txSize", …), which is included in the error text.
   */
  readonly consume: (amount: bigint, location: string) => void;
  /** Consumes a small amount. Store accesses do this many times per transaction, and bigints would be slower. */
  readonly charge: (amount: number, location: string) => void;
  /** Observes each consumption while a transaction is profiled. */
  readonly observer?: GasObserver;
}

export type GasObserver = (amount: bigint, location: string) => void;

export function createGasMeter(limit?: bigint): GasMeter {
  let consumed = 0n;
  // The sum of small amounts stays below 2^53, so numbers are exact.
  let charged = 0;
  let chargeable = chargeableGas(limit, consumed);
  const used = (): bigint => consumed + BigInt(charged);
  const check = (location: string): void => {
    if (limit !== undefined && charged > chargeable) throw outOfGas(location, limit, used());
  };
  return {
    limit,
    used,
    consume: (amount, location) => {
      consumed += amount;
      chargeable = chargeableGas(limit, consumed);
      check(location);
    },
    charge: (amount, location) => {
      charged += amount;
      check(location);
    },
  };
}

/** Creates a meter for work that is charged to `outer` afterwards. */
export function createNestedMeter({ observer }: GasMeter, limit: bigint): GasMeter {
  const meter = createGasMeter(limit);
  return observer === undefined ? meter : observeMeter(meter, observer);
}

/** Returns a view of a meter that reports each consumption, including one that exceeds the limit. */
export function observeMeter(meter: GasMeter, observer: GasObserver): GasMeter {
  return {
    limit: meter.limit,
    used: meter.used,
    observer,
    consume: (amount, location) => {
      observer(amount, location);
      meter.consume(amount, location);
    },
    charge: (amount, location) => {
      observer(BigInt(amount), location);
      meter.charge(amount, location);
    },
  };
}

/** Returns the remaining gas for small amounts. The conversion is exact wherever `charged` can reach it. */
function chargeableGas(limit: bigint | undefined, consumed: bigint): number {
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit - consumed);
}

/** Creates the error with the text used by baseapp and `SetUpContextDecorator`, which recover from the panic of Go's meter. */
export function outOfGas(location: string, wanted: bigint, used: bigint): ChainPanic {
  const words = `out of gas in location: ${location}; gasWanted: ${wanted}, gasUsed: ${used}`;
  return new ChainPanic("sdk", 11, `${words}: out of gas`, { description: "out of gas", wraps: [words] });
}
