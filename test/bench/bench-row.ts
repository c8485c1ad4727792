/** One figure of a bench run. */
export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** How it was measured. */
  readonly note?: string;
  /** A figure to compare it with, and its source. */
  readonly beside?: string;
}

/** A quick run measures the same figures with fewer repetitions. */
export interface BenchSettings {
  readonly quick: boolean;
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
}
