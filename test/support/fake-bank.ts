import { formatAddress, moduleAddress } from "../../src/localnet/chain/runtime/address.ts";
import type { Coin } from "../../src/localnet/chain/runtime/coins.ts";
import type { Context } from "../../src/localnet/chain/runtime/context.ts";
import { ErrInsufficientFunds } from "../../src/localnet/chain/runtime/errors.ts";

/** A bank whose balances are outside of the stores. To revert a transaction, restore a snapshot. */
export interface FakeBank {
  readonly fund: (address: string, untrn: bigint) => void;
  readonly balance: (address: string) => bigint;
  /** Saves all balances. The returned function restores them. */
  readonly snapshot: () => () => void;
  readonly sendCoins: (context: Context, from: string, to: string, coins: readonly Coin[]) => void;
  /** Sum of all balances, whatever the denomination. */
  readonly supply: (context: Context, denom: string) => bigint;
  readonly sendFromAccountToModule: FakeBank["sendCoins"];
  readonly sendFromModuleToAccount: FakeBank["sendCoins"];
}

/** Creates an empty bank. It ignores denominations: all coins count as one. */
export function createFakeBank(): FakeBank {
  let balances = new Map<string, bigint>();
  const balance = (address: string): bigint => balances.get(address) ?? 0n;
  const account = (name: string): string => formatAddress("neutron", moduleAddress(name));
  const move = (from: string, to: string, coins: readonly Coin[]): void => {
    for (const { denom, amount } of coins) {
      if (balance(from) < amount)
        throw ErrInsufficientFunds(
          `spendable balance ${balance(from)}${denom} is smaller than ${amount}${denom}`,
        );
      balances.set(from, balance(from) - amount);
      balances.set(to, balance(to) + amount);
    }
  };
  return {
    fund: (address, untrn) => void balances.set(address, balance(address) + untrn),
    balance,
    supply: () => [...balances.values()].reduce((sum, amount) => sum + amount, 0n),
    snapshot: () => {
      const saved = new Map(balances);
      return () => {
        balances = new Map(saved);
      };
    },
    sendCoins: (_context, from, to, coins) => move(from, to, coins),
    sendFromAccountToModule: (_context, from, module, coins) => move(from, account(module), coins),
    sendFromModuleToAccount: (_context, module, to, coins) => move(account(module), to, coins),
  };
}
