import {
  CodeInfo,
  ContractCodeHistoryEntry,
  ContractInfo,
} from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import {
  concat,
  prefixEnd,
  readUint64BigEndian,
  sha256,
  toHex,
  uint64BigEndian,
  utf8,
} from "../../../../platform/base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
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

/** Counters of codes and contracts. The values are the ids that are assigned next. */
export const sequences = {
  nextCodeId: (context: Context): bigint => codeSequence.get(context) ?? 1n,
  nextInstance: (context: Context): bigint => instanceSequence.get(context) ?? 1n,
  setNextCodeId: (context: Context, id: bigint): void => codeSequence.set(context, id),
  setNextInstance: (context: Context, id: bigint): void => instanceSequence.set(context, id),
};

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

/** Returns the index of the present transaction in its block; undefined before the first one. The ante handler counts. */
export function transactionIndex(context: Context): number | undefined {
  const counter = context.store(keys.MODULE_NAME).get(keys.TX_COUNTER_KEY);
  if (counter === undefined || readUint64BigEndian(counter) !== context.height) return undefined;
  return new DataView(counter.buffer, counter.byteOffset, counter.byteLength).getUint32(8) - 1;
}

/** Returns the SHA-256 of the code's name. It stands in for the hash of the WebAssembly bytes. */
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

/** Returns the prefix of a contract's keys in the module's store. */
export function statePrefix(address: Uint8Array): Uint8Array {
  return concat(keys.STATE_PREFIX, address);
}

/** Returns a view of a contract's own entries. Keys have no prefix. */
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

/** Returns a view that throws on writes: a query must not change state. */
export function readOnly(store: KVStore): KVStore {
  return { ...store, set: refuseWrite, delete: refuseWrite };
}

function refuseWrite(): never {
  throw new Error("this is a bug: a contract wrote during a query");
}

function* withoutPrefix(entries: IterableIterator<Entry>, length: number): IterableIterator<Entry> {
  for (const [key, value] of entries) yield [key.subarray(length), value];
}

/** Length of an `AbsoluteTxPosition` in a key: height and index of the transaction, 8 bytes each. */
export const POSITION_BYTES = 16;

const EMPTY = new Uint8Array(0);

/** Returns the prefix of the contracts of a code, in order of their creation. The position and the address follow. */
export function codeIndexPrefix(codeId: bigint): Uint8Array {
  return concat(CODE_INDEX_PREFIX, uint64BigEndian(codeId));
}

/** Returns the prefix of the contracts of a creator, in order of their creation. The position and the address follow. */
export function creatorIndexPrefix(creator: Uint8Array): Uint8Array {
  return concat(CREATOR_INDEX_PREFIX, Uint8Array.of(creator.length), creator);
}

/** Returns the prefix of the history of a contract. The number of the entry follows, 8 bytes, from 1. */
export function historyPrefix(address: Uint8Array): Uint8Array {
  return concat(HISTORY_PREFIX, address);
}

/**
 * Writes the indexes and the history of a new contract. Order and number of store accesses are wasmd's, because each access
 * consumes gas.
 */
export function indexContract(
  context: Context,
  contract: { readonly address: Uint8Array; readonly creator: Uint8Array },
  entry: ContractCodeHistoryEntry,
): void {
  const { address, creator } = contract;
  const position = positionOf(entry);
  const store = context.store(MODULE_NAME);
  store.set(concat(codeIndexPrefix(entry.codeId), position, address), EMPTY);
  store.set(concat(creatorIndexPrefix(creator), position, address), EMPTY);
  const prefix = historyPrefix(address);
  const [last] = store.iterateReverse(prefix, prefixEnd(prefix));
  const number = last === undefined ? 0n : readUint64BigEndian(last[0].subarray(prefix.length));
  store.set(concat(prefix, uint64BigEndian(number + 1n)), ContractCodeHistoryEntry.encode(entry).finish());
}

function positionOf({ updated }: ContractCodeHistoryEntry): Uint8Array {
  return concat(uint64BigEndian(updated?.blockHeight ?? 0n), uint64BigEndian(updated?.txIndex ?? 0n));
}

/** Returns the history of a contract, oldest first. */
export function historyOf(context: Context, address: Uint8Array): readonly ContractCodeHistoryEntry[] {
  const prefix = historyPrefix(address);
  const entries = context.store(MODULE_NAME).iterate(prefix, prefixEnd(prefix));
  return [...entries].map(([, value]) => ContractCodeHistoryEntry.decode(value));
}
