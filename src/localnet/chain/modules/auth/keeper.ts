import { Params, BaseAccount, ModuleAccount } from "../../../../cosmos/proto/gen/cosmos/auth/v1beta1/auth.ts";
import { GenesisError } from "../../runtime/genesis.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import * as collections from "../../store/collections.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import { splitNs } from "../../../../platform/base/time.ts";
import { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { formatAddress, moduleAddress, parseAddress } from "../../runtime/address.ts";
import type { Account, AnteAccounts } from "../../runtime/ante-step.ts";
import { type Coin, parseCoins, toWireCoin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/vesting/v1beta1/vesting.ts";
import { TYPE_URL } from "../../../../cosmos/proto/registry.ts";
import * as schedules from "../../runtime/vesting.ts";

/** Name of the module and its key in `app_state`. */
export const MODULE_NAME = "auth";
/** Name of the module's store, which differs from the module's name, as in the SDK. */
export const STORE_NAME = "acc";

/** Transaction limits and gas costs, with the SDK's defaults. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: STORE_NAME,
  key: Uint8Array.of(0),
  type: Params,
  defaults: {
    maxMemoCharacters: 256n,
    txSigLimit: 7n,
    txSizeCostPerByte: 10n,
    sigVerifyCostEd25519: 590n,
    sigVerifyCostSecp256k1: 1000n,
  },
  unset: Params.decode(new Uint8Array(0)),
  validate: requirePositive,
});

function requirePositive(params: Params): void {
  const fields: readonly (readonly [name: string, value: bigint])[] = [
    ["max_memo_characters", params.maxMemoCharacters],
    ["tx_sig_limit", params.txSigLimit],
    ["tx_size_cost_per_byte", params.txSizeCostPerByte],
    ["sig_verify_cost_ed25519", params.sigVerifyCostEd25519],
    ["sig_verify_cost_secp256k1", params.sigVerifyCostSecp256k1],
  ];
  for (const [name, value] of fields) {
    if (value === 0n) throw new GenesisError(`app_state.auth.params.${name}`, "expected a positive number");
  }
}

/** Maps each module account's name to its permissions ("minter", "burner", "staking"). */
export type ModulePermissions = Readonly<Record<string, readonly string[]>>;

export interface AuthOptions {
  readonly bech32Prefix: string;
  readonly moduleAccounts: ModulePermissions;
  /**
   * Module accounts to create at genesis, in this order. Default: all module accounts. Any other module account is created on first
   * use.
   */
  readonly genesisAccounts?: readonly string[];
}

/** The account keeper. Addresses are raw bytes, except in parameters named `text`. */
export type AuthKeeper = ReturnType<typeof createAuthKeeper>;

/** The next account number, encoded as 8 bytes, big-endian. */
const nextNumberItem = collections.createItemOr(STORE_NAME, Uint8Array.of(2), collections.uint64Codec, 0n);
/** Addresses, keyed by account number. Each key is `accountNumber` followed by the number (8 bytes, big-endian). */
const numbers = collections.createMap(
  STORE_NAME,
  utf8("accountNumber"),
  collections.uint64Codec,
  collections.bytesCodec,
);
const accountCodec: collections.Codec<Account> = collections.rememberingCodec({
  encode: (account) => Any.encode(toAny(account)).finish(),
  decode: (bytes) => fromAny(Any.decode(bytes)),
});
/** Accounts, keyed by 0x01 and the address. Each account is encoded as an `Any`. */
const accounts = collections.createMap(STORE_NAME, Uint8Array.of(1), collections.bytesCodec, accountCodec);

const NO_COINS: readonly Coin[] = [];

export function createAuthKeeper({ bech32Prefix, moduleAccounts }: AuthOptions) {
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
    change: (before: schedules.Vesting) => schedules.Vesting,
  ): void => {
    const account = accounts.get(context, address);
    if (account?.vesting !== undefined) set(context, { ...account, vesting: change(account.vesting) });
  };
  return {
    params: moduleParams.get,
    get: accounts.get,
    set,
    has: accounts.has,
    /** If the address has no account, creates one with the next account number and no public key. */
    ensure: (context: Context, address: Uint8Array): void => {
      if (!accounts.has(context, address)) create(context, address);
    },
    /** Like `ensure`, but returns the account, and charges gas for reading the account. */
    getOrCreate: (context: Context, address: Uint8Array): Account =>
      accounts.get(context, address) ?? create(context, address),
    /** Creates an account with vesting coins. The address must not have an account yet. */
    createVesting: (context: Context, address: Uint8Array, coins: schedules.Vesting): void => {
      create(context, address, { vesting: coins });
    },
    /** Returns the coins that an account cannot spend yet, and charges gas for reading the account. */
    lockedCoins: (context: Context, address: Uint8Array): readonly Coin[] => {
      const coins = accounts.get(context, address)?.vesting;
      return coins === undefined ? NO_COINS : schedules.lockedCoins(coins, splitNs(context.timeNs).seconds);
    },
    /** Adds coins to a vesting account's delegated coins. For any other account, only reads the account, which consumes gas. */
    trackDelegation: (context: Context, address: Uint8Array, coins: readonly Coin[]): void =>
      track(context, address, (before) =>
        schedules.trackDelegation(before, splitNs(context.timeNs).seconds, coins),
      ),
    /** Subtracts coins from a vesting account's delegated coins. For any other account, only reads the account, which consumes gas. */
    trackUndelegation: (context: Context, address: Uint8Array, coins: readonly Coin[]): void =>
      track(context, address, (before) => schedules.trackUndelegation(before, coins)),
    /** Returns a module account, creating it if it does not exist. Throws a plain error (a bug) for an unknown name. */
    moduleAccount: (context: Context, name: string): Account => {
      const permissions = moduleAccounts[name] ?? unreachable(`${name} is not a module account`);
      const address = moduleAddress(name);
      return accounts.get(context, address) ?? create(context, address, { module: { name, permissions } });
    },
    isModuleName: (name: string): boolean => Object.hasOwn(moduleAccounts, name),
    /** Names of all module accounts, in alphabetical order. */
    moduleNames: Object.keys(moduleAccounts).toSorted(),
    addressByNumber: numbers.get,
    /** Assigns and returns the next account number. */
    nextNumber: takeNumber,
    all: accounts.values,
    range: accounts.range,
    parseAddress: parse,
    formatAddress: format,
  } satisfies AnteAccounts & Readonly<Record<string, unknown>>;
}

/**
 * Writes an account and its entry in the number index. Every store access consumes gas, so the order of accesses is the same as in
 * the SDK's indexed map. The old account is read, its number is deleted, the new number is checked and written, and the account is
 * written.
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
  const number = nextNumberItem.get(context);
  nextNumberItem.set(context, number + 1n);
  return number;
}

/** Converts an account to the protobuf message that is stored and returned by queries. */
export function toAny({ base, module, vesting }: Account): Any {
  if (vesting !== undefined) return vestingToAny(base, vesting);
  if (module === undefined)
    return { typeUrl: TYPE_URL.baseAccount, value: BaseAccount.encode(base).finish() };
  const message = { baseAccount: base, name: module.name, permissions: [...module.permissions] };
  return { typeUrl: TYPE_URL.moduleAccount, value: ModuleAccount.encode(message).finish() };
}

function vestingToAny(baseAccount: BaseAccount, vesting: schedules.Vesting): Any {
  const { original, delegatedFree, delegatedVesting, endTime, schedule } = vesting;
  const baseVestingAccount = {
    baseAccount,
    originalVesting: original.map(toWireCoin),
    delegatedFree: delegatedFree.map(toWireCoin),
    delegatedVesting: delegatedVesting.map(toWireCoin),
    endTime,
  };
  const typeUrl = VESTING_TYPE_URLS[schedule.kind];
  switch (schedule.kind) {
    case "continuous": {
      const { startTime } = schedule;
      return {
        typeUrl,
        value: wire.ContinuousVestingAccount.encode({ baseVestingAccount, startTime }).finish(),
      };
    }
    case "delayed":
      return { typeUrl, value: wire.DelayedVestingAccount.encode({ baseVestingAccount }).finish() };
    case "periodic": {
      const { startTime, periods } = schedule;
      const vestingPeriods = periods.map(({ lengthSeconds, amount }) => ({
        length: lengthSeconds,
        amount: amount.map(toWireCoin),
      }));
      const message = { baseVestingAccount, startTime, vestingPeriods };
      return { typeUrl, value: wire.PeriodicVestingAccount.encode(message).finish() };
    }
    case "permanent":
      return { typeUrl, value: wire.PermanentLockedAccount.encode({ baseVestingAccount }).finish() };
  }
}

const VESTING_TYPE_URLS: Readonly<Record<schedules.VestingSchedule["kind"], string>> = {
  continuous: "/cosmos.vesting.v1beta1.ContinuousVestingAccount",
  delayed: "/cosmos.vesting.v1beta1.DelayedVestingAccount",
  periodic: "/cosmos.vesting.v1beta1.PeriodicVestingAccount",
  permanent: TYPE_URL.permanentLockedAccount,
};

/** Decodes a stored account. Throws a plain error if this chain does not support the account type. */
export function fromAny({ typeUrl, value }: Any): Account {
  switch (typeUrl) {
    case TYPE_URL.baseAccount:
      return { base: BaseAccount.decode(value) };
    case TYPE_URL.moduleAccount: {
      const { baseAccount, name, permissions } = ModuleAccount.decode(value);
      if (baseAccount === undefined) throw new Error(`module account ${name} has no base_account`);
      return { base: baseAccount, module: { name, permissions } };
    }
    case VESTING_TYPE_URLS.continuous: {
      const { baseVestingAccount, startTime } = wire.ContinuousVestingAccount.decode(value);
      return vestingAccount(baseVestingAccount, { kind: "continuous", startTime });
    }
    case VESTING_TYPE_URLS.delayed:
      return vestingAccount(wire.DelayedVestingAccount.decode(value).baseVestingAccount, { kind: "delayed" });
    case VESTING_TYPE_URLS.periodic: {
      const { baseVestingAccount, startTime, vestingPeriods } = wire.PeriodicVestingAccount.decode(value);
      const periods = vestingPeriods.map(({ length, amount }) => ({
        lengthSeconds: length,
        amount: parseCoins(amount),
      }));
      return vestingAccount(baseVestingAccount, { kind: "periodic", startTime, periods });
    }
    case VESTING_TYPE_URLS.permanent:
      return vestingAccount(wire.PermanentLockedAccount.decode(value).baseVestingAccount, {
        kind: "permanent",
      });
    default:
      throw new Error(`accounts of type ${typeUrl} are not supported`);
  }
}

function vestingAccount(
  account: wire.BaseVestingAccount | undefined,
  schedule: schedules.VestingSchedule,
): Account {
  if (account?.baseAccount === undefined)
    throw new Error("a vesting account has no base_vesting_account with a base_account");
  return {
    base: account.baseAccount,
    vesting: {
      original: parseCoins(account.originalVesting),
      delegatedFree: parseCoins(account.delegatedFree),
      delegatedVesting: parseCoins(account.delegatedVesting),
      endTime: account.endTime,
      schedule,
    },
  };
}
