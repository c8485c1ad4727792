/** Pseudo-random numbers. Equal seeds return equal numbers. */
export interface Random {
  /** In [0, 1). */
  readonly next: () => number;
  /** In [0, below). */
  readonly int: (below: number) => number;
  readonly chance: (probability: number) => boolean;
}

/** Creates a generator (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return { next, int: (below) => Math.floor(next() * below), chance: (probability) => next() < probability };
}
