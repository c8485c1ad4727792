import { formatCoins, type Coin } from "../../runtime/coins.ts";
import { type ChainEvent, event } from "../../runtime/events.ts";

/** Coins left an account. Addresses of events are bech32. */
export function coinSpent(spender: string, coins: readonly Coin[]): ChainEvent {
  return event("coin_spent", [
    ["spender", spender],
    ["amount", formatCoins(coins)],
  ]);
}

/** Coins reached an account. */
export function coinReceived(receiver: string, coins: readonly Coin[]): ChainEvent {
  return event("coin_received", [
    ["receiver", receiver],
    ["amount", formatCoins(coins)],
  ]);
}

/** Coins went from one account to another; several recipients share one sender event, and then `sender` is left out. */
export function transfer(recipient: string, sender: string | undefined, coins: readonly Coin[]): ChainEvent {
  return event("transfer", [
    ["recipient", recipient],
    ...(sender === undefined ? [] : [["sender", sender] as const]),
    ["amount", formatCoins(coins)],
  ]);
}

/** Names who sent. */
export function messageSender(sender: string): ChainEvent {
  return event("message", [["sender", sender]]);
}

/** A module made coins. */
export function coinbase(minter: string, coins: readonly Coin[]): ChainEvent {
  return event("coinbase", [
    ["minter", minter],
    ["amount", formatCoins(coins)],
  ]);
}

/** A module destroyed coins. */
export function burn(burner: string, coins: readonly Coin[]): ChainEvent {
  return event("burn", [
    ["burner", burner],
    ["amount", formatCoins(coins)],
  ]);
}
