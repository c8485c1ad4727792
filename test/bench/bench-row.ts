/** One figure of a bench run. */
export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** How it was measured. */
  readonly note?: string;
  /** The figure to hold it against, and whose it is. */
  readonly beside?: string;
}

/** How long a run may take: a quick one measures less often, not something else. */
export interface BenchSettings {
  readonly quick: boolean;
  /** Fires when the run is given up. */
  readonly signal: AbortSignal;
}
