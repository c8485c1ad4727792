import type { BinaryWriter } from "@bufbuild/protobuf/wire";
import { concat, prefixEnd, readUint64BigEndian, uint64BigEndian, utf8 } from "../../base/bytes.ts";
import type { KVStore } from "./kv-store.ts";

/** How a key or a value is written into a store. */
export interface Codec<T> {
  readonly encode: (value: T) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => T;
}

/** Opens the store that a collection lives in, for instance `context.store("bank")`. */
interface StoreScope {
  readonly store: (name: string) => KVStore;
}

/** Raw bytes. */
export const bytesCodec: Codec<Uint8Array> = { encode: (value) => value, decode: (bytes) => bytes };

/** Unsigned 64-bit numbers, 8 bytes big-endian, so that keys sort by number. */
export const uint64Codec: Codec<bigint> = {
  encode: uint64BigEndian,
  decode: (bytes) => readUint64BigEndian(bytes),
};

/** Texts as UTF-8. */
export const textCodec: Codec<string> = {
  encode: utf8,
  decode: (bytes) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
};

/** Integers of any size as decimal text, as the SDK stores `math.Int`. */
export const integerCodec: Codec<bigint> = {
  encode: (value) => utf8(value.toString()),
  decode: (bytes) => BigInt(textCodec.decode(bytes)),
};

/** The part of a generated message type that storing needs. */
interface MessageType<T> {
  encode(message: T): BinaryWriter;
  decode(input: Uint8Array): T;
}

/** Protobuf messages. */
export function messageCodec<T>(type: MessageType<T>): Codec<T> {
  return { encode: (value) => type.encode(value).finish(), decode: (bytes) => type.decode(bytes) };
}

/**
 * The same codec, but stored bytes are decoded once and then known by their identity: stores give the same array for a
 * value until it is written again. For small values that every transaction reads. What it gives is shared and frozen.
 */
export function rememberingCodec<T extends object>(codec: Codec<T>): Codec<T> {
  const decoded = new WeakMap<Uint8Array, T>();
  return {
    encode: codec.encode,
    decode: (bytes) => {
      const known = decoded.get(bytes);
      if (known !== undefined) return known;
      const value = Object.freeze(codec.decode(bytes));
      decoded.set(bytes, value);
      return value;
    },
  };
}

/** One value under a fixed key. */
export interface StoredItem<T> {
  readonly get: (scope: StoreScope) => T | undefined;
  readonly set: (scope: StoreScope, value: T) => void;
  readonly delete: (scope: StoreScope) => void;
}

/** Declares an item of a store. */
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

/** Values under `prefix | key`. */
export interface StoredMap<K, V> {
  readonly get: (scope: StoreScope, key: K) => V | undefined;
  readonly has: (scope: StoreScope, key: K) => boolean;
  readonly set: (scope: StoreScope, key: K, value: V) => void;
  readonly delete: (scope: StoreScope, key: K) => void;
  /** All entries, or those whose encoded key begins with `within`, ascending by encoded key. */
  readonly entries: (scope: StoreScope, within?: Uint8Array) => IterableIterator<readonly [key: K, value: V]>;
}

/** Declares a map of a store. */
export function createMap<K, V>(
  store: string,
  prefix: Uint8Array,
  keys: Codec<K>,
  values: Codec<V>,
): StoredMap<K, V> {
  const path = (key: K): Uint8Array => concat(prefix, keys.encode(key));
  return {
    get: (scope, key) => {
      const bytes = scope.store(store).get(path(key));
      return bytes === undefined ? undefined : values.decode(bytes);
    },
    has: (scope, key) => scope.store(store).has(path(key)),
    set: (scope, key, value) => scope.store(store).set(path(key), values.encode(value)),
    delete: (scope, key) => scope.store(store).delete(path(key)),
    entries: function* (scope, within = new Uint8Array(0)) {
      const start = concat(prefix, within);
      for (const [key, value] of scope.store(store).iterate(start, prefixEnd(start)))
        yield [keys.decode(key.subarray(prefix.length)), values.decode(value)];
    },
  };
}
