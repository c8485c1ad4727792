import {
  concat,
  prefixEnd,
  readUint64BigEndian,
  toHex,
  utf8,
  sha256,
} from "../../../../platform/base/bytes.ts";
import { CodeInfo, ContractInfo } from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import type { Context } from "../../runtime/context.ts";
import { bytesCodec, createItem, createMap, messageCodec, uint64Codec } from "../../store/collections.ts";
import type { Entry, KVStore } from "../../store/kv-store.ts";
import type { ContractCode } from "./contract.ts";
import * as keys from "./keys.ts";

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
