import type { AuthKeeper } from "../auth/keeper.ts";
import { type Metadata, Params } from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/bank.ts";
import { moduleAddress } from "../../runtime/address.ts";
import { type Coin, formatCoin, formatCoins, sumCoins } from "../../runtime/coins.ts";
import { type Context, attribute, type ChainEvent } from "../../runtime/context.ts";
import { ErrInsufficientFunds, ErrUnauthorized, errorsOf } from "../../runtime/errors.ts";
import * as store from "./balances.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";

export type BankAccounts = Pick<
  AuthKeeper,
  | ("get" | "has" | "ensure" | "lockedCoins" | "trackDelegation" | "trackUndelegation")
  | ("moduleAccount" | "isModuleName" | "parseAddress" | "formatAddress")
>;

/** One account and the coins that it pays or receives in a multi-send. */
export interface Payment {
  readonly address: Uint8Array;
  readonly coins: readonly Coin[];
}

export type BankKeeper = ReturnType<typeof createBankKeeper>;

export interface BankOptions {
  /** Names of modules whose accounts may not receive coins from messages. */
  readonly blockedModules: readonly string[];
}

export interface Transfer {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
}

/** Hooks that the bank module calls before each payment made directly or indirectly with `send`. */
export interface BankHooks {
  /** Throws `ModuleError` to reject the payment. The bank skips this hook for payments between modules. */
  readonly block: (context: Context, transfer: Transfer, coins: readonly Coin[]) => void;
  readonly track: (context: Context, transfer: Transfer, coins: readonly Coin[]) => void;
}

/**
 * Creates the bank keeper. All transfers throw `ModuleError` if a balance is too small or the coins are invalid. `hooks` is called
 * at each payment, because the hooks need the contract keeper, which is created after the bank keeper.
 */
export function createBankKeeper(
  accounts: BankAccounts,
  { blockedModules }: BankOptions,
  hooks: () => BankHooks | undefined = () => undefined,
) {
  const blockedAddresses = new Set(blockedModules.map((name) => accounts.formatAddress(moduleAddress(name))));
  const sendUnblocked = (context: Context, ends: Transfer, coins: readonly Coin[]): void => {
    hooks()?.track(context, ends, coins);
    sendCoins(context, accounts, ends, coins);
  };
  /** Moves coins, creates the recipient's account if it does not exist, and emits the transfer's events. */
  const send = (context: Context, from: Uint8Array, to: Uint8Array, coins: readonly Coin[]): void => {
    hooks()?.block(context, { from, to }, coins);
    sendUnblocked(context, { from, to }, coins);
  };
  return {
    balance: store.balanceOf,
    balances: store.balancesOf,
    holders: store.holdersOf,
    supply: (context: Context, denom: string): bigint => store.supplies.get(context, denom) ?? 0n,
    hasSupply: store.supplies.has,
    metadata: store.metadatas.get,
    hasMetadata: store.metadatas.has,
    /** Stores metadata under its base denomination, without validating it. */
    setMetadata: (context: Context, metadata: Metadata): void =>
      store.metadatas.set(context, metadata.base, metadata),
    send,
    sendToModule: (context: Context, from: Uint8Array, module: string, coins: readonly Coin[]): void => {
      // Create the module account first, so that `send` does not create a base account at its address.
      accounts.moduleAccount(context, module);
      send(context, from, moduleAddress(module), coins);
    },
    /** Throws sdk/4 if the recipient is a blocked module account. */
    sendFromModule: (context: Context, module: string, to: Uint8Array, coins: readonly Coin[]): void => {
      const recipient = accounts.formatAddress(to);
      if (blockedAddresses.has(recipient))
        throw ErrUnauthorized(`${recipient} is not allowed to receive funds`);
      send(context, moduleAddress(module), to, coins);
    },
    sendBetweenModules: (context: Context, from: string, to: string, coins: readonly Coin[]): void => {
      accounts.moduleAccount(context, to);
      // Payments between modules are never blocked.
      sendUnblocked(context, { from: moduleAddress(from), to: moduleAddress(to) }, coins);
    },
    /** Moves coins from one sender to several recipients. The sender's total must equal the recipients' total. */
    sendToMany: (context: Context, from: Payment, to: readonly Payment[]): void =>
      sendToMany(context, accounts, from, to),
    /** Moves a delegator's coins into a staking pool. */
    delegate: (context: Context, from: Uint8Array, module: string, coins: readonly Coin[]): void =>
      delegate(context, accounts, { from, module }, coins),
    /** Moves coins from a staking pool back to a delegator. */
    undelegate: (context: Context, module: string, to: Uint8Array, coins: readonly Coin[]): void => {
      accounts.moduleAccount(context, module);
      accounts.get(context, moduleAddress(module));
      spend(context, accounts, moduleAddress(module), coins);
      accounts.trackUndelegation(context, to, coins);
      receive(context, accounts, to, coins);
    },
    mint: (context: Context, module: string, coins: readonly Coin[]): void => {
      accounts.moduleAccount(context, module);
      const minter = receive(context, accounts, moduleAddress(module), coins);
      store.changeSupply(context, coins, 1n);
      context.emit(coinEvent("coinbase", "minter", minter, coins));
    },
    burn: (context: Context, module: string, coins: readonly Coin[]): void => {
      accounts.moduleAccount(context, module);
      const burner = spend(context, accounts, moduleAddress(module), coins);
      store.changeSupply(context, coins, -1n);
      context.emit(coinEvent("burn", "burner", burner, coins));
    },
    requireSendEnabled,
    /** Returns whether the address is a module account that may not receive coins from messages. */
    isBlocked: (address: Uint8Array): boolean => blockedAddresses.has(accounts.formatAddress(address)),
  };
}

/** Subtracts spendable coins, emits `coin_spent`, and returns the spender's bech32 address. */
function spend(context: Context, accounts: BankAccounts, from: Uint8Array, coins: readonly Coin[]): string {
  const spender = accounts.formatAddress(from);
  const locked = accounts.lockedCoins(context, from);
  store.subtractCoins(context, from, { coins, locked });
  context.emit(coinEvent("coin_spent", "spender", spender, coins));
  return spender;
}

/**
 * Delegates coins like the SDK's `DelegateCoins`: locked coins can be delegated, no `transfer` event is emitted, and error texts
 * include the balance.
 */
function delegate(
  context: Context,
  accounts: BankAccounts,
  { from, module }: { readonly from: Uint8Array; readonly module: string },
  coins: readonly Coin[],
): void {
  accounts.moduleAccount(context, module);
  // Like the SDK, read the module account again by its address, because the read consumes gas.
  accounts.get(context, moduleAddress(module));
  for (const coin of coins) {
    const balance = store.balanceOf(context, from, coin.denom);
    if (balance.amount < coin.amount) {
      const words = `failed to delegate; ${formatCoin(balance)} is smaller than ${formatCoins(coins)}`;
      throw ErrInsufficientFunds(words);
    }
    store.setBalance(context, from, { denom: coin.denom, amount: balance.amount - coin.amount });
  }
  accounts.trackDelegation(context, from, coins);
  context.emit(coinEvent("coin_spent", "spender", accounts.formatAddress(from), coins));
  receive(context, accounts, moduleAddress(module), coins);
}

/** Adds coins, emits `coin_received`, and returns the recipient's bech32 address. */
function receive(context: Context, accounts: BankAccounts, to: Uint8Array, coins: readonly Coin[]): string {
  const receiver = accounts.formatAddress(to);
  store.addCoins(context, to, coins);
  context.emit(coinEvent("coin_received", "receiver", receiver, coins));
  return receiver;
}

function sendCoins(
  context: Context,
  accounts: BankAccounts,
  { from, to }: Transfer,
  coins: readonly Coin[],
): void {
  // Emit the events in the SDK's order, which indexers and relayers rely on: coin_spent, coin_received, transfer, message.
  const sender = spend(context, accounts, from, coins);
  const recipient = receive(context, accounts, to, coins);
  accounts.ensure(context, to);
  context.emit(transfer(recipient, sender, coins));
  context.emit(messageSender(sender));
}

/** Like the SDK's `InputOutputCoins`, emits `message` before the recipients' events, and omits the sender from the `transfer` events. */
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

/** Throws bank/5 if sending is disabled for any of the denominations. */
function requireSendEnabled(context: Context, coins: readonly Coin[]): void {
  if (coins.length === 0) return;
  const { defaultSendEnabled } = moduleParams.get(context);
  for (const { denom } of coins) {
    // Like the SDK, check that the entry exists before reading it.
    const own = store.sendEnabled.has(context, denom) ? store.sendEnabled.get(context, denom) : undefined;
    const isEnabled = own ?? defaultSendEnabled;
    if (!isEnabled) throw ErrSendDisabled(`${denom} transfers are currently disabled`);
  }
}

/** Creates an event with an account and its coins. `role` names the attribute with the bech32 address, e.g. "spender". */
export function coinEvent(type: string, role: string, address: string, coins: readonly Coin[]): ChainEvent {
  return { type, attributes: [attribute(role, address), attribute("amount", formatCoins(coins))] };
}

/** Creates the `transfer` event. As in the SDK, the sender is omitted if the payment has several recipients. */
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

export function messageSender(sender: string): ChainEvent {
  return { type: "message", attributes: [attribute("sender", sender)] };
}

// Errors in the codespace "bank", under their Go names (cosmos-sdk v0.50 x/bank/types/errors.go).
const bankError = errorsOf("bank");
export const ErrNoInputs = bankError(2, "no inputs to send transaction");
export const ErrNoOutputs = bankError(3, "no outputs to send transaction");
export const ErrInputOutputMismatch = bankError(4, "sum inputs != sum outputs");
const ErrSendDisabled = bankError(5, "send transactions are disabled");
export const ErrMultipleSenders = bankError(9, "multiple senders not allowed");

/**
 * `defaultSendEnabled` applies to denominations without an entry in the `sendEnabled` map. As in the SDK, the `sendEnabled` list
 * in the parameters is always stored empty.
 */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: store.MODULE_NAME,
  key: Uint8Array.of(5),
  type: Params,
  defaults: { sendEnabled: [], defaultSendEnabled: true },
  unset: { sendEnabled: [], defaultSendEnabled: false },
});
