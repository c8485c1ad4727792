import { describe, expect, it } from "vitest";
import { utf8 } from "../../../src/base/bytes.ts";
import { formatAddress, moduleAddress, parseAddress } from "../../../src/chain/runtime/address.ts";
import { verifySecp256k1 } from "../../../src/chain/runtime/ante/public-key.ts";
import { createItem, rememberingCodec, uint64Codec } from "../../../src/chain/store/collections.ts";
import type { KVStore } from "../../../src/chain/store/kv-store.ts";
import { createTestKey } from "../../support/test-keys.ts";

const alice = createTestKey("alice");
const bob = createTestKey("bob");

/** The same bytes with one bit turned. */
function flip(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.with(at, (bytes[at] ?? 0) ^ 1);
}

describe("a signature that was found right before", () => {
  const message = utf8("a document");
  const signature = alice.sign(message);

  it("stays right, in other arrays too", () => {
    for (let time = 0; time < 3; time++) {
      expect(verifySecp256k1(alice.publicKey.slice(), message.slice(), signature.slice())).toBe(true);
    }
  });

  it("makes nothing else right, whichever bit differs", () => {
    expect(verifySecp256k1(alice.publicKey, message, signature)).toBe(true);
    for (let at = 0; at < signature.length; at++) {
      expect(verifySecp256k1(alice.publicKey, message, flip(signature, at)), `byte ${at}`).toBe(false);
    }
    for (let at = 0; at < message.length; at++) {
      expect(verifySecp256k1(alice.publicKey, flip(message, at), signature), `byte ${at}`).toBe(false);
    }
    expect(verifySecp256k1(bob.publicKey, message, signature)).toBe(false);
    expect(verifySecp256k1(alice.publicKey, message, new Uint8Array(64))).toBe(false);
  });
});

describe("an address that was read or printed before", () => {
  it("is one of its own prefix only", () => {
    const bytes = moduleAddress("a module");
    const text = formatAddress("neutron", bytes);
    expect(parseAddress("neutron", text)).toEqual(bytes);
    expect(() => parseAddress("cosmos", text)).toThrow("invalid Bech32 prefix; expected cosmos, got neutron");
    expect(formatAddress("cosmos", bytes)).toMatch(/^cosmos1/);
    expect(formatAddress("neutron", bytes)).toBe(text);
  });

  it("is refused again when it was refused", () => {
    for (let time = 0; time < 2; time++) expect(() => parseAddress("neutron", "neutron1")).toThrow("bech32");
  });
});

describe("a value that was decoded before", () => {
  it("is decoded anew when its store gives other bytes, and cannot be changed", () => {
    let decoded = 0;
    const item = createItem(
      "store",
      Uint8Array.of(1),
      rememberingCodec({
        encode: ({ count }: { count: bigint }) => uint64Codec.encode(count),
        decode: (bytes) => {
          decoded += 1;
          return { count: uint64Codec.decode(bytes) };
        },
      }),
    );
    const scope = { store: () => oneValueStore() };
    const shared = { store: () => store };
    const store = oneValueStore();
    expect(item.get(scope)).toBeUndefined();
    item.set(shared, { count: 1n });
    for (let time = 0; time < 3; time++) expect(item.get(shared)).toEqual({ count: 1n });
    expect(decoded).toBe(1);
    item.set(shared, { count: 2n });
    const value = item.get(shared);
    expect(value).toEqual({ count: 2n });
    expect(() => Object.assign(value ?? {}, { count: 3n })).toThrow("read only");
    expect(item.get(shared)).toEqual({ count: 2n });
    expect(decoded).toBe(2);
  });
});

/** A store of one key. */
function oneValueStore(): KVStore {
  let kept: Uint8Array | undefined;
  return {
    get: () => kept,
    has: () => kept !== undefined,
    set: (_key, value) => {
      kept = value;
    },
    delete: () => {
      kept = undefined;
    },
    iterate: () => [].values(),
    iterateReverse: () => [].values(),
  };
}
