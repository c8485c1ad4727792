import { unreachable } from "../../../../platform/base/errors.ts";
import { BaseAccount, ModuleAccount } from "../../../../cosmos/proto/gen/cosmos/auth/v1beta1/auth.ts";
import { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { TYPE_URL } from "../../../../cosmos/proto/registry.ts";
import { formatAddress, moduleAddress, parseAddress } from "../../runtime/address.ts";
import type { Account, AnteAccounts } from "../../runtime/ante-step.ts";
import type { Context } from "../../runtime/context.ts";
import {
  bytesCodec,
  type Codec,
  createItem,
  createMap,
  rememberingCodec,
  uint64Codec,
} from "../../store/collections.ts";
import { ACCOUNT_PREFIX, NEXT_NUMBER_KEY, NUMBER_PREFIX, STORE_NAME } from "./keys.ts";
import { moduleParams } from "./params.ts";

/** Permissions by name of module account ("minter", "burner", "staking"). */
export type ModulePermissions = Readonly<Record<string, readonly string[]>>;

export interface AuthOptions {
  readonly bech32Prefix: string;
  readonly moduleAccounts: ModulePermissions;
  /** Module accounts that genesis creates, in this order. The first payment creates any other. Default: all. */
  readonly genesisAccounts?: readonly string[];
}

/** Keeper of accounts. Addresses are bytes unless a parameter is named `text`. */
export interface AuthKeeper extends AnteAccounts {
  readonly has: (context: Context, address: Uint8Array) => boolean;
  /** Creates an account with the next number and no key, unless the address has an account. */
  readonly ensure: (context: Context, address: Uint8Array) => void;
  /** As `ensure`, with the gas of reading the account. */
  readonly getOrCreate: (context: Context, address: Uint8Array) => Account;
  /** Returns the account of a module and creates it if absent. Throws a plain error (a bug) for an unknown name. */
  readonly moduleAccount: (context: Context, name: string) => Account;
  readonly isModuleName: (name: string) => boolean;
  /** In alphabetical order. */
  readonly moduleNames: readonly string[];
  readonly addressByNumber: (context: Context, number: bigint) => Uint8Array | undefined;
  /** Takes the next account number from the counter. */
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

/** Converts an account to the message that is stored and that queries return. */
export function toAny({ base, module }: Account): Any {
  if (module === undefined)
    return { typeUrl: TYPE_URL.baseAccount, value: BaseAccount.encode(base).finish() };
  const message = { baseAccount: base, name: module.name, permissions: [...module.permissions] };
  return { typeUrl: TYPE_URL.moduleAccount, value: ModuleAccount.encode(message).finish() };
}

/** Decodes a stored account. Throws a plain error for account types that this chain does not have. */
export function fromAny({ typeUrl, value }: Any): Account {
  if (typeUrl === TYPE_URL.baseAccount) return { base: BaseAccount.decode(value) };
  if (typeUrl !== TYPE_URL.moduleAccount) throw new Error(`accounts of type ${typeUrl} are not supported`);
  const { baseAccount, name, permissions } = ModuleAccount.decode(value);
  if (baseAccount === undefined) throw new Error(`module account ${name} has no base_account`);
  return { base: baseAccount, module: { name, permissions } };
}

export function createAuthKeeper(options: AuthOptions): AuthKeeper {
  const { bech32Prefix, moduleAccounts } = options;
  const parse = (text: string): Uint8Array => parseAddress(bech32Prefix, text);
  const format = (address: Uint8Array): string => formatAddress(bech32Prefix, address);
  const set = (context: Context, account: Account): void =>
    setAccount(context, parse(account.base.address), account);
  const create = (context: Context, address: Uint8Array, module?: Account["module"]): Account => {
    const accountNumber = takeNumber(context);
    const base = { address: format(address), pubKey: undefined, accountNumber, sequence: 0n };
    const account = module === undefined ? { base } : { base, module };
    set(context, account);
    return account;
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
    moduleAccount: (context, name) => {
      const permissions = moduleAccounts[name] ?? unreachable(`${name} is not a module account`);
      const address = moduleAddress(name);
      return accounts.get(context, address) ?? create(context, address, { name, permissions });
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
 * Writes an account and its number. Store accesses follow the SDK's indexed map, because each consumes gas: read the old account,
 * free its number, check and write the new number, write the account.
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
