import { unreachable } from "../../../../platform/base/errors.ts";
import { splitNs } from "../../../../platform/base/time.ts";
import { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { formatAddress, moduleAddress, parseAddress } from "../../runtime/address.ts";
import type { Account, AnteAccounts } from "../../runtime/ante-step.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import * as vesting from "../../runtime/vesting.ts";
import {
  bytesCodec,
  type Codec,
  createItem,
  createMap,
  rememberingCodec,
  uint64Codec,
} from "../../store/collections.ts";
import { fromAny, toAny } from "./accounts.ts";
import { ACCOUNT_PREFIX, NEXT_NUMBER_KEY, NUMBER_PREFIX, STORE_NAME } from "./keys.ts";
import { moduleParams } from "./params.ts";

/** Permissions ("minter", "burner", "staking") by module account name. */
export type ModulePermissions = Readonly<Record<string, readonly string[]>>;

export interface AuthOptions {
  readonly bech32Prefix: string;
  readonly moduleAccounts: ModulePermissions;
  /** Module accounts that genesis creates, in this order. Any other account is created when it is first paid. Default: all. */
  readonly genesisAccounts?: readonly string[];
}

/** Account keeper. Addresses are bytes, except in parameters named `text`. */
export interface AuthKeeper extends AnteAccounts {
  readonly has: (context: Context, address: Uint8Array) => boolean;
  /** Creates an account with the next number and no key, unless the address already has an account. */
  readonly ensure: (context: Context, address: Uint8Array) => void;
  /** Like `ensure`, but also charges gas for reading the account. */
  readonly getOrCreate: (context: Context, address: Uint8Array) => Account;
  /** Creates an account with vesting coins. The address must not have an account yet. */
  readonly createVesting: (context: Context, address: Uint8Array, coins: vesting.Vesting) => void;
  /** Returns the coins that an account cannot yet spend. Reads the account. */
  readonly lockedCoins: (context: Context, address: Uint8Array) => readonly Coin[];
  /** Reads the account and, if it has vesting coins, counts its delegated coins. */
  readonly trackDelegation: (context: Context, address: Uint8Array, coins: readonly Coin[]) => void;
  /** Reads the account and, if it has vesting coins, counts the coins returned by an undelegation. */
  readonly trackUndelegation: (context: Context, address: Uint8Array, coins: readonly Coin[]) => void;
  /** Returns a module's account, creating it if absent. Throws a plain error (a bug) for an unknown name. */
  readonly moduleAccount: (context: Context, name: string) => Account;
  readonly isModuleName: (name: string) => boolean;
  /** In alphabetical order. */
  readonly moduleNames: readonly string[];
  readonly addressByNumber: (context: Context, number: bigint) => Uint8Array | undefined;
  /** Assigns and returns the next account number. */
  readonly nextNumber: (context: Context) => bigint;
  readonly all: (context: Context) => IterableIterator<Account>;
  readonly formatAddress: (address: Uint8Array) => string;
}

const nextNumberItem = createItem(STORE_NAME, NEXT_NUMBER_KEY, uint64Codec);
const numbers = createMap(STORE_NAME, NUMBER_PREFIX, uint64Codec, bytesCodec);
const accountCodec: Codec<Account> = rememberingCodec({
  encode: (account) => Any.encode(toAny(account)).finish(),
  decode: (bytes) => fromAny(Any.decode(bytes)),
});
const accounts = createMap(STORE_NAME, ACCOUNT_PREFIX, bytesCodec, accountCodec);

const NO_COINS: readonly Coin[] = [];

export function createAuthKeeper(options: AuthOptions): AuthKeeper {
  const { bech32Prefix, moduleAccounts } = options;
  const parse = (text: string): Uint8Array => parseAddress(bech32Prefix, text);
  const format = (address: Uint8Array): string => formatAddress(bech32Prefix, address);
  const set = (context: Context, account: Account): void =>
    setAccount(context, parse(account.base.address), account);
  const create = (context: Context, address: Uint8Array, more: Omit<Account, "base"> = {}): Account => {
    const accountNumber = takeNumber(context);
    const base = { address: format(address), pubKey: undefined, accountNumber, sequence: 0n };
    const account = { base, ...more };
    set(context, account);
    return account;
  };
  const track = (
    context: Context,
    address: Uint8Array,
    change: (before: vesting.Vesting) => vesting.Vesting,
  ): void => {
    const account = accounts.get(context, address);
    if (account?.vesting !== undefined) set(context, { ...account, vesting: change(account.vesting) });
  };
  return {
    params: moduleParams.get,
    get: accounts.get,
    set,
    has: accounts.has,
    ensure: (context, address) => {
      if (!accounts.has(context, address)) create(context, address);
    },
    getOrCreate: (context, address) => accounts.get(context, address) ?? create(context, address),
    createVesting: (context, address, coins) => {
      create(context, address, { vesting: coins });
    },
    lockedCoins: (context, address) => {
      const coins = accounts.get(context, address)?.vesting;
      return coins === undefined ? NO_COINS : vesting.lockedCoins(coins, splitNs(context.timeNs).seconds);
    },
    trackDelegation: (context, address, coins) =>
      track(context, address, (before) =>
        vesting.trackDelegation(before, splitNs(context.timeNs).seconds, coins),
      ),
    trackUndelegation: (context, address, coins) =>
      track(context, address, (before) => vesting.trackUndelegation(before, coins)),
    moduleAccount: (context, name) => {
      const permissions = moduleAccounts[name] ?? unreachable(`${name} is not a module account`);
      const address = moduleAddress(name);
      return accounts.get(context, address) ?? create(context, address, { module: { name, permissions } });
    },
    isModuleName: (name) => Object.hasOwn(moduleAccounts, name),
    moduleNames: Object.keys(moduleAccounts).toSorted(),
    addressByNumber: numbers.get,
    nextNumber: takeNumber,
    all: function* (context) {
      for (const [, account] of accounts.entries(context)) yield account;
    },
    parseAddress: parse,
    formatAddress: format,
  };
}

/**
 * Writes an account and its number. Every store access consumes gas, so the order follows the SDK's indexed map: read the old
 * account, free its number, check and write the new number, write the account.
 */
function setAccount(context: Context, address: Uint8Array, account: Account): void {
  const old = accounts.get(context, address);
  if (old !== undefined) numbers.delete(context, old.base.accountNumber);
  const { accountNumber } = account.base;
  if (numbers.has(context, accountNumber)) unreachable(`two accounts have number ${accountNumber}`);
  numbers.set(context, accountNumber, address);
  accounts.set(context, address, account);
}

function takeNumber(context: Context): bigint {
  const number = nextNumberItem.get(context) ?? 0n;
  nextNumberItem.set(context, number + 1n);
  return number;
}
