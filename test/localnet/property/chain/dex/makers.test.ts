import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PREC_ONE, type PrecDec } from "../../../../../src/platform/base/decimal.ts";
import { calcPrice } from "../../../../../src/localnet/chain/modules/dex/price.ts";
import {
  MsgCancelLimitOrderResponse,
  MsgPlaceLimitOrderResponse,
  MsgWithdrawFilledLimitOrderResponse,
} from "../../../../../src/cosmos/proto/gen/neutron/dex/tx.ts";
import { sequences } from "../../../../support/dex-actions.ts";
import { createDexSequence, type ExecutedMessage, textOf } from "../../../../support/dex-sequence.ts";

const RUNS = { numRuns: 80 };
const TIMEOUT_MS = 120_000;

/** All that one user placed in one tranche, and all that came back. */
interface Position {
  readonly owner: string;
  readonly trancheKey: string;
  /** Taker units for one maker unit at the tick of the order. */
  readonly price: PrecDec;
  placed: bigint;
  makerOut: bigint;
  takerOut: bigint;
}

/** The positions of all makers by owner and tranche, from requests and responses only. */
interface Ledger {
  readonly record: (executed: ExecutedMessage | undefined) => void;
  readonly positions: () => readonly Position[];
  /** Payments of a tranche to all its makers. */
  readonly payments: (trancheKey: string) => bigint;
}

function createLedger(): Ledger {
  const positions = new Map<string, Position>();
  const payments = new Map<string, bigint>();
  const place = ({ json, bytes }: ExecutedMessage): void => {
    const { trancheKey, coinIn, takerCoinIn } = MsgPlaceLimitOrderResponse.decode(bytes);
    const placed = BigInt(coinIn?.amount ?? 0) - BigInt(takerCoinIn?.amount ?? 0);
    if (placed === 0n) return;
    const owner = textOf(json["receiver"]);
    const price = calcPrice(-BigInt(Number(json["tick_index_in_to_out"])));
    const key = `${owner} ${trancheKey}`;
    const empty = { owner, trancheKey, price, placed: 0n, makerOut: 0n, takerOut: 0n };
    const position = positions.get(key) ?? empty;
    position.placed += placed;
    positions.set(key, position);
  };
  const pay = ({ name, json, bytes }: ExecutedMessage): void => {
    const type =
      name === "CancelLimitOrder" ? MsgCancelLimitOrderResponse : MsgWithdrawFilledLimitOrderResponse;
    const { makerCoinOut, takerCoinOut } = type.decode(bytes);
    const trancheKey = textOf(json["tranche_key"]);
    const position = positions.get(`${textOf(json["creator"])} ${trancheKey}`);
    if (position === undefined) throw new Error(`a payment of ${trancheKey} to a user who placed nothing`);
    position.makerOut += BigInt(makerCoinOut?.amount ?? 0);
    position.takerOut += BigInt(takerCoinOut?.amount ?? 0);
    payments.set(trancheKey, (payments.get(trancheKey) ?? 0n) + 1n);
  };
  return {
    record: (executed) => {
      if (executed === undefined || executed.error !== undefined) return;
      if (executed.name === "PlaceLimitOrder") place(executed);
      if (executed.name === "CancelLimitOrder" || executed.name === "WithdrawFilledLimitOrder") pay(executed);
    },
    positions: () => [...positions.values()],
    payments: (trancheKey) => payments.get(trancheKey) ?? 0n,
  };
}

/**
 * What a position may lose to rounding, as taker units times 10^27: each payment of the tranche, whoever receives it, truncates the
 * proceeds by less than one taker unit, and counts up to one maker unit as paid that was not.
 */
function roundingBound({ price, trancheKey }: Position, ledger: Ledger): bigint {
  return ledger.payments(trancheKey) * (PREC_ONE + price);
}

describe("makers in random sequences of dex messages", () => {
  it(
    "sell at the price of their tick or better",
    () => {
      let sold = 0;
      fc.assert(
        fc.property(sequences, (actions) => {
          const sequence = createDexSequence();
          const ledger = createLedger();
          for (const action of actions) ledger.record(sequence.apply(action));
          for (const { owner: creator, trancheKey } of ledger.positions()) {
            const json = { creator, tranche_key: trancheKey };
            ledger.record(sequence.execute("WithdrawFilledLimitOrder", json));
            ledger.record(sequence.execute("CancelLimitOrder", json));
          }
          for (const position of ledger.positions()) {
            const { placed, makerOut, takerOut, price } = position;
            const missing = (placed - makerOut) * price - takerOut * PREC_ONE;
            expect({ position, isWorse: missing > roundingBound(position, ledger) }).toEqual({
              position,
              isWorse: false,
            });
            if (takerOut > 10n) sold += 1;
          }
        }),
        RUNS,
      );
      // About 50 on average. A property that nothing reaches would say nothing.
      expect(sold).toBeGreaterThan(15);
    },
    TIMEOUT_MS,
  );
});
