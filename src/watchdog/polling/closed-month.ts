import type { Month } from "../../platform/base/month.ts";
import type { ValidatorConfig } from "../config/validators-config.ts";
import type { ClosedMonth } from "../payment/payment-reader.ts";
import { type Assessment, rewardCents } from "../policy/assessment.ts";
import { successRate } from "../policy/reward-tier.ts";
import type { WatchdogState } from "../state/state-store.ts";

/** What {@link closedMonth} reads besides the state. */
interface ClosedMonthOf {
  readonly validator: ValidatorConfig;
  readonly month: Month;
  /** Its policy is that of the chain where the configuration asks for it. Undefined before the first poll. */
  readonly assessment: Assessment | undefined;
}

/** Returns what the watchdog counted in a month, and the payment that was found for it. Undefined before it is finalized, and when it counted no block. */
export function closedMonth(
  { ledgers, payments }: WatchdogState,
  { validator, month, assessment }: ClosedMonthOf,
): ClosedMonth | undefined {
  const { name } = validator.target;
  const record = ledgers.get(name)?.sources.calls.rollups.months.get(month);
  const rate = record && successRate(record.counts);
  // Until the month is finalized, its last blocks are not counted.
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
