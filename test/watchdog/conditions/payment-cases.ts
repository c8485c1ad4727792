import type { Payment } from "../../../src/watchdog/sources/payment-result.ts";
import { all, type Change, failed, type Frame, withChain } from "../../support/watchdog/frames.ts";
import type { Cases } from "./cases.ts";

/** The frames are of 2026-11-15, two weeks after the end of October. */
const MISSING: Payment = {
  month: "2026-10",
  outcome: "missing",
  searchedMs: 0,
  height: 100n,
  timeMs: Date.UTC(2026, 10, 15),
};

const PAID: Payment = { ...MISSING, outcome: "paid", amount: { amount: 5n, denom: "untrn" } };

function paid(amount: bigint, expected: bigint): Payment {
  return { ...PAID, amount: { amount, denom: "untrn" }, expected };
}

function payments(...list: readonly Payment[]): Change {
  return (frame: Frame) => ({ ...frame, payments: list });
}

/** Cases of the conditions of payments. A healthy validator was paid. */
export const PAYMENT_CASES: Readonly<Record<string, Cases>> = {
  "payment-missing": {
    fires: payments(MISSING),
    alsoFires: {
      "a payment that failed": payments({ ...PAID, outcome: "failed", note: "insufficient funds" }),
    },
    quiet: {
      "a month for which nobody was paid": payments({ ...MISSING, outcome: "none-due" }),
      "a payment that differs": payments({ ...PAID, expected: 6n }),
      "an older month that was not paid": payments({ ...MISSING, month: "2026-09" }, PAID),
    },
    missing: {
      "a search": payments(),
      "the chain's RPC": all(
        payments(),
        withChain(() => ({ payment: failed("timeout") })),
      ),
    },
  },
  "payment-differs": {
    fires: payments(paid(979n, 1000n)),
    alsoFires: { "more than expected": payments(paid(1021n, 1000n)) },
    quiet: {
      "a payment as expected": payments(paid(1000n, 1000n)),
      "a difference of some blocks": payments(paid(991n, 1000n)),
    },
    missing: {
      "a search": payments(),
      "the payment": payments(MISSING),
      "the expected amount": payments(PAID),
    },
  },
};
