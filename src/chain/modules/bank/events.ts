import { formatCoins, type Coin } from "../../runtime/coins.ts";
import { type ChainEvent, event } from "../../runtime/events.ts";

/** Creates `coin_spent`. The addresses of all events here are bech32. */
export function coinSpent(spender: string, coins: readonly Coin[]): ChainEvent {
  return event("coin_spent", [
    ["spender", spender],
    ["amount", formatCoins(coins)],
  ]);
}

/** Creates `coin_received`. */
export function coinReceived(receiver: string, coins: readonly Coin[]): ChainEvent {
  return event("coin_received", [
    ["receiver", receiver],
    ["amount", formatCoins(coins)],
  ]);
}

/** Creates `transfer`. It has no sender in a payment to several recipients, as in the SDK. */
export function transfer(recipient: string, sender: string | undefined, coins: readonly Coin[]): ChainEvent {
  return event("transfer", [
    ["recipient", recipient],
    ...(sender === undefined ? [] : [["sender", sender] as const]),
    ["amount", formatCoins(coins)],
  ]);
}

/** Creates the `message` event with the sender. */
export function messageSender(sender: string): ChainEvent {
  return event("message", [["sender", sender]]);
}

/** Creates `coinbase`: a module minted coins. */
export function coinbase(minter: string, coins: readonly Coin[]): ChainEvent {
  return event("coinbase", [
    ["minter", minter],
    ["amount", formatCoins(coins)],
  ]);
}

/** Creates `burn`: a module burned coins. */
export function burn(burner: string, coins: readonly Coin[]): ChainEvent {
  return event("burn", [
    ["burner", burner],
    ["amount", formatCoins(coins)],
  ]);
}
