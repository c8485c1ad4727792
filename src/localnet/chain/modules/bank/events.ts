import { formatCoins, type Coin } from "../../runtime/coins.ts";
import { attribute, type ChainEvent } from "../../runtime/events.ts";

/** Creates `coin_spent`. The addresses of all events here are bech32. */
export function coinSpent(spender: string, coins: readonly Coin[]): ChainEvent {
  return {
    type: "coin_spent",
    attributes: [attribute("spender", spender), attribute("amount", formatCoins(coins))],
  };
}

/** Creates `coin_received`. */
export function coinReceived(receiver: string, coins: readonly Coin[]): ChainEvent {
  return {
    type: "coin_received",
    attributes: [attribute("receiver", receiver), attribute("amount", formatCoins(coins))],
  };
}

/** Creates `transfer`. It has no sender in a payment to several recipients, as in the SDK. */
export function transfer(recipient: string, sender: string | undefined, coins: readonly Coin[]): ChainEvent {
  return {
    type: "transfer",
    attributes: [
      attribute("recipient", recipient),
      ...(sender === undefined ? [] : [attribute("sender", sender)]),
      attribute("amount", formatCoins(coins)),
    ],
  };
}

/** Creates the `message` event with the sender. */
export function messageSender(sender: string): ChainEvent {
  return { type: "message", attributes: [attribute("sender", sender)] };
}

/** Creates `coinbase`: a module minted coins. */
export function coinbase(minter: string, coins: readonly Coin[]): ChainEvent {
  return {
    type: "coinbase",
    attributes: [attribute("minter", minter), attribute("amount", formatCoins(coins))],
  };
}

/** Creates `burn`: a module burned coins. */
export function burn(burner: string, coins: readonly Coin[]): ChainEvent {
  return { type: "burn", attributes: [attribute("burner", burner), attribute("amount", formatCoins(coins))] };
}
