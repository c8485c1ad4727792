import type { Month } from "../../platform/base/month.ts";
import type { ValidatorConfig } from "../policy/policy-config.ts";
import { type Assessment, rewardCents } from "../policy/assessment.ts";
import { successRate } from "../policy/reward-tier.ts";
import type { WatchdogState } from "../state/state-store.ts";
import type { BlockCounts } from "../ledger/ledger-view.ts";
import type { Payment } from "../sources/payment-result.ts";
import type { RevenueReading, Seen } from "../sources/observation.ts";

/** The watchdog's block counts and the policy's pay for a past month, with the result of the search for its payment. */
export interface ClosedMonth {
  readonly month: Month;
  readonly counts: BlockCounts;
  /** The policy's pay for the past month's rate and for a full month, in hundredths of the currency unit. */
  readonly payCents: bigint;
  readonly fullCents: bigint;
  /** The last result of the search for the past month's payment; absent before the first search. */
  readonly payment?: Payment;
}

export interface BlockTimeAt {
  readonly height: bigint;
  readonly timeMs: number;
}

export interface PaymentSearch {
  /** The newest block; undefined while it cannot be read. */
  readonly head: BlockTimeAt | undefined;
  /** The month before the newest block's month; undefined if the watchdog counted no blocks in that month. */
  readonly closed: ClosedMonth | undefined;
  /** The revenue module's parameters and counts; undefined while they cannot be read. */
  readonly revenue: RevenueReading | undefined;
  /** Wall-clock time of the search, in ms. */
  readonly nowMs: number;
}

/**
 * Searches for last month's payment until it is found. Each call continues the search where the previous call stopped. Returns
 * "not-configured" while there is nothing to search for.
 */
export type PaymentReader = (input: PaymentSearch, signal: AbortSignal) => Promise<Seen<Payment>>;

interface ClosedMonthOf {
  readonly validator: ValidatorConfig;
  readonly month: Month;
  /** The last assessment, whose policy is the chain's if so configured; undefined before the first poll. */
  readonly assessment: Assessment | undefined;
}

/**
 * Returns the watchdog's count for a month and the payment found for that month. Returns undefined until the month is finalized,
 * and if no blocks were counted in it.
 */
export function closedMonth(
  { ledgers, payments }: WatchdogState,
  { validator, month, assessment }: ClosedMonthOf,
): ClosedMonth | undefined {
  const { name } = validator.target;
  const record = ledgers.get(name)?.sources.calls.rollups.months.get(month);
  const rate = record && successRate(record.counts);
  // The last blocks of a month that is not finalized may not have been counted yet.
  if (record?.finalized === undefined || rate === undefined) return undefined;
  const policy = assessment?.policy ?? validator.policy.policy;
  const payment = payments?.get(name)?.find((one) => one.month === month);
  return {
    month,
    counts: record.counts,
    payCents: rewardCents(policy, rate),
    fullCents: policy.fullRewardCents,
    ...(payment === undefined ? {} : { payment }),
  };
}
