import { mapAmounts, amountOf, arePositive, type Coin, formatCoins, sumCoins } from "./coins.ts";
import { DEC18_ONE, mulDec18, quoDec18, roundDec18 } from "../../../platform/base/decimal.ts";
import { minInt } from "../../../platform/base/integers.ts";

export interface VestingPeriod {
  readonly lengthSeconds: bigint;
  readonly amount: readonly Coin[];
}

/**
 * A vesting schedule. Coins vest evenly from start to end (`continuous`), all at the end (`delayed`), at the end of each period
 * (`periodic`) or never (`permanent`). Start times are in Unix seconds.
 */
export type VestingSchedule =
  | { readonly kind: "continuous"; readonly startTime: bigint }
  | { readonly kind: "delayed" }
  | { readonly kind: "periodic"; readonly startTime: bigint; readonly periods: readonly VestingPeriod[] }
  | { readonly kind: "permanent" };

/** An account's vesting coins and schedule. Each list of coins is sorted by denomination. */
export interface Vesting {
  readonly original: readonly Coin[];
  /** Delegated coins that were not vesting when they were delegated. */
  readonly delegatedFree: readonly Coin[];
  readonly delegatedVesting: readonly Coin[];
  /** Time at which all coins have vested, in Unix seconds, or 0 for `permanent`. */
  readonly endTime: bigint;
  readonly schedule: VestingSchedule;
}

/** Returns the coins that have vested by a given time (SDK `GetVestedCoins`). */
export function vestedCoins({ original, endTime, schedule }: Vesting, time: bigint): readonly Coin[] {
  switch (schedule.kind) {
    case "permanent":
      return [];
    case "delayed":
      return time >= endTime ? original : [];
    case "continuous":
      if (time <= schedule.startTime) return [];
      if (time >= endTime) return original;
      return partOf(original, time - schedule.startTime, endTime - schedule.startTime);
    case "periodic":
      if (time <= schedule.startTime) return [];
      return time >= endTime ? original : endedPeriods(schedule.periods, time - schedule.startTime);
  }
}

/** Multiplies each coin's amount by `elapsed / duration`. As in the SDK, the ratio has 18 digits, and amounts are rounded to integers. */
function partOf(coins: readonly Coin[], elapsed: bigint, duration: bigint): readonly Coin[] {
  const ratio = quoDec18(elapsed * DEC18_ONE, duration * DEC18_ONE);
  return mapAmounts(coins, (amount) => roundDec18(mulDec18(amount * DEC18_ONE, ratio)));
}

function endedPeriods(periods: readonly VestingPeriod[], elapsed: bigint): readonly Coin[] {
  const ended: Coin[] = [];
  let end = 0n;
  for (const { lengthSeconds, amount } of periods) {
    end += lengthSeconds;
    if (elapsed < end) break;
    ended.push(...amount);
  }
  return sumCoins(ended);
}

/** Returns the coins that have not vested by a given time (SDK `GetVestingCoins`). */
export function vestingCoins(vesting: Vesting, time: bigint): readonly Coin[] {
  return subtract(vesting.original, vestedCoins(vesting, time));
}

/** Returns the coins that an account cannot spend at a given time, i.e. the vesting coins that have not been delegated. */
export function lockedCoins(vesting: Vesting, time: bigint): readonly Coin[] {
  const still = vestingCoins(vesting, time);
  return subtract(
    still,
    mapAmounts(still, (amount, denom) => minInt(amount, amountOf(vesting.delegatedVesting, denom))),
  );
}

/** Records a delegation, which uses vesting coins before free coins. */
export function trackDelegation(vesting: Vesting, time: bigint, coins: readonly Coin[]): Vesting {
  const still = vestingCoins(vesting, time);
  const fromVesting = mapAmounts(coins, (amount, denom) => {
    const available = amountOf(still, denom) - amountOf(vesting.delegatedVesting, denom);
    return minInt(available < 0n ? 0n : available, amount);
  });
  return {
    ...vesting,
    delegatedVesting: sumCoins([...vesting.delegatedVesting, ...fromVesting]),
    delegatedFree: sumCoins([...vesting.delegatedFree, ...subtract(coins, fromVesting)]),
  };
}

/**
 * Records the end of an undelegation, which returns free coins first. An undelegation can return more than was delegated, because a
 * validator's exchange rate is rounded. The excess is ignored.
 */
export function trackUndelegation(vesting: Vesting, coins: readonly Coin[]): Vesting {
  const free = mapAmounts(coins, (amount, denom) => minInt(amountOf(vesting.delegatedFree, denom), amount));
  const fromVesting = mapAmounts(coins, (amount, denom) =>
    minInt(amountOf(vesting.delegatedVesting, denom), amount - amountOf(free, denom)),
  );
  return {
    ...vesting,
    delegatedFree: subtract(vesting.delegatedFree, free),
    delegatedVesting: subtract(vesting.delegatedVesting, fromVesting),
  };
}

/** Returns the end time of a periodic schedule, computed in 64 bits as in Go. */
export function endOfPeriods(startTime: bigint, periods: readonly VestingPeriod[]): bigint {
  return BigInt.asIntN(
    64,
    periods.reduce((end, { lengthSeconds }) => end + lengthSeconds, startTime),
  );
}

/** Throws a plain error with Go's message for an impossible schedule (SDK `Validate`). */
export function validateVesting(vesting: Vesting): void {
  const { original, delegatedVesting, endTime, schedule } = vesting;
  if ("startTime" in schedule && schedule.startTime >= endTime)
    throw new Error("vesting start-time cannot be before end-time");
  if (schedule.kind === "periodic") validatePeriods(schedule, vesting);
  if (schedule.kind === "permanent" && endTime > 0n)
    throw new Error("permanently vested accounts cannot have an end-time");
  if (endTime < 0n) throw new Error("end time cannot be negative");
  if (!arePositive(original)) throw new Error(`invalid coins: ${formatCoins(original)}`);
  if (delegatedVesting.some(({ denom, amount }) => amount > amountOf(original, denom)))
    throw new Error("delegated vesting amount cannot be greater than original vesting amount");
}

function validatePeriods(
  { startTime, periods }: Extract<VestingSchedule, { readonly kind: "periodic" }>,
  { original, endTime }: Vesting,
): void {
  periods.forEach(({ lengthSeconds, amount }, index) => {
    if (lengthSeconds < 0n) throw new Error(`period #${index} has a negative length: ${lengthSeconds}`);
    if (!arePositive(amount)) throw new Error(`period #${index} has invalid coins: ${formatCoins(amount)}`);
  });
  if (endOfPeriods(startTime, periods) !== endTime)
    throw new Error("vesting end time does not match length of all vesting periods");
  const sum = formatCoins(sumCoins(periods.flatMap(({ amount }) => amount)));
  const given = formatCoins(original);
  if (sum !== given)
    throw new Error(
      `original vesting coins (${given}) does not match the sum of all coins in vesting periods (${sum})`,
    );
}

function subtract(coins: readonly Coin[], less: readonly Coin[]): readonly Coin[] {
  return sumCoins([...coins, ...mapAmounts(less, (amount) => -amount)]);
}
