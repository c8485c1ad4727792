import { describe, expect, it } from "vitest";
import { createGasMeter, createGasStore } from "../../../src/localnet/chain/runtime/gas.ts";
import { createCacheStore, type KVStore } from "../../../src/localnet/chain/store/cache-store.ts";

const NOTHING: KVStore = {
  get: () => undefined,
  has: () => false,
  set: () => undefined,
  delete: () => undefined,
  iterate: () => [].values(),
  iterateReverse: () => [].values(),
};

function gasOf(work: (store: KVStore) => void): bigint {
  const below = createCacheStore(NOTHING);
  below.set(Uint8Array.of(1), new Uint8Array(10));
  below.set(Uint8Array.of(2, 2), new Uint8Array(20));
  const gas = createGasMeter();
  work(createGasStore(below, gas));
  return gas.used();
}

describe("a gas store", () => {
  it.each<readonly [string, (store: KVStore) => unknown, bigint]>([
    ["read", (store) => store.get(Uint8Array.of(1)), 1000n + 3n * 11n],
    ["read of an absent key", (store) => store.get(Uint8Array.of(9)), 1000n + 3n],
    ["has", (store) => store.has(Uint8Array.of(1)), 1000n],
    ["write", (store) => store.set(Uint8Array.of(1, 2), new Uint8Array(5)), 2000n + 30n * 7n],
    ["delete", (store) => store.delete(Uint8Array.of(1)), 1000n],
    ["iteration", (store) => [...store.iterate()], 3n * 11n + 30n + (3n * 11n + 30n) + (3n * 22n + 30n)],
    [
      "reverse iteration",
      (store) => [...store.iterateReverse()],
      3n * 22n + 30n + (3n * 22n + 30n) + (3n * 11n + 30n),
    ],
    ["iteration over an empty range", (store) => [...store.iterate(Uint8Array.of(7))], 30n],
    ["iterator without a step", (store) => store.iterate(), 3n * 11n + 30n],
  ])("%s", (_name, work, gas) => {
    expect(gasOf(work)).toBe(gas);
  });

  it("throws at the limit with the SDK's text", () => {
    const store = createGasStore(NOTHING, createGasMeter(2500n));
    store.get(Uint8Array.of(1));
    expect(() => store.set(Uint8Array.of(1), Uint8Array.of(1))).toThrow(
      "out of gas in location: WriteFlat; gasWanted: 2500, gasUsed: 3003: out of gas",
    );
  });
});
