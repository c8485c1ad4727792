import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PREC_ONE, precFromInt } from "../../../../../src/platform/base/decimal.ts";
import { calcPrice } from "../../../../../src/localnet/chain/modules/dex/price.ts";
import { ModuleError, QueryError } from "../../../../../src/localnet/chain/runtime/errors.ts";
import {
  MsgDepositResponse,
  MsgPlaceLimitOrderResponse,
  MsgWithdrawalResponse,
} from "../../../../../src/cosmos/proto/gen/neutron/dex/tx.ts";
import { sequences, USERS } from "../../../../support/dex-actions.ts";
import {
  createDexSequence,
  type DexSequence,
  type ExecutedMessage,
} from "../../../../support/dex-sequence.ts";
import { unbalancedDenoms } from "../../../../support/dex-state.ts";

const RUNS = { numRuns: 60 };
const TIMEOUT_MS = 120_000;

/** Runs `check` after every message of random sequences. */
function afterEachMessage(check: (sequence: DexSequence, executed: ExecutedMessage) => void): void {
  fc.assert(
    fc.property(sequences, (actions) => {
      const sequence = createDexSequence();
      for (const action of actions) {
        const executed = sequence.apply(action);
        if (executed !== undefined) check(sequence, executed);
      }
    }),
    RUNS,
  );
}

describe("random sequences of dex messages", () => {
  it(
    "keep the coins: the module holds its reserves, and fail with codes only",
    () => {
      let succeeded = 0;
      afterEachMessage(({ world, timeNs }, { error }) => {
        expect(world.read(timeNs(), unbalancedDenoms)).toEqual([]);
        if (error === undefined) succeeded += 1;
        else expect(["dex", "sdk", "undefined"]).toContain(error.codespace);
      });
      expect(succeeded).toBeGreaterThan(100);
    },
    TIMEOUT_MS,
  );

  it(
    "have simulations that return what the message returns",
    () => {
      afterEachMessage((_sequence, { name, response, error, simulated }) => {
        const failure = simulated instanceof ModuleError || simulated instanceof QueryError;
        if (error === undefined) return expect({ name, response: simulated }).toEqual({ name, response });
        // A simulation does not ask for coins, and it is Go's error without the prefix of the validation.
        if (error.codespace === "sdk" && error.code !== 111_222) return undefined;
        expect(failure).toBe(true);
        if (simulated instanceof ModuleError) expect(simulated.code).toBe(error.code);
      });
    },
    TIMEOUT_MS,
  );

  it(
    "fill taker orders at their price or better",
    () => {
      afterEachMessage((_sequence, { name, json, error, bytes, events }) => {
        if (name !== "PlaceLimitOrder" || error !== undefined) return;
        const { takerCoinIn, takerCoinOut } = MsgPlaceLimitOrderResponse.decode(bytes);
        const [paid, received] = [BigInt(takerCoinIn?.amount ?? 0), BigInt(takerCoinOut?.amount ?? 0)];
        const limit = calcPrice(BigInt(Number(json["tick_index_in_to_out"])));
        const fills = events.filter(({ attributes }) => attributes.some(({ key }) => key === "SwapAmountIn"));
        // Every fill rounds the payment up to a whole unit, and one division can round up by one more.
        const bound = limit * received + precFromInt(BigInt(fills.length) + 1n);
        expect(precFromInt(paid) <= bound).toBe(true);
      });
    },
    TIMEOUT_MS,
  );

  it(
    "never let a deposit and its withdrawal gain",
    () => {
      let deposits = 0;
      fc.assert(
        fc.property(
          sequences,
          fc.integer({ min: -300, max: 300 }),
          fc.nat(10_000),
          fc.nat(10_000),
          (actions, tick, amountA, amountB) => {
            const sequence = createDexSequence();
            for (const action of actions) sequence.apply(action);
            for (let round = 0; round < 5; round++)
              if (expectNoGain(sequence, tick, [amountA, amountB])) deposits += 1;
          },
        ),
        RUNS,
      );
      expect(deposits).toBeGreaterThan(50);
    },
    TIMEOUT_MS,
  );
});

/** Deposits and withdraws at once. The value in token0 at the price of the pool must not grow. Returns whether it deposited. */
function expectNoGain(
  sequence: DexSequence,
  tick: number,
  [amountA, amountB]: readonly [number, number],
): boolean {
  const [creator = ""] = USERS;
  const pool = {
    creator,
    receiver: creator,
    token_a: "TokenA",
    token_b: "TokenB",
    tick_indexes_a_to_b: [tick],
    fees: [1],
  };
  const deposit = sequence.execute("Deposit", {
    ...pool,
    amounts_a: [String(amountA)],
    amounts_b: [String(amountB)],
    options: [{}],
  });
  const { reserve0Deposited, reserve1Deposited, sharesIssued } = MsgDepositResponse.decode(deposit.bytes);
  const [shares] = sharesIssued;
  if (shares === undefined) return false;
  const withdrawal = sequence.execute("Withdrawal", { ...pool, shares_to_remove: [shares.amount] });
  expect(withdrawal.error).toBeUndefined();
  const { reserve0Withdrawn, reserve1Withdrawn } = MsgWithdrawalResponse.decode(withdrawal.bytes);
  const price = calcPrice(BigInt(tick));
  const value = (amount0: bigint, amount1: bigint): bigint => amount0 * PREC_ONE + amount1 * price;
  const before = value(BigInt(reserve0Deposited[0] ?? 0), BigInt(reserve1Deposited[0] ?? 0));
  expect(value(BigInt(reserve0Withdrawn), BigInt(reserve1Withdrawn)) <= before).toBe(true);
  return true;
}
