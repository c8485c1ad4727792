import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amountOf, type Coin, sumCoins } from "../../../../src/localnet/chain/runtime/coins.ts";
import {
  endOfPeriods,
  lockedCoins,
  trackDelegation,
  trackUndelegation,
  validateVesting,
  vestedCoins,
  type Vesting,
  vestingCoins,
} from "../../../../src/localnet/chain/runtime/vesting.ts";

const DENOMS = ["uatom", "untrn"];
/** No schedule here is longer. */
const HORIZON = 4_000n;

const amount = fc.oneof(fc.bigInt({ min: 1n, max: 30n }), fc.bigInt({ min: 1n, max: 2n ** 200n }));
const coins = fc
  .subarray(DENOMS, { minLength: 1 })
  .chain((denoms) => fc.tuple(...denoms.map((denom) => amount.map((one) => ({ denom, amount: one })))));
const time = fc.bigInt({ min: 1n, max: 1_000n });

const base = (original: readonly Coin[], endTime: bigint, schedule: Vesting["schedule"]): Vesting => ({
  original,
  delegatedFree: [],
  delegatedVesting: [],
  endTime,
  schedule,
});

const vesting: fc.Arbitrary<Vesting> = fc.oneof(
  fc
    .tuple(coins, time, time)
    .map(([original, startTime, length]) =>
      base(original, startTime + length, { kind: "continuous", startTime }),
    ),
  fc.tuple(coins, time).map(([original, endTime]) => base(original, endTime, { kind: "delayed" })),
  coins.map((original) => base(original, 0n, { kind: "permanent" })),
  fc
    .tuple(time, fc.array(fc.record({ lengthSeconds: time, amount: coins }), { minLength: 1, maxLength: 3 }))
    .map(([startTime, periods]) =>
      base(sumCoins(periods.flatMap((period) => period.amount)), endOfPeriods(startTime, periods), {
        kind: "periodic",
        startTime,
        periods,
      }),
    ),
);

const moment = fc.bigInt({ min: 0n, max: 2_000n });

describe("a vesting schedule", () => {
  it("is valid, and its vested and vesting coins are the original ones at every time", () => {
    fc.assert(
      fc.property(vesting, moment, (one, at) => {
        validateVesting(one);
        expect(sumCoins([...vestedCoins(one, at), ...vestingCoins(one, at)])).toEqual(one.original);
      }),
      { numRuns: 500, seed: 43 },
    );
  });

  it("vests more with time, and everything but permanently locked coins in the end", () => {
    let parts = 0;
    fc.assert(
      fc.property(vesting, moment, moment, (one, a, b) => {
        const [early, late] = a < b ? [a, b] : [b, a];
        for (const denom of DENOMS) {
          const before = amountOf(vestedCoins(one, early), denom);
          expect(before).toBeLessThanOrEqual(amountOf(vestedCoins(one, late), denom));
          if (before > 0n && before < amountOf(one.original, denom)) parts += 1;
        }
        expect(vestedCoins(one, HORIZON)).toEqual(one.schedule.kind === "permanent" ? [] : one.original);
      }),
      { numRuns: 500, seed: 44 },
    );
    expect(parts).toBeGreaterThan(30);
  });

  it("vests evenly if it is continuous", () => {
    fc.assert(
      fc.property(coins, time, time, time, (original, startTime, length, passed) => {
        const one = base(original, startTime + length, { kind: "continuous", startTime });
        fc.pre(passed < length);
        for (const coin of vestedCoins(one, startTime + passed)) {
          const exact = amountOf(original, coin.denom) * passed;
          const error = coin.amount * length - exact;
          // The ratio has 18 digits; the amount is rounded to an integer.
          const bound = length + (amountOf(original, coin.denom) * length) / 10n ** 18n;
          expect(error < 0n ? -error : error).toBeLessThanOrEqual(bound);
        }
      }),
      { numRuns: 500, seed: 45 },
    );
  });
});

/** An account that delegates, gets back and spends, as the bank lets it. */
interface Holder {
  readonly vesting: Vesting;
  readonly balance: bigint;
  readonly delegated: bigint;
}

const step = fc.record({
  kind: fc.constantFrom("delegate", "undelegate", "spend", "receive"),
  passed: fc.bigInt({ min: 0n, max: 400n }),
  /** Of 100. */
  share: fc.bigInt({ min: 0n, max: 100n }),
});

function apply(
  { vesting: before, balance, delegated }: Holder,
  { kind, share }: { readonly kind: string; readonly share: bigint },
  at: bigint,
): Holder {
  const part = (of: bigint): readonly Coin[] => [{ denom: "untrn", amount: (of * share) / 100n }];
  const [paid, back, spent] = [balance, delegated, balance - amountOf(lockedCoins(before, at), "untrn")].map(
    part,
  );
  const size = (some: readonly Coin[] | undefined): bigint => amountOf(some ?? [], "untrn");
  switch (kind) {
    case "delegate":
      return {
        vesting: trackDelegation(before, at, paid ?? []),
        balance: balance - size(paid),
        delegated: delegated + size(paid),
      };
    case "undelegate":
      return {
        vesting: trackUndelegation(before, back ?? []),
        balance: balance + size(back),
        delegated: delegated - size(back),
      };
    case "spend":
      return { vesting: before, balance: balance - size(spent), delegated };
    default:
      return { vesting: before, balance: balance + share, delegated };
  }
}

it("an account never has fewer coins than it locks, whatever it delegates, gets back and spends", () => {
  let spending = 0;
  fc.assert(
    fc.property(vesting, fc.array(step, { maxLength: 12 }), (one, steps) => {
      const original = amountOf(one.original, "untrn");
      let at = 0n;
      let holder: Holder = { vesting: one, balance: original, delegated: 0n };
      for (const each of steps) {
        at += each.passed;
        const next = apply(holder, each, at);
        if (each.kind === "spend" && next.balance < holder.balance) spending += 1;
        if (each.kind === "delegate") {
          // What has vested since does not become free by another delegation.
          const { delegatedVesting: before } = holder.vesting;
          expect(amountOf(next.vesting.delegatedVesting, "untrn")).toBeGreaterThanOrEqual(
            amountOf(before, "untrn"),
          );
        }
        holder = next;
        const { delegatedFree, delegatedVesting } = holder.vesting;
        expect(amountOf(lockedCoins(holder.vesting, at), "untrn")).toBeLessThanOrEqual(holder.balance);
        expect(amountOf(delegatedVesting, "untrn") + amountOf(delegatedFree, "untrn")).toBe(holder.delegated);
        expect(amountOf(delegatedVesting, "untrn")).toBeLessThanOrEqual(original);
      }
    }),
    { numRuns: 500, seed: 46 },
  );
  expect(spending).toBeGreaterThan(50);
});
