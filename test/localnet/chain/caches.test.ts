import { describe, expect, it } from "vitest";
import { utf8 } from "../../../src/platform/base/bytes.ts";
import { formatAddress, moduleAddress, parseAddress } from "../../../src/localnet/chain/runtime/address.ts";
import { verifySecp256k1 } from "../../../src/localnet/chain/runtime/signature-steps.ts";
import {
  createItem,
  rememberingCodec,
  textCodec,
  uint64Codec,
} from "../../../src/localnet/chain/store/collections.ts";
import type { KVStore } from "../../../src/localnet/chain/store/cache-store.ts";
import { createTestKey } from "../../support/test-keys.ts";

const alice = createTestKey("alice");
const bob = createTestKey("bob");

/** Returns the bytes with one bit flipped. */
function flip(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.with(at, (bytes[at] ?? 0) ^ 1);
}

describe("a verified signature", () => {
  const message = utf8("a document");
  const signature = alice.sign(message);

  it("verifies again, also in other arrays", () => {
    for (let time = 0; time < 3; time++) {
      expect(verifySecp256k1(alice.publicKey.slice(), message.slice(), signature.slice())).toBe(true);
    }
  });

  it("does not make another signature, message or key valid", () => {
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

describe("a cached address", () => {
  it("is valid for its own prefix only", () => {
    const bytes = moduleAddress("a module");
    const text = formatAddress("neutron", bytes);
    expect(parseAddress("neutron", text)).toEqual(bytes);
    expect(() => parseAddress("cosmos", text)).toThrow("invalid Bech32 prefix; expected cosmos, got neutron");
    expect(formatAddress("cosmos", bytes)).toMatch(/^cosmos1/);
    expect(formatAddress("neutron", bytes)).toBe(text);
  });

  it("is rejected every time when it is invalid", () => {
    for (let time = 0; time < 2; time++) expect(() => parseAddress("neutron", "neutron1")).toThrow("bech32");
  });
});

it("keys of text follow any bytes of a prefix", () => {
  const after = (...prefix: readonly number[]) => textCodec.encodeAfter?.(Uint8Array.of(...prefix))("\u00e9");
  expect([after(0x7f), after(0x80)]).toEqual([
    Uint8Array.of(0x7f, 0xc3, 0xa9),
    Uint8Array.of(0x80, 0xc3, 0xa9),
  ]);
});

describe("a remembering codec", () => {
  it("decodes again when the store returns another array, and returns frozen values", () => {
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

/** Creates a store with one key. */
function oneValueStore(): KVStore {
  let stored: Uint8Array | undefined;
  return {
    get: () => stored,
    has: () => stored !== undefined,
    set: (_key, value) => {
      stored = value;
    },
    delete: () => {
      stored = undefined;
    },
    iterate: () => [].values(),
    iterateReverse: () => [].values(),
  };
}
