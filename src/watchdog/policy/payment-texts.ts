import { z } from "zod";
import { formatAmount, formatUnits } from "../../platform/base/display-unit.ts";
import { formatCount, formatTime } from "../../platform/base/text.ts";
import type { Coin, PaidCounts, Payment } from "../sources/payment-result.ts";
import { jsonView, words } from "../../platform/http/json-view.ts";

/** Results of comparing a payment with the expected amount, in the order of the payment metric's labels. */
export const PAYMENT_STATES = ["equal", "differs", "not-compared", "failed", "none-due", "missing"] as const;
export type PaymentState = (typeof PAYMENT_STATES)[number];

export function paymentState({ outcome, amount, expected }: Payment): PaymentState {
  if (outcome !== "paid") return outcome;
  if (amount === undefined || expected === undefined) return "not-compared";
  return amount.amount === expected ? "equal" : "differs";
}

/** Formats an amount: "1,234.5 NTRN (1,234,500,000 untrn)", or only the base unit. */
function coinText({ amount, denom }: Coin, display: Payment["display"]): string {
  return formatAmount(amount, denom, display && { ...display, denom }, ",");
}

/** Describes a payment in full sentences: the amount, where the chain paid it, and how it compares with the expected amount. */
export function paymentText(payment: Payment): string {
  const { month, outcome, amount, display, note, height, timeMs } = payment;
  const where = placeText(payment);
  const why = note === undefined ? "" : ` ${sentence(note)}`;
  if (outcome === "missing")
    return `The payment for ${month} is missing: it is not in the blocks up to ${formatCount(height)} (${formatTime(timeMs)} UTC).${why}`;
  if (outcome === "none-due") return `The chain paid nobody for ${month}: ${where}.${why}`;
  if (outcome === "failed")
    return `The chain could not pay ${amount === undefined ? "" : `${coinText(amount, display)} `}for ${month}: ${where}.${why}`;
  const paid = amount === undefined ? month : `${coinText(amount, display)} for ${month}`;
  return `The chain paid ${paid}: ${where}. ${comparisonText(payment)}${why}`;
}

function placeText({ height, timeMs, txHash }: Payment): string {
  const block = `block ${formatCount(height)}`;
  const place = txHash === undefined ? `${block}'s own events` : `transaction ${txHash} in ${block}`;
  return `see ${place}, ${formatTime(timeMs)} UTC`;
}

function comparisonText(payment: Payment): string {
  const { amount, display, expected, byChain, counts } = payment;
  if (amount === undefined || expected === undefined) return "It is not compared with an expected amount.";
  if (amount.amount === expected) return "That is the expected amount.";
  const difference = amount.amount - expected;
  const by = coinText({ ...amount, amount: difference < 0n ? -difference : difference }, display);
  const counted =
    counts === undefined
      ? ""
      : ` The chain counted ${formatCount(counts.votes)} votes and ${formatCount(counts.blocks)} signed blocks of ${formatCount(counts.inActiveSet)}.`;
  const chain =
    byChain === undefined
      ? ""
      : byChain === amount.amount
        ? " By its own counts, the amount is right."
        : ` By its own counts, it would be ${coinText({ ...amount, amount: byChain }, display)}.`;
  return `That is ${by} ${difference < 0n ? "less" : "more"} than ${coinText({ ...amount, amount: expected }, display)}, which the watchdog expected from its own count.${counted}${chain}`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
}

export const monthName = z.string().regex(/^\d{4}-\d\d$/);

const chainCounts = jsonView<PaidCounts>(({ integer }) => ({
  signed_blocks: integer(({ blocks }) => blocks),
  votes: integer(({ votes }) => votes),
  blocks_in_active_set: integer(({ inActiveSet }) => inActiveSet),
  blocks: integer(({ totalBlocks }) => totalBlocks),
}));

const coin = jsonView<Coin>(({ value, integer }) => ({
  amount: integer(({ amount }) => amount),
  denom: value(words, ({ denom }) => denom),
}));

export const paymentView = jsonView<Payment>(
  ({ value, orNull, integer, integerOrNull, time, partOrNull }) => ({
    month: value(monthName, (payment) => payment.month),
    outcome: value(words, ({ outcome }) => outcome),
    state: value(z.enum(PAYMENT_STATES), paymentState),
    height: integer(({ height }) => height),
    time: time(({ timeMs }) => timeMs),
    tx_hash: orNull(words, ({ txHash }) => txHash),
    amount: partOrNull(coin, ({ amount }) => amount),
    display: orNull(
      words,
      ({ amount, display }) => amount && display && formatUnits(amount.amount, display, ","),
    ),
    expected_amount: integerOrNull(({ expected }) => expected),
    amount_by_chain_counts: integerOrNull(({ byChain }) => byChain),
    difference: integerOrNull(({ amount, expected }) =>
      amount === undefined || expected === undefined ? undefined : amount.amount - expected,
    ),
    chain_counts: partOrNull(chainCounts, ({ counts }) => counts),
    note: orNull(words, ({ note }) => note),
  }),
);
