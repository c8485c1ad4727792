import type { Dec18 } from "../../platform/base/decimal.ts";

/** What a set of queries costs at a market, and how late its results are in the steady state. */
export interface Forecast {
  /** Gas that the relayer can use of each block while the price stays as it is: target less others. */
  readonly sustainableGas: bigint;
  /** Gas of each block if every result were on time. */
  readonly demandGas: bigint;
  /** Results of a block that the market bears. */
  readonly sustainableResults: number;
  /** Results of a block if every one were on time. */
  readonly demandResults: number;
  /** Blocks by which each result is late in the steady state; 0 when the market bears the demand. */
  readonly lateBlocks: number;
  /** Fees of a day, in units of the fee denom. */
  readonly costPerDay: bigint;
  /** What would make the results timely, with its cost. Empty when they are. */
  readonly remedies: readonly Remedy[];
}

/** A change that reduces the lateness. */
export type Remedy =
  /** all update periods are multiplied by `factor` */
  | { readonly kind: "longer-periods"; readonly factor: number; readonly costPerDay: bigint }
  /** a ceiling of `ceiling` lets one burst send `burstResults` results; the steady state is unchanged */
  | {
      readonly kind: "higher-ceiling";
      readonly ceiling: Dec18;
      readonly burstResults: number;
      readonly costPerDay: bigint;
    }
  /** no result calls its contract */
  | { readonly kind: "fewer-callbacks"; readonly lateBlocks: number; readonly costPerDay: bigint };
