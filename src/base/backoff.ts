/** Growth of waits between tries. Full jitter: the wait is uniform in [minMs, base·2^attempt], never above `maxMs`. */
export interface BackoffOptions {
  readonly minMs: number;
  readonly baseMs: number;
  readonly maxMs: number;
}

/** How long to wait before try number `attempt` + 1 (attempt counts failures from 0). `random` gives [0, 1). */
export function backoffMs(attempt: number, options: BackoffOptions, random: () => number): number {
  const ceiling = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(attempt, 30));
  const floor = Math.min(options.minMs, ceiling);
  return Math.round(floor + (ceiling - floor) * random());
}
