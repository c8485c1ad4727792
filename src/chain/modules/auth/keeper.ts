import { BaseAccount, ModuleAccount, Params } from "../../../proto/gen/cosmos/auth/v1beta1/auth.ts";
import { Any } from "../../../proto/gen/google/protobuf/any.ts";
import { TYPE_URL } from "../../../proto/type-urls.ts";
import { formatAddress, moduleAddress, parseAddress } from "../../runtime/address.ts";
import type { Account, AnteAccounts } from "../../runtime/ante/ante-step.ts";
import type { Context } from "../../runtime/context.ts";
import {
  bytesCodec,
  type Codec,
  createItem,
  createMap,
  messageCodec,
  rememberingCodec,
  uint64Codec,
} from "../../store/collections.ts";
import { ACCOUNT_PREFIX, NEXT_NUMBER_KEY, NUMBER_PREFIX, PARAMS_KEY, STORE_NAME } from "./keys.ts";

/** Names of module accounts, with what they may do ("minter", "burner", "staking"). */
export type ModulePermissions = Readonly<Record<string, readonly string[]>>;

/** What the module is told about its chain. */
export interface AuthOptions {
  readonly bech32Prefix: string;
  readonly moduleAccounts: ModulePermissions;
}

/** Accounts as other modules use them. Addresses are bytes unless a name says text. */
export interface AuthKeeper extends AnteAccounts {
  readonly setParams: (context: Context, params: Params) => void;
  readonly has: (context: Context, address: Uint8Array) => boolean;
  /** Gives an address an account with the next number and no key, unless it has one. */
  readonly ensure: (context: Context, address: Uint8Array) => void;
  /** The account of a module, made when it is first asked for. Throws a plain error (our bug) for a name that is not registered. */
  readonly moduleAccount: (context: Context, name: string) => Account;
  readonly isModuleName: (name: string) => boolean;
  readonly moduleNames: readonly string[];
  readonly addressByNumber: (context: Context, number: bigint) => Uint8Array | undefined;
  readonly nextNumber: (context: Context) => bigint;
  readonly all: (context: Context) => IterableIterator<Account>;
  readonly formatAddress: (address: Uint8Array) => string;
}

const paramsItem = createItem(STORE_NAME, PARAMS_KEY, rememberingCodec(messageCodec(Params)));
const nextNumberItem = createItem(STORE_NAME, NEXT_NUMBER_KEY, uint64Codec);
const numbers = createMap(STORE_NAME, NUMBER_PREFIX, uint64Codec, bytesCodec);
const accountCodec: Codec<Account> = rememberingCodec({
  encode: (account) => Any.encode(toAny(account)).finish(),
  decode: (bytes) => fromAny(Any.decode(bytes)),
});
const accounts = createMap(STORE_NAME, ACCOUNT_PREFIX, bytesCodec, accountCodec);

/** An account as it is stored and queried. */
export function toAny({ base, module }: Account): Any {
  if (module === undefined)
    return { typeUrl: TYPE_URL.baseAccount, value: BaseAccount.encode(base).finish() };
  const message = { baseAccount: base, name: module.name, permissions: [...module.permissions] };
  return { typeUrl: TYPE_URL.moduleAccount, value: ModuleAccount.encode(message).finish() };
}

/** Reads a stored account. Throws a plain error for kinds of accounts that do not exist here. */
export function fromAny({ typeUrl, value }: Any): Account {
  if (typeUrl === TYPE_URL.baseAccount) return { base: BaseAccount.decode(value) };
  if (typeUrl !== TYPE_URL.moduleAccount) throw new Error(`accounts of type ${typeUrl} are not supported`);
  const { baseAccount, name, permissions } = ModuleAccount.decode(value);
  if (baseAccount === undefined) throw new Error(`module account ${name} has no base_account`);
  return { base: baseAccount, module: { name, permissions } };
}

/** Creates the keeper of accounts. */
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
    params: (context) => paramsItem.get(context) ?? Params.decode(new Uint8Array(0)),
    setParams: paramsItem.set,
    get: accounts.get,
    set,
    has: accounts.has,
    ensure: (context, address) => {
      if (!accounts.has(context, address)) create(context, address);
    },
    moduleAccount: (context, name) => {
      const permissions = moduleAccounts[name];
      if (permissions === undefined) throw new Error(`this is a bug: ${name} is not a module account`);
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

/** The SDK's indexed map: the old entry is read and its number freed before the new one is written. */
function setAccount(context: Context, address: Uint8Array, account: Account): void {
  const old = accounts.get(context, address);
  if (old !== undefined) numbers.delete(context, old.base.accountNumber);
  const { accountNumber } = account.base;
  if (numbers.has(context, accountNumber))
    throw new Error(`this is a bug: two accounts have number ${accountNumber}`);
  numbers.set(context, accountNumber, address);
  accounts.set(context, address, account);
}

function takeNumber(context: Context): bigint {
  const number = nextNumberItem.get(context) ?? 0n;
  nextNumberItem.set(context, number + 1n);
  return number;
}
