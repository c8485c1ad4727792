import {
  lengthPrefixed,
  bytesCodec,
  type Codec,
  createMap,
  integerCodec,
  messageCodec,
  type StoredItem,
  textCodec,
} from "../../store/collections.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import { Metadata } from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/bank.ts";
import { amountOf, areValidCoins, type Coin, formatCoin, formatCoins } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInsufficientFunds, ErrInvalidCoins } from "../../runtime/errors.ts";
import { concat, utf8 } from "../../../../platform/base/bytes.ts";

/** Name of the module and its store. The store uses the SDK's layout, because other chains verify proofs of its keys. */
export const MODULE_NAME = "bank";

export interface BalanceKey {
  readonly address: Uint8Array;
  readonly denom: string;
}

const balanceKeyCodec: Codec<BalanceKey> = {
  encode: ({ address, denom }) => concat(Uint8Array.of(address.length), address, utf8(denom)),
  decode: (bytes) => {
    const end = 1 + (bytes[0] ?? 0);
    return { address: bytes.slice(1, end), denom: textCodec.decode(bytes.subarray(end)) };
  },
};

const holderKeyCodec: Codec<BalanceKey> = {
  encode: ({ address, denom }) => concat(utf8(denom), Uint8Array.of(0, address.length), address),
  decode: (bytes) => {
    const end = bytes.indexOf(0);
    return { denom: textCodec.decode(bytes.subarray(0, end)), address: bytes.slice(end + 2) };
  },
};

/** Returns the prefix for a denomination's keys in the map {@link holders}, without the map's own prefix 0x03. */
export function holdersKey(denom: string): Uint8Array {
  return concat(utf8(denom), Uint8Array.of(0));
}

const booleanCodec: Codec<boolean> = {
  encode: (value) => Uint8Array.of(value ? 1 : 0),
  decode: (bytes) => bytes[0] === 1,
};

/** Total supply of each denomination, as decimal text. The key is the byte 0x00 followed by the denomination. */
export const supplies = createMap(MODULE_NAME, Uint8Array.of(0), textCodec, integerCodec);
/** Denomination metadata. The key is 0x01 and the base denomination. */
export const metadatas = createMap(MODULE_NAME, Uint8Array.of(1), textCodec, messageCodec(Metadata));
/**
 * Account balances. The key is 0x02, the length-prefixed address and the denomination. Amounts are decimal text, and zero balances
 * are not stored. Write balances with {@link setBalance}, which also updates the holder index.
 */
export const balances = createMap(MODULE_NAME, Uint8Array.of(2), balanceKeyCodec, integerCodec);
/**
 * Index of the holders of each denomination. The values are empty. The key is 0x03, the denomination, 0x00 and the length-prefixed
 * address.
 */
export const holders = createMap(MODULE_NAME, Uint8Array.of(3), holderKeyCodec, bytesCodec);
/** Overrides of the `default_send_enabled` parameter. Key: `0x04 | denom`. The value is the byte 1 (enabled) or 0 (disabled). */
export const sendEnabled = createMap(MODULE_NAME, Uint8Array.of(4), textCodec, booleanCodec);

const NO_BYTES = new Uint8Array(0);

/** Returns the balance of an address in one denomination. If no balance is stored, the amount is 0. */
export function balanceOf(context: Context, address: Uint8Array, denom: string): Coin {
  return { denom, amount: balances.get(context, { address, denom }) ?? 0n };
}

/** Iterates over the balances of an address, in byte order of the denominations. */
export function* balancesOf(context: Context, address: Uint8Array): IterableIterator<Coin> {
  for (const [{ denom }, amount] of balances.entries(context, lengthPrefixed(address)))
    yield { denom, amount };
}

/** Iterates over the addresses that hold a denomination, in ascending order. */
export function* holdersOf(context: Context, denom: string): IterableIterator<Uint8Array> {
  for (const [{ address }] of holders.entries(context, holdersKey(denom))) yield address;
}

/**
 * Writes a balance and its entry in the holder index. A zero amount deletes both. Like the SDK's indexed map, this function writes
 * the index first and does not read the old balance, because each store access consumes gas.
 */
export function setBalance(context: Context, address: Uint8Array, { denom, amount }: Coin): void {
  const key = { address, denom };
  writeBalance(context, key, balances.at(key), amount);
}

function writeBalance(context: Context, key: BalanceKey, item: StoredItem<bigint>, amount: bigint): void {
  if (amount === 0n) {
    holders.delete(context, key);
    item.delete(context);
  } else {
    holders.set(context, key, NO_BYTES);
    item.set(context, amount);
  }
}

function changeBalance(context: Context, key: BalanceKey, change: (balance: bigint) => bigint): void {
  const item = balances.at(key);
  writeBalance(context, key, item, change(item.get(context) ?? 0n));
}

/** Subtracts coins from an address. Throws sdk/5 if the spendable balance is too small, and sdk/10 if the coins are invalid. */
export function subtractCoins(
  context: Context,
  address: Uint8Array,
  { coins, locked }: { readonly coins: readonly Coin[]; readonly locked: readonly Coin[] },
): void {
  requireValid(coins);
  for (const coin of coins) {
    const { denom, amount } = coin;
    changeBalance(context, { address, denom }, (balance) => {
      const spendable = balance - amountOf(locked, denom);
      if (spendable >= amount) return balance - amount;
      throw tooSmall(coin, balance, spendable);
    });
  }
}

function tooSmall({ denom, amount }: Coin, balance: bigint, spendable: bigint): Error {
  const format = (value: bigint): string => formatCoin({ denom, amount: value });
  return ErrInsufficientFunds(
    spendable < 0n
      ? `locked amount exceeds account balance funds: ${format(balance - spendable)} > ${format(balance)}`
      : `spendable balance ${format(spendable)} is smaller than ${format(amount)}`,
  );
}

/** Adds coins to an address. Throws sdk/10 if the coins are invalid. */
export function addCoins(context: Context, address: Uint8Array, coins: readonly Coin[]): void {
  requireValid(coins);
  for (const { denom, amount } of coins)
    changeBalance(context, { address, denom }, (balance) => balance + amount);
}

/** Changes the supply. A zero supply is not stored. Throws a plain error (a bug) if the supply would become negative. */
export function changeSupply(context: Context, coins: readonly Coin[], direction: 1n | -1n): void {
  for (const { denom, amount } of coins) {
    const supply = (supplies.get(context, denom) ?? 0n) + direction * amount;
    if (supply < 0n) unreachable(`the supply of ${denom} would be ${supply}`);
    if (supply === 0n) supplies.delete(context, denom);
    else supplies.set(context, denom, supply);
  }
}

function requireValid(coins: readonly Coin[]): void {
  if (!areValidCoins(coins)) throw ErrInvalidCoins(formatCoins(coins));
}
