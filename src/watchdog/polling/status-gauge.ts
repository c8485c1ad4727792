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

/** Returns one value. */
export function series(value: number, labels: Series["labels"] = {}): Series {
  return { value, labels };
}
