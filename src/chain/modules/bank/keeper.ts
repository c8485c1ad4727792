import { moduleAddress } from "../../runtime/address.ts";
import { type Coin, sumCoins } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import {
  addCoins,
  balanceOf,
  balancesOf,
  changeSupply,
  holdersOf,
  params,
  sendEnabled,
  subtractCoins,
  supplies,
} from "./balances.ts";
import { ErrInputOutputMismatch, ErrSendDisabled } from "./errors.ts";
import { burn, coinbase, coinReceived, coinSpent, messageSender, transfer } from "./events.ts";

/** What bank needs of auth. */
export interface BankAccounts {
  readonly get: (context: Context, address: Uint8Array) => unknown;
  readonly has: (context: Context, address: Uint8Array) => boolean;
  readonly ensure: (context: Context, address: Uint8Array) => void;
  readonly moduleAccount: (context: Context, name: string) => unknown;
  readonly isModuleName: (name: string) => boolean;
  readonly parseAddress: (text: string) => Uint8Array;
  readonly formatAddress: (address: Uint8Array) => string;
}

/** One recipient of a payment to several. */
export interface Payment {
  readonly address: Uint8Array;
  readonly coins: readonly Coin[];
}

/** Coins as other modules move them. Everything throws `ModuleError` when the coins are not there or not valid. */
export interface BankKeeper {
  readonly balance: (context: Context, address: Uint8Array, denom: string) => Coin;
  /** Coins of an address in the byte order of their denominations. */
  readonly balances: (context: Context, address: Uint8Array) => Iterable<Coin>;
  /** Addresses that have coins of a denomination, in ascending order. */
  readonly holders: (context: Context, denom: string) => Iterable<Uint8Array>;
  readonly supply: (context: Context, denom: string) => bigint;
  /** Moves coins, makes the recipient's account if it has none, emits the four events of a transfer. */
  readonly send: (context: Context, from: Uint8Array, to: Uint8Array, coins: readonly Coin[]) => void;
  readonly sendToModule: (context: Context, from: Uint8Array, module: string, coins: readonly Coin[]) => void;
  readonly sendFromModule: (context: Context, module: string, to: Uint8Array, coins: readonly Coin[]) => void;
  readonly sendBetweenModules: (context: Context, from: string, to: string, coins: readonly Coin[]) => void;
  /** One sender to several recipients; the sums must be equal. */
  readonly sendToMany: (context: Context, from: Payment, to: readonly Payment[]) => void;
  readonly mint: (context: Context, module: string, coins: readonly Coin[]) => void;
  readonly burn: (context: Context, module: string, coins: readonly Coin[]) => void;
  /** Throws bank/5 when one of the denominations may not be sent by messages. */
  readonly requireSendEnabled: (context: Context, coins: readonly Coin[]) => void;
  /** Whether messages may not send to this address: accounts of modules. */
  readonly isBlocked: (address: Uint8Array) => boolean;
}

/** Creates the keeper. `blocked` are names of modules whose accounts refuse what messages send. */
export function createBankKeeper(accounts: BankAccounts, blocked: readonly string[]): BankKeeper {
  const blockedTexts = new Set(blocked.map((name) => accounts.formatAddress(moduleAddress(name))));
  const send: BankKeeper["send"] = (context, from, to, coins) =>
    sendCoins(context, accounts, { from, to }, coins);
  return {
    balance: balanceOf,
    balances: balancesOf,
    holders: holdersOf,
    supply: (context, denom) => supplies.get(context, denom) ?? 0n,
    send,
    sendToModule: (context, from, module, coins) => {
      accounts.moduleAccount(context, module);
      send(context, from, moduleAddress(module), coins);
    },
    sendFromModule: (context, module, to, coins) => {
      send(context, moduleAddress(module), to, coins);
    },
    sendBetweenModules: (context, from, to, coins) => {
      accounts.moduleAccount(context, to);
      send(context, moduleAddress(from), moduleAddress(to), coins);
    },
    sendToMany: (context, from, to) => sendToMany(context, accounts, from, to),
    mint: (context, module, coins) => {
      accounts.moduleAccount(context, module);
      const minter = accounts.formatAddress(moduleAddress(module));
      receive(context, accounts, moduleAddress(module), coins);
      changeSupply(context, coins, 1n);
      context.emit(coinbase(minter, coins));
    },
    burn: (context, module, coins) => {
      const burner = accounts.formatAddress(moduleAddress(module));
      spend(context, accounts, moduleAddress(module), coins);
      changeSupply(context, coins, -1n);
      context.emit(burn(burner, coins));
    },
    requireSendEnabled,
    isBlocked: (address) => blockedTexts.has(accounts.formatAddress(address)),
  };
}

/** Takes coins; reading the account comes first, as the SDK looks there for coins that are locked. */
function spend(context: Context, accounts: BankAccounts, from: Uint8Array, coins: readonly Coin[]): void {
  accounts.get(context, from);
  subtractCoins(context, from, coins);
  context.emit(coinSpent(accounts.formatAddress(from), coins));
}

function receive(context: Context, accounts: BankAccounts, to: Uint8Array, coins: readonly Coin[]): void {
  addCoins(context, to, coins);
  context.emit(coinReceived(accounts.formatAddress(to), coins));
}

function sendCoins(
  context: Context,
  accounts: BankAccounts,
  way: { readonly from: Uint8Array; readonly to: Uint8Array },
  coins: readonly Coin[],
): void {
  spend(context, accounts, way.from, coins);
  receive(context, accounts, way.to, coins);
  accounts.ensure(context, way.to);
  const sender = accounts.formatAddress(way.from);
  context.emit(transfer(accounts.formatAddress(way.to), sender, coins));
  context.emit(messageSender(sender));
}

function sendToMany(context: Context, accounts: BankAccounts, from: Payment, to: readonly Payment[]): void {
  const total = sumCoins(to.flatMap(({ coins }) => coins));
  if (!equalCoins(total, sumCoins(from.coins))) throw ErrInputOutputMismatch();
  spend(context, accounts, from.address, from.coins);
  context.emit(messageSender(accounts.formatAddress(from.address)));
  for (const { address, coins } of to) {
    receive(context, accounts, address, coins);
    context.emit(transfer(accounts.formatAddress(address), undefined, coins));
    accounts.ensure(context, address);
  }
}

function equalCoins(a: readonly Coin[], b: readonly Coin[]): boolean {
  return (
    a.length === b.length &&
    a.every((coin, index) => coin.denom === b[index]?.denom && coin.amount === b[index]?.amount)
  );
}

function requireSendEnabled(context: Context, coins: readonly Coin[]): void {
  for (const { denom } of coins) {
    const allowed = sendEnabled.get(context, denom) ?? params.get(context)?.defaultSendEnabled ?? false;
    if (!allowed) throw ErrSendDisabled(`${denom} transfers are currently disabled`);
  }
}
