/**
 * A share of a limit that others use too, so that it cannot be read and is searched for: quickly down, since a transaction
 * that fails costs its fee, and slowly up (additive increase, multiplicative decrease). It starts at the whole.
 */
export interface AdaptiveShare {
  /** Returns the share of `whole`, rounded down. */
  readonly of: (whole: bigint) => bigint;
  readonly shrink: () => void;
  readonly grow: () => void;
}

export interface ShareSteps {
  /** What is left of the share after `shrink`: numerator and denominator. */
  readonly kept: readonly [bigint, bigint];
  /** `grow` adds 1/`growth` of the whole. */
  readonly growth: bigint;
  /** The share stays above this many 1/1024. */
  readonly floor: bigint;
}

const WHOLE = 1_024n;

/** Creates a share of the whole. */
export function createAdaptiveShare({ kept: [part, whole], growth, floor }: ShareSteps): AdaptiveShare {
  let share = WHOLE;
  return {
    of: (limit) => (limit * share) / WHOLE,
    shrink: () => {
      if (share > floor) share = (share * part) / whole;
    },
    grow: () => {
      const next = share + WHOLE / growth;
      share = next < WHOLE ? next : WHOLE;
    },
  };
}
