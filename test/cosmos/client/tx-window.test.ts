import { beforeEach, describe, expect, it, vi } from "vitest";
import { utf8 } from "../../../src/platform/base/bytes.ts";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { createTxWindow } from "../../../src/cosmos/client/tx/create-tx-window.ts";
import type { Signer } from "../../../src/cosmos/client/tx/signer.ts";
import type { BroadcastResult, TxWindow } from "../../../src/cosmos/client/tx/tx-types.ts";
import { createFakeChain, type FakeChain } from "../../support/client/fake-chain.ts";
import { createSteppingClock } from "../../support/manual-clock.ts";

const signal = new AbortController().signal;
const gasPrice = parseDec18("0.01");
const signer: Signer = {
  address: "neutron1window",
  publicKey: new Uint8Array(33),
  feeGranter: "",
  sign: async () => new Uint8Array(64),
};
const draft = (text: string) => ({ messages: [{ typeUrl: "/a.B", value: utf8(text) }], gasLimit: 1_000n });

let chain: FakeChain;
let window: TxWindow;
let height: bigint;

beforeEach(() => {
  chain = createFakeChain(signer.address);
  height = 100n;
  window = createTxWindow(
    {
      chainId: "test-1",
      memo: "",
      gasPrice: { denom: "untrn", multiplier: parseDec18("1"), cap: parseDec18("1") },
    },
    { client: chain.client, signer, clock: createSteppingClock(), random: () => 0.5, logger: silentLogger },
  );
});

function broadcast(...texts: readonly string[]): Promise<readonly BroadcastResult[]> {
  return window.broadcast(texts.map(draft), { gasPrice, height }, signal);
}

/** Makes a block and returns the final states by sequence. */
async function block(): Promise<readonly (readonly [bigint, string])[]> {
  chain.mine();
  height += 1n;
  const finals = await window.confirm(height, signal);
  return finals.map(({ tx, confirmation }) => [tx.sequence, confirmation.kind] as const);
}

const kinds = (results: readonly BroadcastResult[]): readonly string[] => results.map(({ kind }) => kind);
const sequences = () => chain.broadcasts.map(({ authInfo }) => authInfo.signerInfos[0]?.sequence);

describe("a window of transactions", () => {
  it("broadcasts with consecutive sequences and reads the account once", async () => {
    expect(kinds(await broadcast("a", "b", "c"))).toEqual(["in-flight", "in-flight", "in-flight"]);
    expect(kinds(await broadcast("d"))).toEqual(["in-flight"]);
    expect(sequences()).toEqual([40n, 41n, 42n, 43n]);
    expect(await block()).toEqual([40n, 41n, 42n, 43n].map((sequence) => [sequence, "included"]));
    expect(window.inFlight()).toEqual([]);
    await broadcast("e");
    expect(sequences().at(-1)).toBe(44n);
    expect(chain.calls.filter((call) => call.endsWith("/Account"))).toHaveLength(1);
  });

  it("uses no sequence when a signature fails, and neither broadcasts nor reads the account again", async () => {
    const { sign } = signer;
    const failing = { ...signer, sign: vi.fn(sign) };
    failing.sign.mockResolvedValueOnce(new Uint8Array(64)).mockRejectedValueOnce(new Error("no signature"));
    window = createTxWindow(
      {
        chainId: "test-1",
        memo: "",
        gasPrice: { denom: "untrn", multiplier: parseDec18("1"), cap: parseDec18("1") },
      },
      {
        client: chain.client,
        signer: failing,
        clock: createSteppingClock(),
        random: () => 0.5,
        logger: silentLogger,
      },
    );
    await expect(broadcast("b", "c")).rejects.toThrow("no signature");
    expect(chain.broadcasts).toHaveLength(0);
    expect(window.isOpen(height)).toBe(true);
    expect(kinds(await broadcast("d", "e"))).toEqual(["in-flight", "in-flight"]);
    expect(sequences()).toEqual([40n, 41n]);
    expect(chain.calls.filter((call) => call.endsWith("/Account"))).toHaveLength(1);
  });

  it("sends a transaction again that arrived before the one in front of it", async () => {
    // The first broadcast has no response at first; the second one arrives before it is repeated.
    chain.broadcastResults.push("unreachable");
    expect(kinds(await broadcast("a", "b"))).toEqual(["in-flight", "in-flight"]);
    expect(await block()).toEqual([
      [40n, "included"],
      [41n, "included"],
    ]);
  });

  it("keeps what is in flight when CheckTx refuses one, skips those behind it, and reuses its sequence", async () => {
    await broadcast("a");
    chain.broadcastResults.push("too-large");
    const results = await broadcast("b", "c");
    expect(kinds(results)).toEqual(["refused", "skipped"]);
    expect(window.isOpen(height)).toBe(true);
    expect(kinds(await broadcast("c"))).toEqual(["in-flight"]);
    expect(await block()).toEqual([
      [40n, "included"],
      [41n, "included"],
    ]);
  });

  it("reports the one that a block refuses; the others are included", async () => {
    chain.broadcastResults.push("good", "fails-in-block", "good");
    await broadcast("a", "b", "c");
    expect(await block()).toEqual([
      [40n, "included"],
      [41n, "failed"],
      [42n, "included"],
    ]);
    expect(kinds(await broadcast("d"))).toEqual(["in-flight"]);
    expect(await block()).toEqual([[43n, "included"]]);
  });

  it("recovers at once when the node counted a sequence that no block will use", async () => {
    chain.broadcastResults.push("good", "out-of-gas", "good");
    expect(kinds(await broadcast("a", "b", "c"))).toEqual(["in-flight", "refused", "in-flight"]);
    // The third one has a gap before it. The block leaves it out, and the node refuses it then.
    expect(window.isOpen(height)).toBe(false);
    chain.dropGaps();
    expect(await block()).toEqual([
      [40n, "included"],
      [42n, "lost"],
    ]);
    expect(window.isOpen(height)).toBe(true);
    expect(kinds(await broadcast("b", "c"))).toEqual(["in-flight", "in-flight"]);
    expect(sequences().slice(-2)).toEqual([41n, 42n]);
    expect(await block()).toEqual([
      [41n, "included"],
      [42n, "included"],
    ]);
  });

  it("broadcasts the bytes again when the mempool lost them, before the timeout height", async () => {
    chain.broadcastResults.push("vanish");
    await broadcast("a");
    expect(await block()).toEqual([]);
    expect(await block()).toEqual([]);
    expect(await block()).toEqual([[40n, "included"]]);
    expect(new Set(chain.broadcasts.map(({ hash }) => hash)).size).toBe(1);
  });

  it("gives a transaction up whose sequence another program used, and closes until it is clear", async () => {
    chain.broadcastResults.push("vanish");
    await broadcast("a");
    chain.useElsewhere();
    for (let blocks = 0; blocks < 3; blocks++) expect(await block()).toEqual([]);
    expect(await block()).toEqual([[40n, "lost"]]);
    expect(kinds(await broadcast("b"))).toEqual(["in-flight"]);
    expect(sequences().at(-1)).toBe(41n);
  });

  it("does not give a transaction up that was refused first, then taken without a response, and is not indexed yet", async () => {
    chain.broadcastResults.push("vanish", "no-funds", "unanswered");
    await broadcast("a");
    chain.isIndexed = false;
    for (let blocks = 0; blocks < 6; blocks++) expect(await block()).toEqual([]);
    chain.isIndexed = true;
    expect(await block()).toEqual([[40n, "included"]]);
  });

  it("skips until the next block when the node expects another sequence", async () => {
    await broadcast("a");
    await block();
    chain.useElsewhere();
    expect(kinds(await broadcast("b"))).toEqual(["skipped"]);
    expect(kinds(await broadcast("b"))).toEqual(["skipped"]);
    await block();
    expect(kinds(await broadcast("b"))).toEqual(["in-flight"]);
    expect(sequences().at(-1)).toBe(42n);
  });

  it("closes while a loss leaves others in flight, and reads the sequence from the chain afterwards", async () => {
    chain.broadcastResults.push("vanish", "vanish");
    await broadcast("a", "b");
    chain.useElsewhere();
    // The mempool takes the second one: only the first one has lost its sequence.
    for (let blocks = 0; blocks < 3; blocks++) expect(await block()).toEqual([]);
    expect(await block()).toEqual([[40n, "lost"]]);
    expect([window.inFlight().length, window.isOpen(height)]).toEqual([1, false]);
    expect(await block()).toEqual([[41n, "included"]]);
    expect(window.isOpen(height)).toBe(true);
    await broadcast("c");
    expect(sequences().at(-1)).toBe(42n);
  });

  it.each(["too-large", "mempool-full"] as const)(
    "keeps in flight what may have arrived, whatever refuses it afterwards (%s)",
    async (refusal) => {
      chain.broadcastResults.push("unanswered", refusal, refusal);
      expect(kinds(await broadcast("a"))).toEqual(["in-flight"]);
      expect(window.isOpen(height)).toBe(false);
      expect(await block()).toEqual([[40n, "included"]]);
      expect(window.isOpen(height)).toBe(true);
    },
  );

  it("closes while a broadcast has no response, and opens when it is final", async () => {
    chain.broadcastResults.push("unreachable", "unreachable", "unreachable");
    expect(kinds(await broadcast("a"))).toEqual(["in-flight"]);
    expect(window.isOpen(height)).toBe(false);
    // One block later the bytes are broadcast again.
    expect(await block()).toEqual([]);
    expect(await block()).toEqual([[40n, "included"]]);
    expect(window.isOpen(height)).toBe(true);
  });

  it("keeps its own count of sequences while one that failed leaves others in flight", async () => {
    chain.broadcastResults.push("fails-in-block", "vanish");
    await broadcast("a", "b");
    expect(await block()).toEqual([[40n, "failed"]]);
    await broadcast("c");
    expect(sequences().at(-1)).toBe(42n);
  });

  it("reads the sequence from the chain after one that failed and may not have used it", async () => {
    chain.broadcastResults.push("fails-in-block");
    await broadcast("a");
    await block();
    await broadcast("b");
    expect(chain.calls.filter((call) => call.endsWith("/Account"))).toHaveLength(2);
  });

  it("stays closed when the node expects another sequence while one is in flight, until that is final", async () => {
    chain.broadcastResults.push("vanish");
    await broadcast("a");
    chain.useElsewhere();
    expect(kinds(await broadcast("b"))).toEqual(["skipped"]);
    expect(window.isOpen(height + 1n)).toBe(false);
  });

  it("is open on a chain that was reset, whatever height it waited for", async () => {
    await broadcast("a");
    await block();
    chain.useElsewhere();
    await broadcast("b");
    // At 101 it waits for 102.
    expect([81n, 82n, 101n, 102n].map(window.isOpen)).toEqual([true, false, false, true]);
    // Who knows of the reset says so: the chain may have gone back by a few blocks only.
    window.reset();
    expect([82n, 101n].map(window.isOpen)).toEqual([true, true]);
    height = 98n;
    await broadcast("c");
    expect(sequences().at(-1)).toBe(42n);
    expect(chain.calls.filter((call) => call.endsWith("/Account"))).toHaveLength(2);
    await block();
    chain.useElsewhere();
    window.reset();
    expect(kinds(await broadcast("d"))).toEqual(["in-flight"]);
    expect(sequences().at(-1)).toBe(44n);
  });

  it("knows at once after a reset what was in flight: lost, or in a block that the chain has", async () => {
    chain.broadcastResults.push("good", "vanish");
    await broadcast("a", "b");
    chain.mine();
    height -= 5n;
    expect(await window.confirm(height, signal)).toHaveLength(1);
    window.reset();
    const finals = await window.confirm(height, signal);
    expect(finals.map(({ tx, confirmation }) => [tx.sequence, confirmation])).toEqual([
      [41n, { kind: "lost", reason: "the chain was reset" }],
    ]);
    expect(window.isOpen(height)).toBe(true);
    await broadcast("c");
    expect(sequences().at(-1)).toBe(41n);
  });
});
