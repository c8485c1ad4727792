import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fromUtf8, toHex } from "../../../../src/platform/base/bytes.ts";
import { createApp } from "../../../../src/localnet/chain/app.ts";
import type { StateStorage } from "../../../../src/localnet/chain/store/multi-store.ts";
import { exportHomeGenesis, importHomeGenesis } from "../../../../src/localnet/cli/localnet-export.ts";
import { type CounterProgram, createCounterApplication } from "../../../support/counter-application.ts";
import { fixtureFile } from "../../../support/fixture-file.ts";
import { createTestKey } from "../../../support/test-keys.ts";
import { buildTx, sendMessage } from "../../../support/test-tx.ts";
import { startTestNode, type TestNode } from "../../../support/test-node.ts";

const OLD: CounterProgram = { counters: ["apples"] };
const NEW: CounterProgram = {
  counters: ["apples", "pears"],
  upgrades: [{ name: "fruit", adds: ["pears"] }],
};

const appOf = (program: CounterProgram) => (storage: StateStorage) =>
  createCounterApplication(program, storage);
const start = (home: string, program: CounterProgram): Promise<TestNode> =>
  startTestNode({ home }, { createApp: appOf(program) });

function count({ view }: TestNode, module: string): string {
  const response = view.query({
    path: `/${module}/Count`,
    data: new Uint8Array(),
    height: 0n,
    prove: false,
  });
  return fromUtf8(response.value).split(" ").slice(0, 2).join(" at ");
}

describe("a home that a program with fewer modules wrote", () => {
  let root: string;
  let home: string;
  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), "relaywatch-upgrade-"));
    home = join(root, "first");
    const node = await start(home, OLD);
    node.control.produce(5);
    await node.stop();
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it("continues, and the added module starts in the next block", async () => {
    // Stopped before a block, the program leaves the home as it was.
    await (await start(home, NEW)).stop();
    const first = await start(home, NEW);
    expect(first.view.status().latestHeight).toBe(5n);
    first.control.produce(3);
    expect([count(first, "apples"), count(first, "pears")]).toEqual(["1008 at 0", "1003 at 6"]);
    const { latestAppHash } = first.view.status();
    await first.stop();
    const second = await start(home, NEW);
    expect(toHex(second.view.status().latestAppHash)).toBe(toHex(latestAppHash));
    second.control.produce(1);
    expect([count(second, "apples"), count(second, "pears")]).toEqual(["1009 at 0", "1004 at 6"]);
    // The header of block 6 has the hash of the state after block 5, which has no pears.
    expect(second.view.block(6n)?.header.appHash).toEqual(second.view.results(5n)?.appHash);
    await second.stop();
  });

  it("can be exported before and after the upgrade, and imported", async () => {
    const before = exportHomeGenesis(home, appOf(NEW));
    expect(Object.keys(before.appState)).toEqual(["consensus", "apples"]);
    const node = await start(home, NEW);
    node.control.produce(1);
    await node.stop();
    const after = exportHomeGenesis(home, appOf(NEW));
    expect(after.appState).toMatchObject({ apples: { count: "1006" }, pears: { count: "1001" } });
    for (const genesis of [before, after]) {
      const copy = join(root, `copy-${genesis.initialHeight}`);
      importHomeGenesis(copy, genesis, appOf(NEW));
      const imported = await start(copy, NEW);
      imported.control.produce(1);
      expect(count(imported, "apples")).toBe(genesis === before ? "1006 at 0" : "1007 at 0");
      expect(count(imported, "pears")).toBe(genesis === before ? "1001 at 0" : "1002 at 6");
      await imported.stop();
    }
  });

  it("is not called damaged when the module is missing or has no upgrade", async () => {
    await expect(start(home, { counters: NEW.counters })).rejects.toMatchObject({
      facts: { code: "missing-upgrade", modules: ["pears"] },
    });
    const node = await start(home, NEW);
    node.control.produce(1);
    await node.stop();
    const missing = { facts: { code: "missing-module", stores: ["pears"] } };
    await expect(start(home, OLD)).rejects.toMatchObject(missing);
    expect(() => exportHomeGenesis(home, appOf(OLD))).toThrow(expect.objectContaining(missing));
  });
});

describe("a home of a release before the dex", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "relaywatch-upgrade-"));
    copyFileSync(fixtureFile("homes/before-dex.db"), join(home, "node.db"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const newApp = (storage: StateStorage) => createApp({ kind: "local", denom: "untrn" }, { storage });
  const pay = (sequence: bigint): Uint8Array => {
    const [alice, bob] = [createTestKey("alice"), createTestKey("bob")];
    return buildTx({ key: alice, sequence, messages: [sendMessage(alice.address, bob.address, 7n)] });
  };

  it("continues with the modules of this release", async () => {
    expect(Object.keys(exportHomeGenesis(home, newApp).appState)).not.toContain("dex");
    for (const restart of [0n, 1n]) {
      const node = await startTestNode({ home, chainId: "test-1" }, { createApp: newApp });
      expect(node.view.status().latestHeight).toBe(4n + restart);
      expect(node.view.broadcast(pay(4n + restart)).check).toMatchObject({ code: 0, log: "" });
      node.control.produce(1);
      expect(node.view.results(5n + restart)?.txResults).toMatchObject([{ code: 0, log: "" }]);
      const path = "/neutron.dex.Query/Params";
      const params = node.view.query({ path, data: new Uint8Array(), height: 0n, prove: false });
      expect(params).toMatchObject({ code: 0, log: "" });
      await node.stop();
    }
    expect(exportHomeGenesis(home, newApp).appState).toHaveProperty("dex.params");
  });
});
