import { createObjectSlot } from "../../../platform/base/caches.ts";
import type { BinaryWriter } from "@bufbuild/protobuf/wire";
import {
  concat,
  fromUtf8,
  latin1,
  prefixEnd,
  readUint64BigEndian,
  toHex,
  uint64BigEndian,
  utf8,
} from "../../../platform/base/bytes.ts";
import { unreachable } from "../../../platform/base/errors.ts";
import { encodeMessage } from "../../../cosmos/proto/encode.ts";
import type { KVStore } from "./cache-store.ts";

/** Converts a store's keys or values to bytes and back. */
export interface Codec<T> {
  readonly encode: (value: T) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => T;
  /** Returns an encoder that writes `prefix` before each value. Defined only if such an encoder is faster than concatenating. */
  readonly encodeAfter?: (prefix: Uint8Array) => (value: T) => Uint8Array;
}

/** Opens stores by name, as a `Context` does. */
type StoreScope = { readonly store: (name: string) => KVStore };

export const bytesCodec: Codec<Uint8Array> = { encode: (value) => value, decode: (bytes) => bytes };

/** Encodes unsigned 64-bit integers as 8 bytes big-endian, so that keys sort numerically. */
export const uint64Codec: Codec<bigint> = {
  encode: uint64BigEndian,
  decode: (bytes) => readUint64BigEndian(bytes),
};

/** Encodes strings as UTF-8. Decoding throws if the bytes are not valid UTF-8. */
export const textCodec: Codec<string> = {
  encode: utf8,
  decode: fromUtf8,
  encodeAfter: (prefix) => {
    const isAscii = prefix.every((byte) => byte < 0x80);
    const text = latin1(prefix);
    return isAscii ? (value) => utf8(text + value) : (value) => concat(prefix, utf8(value));
  },
};

/** Joins addresses, each prefixed with its length in one byte. */
export function lengthPrefixed(...addresses: readonly Uint8Array[]): Uint8Array {
  return concat(...addresses.flatMap((address) => [Uint8Array.of(address.length), address]));
}

/** Splits the concatenated addresses in a result of {@link lengthPrefixed}. */
export function splitAddresses(bytes: Uint8Array): readonly Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += 1 + (bytes[at] ?? 0))
    parts.push(bytes.slice(at + 1, at + 1 + (bytes[at] ?? 0)));
  return parts;
}

/** Codec for a single address, preceded by its length (1 byte). */
export const addressCodec: Codec<Uint8Array> = {
  encode: (address) => lengthPrefixed(address),
  decode: (bytes) => bytes.slice(1),
};

/** Encodes integers of any size as decimal text, like the SDK encodes a stored `math.Int`. */
export const integerCodec: Codec<bigint> = {
  encode: (value) => utf8(value.toString()),
  decode: (bytes) => BigInt(latin1(bytes)),
};

interface MessageType<T> {
  encode(message: T, writer?: BinaryWriter): BinaryWriter;
  decode(input: Uint8Array): T;
}

export function messageCodec<T>(type: MessageType<T>): Codec<T> {
  return { encode: (value) => encodeMessage(type, value), decode: (bytes) => type.decode(bytes) };
}

/** Creates a codec that also converts values, e.g. between a protobuf message and a type with bigints. */
export function mappedCodec<Stored, T>(
  codec: Codec<Stored>,
  fromStored: (stored: Stored) => T,
  toStored: (value: T) => Stored,
): Codec<T> {
  return {
    encode: (value) => codec.encode(toStored(value)),
    decode: (bytes) => fromStored(codec.decode(bytes)),
  };
}

/**
 * Wraps a codec so that each stored array is decoded only once. Use this codec for small values that every transaction reads, such
 * as parameters. The decoded value is shared and frozen, but only at its top level.
 *
 * The cache is keyed by the array's identity, because a store returns the same array until the value is written again. If a store
 * returned copies, the cache would have no effect, but the decoded values would still be correct.
 */
export function rememberingCodec<T extends object>(codec: Codec<T>): Codec<T> {
  return {
    encode: codec.encode,
    decode: cachedOn("decoded value", (bytes: Uint8Array) => Object.freeze(codec.decode(bytes))),
  };
}

/** Wraps a pure function so that its result is cached on the argument object. `name` only labels the cache in a debugger. */
export function cachedOn<K extends object, T extends object>(
  name: string,
  compute: (source: K) => T,
): (source: K) => T {
  const slot = createObjectSlot<K, T>(name);
  return (source) => {
    const known = slot.get(source);
    if (known !== undefined) return known;
    const value = compute(source);
    slot.set(source, value);
    return value;
  };
}

/** One value under a fixed key in a store. */
export interface StoredItem<T> {
  readonly get: (scope: StoreScope) => T | undefined;
  readonly set: (scope: StoreScope, value: T) => void;
  readonly delete: (scope: StoreScope) => void;
}

export function createItem<T>(store: string, key: Uint8Array, codec: Codec<T>): StoredItem<T> {
  return {
    get: (scope) => {
      const bytes = scope.store(store).get(key);
      return bytes === undefined ? undefined : codec.decode(bytes);
    },
    set: (scope, value) => scope.store(store).set(key, codec.encode(value)),
    delete: (scope) => scope.store(store).delete(key),
  };
}

/** A stored item that always has a value, which genesis writes or the declaration provides. */
export interface RequiredItem<T> {
  readonly get: (scope: StoreScope) => T;
  readonly set: (scope: StoreScope, value: T) => void;
}

/** Declares a value under a fixed key that is always stored after genesis. Before genesis, `get` throws a plain error (a bug). */
export function createRequiredItem<T>(store: string, key: Uint8Array, codec: Codec<T>): RequiredItem<T> {
  const { get, set } = createItem(store, key, codec);
  return { get: (scope) => get(scope) ?? unreachable(`${store}/${toHex(key)} was read before genesis`), set };
}

/** Declares a value under a fixed key that is `initial` until it is written. */
export function createItemOr<T>(
  store: string,
  key: Uint8Array,
  codec: Codec<T>,
  initial: T,
): RequiredItem<T> {
  const { get, set } = createItem(store, key, codec);
  return { get: (scope) => get(scope) ?? initial, set };
}

/** A counter that assigns consecutive numbers. The store contains the next number to assign. */
export interface StoredSequence {
  /** Returns the next number without assigning it. */
  readonly next: (scope: StoreScope) => bigint;
  /** Returns the next number and increments the stored counter. */
  readonly take: (scope: StoreScope) => bigint;
  readonly set: (scope: StoreScope, next: bigint) => void;
}

/** Declares a counter under a fixed key. The key does not exist until the first number (`first`) is assigned. */
export function createSequence(store: string, key: Uint8Array, first: bigint): StoredSequence {
  const { get: next, set } = createItemOr(store, key, uint64Codec, first);
  const take = (scope: StoreScope): bigint => {
    const number = next(scope);
    set(scope, number + 1n);
    return number;
  };
  return { next, take, set };
}

export type StoredMap<K, V> = ReturnType<typeof createMap<K, V>>;

/** The stored bytes of a map's entries, i.e. of all keys in `store` that start with `prefix`. */
export interface MapRange<K, V> {
  readonly store: KVStore;
  readonly prefix: Uint8Array;
  /** Decodes an entry's key (given without `prefix`) and value. */
  readonly decode: (key: Uint8Array, value: Uint8Array) => readonly [key: K, value: V];
}

const NO_BYTES: Uint8Array = new Uint8Array(0);

/** Declares values under the keys `prefix | key` in a store. */
export function createMap<K, V>(store: string, prefix: Uint8Array, keys: Codec<K>, values: Codec<V>) {
  const path = keys.encodeAfter?.(prefix) ?? ((key: K): Uint8Array => concat(prefix, keys.encode(key)));
  /** Iterates over entries whose encoded keys start with `within` (default: all entries), in ascending order of encoded keys. */
  const entries = function* (scope: StoreScope, within = NO_BYTES): IterableIterator<readonly [K, V]> {
    const start = concat(prefix, within);
    for (const [key, value] of scope.store(store).iterate(start, prefixEnd(start)))
      yield [keys.decode(key.subarray(prefix.length)), values.decode(value)];
  };
  return {
    get: (scope: StoreScope, key: K): V | undefined => {
      const bytes = scope.store(store).get(path(key));
      return bytes === undefined ? undefined : values.decode(bytes);
    },
    has: (scope: StoreScope, key: K): boolean => scope.store(store).has(path(key)),
    set: (scope: StoreScope, key: K, value: V): void =>
      scope.store(store).set(path(key), values.encode(value)),
    delete: (scope: StoreScope, key: K): void => scope.store(store).delete(path(key)),
    /** Returns the item for a key, which saves encoding the key again for each access. */
    at: (key: K) => createItem(store, path(key), values),
    entries,
    /** Returns the values in the order of `entries`. */
    values: (scope: StoreScope, within?: Uint8Array): V[] =>
      Array.from(entries(scope, within), ([, value]) => value),
    /** Returns the entries as stored bytes, for paging. */
    range: (scope: StoreScope, within: Uint8Array = NO_BYTES): MapRange<K, V> => ({
      store: scope.store(store),
      prefix: concat(prefix, within),
      decode: (key, value) => [keys.decode(concat(within, key)), values.decode(value)],
    }),
  };
}
