import type { WatchdogStatus } from "./watchdog-status.ts";

/** Validators whose status is formatted when somebody requests it. The first request of more would take too long. */
export const MAX_LAZY = 50;

/** A gauge with a value from the status. */
export interface StatusGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Returns all series of the gauge; a series that is not returned disappears from the page. */
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
