/** Exponential backoff with full jitter: each delay is uniform in [minMs, baseMs * 2^attempt], at most `maxMs`. */
export interface BackoffOptions {
  readonly minMs: number;
  readonly baseMs: number;
  readonly maxMs: number;
}

/** Returns the delay in ms after `attempt` earlier failures (0 after the first one). `random` returns a number in [0, 1). */
export function backoffMs(attempt: number, options: BackoffOptions, random: () => number): number {
  const ceiling = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(attempt, 30));
  const floor = Math.min(options.minMs, ceiling);
  return Math.round(floor + (ceiling - floor) * random());
}
