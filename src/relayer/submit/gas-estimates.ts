/** Something whose gas is learned: a result, or the update of a client. */
export interface GasItem {
  /** Equal for what costs about the same each time, for instance the results of one query. */
  readonly key: string;
  /** Estimate while nothing is learned about the key. */
  readonly guess: bigint;
}

/** Learned gas of results and client updates. */
export interface GasEstimates {
  readonly estimate: (item: GasItem) => bigint;
  /** Whether something was learned about the key. */
  readonly known: (key: string) => bigint | undefined;
  /** Notes that these items used `gas` together, without the fixed gas of their transaction. */
  readonly learn: (items: readonly GasItem[], gas: bigint) => void;
  /** Forgets all keys but these. */
  readonly keepOnly: (isKept: (key: string) => boolean) => void;
}

const SCALE = 1_000_000n;

/**
 * Creates an empty book.
 *
 * The chain reports the gas of a whole transaction only. So the difference between what was expected of a transaction and
 * what it used is spread over its items in proportion to their estimates. First-timers take all of the difference when
 * there are any, known items half of it: queries with different callbacks separate as their company changes.
 */
export function createGasEstimates(): GasEstimates {
  const learned = new Map<string, bigint>();
  const estimate = ({ key, guess }: GasItem): bigint => learned.get(key) ?? guess;
  const sum = (items: readonly GasItem[]): bigint =>
    items.reduce((total, item) => total + estimate(item), 0n);
  return {
    estimate,
    known: (key) => learned.get(key),
    learn: (items, gas) => {
      const newcomers = items.filter(({ key }) => !learned.has(key));
      const [adjusted, step] = newcomers.length > 0 ? [newcomers, 1n] : [items, 2n];
      const expected = sum(adjusted);
      // What the other items are expected to use is not theirs to explain.
      const rest = gas - (sum(items) - expected);
      if (expected === 0n) return;
      // A sum below zero shows that the known items are estimated too high. The newcomers then get a sixteenth of their guess.
      const factor = max((rest * SCALE) / expected, SCALE / 16n);
      // Several results of one TX query share a key.
      for (const [key, before] of new Map(adjusted.map((item) => [item.key, estimate(item)])))
        learned.set(key, max(before + (before * (factor - SCALE)) / SCALE / step, 1n));
    },
    keepOnly: (isKept) => {
      for (const key of learned.keys()) if (!isKept(key)) learned.delete(key);
    },
  };
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
