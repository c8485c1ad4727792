import fc from "fast-check";
import { createTestKey } from "./test-keys.ts";

/** Denominations of the accounts. */
export const DENOMS = ["TokenA", "TokenB", "TokenC"] as const;
const PAIRS = [
  ["TokenA", "TokenB"],
  ["TokenC", "TokenB"],
  ["TokenA", "TokenC"],
] as const;
const ROUTES = [
  ["TokenA", "TokenB"],
  ["TokenA", "TokenC", "TokenB"],
  ["TokenB", "TokenA"],
  ["TokenB", "TokenC", "TokenA"],
] as const;
const ORDER_TYPES = [
  "GOOD_TIL_CANCELLED",
  "FILL_OR_KILL",
  "IMMEDIATE_OR_CANCEL",
  "JUST_IN_TIME",
  "GOOD_TIL_TIME",
] as const;
/** Keys of the accounts of a sequence. */
export const USER_KEYS = ["ann", "ben", "cat"].map((name) => createTestKey(name));

/** Addresses of the accounts. */
export const USERS = USER_KEYS.map(({ address }) => address);

const user = fc.integer({ min: 0, max: USERS.length - 1 }).map((index) => USERS[index] ?? "");
const pair = fc.constantFrom(...PAIRS);
const amount = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 5_000 }).map(String) },
  { weight: 2, arbitrary: fc.bigInt({ min: 1n, max: 10n ** 24n }).map(String) },
  { weight: 1, arbitrary: fc.constantFrom("-1", "0", (2n ** 255n).toString()) },
);
const tick = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: -300, max: 300 }) },
  { weight: 1, arbitrary: fc.constantFrom(-559_680, 559_680, 559_681, 200_000, -200_000) },
);
const position = fc.record({
  a: amount,
  b: amount,
  tick,
  fee: fc.constantFrom(0, 1, 5, 10, 200, 7),
  options: fc.record({
    disable_autoswap: fc.boolean(),
    fail_tx_on_bel: fc.boolean(),
    swap_on_deposit: fc.boolean(),
    swap_on_deposit_slop_tolerance_bps: fc.constantFrom(0, 100, 10_000),
  }),
});

const actions = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("deposit" as const),
      user,
      pair,
      positions: fc.array(position, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("withdraw" as const),
      user,
      pick: fc.nat(20),
      permille: fc.integer({ min: 1, max: 1_100 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("order" as const),
      user,
      pair,
      reversed: fc.boolean(),
      tick,
      amount,
      type: fc.constantFrom(...ORDER_TYPES),
      maxOut: fc.option(amount),
      minAverage: fc.option(fc.constantFrom("0.000001", "0.9", "1.1")),
      seconds: fc.integer({ min: -1, max: 8 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("cancel" as const), pick: fc.nat(50) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("withdrawFilled" as const), pick: fc.nat(50) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("swap" as const),
      user,
      routes: fc.array(fc.constantFrom(...ROUTES), { minLength: 1, maxLength: 3 }),
      amount,
      exit: fc.constantFrom("0.5", "0.9", "1", "1.01"),
      best: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("block" as const), seconds: fc.nat(4) }) },
);

/** Actions of the users and ends of blocks. */
export const sequences = fc.array(actions, { minLength: 20, maxLength: 60 });

export type DexAction = ReturnType<typeof sequences.generate>["value"][number];
