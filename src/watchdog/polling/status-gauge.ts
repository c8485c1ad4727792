import type { WatchdogStatus } from "./watchdog-status.ts";

/** For up to this many validators, statuses are formatted on request. For more, the first request would take too long. */
export const MAX_LAZY = 50;

/** Values of the label `estimate`. */
export const ESTIMATES = ["low", "middle", "high"] as const;

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

/** Labels that all series of one part of the status have, and that part. */
type Part<T> = readonly [labels: Series["labels"], part: T];

/** Creates a function that creates gauges of some parts of the status. `read` returns a part's series without the part's labels. */
export function gaugesOf<T>(
  partLabels: readonly string[],
  partsOf: (status: WatchdogStatus) => readonly Part<T>[],
) {
  return (
    name: string,
    help: string,
    read: (part: T) => readonly Series[],
    labelNames: readonly string[] = [],
  ): StatusGauge => ({
    name: `oracle_watchdog_${name}`,
    help,
    labelNames: [...partLabels, ...labelNames],
    values: (status) =>
      partsOf(status).flatMap(([own, part]) =>
        read(part).map(({ labels, value }) => series(value, { ...own, ...labels })),
      ),
  });
}

/** Like {@link gaugesOf}, with the labels `validator` and `chain_id`. The gauges have no series until the chain's id is known. */
export function chainGaugesOf<T>(
  partLabels: readonly string[],
  partsOf: (status: WatchdogStatus) => readonly Part<T>[],
) {
  return gaugesOf(["validator", "chain_id", ...partLabels], (status): readonly Part<T>[] => {
    const { validator, chainId } = status;
    if (chainId === undefined) return [];
    return partsOf(status).map(([labels, part]) => [{ validator, chain_id: chainId, ...labels }, part]);
  });
}

/** Like {@link chainGaugesOf}, for one part. The gauges have no series while it is undefined. */
export function chainGaugeOf<T>(partOf: (status: WatchdogStatus) => T | undefined) {
  return chainGaugesOf([], (status): readonly Part<T>[] => {
    const part = partOf(status);
    return part === undefined ? [] : [[{}, part]];
  });
}
