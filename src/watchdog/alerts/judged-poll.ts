import type { Verdict } from "../conditions/condition.ts";
import type { AlertCost } from "../notify/channels/alert-event.ts";

/** One poll of one validator, judged. */
export interface JudgedPoll {
  readonly validator: string;
  readonly chainId: string;
  readonly nowMs: number;
  /** Time between two polls up to which a condition counts as active in between. */
  readonly gapMs: number;
  /** By name of the condition. */
  readonly verdicts: ReadonlyMap<string, Verdict>;
  /** Failed blocks of the validator so far, over all months. */
  readonly badBlocks: bigint;
  /** Cost of the last `blocks` failed blocks. */
  readonly costOf: (blocks: bigint) => AlertCost;
}
