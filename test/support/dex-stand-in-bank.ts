import { coinEvent, messageSender, transfer } from "../../src/localnet/chain/modules/bank/keeper.ts";
import type { DexBank } from "../../src/localnet/chain/modules/dex/types.ts";
import { formatAddress, moduleAddress } from "../../src/localnet/chain/runtime/address.ts";
import type { Coin } from "../../src/localnet/chain/runtime/coins.ts";
import type { Context } from "../../src/localnet/chain/runtime/context.ts";
import { ErrInsufficientFunds } from "../../src/localnet/chain/runtime/errors.ts";
import { createMap, integerCodec, textCodec } from "../../src/localnet/chain/store/collections.ts";
import type { WorldBank } from "./dex-world.ts";

const PREFIX = "neutron";
const balances = createMap("bank", Uint8Array.of(2), textCodec, integerCodec);
const supplies = createMap("bank", Uint8Array.of(0), textCodec, integerCodec);

/**
 * The bank of the bench of the deployed keeper: balances and supplies as decimal text in a store with gas, the events of the SDK,
 * no index of holders, no accounts, no blocked recipients.
 */
export function createStandInBank(): WorldBank {
  const bank = createBank(moduleAddress("dex"));
  const fund: WorldBank["fund"] = (context, address, coins) =>
    receive(context, formatAddress(PREFIX, address), coins);
  return { bank, fund };
}

function createBank(dex: Uint8Array): DexBank {
  return {
    balance: (context, address, denom) => ({
      denom,
      amount: balances.get(context, `${formatAddress(PREFIX, address)}/${denom}`) ?? 0n,
    }),
    balances: function* () {},
    holders: function* () {},
    supply: (context, denom) => supplies.get(context, denom) ?? 0n,
    sendToModule: (context, from, _module, coins) => send(context, from, dex, coins),
    sendFromModule: (context, _module, to, coins) => send(context, dex, to, coins),
    mint: (context, _module, coins) => {
      receive(context, formatAddress(PREFIX, dex), coins);
      changeSupply(context, coins, 1n);
      context.emit(coinEvent("coinbase", "minter", formatAddress(PREFIX, dex), coins));
    },
    burn: (context, _module, coins) => {
      spend(context, formatAddress(PREFIX, dex), coins);
      changeSupply(context, coins, -1n);
      context.emit(coinEvent("burn", "burner", formatAddress(PREFIX, dex), coins));
    },
  };
}

function send(context: Context, from: Uint8Array, to: Uint8Array, coins: readonly Coin[]): void {
  const [sender, recipient] = [formatAddress(PREFIX, from), formatAddress(PREFIX, to)];
  spend(context, sender, coins);
  receive(context, recipient, coins);
  context.emit(transfer(recipient, sender, coins));
  context.emit(messageSender(sender));
}

function spend(context: Context, spender: string, coins: readonly Coin[]): void {
  for (const { denom, amount } of coins) {
    const entry = balances.at(`${spender}/${denom}`);
    const balance = (entry.get(context) ?? 0n) - amount;
    if (balance < 0n) throw ErrInsufficientFunds(`${spender} lacks ${-balance}${denom}`);
    if (balance === 0n) entry.delete(context);
    else entry.set(context, balance);
  }
  context.emit(coinEvent("coin_spent", "spender", spender, coins));
}

function receive(context: Context, receiver: string, coins: readonly Coin[]): void {
  for (const { denom, amount } of coins) {
    const entry = balances.at(`${receiver}/${denom}`);
    entry.set(context, (entry.get(context) ?? 0n) + amount);
  }
  context.emit(coinEvent("coin_received", "receiver", receiver, coins));
}

function changeSupply(context: Context, coins: readonly Coin[], direction: 1n | -1n): void {
  for (const { denom, amount } of coins) {
    const entry = supplies.at(denom);
    entry.set(context, (entry.get(context) ?? 0n) + direction * amount);
  }
}
