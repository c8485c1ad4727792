import type { Metadata } from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/bank.ts";
import { moduleAddress } from "../../runtime/address.ts";
import { type Coin, formatCoin, formatCoins, sumCoins } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInsufficientFunds, ErrUnauthorized, registerError } from "../../runtime/errors.ts";
import { attribute, type ChainEvent } from "../../runtime/events.ts";
import {
  addCoins,
  balanceOf,
  balancesOf,
  changeSupply,
  holdersOf,
  metadatas,
  sendEnabled,
  setBalance,
  subtractCoins,
  supplies,
} from "./balances.ts";
import { moduleParams } from "./params.ts";

/** Functions of the auth module that the bank module calls. */
export interface BankAccounts {
  readonly get: (context: Context, address: Uint8Array) => unknown;
  /** Reads an account and returns the coins that it cannot yet spend. */
  readonly lockedCoins: (context: Context, address: Uint8Array) => readonly Coin[];
  /** Reads an account and, if some of its coins are vesting, counts its delegated coins. */
  readonly trackDelegation: (context: Context, address: Uint8Array, coins: readonly Coin[]) => void;
  readonly trackUndelegation: (context: Context, address: Uint8Array, coins: readonly Coin[]) => void;
  readonly has: (context: Context, address: Uint8Array) => boolean;
  readonly ensure: (context: Context, address: Uint8Array) => void;
  readonly moduleAccount: (context: Context, name: string) => unknown;
  readonly isModuleName: (name: string) => boolean;
  readonly parseAddress: (text: string) => Uint8Array;
  readonly formatAddress: (address: Uint8Array) => string;
}

/** One side of a payment with several recipients. */
export interface Payment {
  readonly address: Uint8Array;
  readonly coins: readonly Coin[];
}

/** Coin keeper for other modules. Every transfer throws `ModuleError` if a balance is too small or coins are invalid. */
export interface BankKeeper {
  readonly balance: (context: Context, address: Uint8Array, denom: string) => Coin;
  /** Returns an address' coins, sorted by the bytes of their denominations. */
  readonly balances: (context: Context, address: Uint8Array) => Iterable<Coin>;
  /** Returns the addresses that hold a denomination, in ascending order. */
  readonly holders: (context: Context, denom: string) => Iterable<Uint8Array>;
  readonly supply: (context: Context, denom: string) => bigint;
  readonly hasSupply: (context: Context, denom: string) => boolean;
  readonly metadata: (context: Context, denom: string) => Metadata | undefined;
  readonly hasMetadata: (context: Context, denom: string) => boolean;
  /** Stores metadata under its base denomination without checking it. */
  readonly setMetadata: (context: Context, metadata: Metadata) => void;
  /** Moves coins, creates the recipient's account if absent, and emits the events of a transfer. */
  readonly send: (context: Context, from: Uint8Array, to: Uint8Array, coins: readonly Coin[]) => void;
  readonly sendToModule: (context: Context, from: Uint8Array, module: string, coins: readonly Coin[]) => void;
  /** Throws sdk/4 if the recipient is a blocked module account. */
  readonly sendFromModule: (context: Context, module: string, to: Uint8Array, coins: readonly Coin[]) => void;
  readonly sendBetweenModules: (context: Context, from: string, to: string, coins: readonly Coin[]) => void;
  /** Moves coins from one sender to several recipients. The amounts sent and received must be equal. */
  readonly sendToMany: (context: Context, from: Payment, to: readonly Payment[]) => void;
  /** Moves a delegator's coins into a staking pool. */
  readonly delegate: (context: Context, from: Uint8Array, module: string, coins: readonly Coin[]) => void;
  /** Moves coins from a staking pool back to a delegator. */
  readonly undelegate: (context: Context, module: string, to: Uint8Array, coins: readonly Coin[]) => void;
  readonly mint: (context: Context, module: string, coins: readonly Coin[]) => void;
  readonly burn: (context: Context, module: string, coins: readonly Coin[]) => void;
  /** Throws bank/5 if messages may not send one of these denominations. */
  readonly requireSendEnabled: (context: Context, coins: readonly Coin[]) => void;
  /** Returns whether the address belongs to a module account that messages may not send coins to. */
  readonly isBlocked: (address: Uint8Array) => boolean;
}

export interface BankOptions {
  /** Names of modules whose accounts messages may not send coins to. */
  readonly blockedModules: readonly string[];
}

/** The two accounts of a payment. */
export interface Transfer {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
}

/** Hooks that run before each payment made by `send` or by a function that calls it. */
export interface BankHooks {
  /** Throws `ModuleError` to reject the payment. Not called for payments between modules. */
  readonly block: (context: Context, transfer: Transfer, coins: readonly Coin[]) => void;
  readonly track: (context: Context, transfer: Transfer, coins: readonly Coin[]) => void;
}

/** Creates the keeper. It looks up the hooks at each payment, since they call contracts, which are created later. */
export function createBankKeeper(
  accounts: BankAccounts,
  { blockedModules }: BankOptions,
  hooks: () => BankHooks | undefined = () => undefined,
): BankKeeper {
  const blockedAddresses = new Set(blockedModules.map((name) => accounts.formatAddress(moduleAddress(name))));
  const sendUnblocked = (context: Context, ends: Transfer, coins: readonly Coin[]): void => {
    hooks()?.track(context, ends, coins);
    sendCoins(context, accounts, ends, coins);
  };
  const send: BankKeeper["send"] = (context, from, to, coins) => {
    hooks()?.block(context, { from, to }, coins);
    sendUnblocked(context, { from, to }, coins);
  };
  return {
    balance: balanceOf,
    balances: balancesOf,
    holders: holdersOf,
    supply: (context, denom) => supplies.get(context, denom) ?? 0n,
    hasSupply: supplies.has,
    metadata: metadatas.get,
    hasMetadata: metadatas.has,
    setMetadata: (context, metadata) => metadatas.set(context, metadata.base, metadata),
    send,
    sendToModule: (context, from, module, coins) => {
      // Creates the module account, so that `send` does not create a plain account at its address.
      accounts.moduleAccount(context, module);
      send(context, from, moduleAddress(module), coins);
    },
    sendFromModule: (context, module, to, coins) => {
      const recipient = accounts.formatAddress(to);
      if (blockedAddresses.has(recipient))
        throw ErrUnauthorized(`${recipient} is not allowed to receive funds`);
      send(context, moduleAddress(module), to, coins);
    },
    sendBetweenModules: (context, from, to, coins) => {
      accounts.moduleAccount(context, to);
      // Nothing blocks a payment between modules.
      sendUnblocked(context, { from: moduleAddress(from), to: moduleAddress(to) }, coins);
    },
    sendToMany: (context, from, to) => sendToMany(context, accounts, from, to),
    delegate: (context, from, module, coins) => delegate(context, accounts, { from, module }, coins),
    undelegate: (context, module, to, coins) => {
      accounts.moduleAccount(context, module);
      accounts.get(context, moduleAddress(module));
      spend(context, accounts, moduleAddress(module), coins);
      accounts.trackUndelegation(context, to, coins);
      receive(context, accounts, to, coins);
    },
    mint: (context, module, coins) => {
      accounts.moduleAccount(context, module);
      const minter = receive(context, accounts, moduleAddress(module), coins);
      changeSupply(context, coins, 1n);
      context.emit(coinbase(minter, coins));
    },
    burn: (context, module, coins) => {
      accounts.moduleAccount(context, module);
      const burner = spend(context, accounts, moduleAddress(module), coins);
      changeSupply(context, coins, -1n);
      context.emit(burn(burner, coins));
    },
    requireSendEnabled,
    isBlocked: (address) => blockedAddresses.has(accounts.formatAddress(address)),
  };
}

/** Subtracts unlocked coins. Returns the spender's bech32 address. */
function spend(context: Context, accounts: BankAccounts, from: Uint8Array, coins: readonly Coin[]): string {
  const spender = accounts.formatAddress(from);
  const locked = accounts.lockedCoins(context, from);
  subtractCoins(context, from, { coins, locked });
  context.emit(coinSpent(spender, coins));
  return spender;
}

/** Like the SDK's `DelegateCoins`: accepts locked coins, emits two events but no transfer, and includes the balance in errors. */
function delegate(
  context: Context,
  accounts: BankAccounts,
  { from, module }: { readonly from: Uint8Array; readonly module: string },
  coins: readonly Coin[],
): void {
  accounts.moduleAccount(context, module);
  // The SDK looks the account up once more by its address.
  accounts.get(context, moduleAddress(module));
  for (const coin of coins) {
    const balance = balanceOf(context, from, coin.denom);
    if (balance.amount < coin.amount) {
      const words = `failed to delegate; ${formatCoin(balance)} is smaller than ${formatCoins(coins)}`;
      throw ErrInsufficientFunds(words);
    }
    setBalance(context, from, { denom: coin.denom, amount: balance.amount - coin.amount });
  }
  accounts.trackDelegation(context, from, coins);
  context.emit(coinSpent(accounts.formatAddress(from), coins));
  receive(context, accounts, moduleAddress(module), coins);
}

/** Adds coins. Returns the recipient's bech32 address. */
function receive(context: Context, accounts: BankAccounts, to: Uint8Array, coins: readonly Coin[]): string {
  const receiver = accounts.formatAddress(to);
  addCoins(context, to, coins);
  context.emit(coinReceived(receiver, coins));
  return receiver;
}

function sendCoins(
  context: Context,
  accounts: BankAccounts,
  { from, to }: Transfer,
  coins: readonly Coin[],
): void {
  // Events in the SDK's order: coin_spent, coin_received, transfer, message. Indexers and relayers rely on it.
  const sender = spend(context, accounts, from, coins);
  const recipient = receive(context, accounts, to, coins);
  accounts.ensure(context, to);
  context.emit(transfer(recipient, sender, coins));
  context.emit(messageSender(sender));
}

/** Like the SDK's `InputOutputCoins`, emits `message` before the recipients' events, and `transfer` without the sender. */
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
  if (coins.length === 0) return;
  const { defaultSendEnabled } = moduleParams.get(context);
  for (const { denom } of coins) {
    // The SDK looks for an entry before it reads it.
    const own = sendEnabled.has(context, denom) ? sendEnabled.get(context, denom) : undefined;
    const isEnabled = own ?? defaultSendEnabled;
    if (!isEnabled) throw ErrSendDisabled(`${denom} transfers are currently disabled`);
  }
}

/** Creates the `coin_spent` event. All addresses in these events are bech32. */
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

/** Creates the `transfer` event. As in the SDK, it names no sender if a payment has several recipients. */
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

/** Creates the `message` event, which names the sender. */
export function messageSender(sender: string): ChainEvent {
  return { type: "message", attributes: [attribute("sender", sender)] };
}

/** Creates the `coinbase` event for coins that a module minted. */
export function coinbase(minter: string, coins: readonly Coin[]): ChainEvent {
  return {
    type: "coinbase",
    attributes: [attribute("minter", minter), attribute("amount", formatCoins(coins))],
  };
}

/** Creates the `burn` event for coins that a module burned. */
export function burn(burner: string, coins: readonly Coin[]): ChainEvent {
  return { type: "burn", attributes: [attribute("burner", burner), attribute("amount", formatCoins(coins))] };
}

// Errors of codespace "bank" by their Go names (cosmos-sdk v0.50 x/bank/types/errors.go).
export const ErrNoInputs = registerError("bank", 2, "no inputs to send transaction");
export const ErrNoOutputs = registerError("bank", 3, "no outputs to send transaction");
export const ErrInputOutputMismatch = registerError("bank", 4, "sum inputs != sum outputs");
const ErrSendDisabled = registerError("bank", 5, "send transactions are disabled");
export const ErrMultipleSenders = registerError("bank", 9, "multiple senders not allowed");
