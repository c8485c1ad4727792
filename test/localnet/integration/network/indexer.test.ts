import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRecord, type JsonValue } from "../../../../src/platform/base/json.ts";
import { cellText, fieldAt, listAt } from "../../../../src/platform/cli/table.ts";
import { type RelayedLocalnet, startRelayedLocalnet } from "../../../support/relayed-localnet.ts";

let net: RelayedLocalnet;

beforeAll(async () => {
  net = await startRelayedLocalnet({ blockTimeMs: 100 });
});
afterAll(async () => {
  await net.stop();
});

/** The result of an RPC call in the URI form that indexers use. */
async function rpc(call: string): Promise<JsonValue> {
  const body: JsonValue = JSON.parse(await (await fetch(`${net.urls.local}/${call}`)).text());
  const result = fieldAt(body, "result");
  return isRecord(result) ? result : expect.unreachable(JSON.stringify(body));
}

const at = (value: JsonValue, path: string): string => cellText(fieldAt(value, path));

const PAGE = 2;

/** All transactions of the blocks up to a height, page by page, as "height/index". */
async function searched(height: number): Promise<readonly string[]> {
  const found: string[] = [];
  for (let page = 1; ; page += 1) {
    const query = encodeURIComponent(`"tx.height<=${height}"`);
    const result = await rpc(
      `tx_search?query=${query}&per_page=${PAGE}&page=${page}&order_by=${encodeURIComponent('"asc"')}`,
    );
    const txs = listAt(result, "txs");
    for (const tx of txs) found.push(`${at(tx, "height")}/${at(tx, "index")}`);
    if (txs.length === 0 || found.length >= Number(at(result, "total_count"))) return found;
  }
}

describe("an indexer's loop", () => {
  it("finds each transaction of each block once, by blocks and by search", async () => {
    const results = () => net.relayer.status().queries.find(({ id }) => id === 1n)?.results ?? 0;
    await expect.poll(results, { timeout: 60_000 }).toBeGreaterThan(3);
    const latest = Number(at(await rpc("status"), "sync_info.latest_block_height"));
    const byBlock: string[] = [];
    for (let height = 1; height <= latest; height += 1) {
      const txs = listAt(await rpc(`block?height=${height}`), "block.data.txs");
      const outcomes = listAt(await rpc(`block_results?height=${height}`), "txs_results");
      expect(outcomes).toHaveLength(txs.length);
      byBlock.push(...txs.map((_tx, index) => `${height}/${index}`));
    }
    expect(byBlock.length).toBeGreaterThan(PAGE);
    expect(await searched(latest)).toEqual(byBlock);
  });
});
