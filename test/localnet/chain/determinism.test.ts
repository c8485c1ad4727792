import { describe, expect, it } from "vitest";
import { toHex } from "../../../src/platform/base/bytes.ts";
import { createApp } from "../../../src/localnet/chain/app.ts";
import { createMemoryStorage, KEPT } from "../../support/memory-storage.ts";
import { stakeParams } from "../../support/stake-cast.ts";
import { continueTestChain, startTestChain, type TestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { buildTx, sendMessage } from "../../support/test-tx.ts";

const keys = ["a", "b", "c", "d"].map((name) => createTestKey(name));
const GENESIS = testGenesis(keys.map((key) => ({ key, untrn: 1_000_000_000n })));
const OPTIONS = { kind: "local", denom: "untrn", keepRecent: KEPT } as const;

/** Returns the transactions of one block: each account pays the next one. Some payments fail. */
function blockOf(sequence: bigint): readonly Uint8Array[] {
  return keys.map((key, index) => {
    const to = keys[(index + 1) % keys.length] ?? key;
    const untrn = (sequence + BigInt(index)) % 5n === 0n ? 10n ** 12n : sequence + 1n;
    const messages = [sendMessage(key.address, to.address, untrn)];
    return buildTx({ key, accountNumber: BigInt(index), sequence, messages });
  });
}

function hashesOf(chain: TestChain, sequences: readonly bigint[]): readonly string[] {
  return sequences.map((sequence) => toHex(chain.block(...blockOf(sequence)).appHash));
}

const SEQUENCES = [0n, 1n, 2n, 3n, 4n, 5n];

describe("app hashes", () => {
  it("depend on blocks only, not on checks, simulations, exports or restarts between them", () => {
    const quiet = hashesOf(startTestChain(GENESIS, OPTIONS), SEQUENCES);
    const storage = createMemoryStorage();
    let busy = startTestChain(GENESIS, { ...OPTIONS, onCommit: storage.save });
    let height = 1n;
    for (const [index, sequence] of SEQUENCES.entries()) {
      for (const tx of blockOf(sequence)) busy.app.checkTx(tx, false);
      for (const tx of blockOf(sequence)) busy.app.simulate(tx);
      busy.app.exportState();
      const { appHash, changes } = busy.block(...blockOf(sequence));
      expect(toHex(appHash)).toBe(quiet[index]);
      storage.save(changes);
      height += 1n;
      busy = continueTestChain(createApp(OPTIONS, { storage }), height);
    }
    expect(new Set(quiet).size).toBe(SEQUENCES.length);
  });

  it("do not depend on calls between finalizeBlock and commit, which read the state before the block", () => {
    const quiet = hashesOf(startTestChain(GENESIS, OPTIONS), SEQUENCES);
    const busy = startTestChain(GENESIS, OPTIONS);
    for (const [index, sequence] of SEQUENCES.entries()) {
      const before = { info: busy.app.info(), state: busy.app.exportState() };
      const { appHash } = busy.app.finalizeBlock(busy.nextRequest(...blockOf(sequence)));
      expect(busy.app.info()).toEqual(before.info);
      expect(busy.app.exportState()).toEqual(before.state);
      const checks = blockOf(sequence).map((tx) => busy.app.checkTx(tx, false).code);
      expect(checks.filter((code) => code === 0).length).toBe(keys.length);
      for (const tx of blockOf(sequence)) busy.app.simulate(tx);
      busy.app.commit();
      expect(toHex(appHash)).toBe(quiet[index]);
    }
  });

  it("differ when one transaction differs", () => {
    const [one, other] = [startTestChain(GENESIS, OPTIONS), startTestChain(GENESIS, OPTIONS)];
    const txs = blockOf(0n);
    expect(toHex(one.block(...txs).appHash)).not.toBe(toHex(other.block(...txs.slice(1)).appHash));
  });

  it("are the same in every process (pinned for a remote chain)", () => {
    const chain = startTestChain(GENESIS, { ...OPTIONS, kind: "remote" });
    expect(hashesOf(chain, [0n, 1n])).toEqual([
      "b8173edc8adbbefb1cdc1c2817db71c4d40b13b5ef53a421b559a62a7fdbdf9a",
      "5472d1ba48e9e0214a684bccc6fb96722ed9a33ea79228d1e74be5011c395f3e",
    ]);
  });
});

describe("storage", () => {
  it("does not grow with heights that are no longer kept", () => {
    const storage = createMemoryStorage();
    // Without the headers of the past that staking keeps: they are state.
    const { params = null } = stakeParams("", 100);
    const genesis = { ...GENESIS, staking: { params } };
    const chain = startTestChain(genesis, { ...OPTIONS, onCommit: storage.save });
    const sizes = Array.from({ length: 40 }, () => {
      storage.save(chain.block().changes);
      return storage.size();
    });
    expect(Math.max(...sizes.slice(20))).toBeLessThanOrEqual(Math.max(...sizes.slice(0, 20)));
  });
});
