import { describe, expect, it } from "vitest";
import { utf8 } from "../../../src/platform/base/bytes.ts";
import type { TxResult } from "../../../src/localnet/chain/runtime/abci.ts";
import { createMempool, DEFAULT_MEMPOOL } from "../../../src/localnet/node/consensus/mempool.ts";

const GOOD: TxResult = {
  code: 0,
  codespace: "",
  log: "",
  data: new Uint8Array(),
  gasWanted: 10n,
  gasUsed: 1n,
  events: [],
};
const BAD: TxResult = { ...GOOD, code: 5 };

describe("the mempool", () => {
  it("rejects a copy of a transaction, but not of one that failed its check", () => {
    const results = [BAD, GOOD];
    const mempool = createMempool(DEFAULT_MEMPOOL, () => results.shift() ?? GOOD);
    expect(mempool.add(utf8("a")).check.code).toBe(5);
    expect(mempool.failed()).toBe(1);
    expect(mempool.add(utf8("a")).check.code).toBe(0);
    expect(() => mempool.add(utf8("a"))).toThrow("tx already exists in cache");
  });

  it("forgets a transaction whose check threw", () => {
    let isBroken = true;
    const mempool = createMempool(DEFAULT_MEMPOOL, () => {
      if (isBroken) throw new Error("broken check");
      return GOOD;
    });
    expect(() => mempool.add(utf8("a"))).toThrow("broken check");
    isBroken = false;
    expect(mempool.add(utf8("a")).check.code).toBe(0);
  });

  it("rejects transactions over its bounds", () => {
    const mempool = createMempool({ ...DEFAULT_MEMPOOL, maxTxs: 2, maxBytes: 10, maxTxBytes: 6 }, () => GOOD);
    expect(() => mempool.add(utf8("1234567"))).toThrow("Tx too large. Max size is 6, but got 7");
    mempool.add(utf8("123456"));
    expect(() => mempool.add(utf8("12345"))).toThrow(
      "mempool is full: number of txs 1 (max: 2), total txs bytes 6 (max: 10)",
    );
    mempool.add(utf8("1"));
    expect(() => mempool.add(utf8("2"))).toThrow(
      expect.objectContaining({ facts: { code: "mempool-full", txs: 2, bytes: 7 } }),
    );
  });

  it("reaps a prefix of the queue within bytes and gas", () => {
    const mempool = createMempool(DEFAULT_MEMPOOL, () => GOOD);
    const txs = ["aaaa", "bb", "c"].map(utf8);
    for (const tx of txs) mempool.add(tx);
    expect(mempool.reap(1_000n, -1n)).toEqual(txs);
    expect(mempool.reap(1_000n, 20n)).toEqual(txs.slice(0, 2));
    expect(mempool.reap(10n, -1n)).toEqual(txs.slice(0, 1));
    expect(mempool.reap(9n, -1n)).toEqual([]);
  });

  it("drops committed and invalid transactions after a block, and accepts failed ones again", () => {
    const rechecks: boolean[] = [];
    const mempool = createMempool(DEFAULT_MEMPOOL, (tx, recheck) => {
      rechecks.push(recheck);
      return recheck && tx[0] === "c".charCodeAt(0) ? BAD : GOOD;
    });
    const txs = ["a", "b", "c", "d"].map(utf8);
    for (const tx of txs) mempool.add(tx);
    mempool.update(txs.slice(0, 2), [GOOD, BAD]);
    expect(rechecks).toEqual([false, false, false, false, true, true]);
    expect(mempool.txs()).toEqual([utf8("d")]);
    expect(mempool.bytes()).toBe(1);
    expect(() => mempool.add(utf8("a"))).toThrow("tx already exists in cache");
    expect(mempool.add(utf8("b")).check.code).toBe(0);
    expect(mempool.add(utf8("c")).check.code).toBe(0);
  });

  it("removes the oldest hashes from its cache", () => {
    const mempool = createMempool({ ...DEFAULT_MEMPOOL, cacheSize: 2 }, () => GOOD);
    for (const tx of ["a", "b", "c"]) mempool.add(utf8(tx));
    expect(() => mempool.add(utf8("c"))).toThrow("tx already exists in cache");
    expect(mempool.add(utf8("a")).check.code).toBe(0);
  });
});
