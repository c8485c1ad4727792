import {
  CodeInfo,
  ContractCodeHistoryEntry,
  ContractInfo,
} from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import {
  concat,
  fromHex,
  prefixEnd,
  readUint64BigEndian,
  sha256,
  toHex,
  uint64BigEndian,
  utf8,
} from "../../../../platform/base/bytes.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import type { Context } from "../../runtime/context.ts";
import { createGasMeter } from "../../runtime/gas.ts";
import { bytesCodec, createItem, createMap, messageCodec, uint64Codec } from "../../store/collections.ts";
import type { Entry, KVStore } from "../../store/kv-store.ts";
import type { ContractCode } from "./contract.ts";
import * as keys from "./keys.ts";
import { CODE_INDEX_PREFIX, CREATOR_INDEX_PREFIX, HISTORY_PREFIX, MODULE_NAME } from "./keys.ts";

const codeSequence = createItem(keys.MODULE_NAME, keys.CODE_SEQUENCE_KEY, uint64Codec);
const instanceSequence = createItem(keys.MODULE_NAME, keys.INSTANCE_SEQUENCE_KEY, uint64Codec);

/** Codes by id. */
export const codes = createMap(
  keys.MODULE_NAME,
  keys.CODE_PREFIX,
  uint64Codec,
  messageCodec<CodeInfo>(CodeInfo),
);
/** Contracts by address bytes. */
export const contracts = createMap(
  keys.MODULE_NAME,
  keys.CONTRACT_PREFIX,
  bytesCodec,
  messageCodec<ContractInfo>(ContractInfo),
);

/** Code and contract counters, whose values are the next ids to assign. */
export const sequences = {
  nextCodeId: (context: Context): bigint => codeSequence.get(context) ?? 1n,
  nextInstance: (context: Context): bigint => instanceSequence.get(context) ?? 1n,
  setNextCodeId: (context: Context, id: bigint): void => codeSequence.set(context, id),
  setNextInstance: (context: Context, id: bigint): void => instanceSequence.set(context, id),
};

const pinned = createMap(keys.MODULE_NAME, keys.PINNED_PREFIX, uint64Codec, bytesCodec);

/** Returns whether a code is pinned, which makes its instances cheaper. */
export function isPinned(context: Context, codeId: bigint): boolean {
  return pinned.has(context, codeId);
}

/** Pins or unpins a code. */
export function setPinned(context: Context, codeId: bigint, pin: boolean): void {
  if (pin) pinned.set(context, codeId, Uint8Array.of(1));
  else pinned.delete(context, codeId);
}

/** Assigns and returns the next code id. */
export function takeCodeId(context: Context): bigint {
  const id = sequences.nextCodeId(context);
  codeSequence.set(context, id + 1n);
  return id;
}

/** Assigns and returns the next instance number. */
export function takeInstance(context: Context): bigint {
  const id = sequences.nextInstance(context);
  instanceSequence.set(context, id + 1n);
  return id;
}

/** Returns the current transaction's index in its block, counted by the ante handler; undefined before the first transaction. */
export function transactionIndex(context: Context): number | undefined {
  const counter = context.store(keys.MODULE_NAME).get(keys.TX_COUNTER_KEY);
  if (counter === undefined || readUint64BigEndian(counter) !== context.height) return undefined;
  return new DataView(counter.buffer, counter.byteOffset, counter.byteLength).getUint32(8) - 1;
}

/**
 * Returns the running transaction's index without consuming gas, or undefined in block hooks, queries and simulations. Only
 * transactions have a gas limit.
 */
export function runningTransaction(context: Context): number | undefined {
  if (context.mode !== "deliver" || context.gas.limit === undefined) return undefined;
  return transactionIndex(context.withGas(createGasMeter()));
}

/** Returns the SHA-256 hash of the code's name, which replaces the hash of WebAssembly bytes. */
export function codeHash(code: ContractCode): Uint8Array {
  return sha256(utf8(`relaywatch/contract/${code.name}`));
}

/** Returns a function that finds a code by its hash. */
export function createCodeRegistry(
  codesByName: readonly ContractCode[],
): (hash: Uint8Array) => ContractCode | undefined {
  const byHash = new Map(codesByName.map((code) => [toHex(codeHash(code)), code]));
  return (hash) => byHash.get(toHex(hash));
}

function bytesKey(checksum: Uint8Array): Uint8Array {
  return concat(keys.CODE_BYTES_PREFIX, checksum);
}

/** Stores a code's bytes. Writing them consumes no gas, since the deployed chain stores them in files. */
export function setCodeBytes(context: Context, checksum: Uint8Array, code: Uint8Array): void {
  const store = context.withGas(createGasMeter()).store(MODULE_NAME);
  if (!store.has(bytesKey(checksum))) store.set(bytesKey(checksum), code);
}

/** Returns a code's bytes by hash, or undefined for a TypeScript contract. Consumes no gas. */
export function findCodeBytes(context: Context, checksum: Uint8Array): Uint8Array | undefined {
  return context.withGas(createGasMeter()).store(MODULE_NAME).get(bytesKey(checksum));
}

/** Returns a stored code's bytes by hash in hex. */
export function codeBytes(context: Context, checksum: string): Uint8Array {
  return (
    findCodeBytes(context, fromHex(checksum)) ?? unreachable(`the bytes of code ${checksum} are not stored`)
  );
}

/** Returns the key prefix for a contract's state in the module's store. */
export function statePrefix(address: Uint8Array): Uint8Array {
  return concat(keys.STATE_PREFIX, address);
}

/** Returns a view of a contract's own entries, with unprefixed keys. */
export function contractStore(context: Context, address: Uint8Array): KVStore {
  const prefix = statePrefix(address);
  const parent = context.store(keys.MODULE_NAME);
  const own = (key: Uint8Array): Uint8Array => concat(prefix, key);
  const range = (start?: Uint8Array, end?: Uint8Array): readonly [Uint8Array, Uint8Array | undefined] => [
    start === undefined ? prefix : own(start),
    end === undefined ? prefixEnd(prefix) : own(end),
  ];
  return {
    get: (key) => parent.get(own(key)),
    has: (key) => parent.has(own(key)),
    set: (key, value) => parent.set(own(key), value),
    delete: (key) => parent.delete(own(key)),
    iterate: (start, end) => withoutPrefix(parent.iterate(...range(start, end)), prefix.length),
    iterateReverse: (start, end) => withoutPrefix(parent.iterateReverse(...range(start, end)), prefix.length),
  };
}

/** Returns a view that throws on writes, since a query must not change the state. */
export function readOnly(store: KVStore): KVStore {
  return { ...store, set: refuseWrite, delete: refuseWrite };
}

function refuseWrite(): never {
  throw new Error("this is a bug: a contract wrote during a query");
}

function* withoutPrefix(entries: IterableIterator<Entry>, length: number): IterableIterator<Entry> {
  for (const [key, value] of entries) yield [key.subarray(length), value];
}

/** Length of an `AbsoluteTxPosition` in a key: the transaction's height and index, 8 bytes each. */
export const POSITION_BYTES = 16;

const EMPTY = new Uint8Array(0);

/** Returns the key prefix for a code's contracts, in creation order. Position and address follow it. */
export function codeIndexPrefix(codeId: bigint): Uint8Array {
  return concat(CODE_INDEX_PREFIX, uint64BigEndian(codeId));
}

/** Returns the key prefix for a creator's contracts, in creation order. Position and address follow it. */
export function creatorIndexPrefix(creator: Uint8Array): Uint8Array {
  return concat(CREATOR_INDEX_PREFIX, Uint8Array.of(creator.length), creator);
}

/** Returns the key prefix for a contract's history. The entry's number (8 bytes, from 1) follows it. */
export function historyPrefix(address: Uint8Array): Uint8Array {
  return concat(HISTORY_PREFIX, address);
}

/** Writes a new contract's indexes and history. Each store access consumes gas, so their order and number match wasmd's. */
export function indexContract(
  context: Context,
  contract: { readonly address: Uint8Array; readonly creator: Uint8Array },
  entry: ContractCodeHistoryEntry,
): void {
  const { address, creator } = contract;
  const store = context.store(MODULE_NAME);
  store.set(codeIndexKey(entry, address), EMPTY);
  store.set(concat(creatorIndexPrefix(creator), positionOf(entry), address), EMPTY);
  appendHistory(context, address, entry);
}

/** Writes an imported contract's indexes and history, indexing the contract under the code in its last entry. */
export function indexImported(
  context: Context,
  contract: { readonly address: Uint8Array; readonly creator: Uint8Array },
  entries: readonly ContractCodeHistoryEntry[],
): void {
  const [first, ...migrations] = entries;
  if (first === undefined) return;
  indexContract(context, contract, first);
  for (const entry of migrations) indexMigration(context, contract.address, entry);
}

/** Moves a contract to its new code after a migration, both in the index and in the history. */
export function indexMigration(context: Context, address: Uint8Array, entry: ContractCodeHistoryEntry): void {
  const store = context.store(MODULE_NAME);
  const last = lastHistory(context, address)?.entry ?? unreachable("a contract has no history");
  store.delete(codeIndexKey(last, address));
  appendHistory(context, address, entry);
  store.set(codeIndexKey(entry, address), EMPTY);
}

function codeIndexKey(entry: ContractCodeHistoryEntry, address: Uint8Array): Uint8Array {
  return concat(codeIndexPrefix(entry.codeId), positionOf(entry), address);
}

function appendHistory(context: Context, address: Uint8Array, entry: ContractCodeHistoryEntry): void {
  const number = (lastHistory(context, address)?.number ?? 0n) + 1n;
  const key = concat(historyPrefix(address), uint64BigEndian(number));
  context.store(MODULE_NAME).set(key, ContractCodeHistoryEntry.encode(entry).finish());
}

/** Returns the last entry in a contract's history, with its number. */
function lastHistory(
  context: Context,
  address: Uint8Array,
): { readonly number: bigint; readonly entry: ContractCodeHistoryEntry } | undefined {
  const prefix = historyPrefix(address);
  const [last] = context.store(MODULE_NAME).iterateReverse(prefix, prefixEnd(prefix));
  if (last === undefined) return undefined;
  const [key, value] = last;
  return {
    number: readUint64BigEndian(key.subarray(prefix.length)),
    entry: ContractCodeHistoryEntry.decode(value),
  };
}

function positionOf({ updated }: ContractCodeHistoryEntry): Uint8Array {
  return concat(uint64BigEndian(updated?.blockHeight ?? 0n), uint64BigEndian(updated?.txIndex ?? 0n));
}

/** Returns a contract's history, oldest entry first. */
export function historyOf(context: Context, address: Uint8Array): readonly ContractCodeHistoryEntry[] {
  const prefix = historyPrefix(address);
  const entries = context.store(MODULE_NAME).iterate(prefix, prefixEnd(prefix));
  return [...entries].map(([, value]) => ContractCodeHistoryEntry.decode(value));
}
