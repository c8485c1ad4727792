import type { PaymentSchedule } from "../../../../cosmos/proto/gen/neutron/revenue/genesis.ts";
import type { PaymentScheduleType } from "../../../../cosmos/proto/gen/neutron/revenue/params.ts";
import { type Dec18, DEC18_ONE, quoDec18, mulDec18 } from "../../../../platform/base/decimal.ts";
import { monthOf, monthStartMs, nextMonthMs } from "../../../../platform/base/month.ts";

export type Schedule = NonNullable<PaymentSchedule["paymentSchedule"]>;

export type ScheduleType = NonNullable<PaymentScheduleType["paymentScheduleType"]>;

/** Height and time of the block at which a period is evaluated. */
export interface PeriodBlock {
  readonly height: bigint;
  /** Block time, in seconds since the Unix epoch. */
  readonly seconds: bigint;
}

export function startPeriod(type: ScheduleType, { height, seconds }: PeriodBlock): Schedule {
  switch (type.$case) {
    case "monthlyPaymentScheduleType":
      return {
        $case: "monthlyPaymentSchedule",
        value: { currentMonthStartBlock: height, currentMonthStartBlockTs: seconds },
      };
    case "blockBasedPaymentScheduleType":
      return {
        $case: "blockBasedPaymentSchedule",
        value: { blocksPerPeriod: type.value.blocksPerPeriod, currentPeriodStartBlock: height },
      };
    case "emptyPaymentScheduleType":
      return { $case: "emptyPaymentSchedule", value: {} };
  }
}

/** Returns whether a period has the type that the parameters specify. */
export function isOfType(schedule: Schedule, type: ScheduleType): boolean {
  if (schedule.$case === "blockBasedPaymentSchedule")
    return (
      type.$case === "blockBasedPaymentScheduleType" &&
      type.value.blocksPerPeriod === schedule.value.blocksPerPeriod
    );
  return type.$case === `${schedule.$case}Type`;
}

/** Returns whether the period has ended at the given block. As in Go, monthly periods are compared without the year. */
export function hasEnded(schedule: Schedule, { height, seconds }: PeriodBlock): boolean {
  switch (schedule.$case) {
    case "monthlyPaymentSchedule":
      return monthNumber(seconds) !== monthNumber(schedule.value.currentMonthStartBlockTs);
    case "blockBasedPaymentSchedule":
      return height - schedule.value.currentPeriodStartBlock >= schedule.value.blocksPerPeriod;
    case "emptyPaymentSchedule":
      return false;
  }
}

function monthNumber(seconds: bigint): string {
  return monthOf(toMs(seconds)).slice(-2);
}

function toMs(seconds: bigint): number {
  return Number(seconds) * 1000;
}

/** Returns a period's elapsed fraction, 0 to 1. A monthly period that starts after the month's first second never reaches 1. */
export function progressOf(schedule: Schedule, block: PeriodBlock): Dec18 {
  const { height, seconds } = block;
  switch (schedule.$case) {
    case "monthlyPaymentSchedule": {
      const start = schedule.value.currentMonthStartBlockTs;
      const startMs = toMs(start);
      const length = BigInt((nextMonthMs(startMs) - monthStartMs(monthOf(startMs))) / 1000);
      const progress = quoDec18((seconds - start) * DEC18_ONE, length * DEC18_ONE);
      return progress < 0n ? 0n : progress > DEC18_ONE ? DEC18_ONE : progress;
    }
    case "blockBasedPaymentSchedule":
      return hasEnded(schedule, block)
        ? DEC18_ONE
        : ((height - schedule.value.currentPeriodStartBlock) * DEC18_ONE) / schedule.value.blocksPerPeriod;
    case "emptyPaymentSchedule":
      return 0n;
  }
}

/** Returns the number of blocks in the period before the given block. */
export function blocksOf(schedule: Schedule, { height }: PeriodBlock): bigint {
  switch (schedule.$case) {
    case "monthlyPaymentSchedule":
      return height - schedule.value.currentMonthStartBlock;
    case "blockBasedPaymentSchedule":
      return height - schedule.value.currentPeriodStartBlock;
    case "emptyPaymentSchedule":
      return 0n;
  }
}

/** The share of blocks or votes that may be missed without penalty (`allowed`), and the share below which the rating is 0 (`required`). */
export interface Requirement {
  readonly allowed: Dec18;
  readonly required: Dec18;
}

/** A validator's counts of active, signed and voted blocks in a period. */
export interface Performance {
  readonly inActiveSet: bigint;
  readonly blocks: bigint;
  readonly votes: bigint;
}

/**
 * Returns a validator's rating for a period, from 0 to 1. Blocks and votes contribute one half each. If either is below the
 * requirement, the rating is 0.
 */
export function ratingOf(
  { inActiveSet, blocks, votes }: Performance,
  ofBlocks: Requirement,
  ofVotes: Requirement,
): Dec18 {
  if (inActiveSet === 0n) return 0n;
  const missed = (done: bigint): Dec18 => ((inActiveSet - done) * DEC18_ONE) / inActiveSet;
  const parts = [partOf(missed(blocks), ofBlocks), partOf(missed(votes), ofVotes)] as const;
  if (parts[0] === undefined || parts[1] === undefined) return 0n;
  return mulDec18(DEC18_ONE / 2n, parts[0] + parts[1]);
}

/**
 * Returns 1 if no more than the allowed share was missed. Above this share, returns 1 minus the square of the relative excess.
 * Returns undefined if the requirement is not met.
 */
function partOf(missed: Dec18, { allowed, required }: Requirement): Dec18 | undefined {
  const most = DEC18_ONE - required;
  if (missed > most) return undefined;
  const used = missed <= allowed ? 0n : quoDec18(missed - allowed, most - allowed);
  return DEC18_ONE - mulDec18(used, used);
}

/**
 * Returns a validator's compensation: the period's full amount, times its rating, times the share of blocks in which it was
 * active.
 */
export function compensationOf(
  rating: Dec18,
  period: bigint,
  { inActiveSet, blocks }: { readonly inActiveSet: bigint; readonly blocks: bigint },
): bigint {
  return blocks === 0n ? 0n : (rating * period * inActiveSet) / blocks / DEC18_ONE;
}
