import { describe, expect, it } from "vitest";
import { silentLogger } from "../../src/platform/base/logger.ts";
import {
  createLocalHistoryCheck,
  createRemoteHistoryCheck,
  hasKnownHistory,
} from "../../src/relayer/state/history.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { sampleState } from "./samples.ts";
import { createJournal } from "../../src/relayer/state/journal.ts";

const SIGNAL = new AbortController().signal;

/** A chain whose blocks have the hash `name height`; `pruned` blocks are not there. */
function openHistory() {
  const chain = { name: "first", pruned: 0n };
  const journal = createJournal("local-1", { session: { run: async () => [] }, queue: { push: () => {} } });
  const blockHash = async (height: bigint) => (height > chain.pruned ? `${chain.name} ${height}` : undefined);
  const check = (latest: bigint) => hasKnownHistory("", latest, { journal, blockHash }, SIGNAL);
  return { chain, journal, blockHash, check };
}

describe("the history of a chain", () => {
  it("is the same while the chain grows", async () => {
    const { journal, check } = openHistory();
    for (const height of [5n, 5n, 9n, 100n]) expect(await check(height)).toBe(true);
    expect(journal.knownBlock("")).toEqual({ height: 100n, hash: "first 100" });
  });

  it("is the same for an endpoint that is a little behind, whose block is not stored", async () => {
    const { journal, check } = openHistory();
    await check(100n);
    expect(await check(80n)).toBe(true);
    expect(journal.knownBlock("")?.height).toBe(100n);
  });

  it("is another one when the chain is much lower than before", async () => {
    const { check } = openHistory();
    await check(100n);
    expect(await check(79n)).toBe(false);
  });

  it("is another one when a chain that started again is higher than the old one", async () => {
    const { chain, check } = openHistory();
    await check(100n);
    chain.name = "second";
    expect(await check(90n)).toBe(true);
    expect(await check(100n)).toBe(false);
    expect(await check(5_000n)).toBe(false);
  });

  it("is not known when the endpoint has pruned the block", async () => {
    const { chain, journal, check } = openHistory();
    await check(100n);
    chain.pruned = 100n;
    expect(await check(200n)).toBe(true);
    expect(journal.knownBlock("")).toEqual({ height: 200n, hash: "first 200" });
  });

  it("learns the hash of a block of which only the height is known", async () => {
    const { journal, check } = openHistory();
    journal.recordBlock("", { height: 100n, hash: "" });
    expect(await check(100n)).toBe(true);
    expect(journal.knownBlock("")?.hash).toBe("first 100");
  });

  it("of the local chain empties journal and registry when it is another one, once", async () => {
    const { chain, journal, blockHash } = openHistory();
    let resets = 0;
    const registry = { reset: () => void resets++ };
    const check = createLocalHistoryCheck({ journal, registry, blockHash, logger: silentLogger });
    await check(100n, SIGNAL);
    journal.recordSearched(3n, 7n);
    await check(101n, SIGNAL);
    expect(journal.searchedTo(3n)).toBe(7n);
    chain.name = "second";
    await check(5_000n, SIGNAL);
    expect([journal.searchedTo(3n), journal.knownBlock("")?.hash, resets]).toEqual([
      undefined,
      "second 5000",
      1,
    ]);
    await check(5_001n, SIGNAL);
    expect(resets).toBe(1);
  });

  it("of a remote chain forgets the searches of its connection only, and is read once a minute", async () => {
    const { chain, journal, blockHash } = openHistory();
    const clock = createManualClock(0);
    let reads = 0;
    const registry = {
      states: () => [sampleState({ id: 3n }), sampleState({ id: 4n, connectionId: "connection-1" })],
    };
    const check = createRemoteHistoryCheck({
      connectionId: "connection-0",
      journal,
      registry,
      blockHash: (height) => {
        reads += 1;
        return blockHash(height);
      },
      clock,
      logger: silentLogger,
    });
    await check(100n, SIGNAL);
    journal.recordSearched(3n, 90n);
    journal.recordSearched(4n, 90n);
    chain.name = "second";
    await check(5_000n, SIGNAL);
    expect([reads, journal.searchedTo(3n)]).toEqual([1, 90n]);
    await clock.advance(60_000);
    await check(5_001n, SIGNAL);
    expect([journal.searchedTo(3n), journal.searchedTo(4n)]).toEqual([undefined, 90n]);
    expect(journal.knownBlock("connection-0")).toEqual({ height: 5_001n, hash: "second 5001" });
    journal.recordSearched(3n, 5_000n);
    // Much lower than before: no wait for the minute.
    await check(7n, SIGNAL);
    expect(journal.searchedTo(3n)).toBeUndefined();
  });
});
