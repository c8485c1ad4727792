import { describe, expect, it } from "vitest";
import { event } from "../../../src/localnet/chain/runtime/context.ts";
import { openBlockStore } from "../../../src/localnet/node/storage/block-store.ts";
import { searchTxs } from "../../../src/localnet/node/storage/search.ts";
import { storedHeight } from "../../support/stored-height.ts";

describe("a search of transactions", () => {
  it("reads the transactions of the page only, of thousands that match", () => {
    const store = openBlockStore(undefined);
    const sent = event("transfer", [
      ["sender", "alice"],
      ["amount", "7untrn"],
    ]);
    for (let height = 1n; height <= 20n; height++)
      store.save(storedHeight(height, { txs: Array.from({ length: 100 }, () => [sent]), block: [] }));
    for (const query of [
      "tx.height > 3",
      "transfer.sender = 'alice' AND tx.height > 3",
      "transfer.sender = 'alice' AND transfer.amount = 7 AND tx.height > 3",
      "transfer.sender EXISTS AND transfer.amount CONTAINS 'untrn' AND tx.height > 3",
    ]) {
      let reads = 0;
      const counted = {
        ...store,
        block: (height: bigint) => {
          reads += 1;
          return store.block(height);
        },
        results: () => expect.unreachable("the results of a whole block are decoded"),
      };
      const found = searchTxs(counted, { query, order: "desc", page: 2, perPage: 30 });
      expect(reads).toBe(0);
      const [items, total] = [[...found.items], found.total];
      expect(total).toBe(1_700);
      expect([items[0]?.height, items[0]?.index]).toEqual([20n, 69]);
      expect(items).toHaveLength(30);
      expect(reads).toBe(30);
    }
    store.close();
  });
});
