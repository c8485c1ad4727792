import { type Coin, formatCoin } from "../../runtime/coins.ts";
import { type ChainEvent, event } from "../../runtime/events.ts";

/** Creates `fee_pay`: the part of the offer that pays for the gas. */
export function feePaid(fee: Coin): ChainEvent {
  return event("fee_pay", [["fee", formatCoin(fee)]]);
}

/** Creates `tip_pay`: the part of the offer that exceeds the fee. The proposer receives it. */
export function tipPaid(tip: Coin, proposer: string): ChainEvent {
  return event("tip_pay", [
    ["tip", formatCoin(tip)],
    ["tip_payee", proposer],
  ]);
}
