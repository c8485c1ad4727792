import { parseDec18 } from "../../platform/base/decimal.ts";
import { SourceError } from "../sources/observation.ts";
import type { ChainEvent } from "./chain-rpc.ts";
import { type Coin, type PaidCounts, parseCoin } from "../sources/payment-result.ts";

/** One validator's payment according to a block's own events. */
export type BlockPayment =
  | { readonly kind: "paid"; readonly amount: Coin; readonly progress: bigint; readonly counts: PaidCounts }
  | { readonly kind: "failed"; readonly amount: Coin; readonly reason: string }
  | { readonly kind: "none-due" };

/** Event types of the revenue module (x/revenue v9.1.3 types/events.go). */
const PAID = "revenue_distribution";
const FAILED = "revenue_distribution_error";
const NONE = "revenue_distribution_none";

/** Finds an operator's payment among a block's events. Undefined if the block pays nobody or only other operators. */
export function findBlockPayment(events: readonly ChainEvent[], operator: string): BlockPayment | undefined {
  const own = events.filter((event) => attribute(event, "validator") === operator);
  const failed = own.find(({ type }) => type === FAILED);
  if (failed !== undefined)
    return {
      kind: "failed",
      amount: coinOf(failed, "revenue_amount"),
      reason: clipped(attribute(failed, "payment_failure") ?? ""),
    };
  const paid = own.find(({ type }) => type === PAID);
  if (paid !== undefined)
    return {
      kind: "paid",
      amount: coinOf(paid, "revenue_amount"),
      progress: decimalOf(paid, "effective_period_progress"),
      counts: {
        blocks: countOf(paid, "committed_blocks_in_period"),
        votes: countOf(paid, "committed_oracle_votes_in_period"),
        inActiveSet: countOf(paid, "in_active_valset_for_blocks_in_period"),
        totalBlocks: countOf(paid, "total_block_in_period"),
      },
    };
  return events.some(({ type }) => type === NONE) ? { kind: "none-due" } : undefined;
}

/** Sums the transfers from one account to another among a transaction's events. Undefined if there are none. */
export function findTransfer(
  events: readonly ChainEvent[],
  { payer, recipient }: { readonly payer: string; readonly recipient: string },
): Coin | undefined {
  const coins = events
    .filter(
      (event) =>
        event.type === "transfer" &&
        attribute(event, "sender") === payer &&
        attribute(event, "recipient") === recipient,
    )
    .map((event) => coinOf(event, "amount"));
  const [first] = coins;
  if (first === undefined) return undefined;
  const same = coins.filter(({ denom }) => denom === first.denom);
  return { denom: first.denom, amount: same.reduce((sum, { amount }) => sum + amount, 0n) };
}

function attribute({ attributes }: ChainEvent, key: string): string | undefined {
  return attributes.find(([name]) => name === key)?.[1];
}

/** Maximum number of characters stored for a failure. Errors from the bank module are shorter. */
const MAX_REASON = 300;

function clipped(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").slice(0, MAX_REASON);
}

function coinOf(event: ChainEvent, key: string): Coin {
  return parseCoin(attribute(event, key) ?? "") ?? refuse(event, key, "an amount with its denomination");
}

function countOf(event: ChainEvent, key: string): bigint {
  const text = attribute(event, key) ?? "";
  return /^\d{1,19}$/.test(text) ? BigInt(text) : refuse(event, key, "a count");
}

function decimalOf(event: ChainEvent, key: string): bigint {
  try {
    return parseDec18(attribute(event, key) ?? "");
  } catch {
    return refuse(event, key, "a decimal");
  }
}

function refuse({ type }: ChainEvent, key: string, expected: string): never {
  throw new SourceError({ code: "not-a-chain" }, `attribute ${key} of the event ${type} is not ${expected}`);
}
