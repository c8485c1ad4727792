import type { WatchdogStatus } from "./watchdog-status.ts";

/** For up to this many validators, statuses are formatted on request. For more, the first request would take too long. */
export const MAX_LAZY = 50;

/** A gauge whose values are derived from the status. */
export interface StatusGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Returns all series of the gauge. A series that is not returned disappears from the page. */
  readonly values: (status: WatchdogStatus) => readonly Series[];
}

/** One value of a gauge. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export function series(value: number, labels: Series["labels"] = {}): Series {
  return { value, labels };
}

/** Returns 1 for the current one of some states and 0 for the others, with the label `state`. */
export function stateSeries(states: readonly string[], current: string): readonly Series[] {
  return states.map((state) => series(state === current ? 1 : 0, { state }));
}

/**
 * Creates a gauge of one part of the status, e.g. its assessment. It has the labels `validator` and `chain_id` before those that
 * `read` returns. It has no series while the part or the chain's id is undefined.
 */
export function gaugeOf<T>(
  part: (status: WatchdogStatus) => T | undefined,
): (
  name: string,
  help: string,
  labelNames: readonly string[],
  read: (part: T) => readonly Series[],
) => StatusGauge {
  return (name, help, labelNames, read) => ({
    name: `oracle_watchdog_${name}`,
    help,
    labelNames: ["validator", "chain_id", ...labelNames],
    values: (status) => {
      const { validator, chainId } = status;
      const known = part(status);
      if (chainId === undefined || known === undefined) return [];
      return read(known).map(({ labels, value }) =>
        series(value, { validator, chain_id: chainId, ...labels }),
      );
    },
  });
}
