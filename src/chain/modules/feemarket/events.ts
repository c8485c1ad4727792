import { type Coin, formatCoin } from "../../runtime/coins.ts";
import { type ChainEvent, event } from "../../runtime/events.ts";

/** The fee that was kept. */
export function feePaid(fee: Coin): ChainEvent {
  return event("fee_pay", [["fee", formatCoin(fee)]]);
}

/** The rest of what was offered, paid to the proposer. */
export function tipPaid(tip: Coin, proposer: string): ChainEvent {
  return event("tip_pay", [
    ["tip", formatCoin(tip)],
    ["tip_payee", proposer],
  ]);
}
