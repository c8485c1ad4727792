import { judgeAll } from "../conditions/conditions.ts";
import { advanceTrail, type Trail } from "../conditions/trail.ts";
import { addCounts, type BlockCounts, NO_BLOCKS } from "../ledger/block-counts.ts";
import type { LedgerView } from "../ledger/ledger-view.ts";
import type { AlertCost } from "../notify/channels/alert-event.ts";
import type { Observation } from "../observation.ts";
import type { Assessment } from "../policy/assessment.ts";
import { rewardCents } from "../policy/reward.ts";
import { type AlertingOptions, type AlertingState, type AlertsPlan, planAlerts } from "./plan-alerts.ts";

/** One poll of one validator, after its blocks were counted. */
export interface CountedPoll {
  readonly observation: Observation;
  readonly ledger: LedgerView;
  /** Undefined while it is not known. */
  readonly assessment: Assessment | undefined;
}

/** Configuration of alerting, and of the conditions. */
export interface AlertOptions extends AlertingOptions {
  readonly majorPairs: readonly string[];
  /** Time between two polls. */
  readonly intervalMs: number;
}

/** Result of {@link alertOnPoll}. */
export interface PollAlerts extends AlertsPlan {
  /** Input of the next poll of this validator. */
  readonly trail: Trail;
}

const FIVE_MINUTES = 300_000;
const HALF_HOUR = 1_800_000;

/** Gap between two polls that is never too long: a short `for` survives slow polls. */
const MIN_GAP_MS = 60_000;

/** Polls that can be missed before a gap is too long. */
const GAP_POLLS = 3;

/** Judges all conditions on one poll of one validator, and advances its alerts. Pure. */
export function alertOnPoll(
  state: AlertingState,
  poll: CountedPoll,
  previous: Trail,
  options: AlertOptions,
): PollAlerts {
  const { observation, ledger, assessment } = poll;
  const gapMs = Math.max(MIN_GAP_MS, GAP_POLLS * options.intervalMs);
  const trail = advanceTrail(previous, observation, gapMs);
  const recent = (windowMs: number): BlockCounts =>
    ledger
      .minutes(observation.atMs - windowMs, observation.atMs + 1)
      .reduce((sum, { counts }) => addCounts(sum, counts), NO_BLOCKS);
  const verdicts = judgeAll(options.rules, {
    observation,
    trail,
    recent: { "5m": recent(FIVE_MINUTES), "30m": recent(HALF_HOUR) },
    assessment,
    majorPairs: options.majorPairs,
  });
  const plan = planAlerts(
    state,
    {
      validator: observation.validator,
      chainId: ledger.chainId ?? "unknown chain",
      nowMs: observation.atMs,
      gapMs,
      verdicts,
      badBlocks: ledger.months().reduce((sum, { counts }) => sum + counts.bad, 0n),
      costOf: (blocks) => costOf(blocks, assessment),
    },
    options,
  );
  return { ...plan, trail };
}

/** Returns what failed blocks cost: the pay of the month so far with them good, minus the pay with them bad. */
function costOf(blocks: bigint, assessment: Assessment | undefined): AlertCost {
  const { rate, policy } = assessment ?? {};
  if (rate === undefined || policy === undefined) return { blocks };
  const bad = rate.total - rate.good;
  // Blocks of an earlier month are not in this month's rate.
  const own = blocks < bad ? blocks : bad;
  const without = rewardCents(policy, { good: rate.good + own, total: rate.total });
  return { blocks, pay: centsText(without - rewardCents(policy, rate)) };
}

/** Formats hundredths of a currency unit: "12.50". */
function centsText(cents: bigint): string {
  return `${cents / 100n}.${(cents % 100n).toString().padStart(2, "0")}`;
}
