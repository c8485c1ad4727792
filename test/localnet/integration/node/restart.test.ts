import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { testValidatorSeed } from "../../../../src/localnet/node/consensus/validators.ts";
import { exportHomeGenesis } from "../../../../src/localnet/cli/localnet-export.ts";
import { fromUtf8, sha256, toHex, utf8 } from "../../../../src/platform/base/bytes.ts";
import { fileModes } from "../../../support/file-modes.ts";
import { fixtureFile } from "../../../support/fixture-file.ts";
import { createKvApplication } from "../../../support/kv-application.ts";
import { startTestNode, testGenesis, type TestNode } from "../../../support/test-node.ts";

/** Replaces bytes with hex, so that a Buffer and a Uint8Array with the same bytes are equal. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return toHex(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]));
}

describe("a node with a home directory", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "relaywatch-node-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  it("continues with the same state after a restart", async () => {
    const first = await startTestNode({ home, powers: [10n, 4n] });
    first.view.broadcast(utf8("colour=red"));
    first.control.produce(4);
    const seed = testValidatorSeed("kv-1", 5);
    first.control.setValidator(seed, 9n);
    first.control.produce(70);
    const { latestHeight: height } = first.view.status();
    const before = plain({
      status: first.view.status(),
      block: first.view.block(height),
      results: first.view.results(1n),
      commit: first.view.commit(height),
      tx: first.view.tx(sha256(utf8("colour=red"))),
      sets: [1n, 5n, 6n, 7n, 40n, height, height + 1n].map((at) => first.view.validators(at)),
    });
    const lastId = first.view.block(height)?.blockId;
    await first.stop();

    const second = await startTestNode({ home, powers: [10n, 4n] });
    const { view } = second;
    const after = plain({
      status: view.status(),
      block: view.block(height),
      results: view.results(1n),
      commit: view.commit(height),
      tx: view.tx(sha256(utf8("colour=red"))),
      sets: [1n, 5n, 6n, 7n, 40n, height, height + 1n].map((at) => view.validators(at)),
    });
    expect(after).toEqual(before);
    expect(second.control.produce(3)).toBe(height + 3n);
    expect(plain(view.block(height + 1n)?.header.lastBlockId)).toEqual(plain(lastId));
    // The added validator still signs: the home contains its key.
    expect(view.commit(height + 2n)?.signatures.map((one) => one.flag)).toEqual([2, 2, 2]);
    await second.stop();
  });

  it("starts again from its genesis after a stop before the first block", async () => {
    const first = await startTestNode({ home });
    await first.stop();
    const second = await startTestNode({ home });
    expect(second.control.produce(1)).toBe(1n);
    await second.stop();
  });

  it("stops when a block fails, and continues after the block before it", async () => {
    const failedHeight = 3n;
    const first = await startTestNode(
      { home },
      {
        createApp: (storage) => {
          const app = createKvApplication(storage);
          const commit = () => {
            const changes = app.commit();
            if (changes.height === failedHeight) throw new Error("commit failed");
            return changes;
          };
          return { ...app, commit };
        },
      },
    );
    expect(() => first.control.produce(5)).toThrow("commit failed");
    expect(() => first.control.produce(1)).toThrow("commit failed");
    await expect(first.stop()).rejects.toThrow("commit failed");
    const second = await startTestNode({ home });
    expect(second.view.status().latestHeight).toBe(failedHeight - 1n);
    expect(second.control.produce(2)).toBe(failedHeight + 1n);
    await second.stop();
  });

  it("rejects an application state of another height than the last block", async () => {
    const first = await startTestNode({ home });
    first.control.produce(2);
    await first.stop();
    const other = startTestNode(
      { home },
      {
        createApp: (storage) => {
          const app = createKvApplication(storage);
          return { ...app, info: () => ({ ...app.info(), height: 1n }) };
        },
      },
    );
    await expect(other).rejects.toMatchObject({ facts: { code: "state-mismatch", height: 2n } });
  });

  it("creates a home that only its user may read", async () => {
    const own = join(home, "parent", "chain");
    const node = await startTestNode({ home: own });
    node.control.produce(1);
    const { ".": directory, ...files } = fileModes(own);
    expect([directory, fileModes(join(home, "parent"))["."]]).toEqual(["700", "700"]);
    expect(Object.keys(files)).toEqual(
      expect.arrayContaining(["lock.db", "lock.pid", "node.db", "node.db-wal"]),
    );
    expect(new Set(Object.values(files))).toEqual(new Set(["600"]));
    await node.stop();
  });

  it("rejects another genesis document", async () => {
    const first = await startTestNode({ home });
    first.control.produce(1);
    await first.stop();
    const other = startTestNode({ home }, { genesis: () => testGenesis("kv-2", [10n]) });
    await expect(other).rejects.toMatchObject({ facts: { code: "other-genesis", chainId: "kv-2" } });
  });

  it("rejects a home that another node uses", async () => {
    const first = await startTestNode({ home });
    await expect(startTestNode({ home })).rejects.toMatchObject({
      facts: { code: "home-in-use", home, pid: process.pid },
    });
    await first.stop();
    const second = await startTestNode({ home });
    await second.stop();
  });

  it("continues a home with tables of version 1", async () => {
    copyFileSync(fixtureFile("homes/node-v1.db"), join(home, "node.db"));
    const search = (node: TestNode, query: string) =>
      Array.from(
        node.view.searchTxs({ query, order: "asc", page: 1, perPage: 100 }).items,
        ({ height, tx }) => `${height} ${fromUtf8(tx)}`,
      );
    // An export reads the tables as they are.
    expect(exportHomeGenesis(home, createKvApplication).initialHeight).toBe(13n);
    for (const restart of [0n, 1n]) {
      const node = await startTestNode({ home, powers: [10n, 4n] });
      expect(node.view.status().latestHeight).toBe(12n + restart);
      expect(search(node, "transfer.amount > 4")).toEqual([
        "8 ev:transfer.amount=8untrn",
        "12 ev:transfer.amount=12untrn",
      ]);
      expect(search(node, "kv.key = 'key1' AND kv.value = 'h3'")).toEqual(["3 key1=h3"]);
      expect(search(node, "kv.key = 'key1' AND message.action = 'set'")).toEqual([]);
      const blocks = node.view.searchBlocks({
        query: "begin.height >= 11",
        order: "asc",
        page: 1,
        perPage: 9,
      });
      expect(blocks.total).toBe(2 + Number(restart));
      node.control.produce(1);
      await node.stop();
    }
  });

  it("rejects tables of a later version, and a file in place of a home", async () => {
    const database = new Database(join(home, "node.db"));
    database.exec("PRAGMA user_version = 77");
    database.close();
    const unusable = { facts: { code: "home-unusable" } };
    await expect(startTestNode({ home })).rejects.toMatchObject(unusable);
    await expect(startTestNode({ home: join(home, "node.db") })).rejects.toMatchObject(unusable);
  });

  it("says of a damaged home and of one that cannot be created why, and what to do", async () => {
    writeFileSync(join(home, "node.db"), "not a database".repeat(99));
    await expect(startTestNode({ home })).rejects.toThrow(
      /: file is not a database; its node\.db is damaged; restore a backup, or choose another --home$/,
    );
    await expect(startTestNode({ home: "/proc/none" })).rejects.toThrow(
      /: ENOENT: .*; choose another --home$/,
    );
  });

  it("names the port that is in use and the option that changes it", async () => {
    const first = await startTestNode();
    const port = first.ports.get("rpc") ?? 0;
    const second = startTestNode({ rpc: { host: "127.0.0.1", port, portOption: "--rpc-port" } });
    await expect(second).rejects.toMatchObject({
      facts: { code: "port-in-use", port, option: "--rpc-port" },
    });
    await first.stop();
  });
});
