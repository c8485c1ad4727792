import { formatRoundedDuration } from "../../platform/base/text.ts";
import { monthOf, monthsBefore, monthStartMs } from "../../platform/base/month.ts";
import { paymentText } from "../policy/payment-texts.ts";
import type { Payment } from "../sources/payment-result.ts";
import { active, cannotSee, clear, condition, threshold } from "./condition.ts";
import type { Condition, ConditionInput, ConditionResult } from "./condition.ts";

export const PAYMENT_CONDITIONS: readonly Condition[] = [
  condition({
    name: "payment-missing",
    severity: "warning",
    title: "Last month's payment missing",
    end: "2026-10 was paid at height 35128123",
    when: "last month's payment is still missing from the chain's blocks `after` the end of the month, or the chain could not pay",
    description:
      "The chain has not paid the validator for last month, although the watchdog counted blocks in that month.",
    impact:
      "The whole month's pay. Anything the revenue module could not pay is lost: its counters have already been reset, so it is not paid later.",
    action:
      "Check the month's report, the treasury's balance and the validator's status at the end of the month, then ask in the validators' channel.",
    for: "0s",
    resolveFor: "1m",
    thresholds: {
      after: threshold(
        "duration",
        21_600_000,
        "how long after month end to wait before reporting a missing payment",
      ),
    },
    past: { notStored: "payment searches" },
    evaluate: (input, limit) => evaluatePayment(input, limit("after")),
  }),
  condition({
    name: "payment-differs",
    severity: "warning",
    title: "Last month's payment differs",
    end: "2026-10 was paid as expected",
    when: "last month's payment differs by more than `max_difference` from what the watchdog expected from its own count",
    description:
      "For last month, the chain paid the validator an amount different from what the programme's formula gives for the watchdog's count.",
    impact: "The difference, if the chain's counts are wrong. It is not paid later.",
    action:
      "Compare the chain's counts, which the alert names, with the month's report: the node can count votes that the chain never receives. Then ask in the validators' channel.",
    for: "0s",
    resolveFor: "1m",
    thresholds: {
      max_difference: threshold("percent", 1, "maximum difference, as a share of the expected amount"),
    },
    past: { notStored: "payment searches" },
    evaluate: (input, limit) => {
      const payment = lastPayment(input);
      if ("kind" in payment) return payment;
      const { amount, expected, month } = payment;
      if (amount === undefined || expected === undefined)
        return cannotSee(`the payment for ${month} is not compared with an expected amount`);
      const difference = amount.amount > expected ? amount.amount - expected : expected - amount.amount;
      // In hundredths of a percent, like thresholds.
      return difference * 10_000n > expected * BigInt(Math.round(limit("max_difference") * 100))
        ? active(asReason(paymentText(payment)))
        : clear(`${month} was paid as expected`);
    },
  }),
];

/** Returns the payment for the month before the poll, or why it is not known. */
function lastPayment({ observation, payments }: ConditionInput): Payment | ConditionResult {
  const { atMs, chain } = observation;
  const [before = ""] = monthsBefore(monthOf(atMs), 1);
  return (
    payments?.find((one) => one.month === before) ??
    cannotSee(
      chain.payment?.state === "error"
        ? `the payment for ${before} cannot be searched for: ${chain.payment.failure.text}`
        : "no payment is searched for",
    )
  );
}

function evaluatePayment(input: ConditionInput, afterMs: number): ConditionResult {
  const payment = lastPayment(input);
  if ("kind" in payment) return payment;
  const { month, outcome, height } = payment;
  if (outcome === "failed") return active(asReason(paymentText(payment)));
  if (outcome === "none-due") return clear(`the chain paid nobody for ${month}`);
  if (outcome === "paid") return clear(`${month} was paid at height ${height}`);
  const { atMs } = input.observation;
  const sinceMs = atMs - monthStartMs(monthOf(atMs));
  if (sinceMs < afterMs) return cannotSee(`the payment for ${month} has not been found yet`);
  const note = payment.note === undefined ? "" : `; ${payment.note}`;
  return active(
    `no payment for ${month} in the blocks up to ${height}, ${formatRoundedDuration(sinceMs)} after the end of the month${note}`,
  );
}

/** Formats a text as a reason, which ends a sentence. */
function asReason(text: string): string {
  return text.replace(/^The/, "the").replace(/\.$/, "");
}
