import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { testValidatorSeed } from "../../../../src/localnet/node/consensus/validators.ts";
import { sha256, utf8 } from "../../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../../src/platform/base/json.ts";
import { startTestNode, type TestNode } from "../../../support/test-node.ts";

/** Makes blocks with a transaction each, whose event has the same tag and value in every block. */
function produce(node: TestNode, blocks: number): void {
  for (let made = 0; made < blocks; made++) {
    node.view.broadcast(utf8(`key${node.view.status().latestHeight + 1n}=value`));
    node.control.produce(1);
  }
}

const search = (node: TestNode, query: string): bigint[] =>
  Array.from(
    node.view.searchTxs({ query, order: "asc", page: 1, perPage: 100 }).items,
    ({ height }) => height,
  );

describe("a node that keeps its last 20 blocks", () => {
  let node: TestNode;
  beforeEach(async () => {
    node = await startTestNode({ keepBlocks: 20, powers: [10n, 4n] });
  });
  afterEach(() => node.stop());

  const call = async (method: string): Promise<unknown> => {
    const response: unknown = await (await fetch(`${node.rpcUrl}/${method}`)).json();
    return isRecord(response) ? (response["result"] ?? response["error"]) : response;
  };

  it("answers lower heights as a pruned CometBFT node does", async () => {
    produce(node, 20);
    expect(node.view.status().earliestHeight).toBe(1n);
    node.control.setValidator(testValidatorSeed("kv-1", 7), 9n);
    produce(node, 50);
    expect(await call("status")).toMatchObject({
      sync_info: { earliest_block_height: "51", latest_block_height: "70" },
    });
    const text = "height 50 is not available, lowest height is 51";
    for (const method of [
      "block",
      "header",
      "commit",
      "block_results",
      "validators",
      "consensus_params",
    ] as const) {
      expect([method, await call(`${method}?height=50`)]).toEqual([
        method,
        { code: -32_603, message: "Internal error", data: text },
      ]);
      expect(await call(`${method}?height=51`)).not.toHaveProperty("code");
    }
    expect(await call("blockchain?minHeight=1&maxHeight=52")).toMatchObject({
      block_metas: [{ header: { height: "52" } }, { header: { height: "51" } }],
    });
    expect(await call("block_by_hash?hash=0x00")).toMatchObject({ block: null });
  });

  it("answers every kept height as a node that keeps all blocks does", async () => {
    const all = await startTestNode({ keepBlocks: 0, powers: [10n, 4n] });
    for (const one of [node, all]) {
      produce(one, 30);
      one.control.setValidator(testValidatorSeed("kv-1", 7), 9n);
      produce(one, 100);
    }
    expect(all.view.status().earliestHeight).toBe(1n);
    for (let height = 111n; height <= 130n; height++) {
      expect(node.view.block(height)?.txs).toEqual(all.view.block(height)?.txs);
      expect(node.view.results(height)?.txResults).toEqual(all.view.results(height)?.txResults);
      expect(node.view.commit(height)?.signatures.map(({ flag }) => flag)).toEqual([2, 2, 2]);
      expect(node.view.validators(height)).toEqual(all.view.validators(height));
      expect(node.view.tx(sha256(utf8(`key${height}=value`)))?.height).toBe(height);
    }
    const kept = Array.from({ length: 20 }, (_, index) => 111n + BigInt(index));
    expect(search(node, "kv.value = 'value'")).toEqual(kept);
    expect(search(node, "tx.height > 0")).toEqual(kept);
    expect(search(all, "tx.height > 0")).toHaveLength(100);
    expect(
      node.view.searchBlocks({ query: "begin.mode EXISTS", order: "asc", page: 1, perPage: 9 }).total,
    ).toBe(20);
    expect(node.view.tx(sha256(utf8("key110=value")))).toBeUndefined();
    expect(node.view.block(110n) ?? node.view.results(110n) ?? node.view.commit(110n)).toBeUndefined();
    expect(node.view.validators(110n)).toBeUndefined();
    await all.stop();
  });
});

describe("a home whose node keeps its last blocks", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "relaywatch-pruning-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  /** Returns the number of rows of every table. */
  function rowCounts(): Readonly<Record<string, unknown>> {
    const database = new Database(join(home, "node.db"));
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const counts = tables.flatMap((table) => {
      const name = isRecord(table) ? String(table["name"]) : "";
      const row: unknown = database.prepare(`SELECT COUNT(*) AS rows FROM ${name}`).get();
      return isRecord(row) ? [[name, row["rows"]]] : [];
    });
    database.close();
    return Object.fromEntries(counts);
  }

  it("does not grow", async () => {
    const node = await startTestNode({ home, keepBlocks: 64 });
    produce(node, 192);
    const before = rowCounts();
    expect(before).toMatchObject({ blocks: 64, txs: 64, tx_events: 192, validator_sets: 2 });
    produce(node, 128);
    // The test application never deletes a key, so its own nodes grow.
    expect({ ...rowCounts(), state_nodes: 0, state_roots: 0 }).toEqual({
      ...before,
      state_nodes: 0,
      state_roots: 0,
    });
    await node.stop();
  });

  it("removes the blocks above a lowered limit in small steps, and none without a limit", async () => {
    const first = await startTestNode({ home });
    produce(first, 100);
    expect(first.view.status().earliestHeight).toBe(1n);
    await first.stop();
    const second = await startTestNode({ home, keepBlocks: 10 });
    expect(second.view.status().earliestHeight).toBe(1n);
    produce(second, 1);
    expect(second.view.status().earliestHeight).toBe(17n);
    produce(second, 9);
    expect(second.view.status().earliestHeight).toBe(101n);
    await second.stop();
    const third = await startTestNode({ home, keepBlocks: 0 });
    produce(third, 20);
    expect(third.view.status()).toMatchObject({ earliestHeight: 101n, latestHeight: 130n });
    expect(search(third, "tx.height > 0")).toHaveLength(30);
    expect(third.view.validators(101n)?.validators).toHaveLength(1);
    await third.stop();
  });
});
