import { describe, expect, it } from "vitest";
import { fromUtf8, toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import type { Application } from "../../../src/localnet/chain/runtime/abci.ts";
import { createProofVerifier } from "../../../src/cosmos/merkle/ics23/proof-verifier.ts";
import { type CounterProgram, createCounterApplication } from "../../support/counter-application.ts";
import { createMemoryStorage, type MemoryStorage } from "../../support/memory-storage.ts";
import { continueTestChain } from "../../support/test-chain.ts";

const OLD: CounterProgram = { counters: ["apples"] };
const NEW: CounterProgram = {
  // Before and after the old module: in the order of genesis, hooks and store names.
  counters: ["aardvarks", "apples", "pears"],
  upgrades: [
    { name: "fruit", adds: ["pears", "plums"] },
    { name: "animals", adds: ["aardvarks"] },
  ],
};

/** Opens a program on a storage and makes blocks. Returns the app hashes by height, in hex. */
function run(storage: MemoryStorage, program: CounterProgram, blocks: number) {
  const app = createCounterApplication(program, storage);
  const { height } = app.info();
  if (height === 0n) {
    app.initChain({
      chainId: "up-1",
      timeNs: 0n,
      initialHeight: 1n,
      validators: [],
      appState: { apples: { count: "0", started: "genesis" } },
    });
  }
  const chain = continueTestChain(app, height);
  const hashes = Array.from({ length: blocks }, () => {
    const { appHash, changes } = chain.block();
    storage.save(changes);
    return appHash;
  });
  return { app, hashes };
}

const query = (app: Application, path: string, height = 0n) =>
  app.query({ path, data: new Uint8Array(), height, prove: false });
const count = (app: Application, module: string, height = 0n): string =>
  fromUtf8(query(app, `/${module}/Count`, height).value);
const stored = (app: Application, store: string, key: string, height = 0n) =>
  app.query({ path: `store/${store}/key`, data: utf8(key), height, prove: false });
const proven = (app: Application, store: string, height: bigint) =>
  app.query({ path: `store/${store}/key`, data: utf8("count"), height, prove: true });

describe("a program with more modules than the saved state", () => {
  it("starts them from their default genesis in its first block and notes the upgrades", () => {
    const storage = createMemoryStorage();
    const before = run(storage, OLD, 3);
    const app = createCounterApplication(NEW, storage);
    // Until the block, the state is the old one, with the old app hash.
    expect(toHex(app.info().appHash)).toBe(toHex(before.hashes[2] ?? expect.unreachable("no third block")));
    expect(count(app, "apples")).toBe("3 genesis");
    expect(query(app, "/pears/Count").code).toBe(111_222);
    expect(stored(app, "pears", "count").log).toBe("no such store: pears: unknown request");
    const after = run(storage, NEW, 2).app;
    // Block 4 runs the genesis with its own height and time, then counts.
    expect(count(after, "pears")).toBe("1002 4 1790000004000000000");
    expect(count(after, "aardvarks", 4n)).toBe("1001 4 1790000004000000000");
    expect(count(after, "apples")).toBe("5 genesis");
    for (const name of ["fruit", "animals"]) {
      const key = `Upgrade/${name}`;
      expect(toHex(stored(after, "consensus", key).value)).toBe("0000000000000004");
      expect(stored(after, "consensus", key, 3n).value).toHaveLength(0);
    }
    expect(stored(after, "pears", "count", 3n)).toMatchObject({ log: "version does not exist", code: 0 });
    expect(proven(after, "pears", 3n)).toMatchObject({ code: 7, codespace: "store" });
  });

  it("has the same app hashes whether it restarts or not, also when the block of the upgrade is lost", () => {
    const storages = [createMemoryStorage(), createMemoryStorage()] as const;
    const hashes = storages.map((storage) => run(storage, OLD, 3).hashes.map(toHex));
    expect(hashes[0]).toEqual(hashes[1]);
    // A kill loses the block of the upgrade, which was executed and not saved.
    const lost = continueTestChain(createCounterApplication(NEW, storages[0]), 3n).block();
    const atOnce = run(storages[0], NEW, 4).hashes.map(toHex);
    const restarted = [1, 2, 1].flatMap((blocks) => run(storages[1], NEW, blocks).hashes.map(toHex));
    expect(restarted).toEqual(atOnce);
    expect(toHex(lost.appHash)).toBe(atOnce[0]);
    expect(new Set(atOnce).size).toBe(4);
    // The upgrade runs once.
    expect(toHex(stored(run(storages[1], NEW, 1).app, "consensus", "Upgrade/fruit").value)).toBe(
      "0000000000000004",
    );
  });

  it("proves keys of both sides of the upgrade, before and after a restart", () => {
    const storage = createMemoryStorage();
    const hashes = [...run(storage, OLD, 3).hashes];
    const continued = run(storage, NEW, 2);
    hashes.push(...continued.hashes);
    const verifier = createProofVerifier();
    for (const app of [continued.app, createCounterApplication(NEW, storage)]) {
      for (const [store, height] of [
        ["apples", 3n],
        ["apples", 4n],
        ["pears", 4n],
        ["aardvarks", 5n],
      ] as const) {
        const response = proven(app, store, height);
        const operations = response.proof?.map(({ data }) => data);
        const root = hashes[Number(height) - 1] ?? expect.unreachable("no hash");
        const fact = { store, key: utf8("count"), value: response.value, operations };
        expect([store, height, verifier.verify(root, fact).ok]).toEqual([store, height, true]);
      }
    }
  });

  it("exports the modules that the state has; the others start with the import", () => {
    const storage = createMemoryStorage();
    run(storage, OLD, 3);
    const exported = createCounterApplication(NEW, storage).exportState();
    expect(Object.keys(exported)).toEqual(["consensus", "apples"]);
    const app = createCounterApplication(NEW);
    app.initChain({ chainId: "up-1", timeNs: 7n, initialHeight: 4n, validators: [], appState: exported });
    continueTestChain(app, 3n).block();
    expect([count(app, "apples"), count(app, "pears")]).toEqual(["4 genesis", "1001 0 7"]);
    expect(Object.keys(run(storage, NEW, 1).app.exportState())).toEqual([
      "consensus",
      "aardvarks",
      "apples",
      "pears",
    ]);
  });

  it("is rejected without an upgrade that adds them", () => {
    const storage = createMemoryStorage();
    run(storage, OLD, 3);
    const upgrades = [{ name: "fruit", adds: ["pears"] }];
    expect(() => createCounterApplication({ counters: NEW.counters, upgrades }, storage)).toThrow(
      "the saved state has no stores of the module aardvarks, and no upgrade of this program adds them",
    );
    expect(() => createCounterApplication({ counters: NEW.counters }, storage)).toThrow(
      expect.objectContaining({ facts: { code: "missing-upgrade", modules: ["aardvarks", "pears"] } }),
    );
  });
});

describe("a program with fewer modules than the saved state", () => {
  it("is rejected with the stores that it lacks", () => {
    const storage = createMemoryStorage();
    run(storage, { counters: ["apples", "pears", "plums"] }, 2);
    expect(() => createCounterApplication(OLD, storage)).toThrow(
      "the saved state has the store pears, plums, which no module of this program owns",
    );
    expect(() => createCounterApplication(OLD, storage)).toThrow(
      expect.objectContaining({ facts: { code: "missing-module", stores: ["pears", "plums"] } }),
    );
  });
});
