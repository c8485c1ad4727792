import { describe, expect, it } from "vitest";
import { sha256, toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { TxBody, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { MsgSubmitQueryResult } from "../../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { type PredecessorDeps, resolvePredecessor } from "../../../src/relayer/gate/create-gate.ts";
import type { SendingTx } from "../../../src/relayer/state/journal.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const signal = new AbortController().signal;
const SUBMIT_URL = "/neutron.interchainqueries.MsgSubmitQueryResult";
const hashOf = (remoteTx: string): string => toHex(sha256(utf8(remoteTx)));

/** A local transaction that delivers a remote transaction to a query. */
function delivery(queryId: bigint, remoteTx: string, typeUrl = SUBMIT_URL): Uint8Array {
  const block = {
    nextBlockHeader: undefined,
    header: undefined,
    tx: {
      response: undefined,
      deliveryProof: undefined,
      inclusionProof: undefined,
      data: utf8(remoteTx),
    },
  };
  const result = { kvResults: [], block, height: 1n, revision: 1n, allowKvCallbacks: false };
  const value = MsgSubmitQueryResult.encode({ queryId, sender: "me", clientId: "", result }).finish();
  const body = {
    messages: [{ typeUrl, value }],
    memo: "",
    timeoutHeight: 0n,
    extensionOptions: [],
    nonCriticalExtensionOptions: [],
  };
  const bodyBytes = TxBody.encode(body).finish();
  return TxRaw.encode({ bodyBytes, authInfoBytes: new Uint8Array(), signatures: [] }).finish();
}

interface Scene {
  /** Transactions of the account in the mempool, at each read in turn; 0 afterwards. */
  readonly pending?: readonly bigint[];
  readonly sending?: readonly SendingTx[];
  /** Transactions in blocks, the oldest first, with their codes. */
  readonly blocks?: readonly (readonly [tx: Uint8Array, code: number])[];
  readonly searchError?: Error;
}

/** The journal and the chain that the next process finds. */
function setUp({ pending = [], sending = [], blocks = [], searchError }: Scene) {
  const clock = createManualClock(0);
  const waiting = [...pending];
  const searches: string[] = [];
  const included: string[] = [];
  const progress: (string | undefined)[] = [];
  const deps: PredecessorDeps = {
    countPending: async () => waiting.shift() ?? 0n,
    comet: {
      txSearch: async ({ query, page = 1, per_page: size = 30, order_by: order }) => {
        searches.push(`${page}: ${query}`);
        if (searchError !== undefined) throw searchError;
        const txs = (order === "desc" ? blocks.toReversed() : blocks)
          .slice((page - 1) * size, page * size)
          .map(([tx, code]) => ({ tx, result: { code } }));
        return { txs, totalCount: blocks.length };
      },
    },
    address: "neutron1me",
    submitUrl: SUBMIT_URL,
    journal: {
      sending: () => sending,
      recordIncluded: (queryId, hash, height) => void included.push(`${queryId} ${hash} ${height}`),
    },
    onProgress: (text) => void progress.push(text),
    clock,
    logger: silentLogger,
  };
  return { clock, deps, searches, included, progress };
}

const sendingOf = (queryId: bigint, remoteTx: string, localHeight = 50n): SendingTx => ({
  queryId,
  hash: hashOf(remoteTx),
  remoteHeight: 9n,
  localHeight,
});

describe("the transactions of the previous process", () => {
  it("is waited for while it is in the mempool", async () => {
    const { clock, deps, searches, progress } = setUp({ pending: [2n, 2n, 1n] });
    let isDone = false;
    const settled = resolvePredecessor(deps, signal).then(() => (isDone = true));
    await clock.advance(749);
    expect(isDone).toBe(false);
    await clock.advance(1);
    await settled;
    // Without results on their way there is nothing to look up.
    expect(searches).toEqual([]);
    expect(progress.at(0)).toMatch(
      /^waiting for 2 transactions from the previous process to be included, at most 20 s more$/,
    );
    expect(progress.at(-1)).toBeUndefined();
  });

  it("is waited for at most twenty seconds", async () => {
    const { clock, deps } = setUp({ pending: Array.from({ length: 200 }, () => 1n) });
    let isDone = false;
    const settled = resolvePredecessor(deps, signal).then(() => (isDone = true));
    await clock.advance(19_999);
    expect(isDone).toBe(false);
    await clock.advance(1);
    await settled;
  });

  it("counts as included when a block has it: of this query, with code 0, in a submission", async () => {
    const { deps, searches, included } = setUp({
      sending: [
        sendingOf(1n, "a"),
        sendingOf(1n, "b", 40n),
        sendingOf(2n, "a"),
        sendingOf(1n, "c"),
        sendingOf(1n, "d"),
      ],
      blocks: [
        [delivery(1n, "a"), 0],
        [delivery(1n, "b"), 0],
        [delivery(1n, "c"), 5],
        [delivery(1n, "d", "/other.MsgSubmitQueryResult"), 0],
        [TxRaw.encode(TxRaw.decode(new Uint8Array())).finish(), 0],
      ],
    });
    await resolvePredecessor(deps, signal);
    expect(included).toEqual([`1 ${hashOf("a")} 9`, `1 ${hashOf("b")} 9`]);
    expect(searches).toEqual(["1: message.sender='neutron1me' AND tx.height>=40 AND tx.height<=80"]);
  });

  it("is searched page by page until all are found, twenty pages at most", async () => {
    /** The one that is looked for is at this place. */
    const at = (place: number, count = place) =>
      setUp({
        sending: [sendingOf(1n, "a")],
        blocks: Array.from({ length: count }, (_, index) => [
          delivery(1n, index === place - 1 ? "a" : `${index}`),
          0,
        ]),
      });
    for (const [scene, pages, found] of [
      [at(20), 2, 1],
      [at(15, 5_000), 2, 1],
      [at(201), 20, 0],
    ] as const) {
      await resolvePredecessor(scene.deps, signal);
      expect([scene.searches.length, scene.included.length]).toEqual([pages, found]);
    }
  });

  it("is left as it is when the node cannot search, and the process begins nevertheless", async () => {
    const { deps, included } = setUp({
      sending: [sendingOf(1n, "a")],
      searchError: new Error("indexing is disabled"),
    });
    await resolvePredecessor(deps, signal);
    expect(included).toEqual([]);
  });

  it("ends with the signal", async () => {
    const { deps } = setUp({ sending: [sendingOf(1n, "a")], searchError: new Error("stop") });
    await expect(resolvePredecessor(deps, AbortSignal.abort(new Error("stop")))).rejects.toThrow("stop");
  });
});
