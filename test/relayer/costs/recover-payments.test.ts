import { describe, expect, it } from "vitest";
import { AuthInfo, TxBody, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { MsgUpdateClient } from "../../../src/cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { type RecoverDeps, recoverPayments } from "../../../src/relayer/relayer-history.ts";
import { submitMessage } from "../../../src/relayer/result/proven-result.ts";
import { sampleState } from "../samples.ts";
import type { PaidTransaction } from "../../../src/relayer/result/submit-gate.ts";

const { signal } = new AbortController();
const OWN = "neutron1own";
const SUBMIT = "/neutron.interchainqueries.MsgSubmitQueryResult";
const RESULT = { kvResults: [], block: undefined, height: 1n, revision: 1n, allowKvCallbacks: false };

const submit = (queryId: bigint, sender = OWN) => ({
  typeUrl: SUBMIT,
  value: submitMessage(queryId, RESULT, sender),
});
const update = (clientId: string) => ({
  typeUrl: "/ibc.core.client.v1.MsgUpdateClient",
  value: MsgUpdateClient.encode({ clientId, clientMessage: undefined, signer: OWN }).finish(),
});
const send = { typeUrl: "/cosmos.bank.v1beta1.MsgSend", value: new Uint8Array() };

let number = 0;
function transaction(
  messages: readonly { readonly typeUrl: string; readonly value: Uint8Array }[],
  { code = 0, events = [{}], fee = "1000", height = 50 } = {},
) {
  number += 1;
  const bodyBytes = TxBody.encode({
    messages: [...messages],
    memo: `${number}`,
    timeoutHeight: 0n,
    extensionOptions: [],
    nonCriticalExtensionOptions: [],
  }).finish();
  const authInfoBytes = AuthInfo.encode({
    signerInfos: [],
    fee: { amount: [{ denom: "untrn", amount: fee }], gasLimit: 1n, payer: "", granter: "" },
    tip: undefined,
  }).finish();
  const tx = TxRaw.encode({ bodyBytes, authInfoBytes, signatures: [] }).finish();
  return { height, tx, result: { code, gasUsed: 77n, events } };
}

function setUp(
  found: readonly ReturnType<typeof transaction>[],
  { newestHeight, sinceHeight, ...more }: Partial<RecoverDeps & RecoverDeps["ledger"]> = {},
) {
  const recorded: (PaidTransaction & { readonly atMs: number })[] = [];
  const searches: string[] = [];
  const progress: string[] = [];
  const sorted = found.toSorted((a, b) => a.height - b.height);
  const deps: RecoverDeps = {
    ledger: {
      newestHeight: newestHeight ?? (async () => 40n),
      sinceHeight: sinceHeight ?? (async () => undefined),
      recordAt: (one, atMs) => void recorded.push({ ...one, atMs }),
    },
    comet: {
      txSearch: async ({ query, page = 1, per_page: size = 10, order_by: order }) => {
        searches.push(query);
        expect(order).toBe("asc");
        return { txs: sorted.slice((page - 1) * size, page * size), totalCount: found.length };
      },
    },
    blockTimeMs: async (height) => height * 1_000,
    address: OWN,
    payer: OWN,
    denom: "untrn",
    submitTypeUrl: SUBMIT,
    queries: () => [sampleState({ id: 3n, owner: "neutron1contract", connectionId: "connection-0" }).query],
    connectionIds: ["connection-0"],
    clientOfConnection: async () => "07-tendermint-9",
    gasOf: (query) => (query === undefined ? 1n : 5n),
    gasOfUpdate: 85n,
    onProgress: (text) => void progress.push(text),
    clock: { monotonicMs: () => searches.length * 1_000 },
    logger: silentLogger,
    ...more,
  };
  return { recorded, searches, progress, recover: () => recoverPayments(deps, signal) };
}

describe("recoverPayments", () => {
  it("records results and updates of the previous process with their fee, time and owner", async () => {
    const { recorded, searches, recover } = setUp([
      transaction([update("07-tendermint-9"), submit(3n), submit(4n)]),
      transaction([submit(3n)], { code: 11, height: 51 }),
    ]);
    expect(await recover()).toBeUndefined();
    expect(searches).toEqual([`message.sender='${OWN}' AND tx.height>=20`]);
    expect(recorded).toMatchObject([
      {
        height: 50n,
        atMs: 50_000,
        fee: 1_000n,
        gasUsed: 77n,
        isFailed: false,
        results: [
          { queryId: 3n, owner: "neutron1contract", connectionId: "connection-0", gas: 5n },
          // Removed since: its owner is not known any more.
          { queryId: 4n, owner: "", connectionId: "", gas: 1n },
        ],
        updates: [{ connectionId: "connection-0", gas: 85n }],
      },
      { height: 51n, isFailed: true, results: [{ queryId: 3n }] },
    ]);
  });

  it("leaves out what cost nothing, and transactions of other programs and accounts", async () => {
    const { recorded, recover } = setUp([
      transaction([submit(3n)], { code: 32, events: [] }),
      transaction([submit(3n), send]),
      transaction([submit(3n, "neutron1other")]),
      transaction([submit(3n)], { fee: "-5" }),
    ]);
    expect(await recover()).toBeUndefined();
    expect(recorded).toEqual([]);
  });

  it("searches for the payer too, and all pages, each transaction once", async () => {
    const many = Array.from({ length: 25 }, (_, index) => transaction([submit(3n)], { height: 50 + index }));
    const { recorded, searches, recover } = setUp(many, { payer: "neutron1granter" });
    expect(await recover()).toBeUndefined();
    // Once for each search: the ledger adds each once.
    expect(new Set(recorded.map(({ hash }) => hash)).size).toBe(25);
    const heights = recorded.map(({ height }) => Number(height));
    // Never a whole page ahead of what the other search has not recorded yet.
    for (const [index, height] of heights.entries())
      expect(Math.min(...heights.slice(index))).toBeGreaterThan(height - 10);
    expect(searches.filter((query) => query.includes("neutron1granter"))).toHaveLength(3);
  });

  it("says when there were too many, and when the node cannot tell", async () => {
    const one = transaction([submit(3n)]);
    const many = Array.from({ length: 10_001 }, () => one);
    expect(await setUp(many).recover()).toBe(
      "more than 10000 transactions were sent since the last known one",
    );
    const broken = setUp([], {
      comet: { txSearch: () => Promise.reject(new Error("transaction indexing is disabled")) },
    });
    expect(await broken.recover()).toBe("transaction indexing is disabled");
  });

  it("has all payments of a process that was killed before it had written the first one", async () => {
    const ledger = { newestHeight: async () => undefined, sinceHeight: async () => 7n };
    const { recorded, searches, recover } = setUp([transaction([submit(3n)])], ledger);
    expect(await recover()).toBeUndefined();
    expect(searches).toEqual([`message.sender='${OWN}' AND tx.height>=7`]);
    expect(recorded).toHaveLength(1);
  });

  it("reads no block before the sums began", async () => {
    const { searches, recover } = setUp([], { sinceHeight: async () => 33n });
    expect(await recover()).toBeUndefined();
    expect(searches).toEqual([`message.sender='${OWN}' AND tx.height>=33`]);
  });

  it("records the oldest first, so that a process that is killed in between leaves no gap", async () => {
    const { recorded, recover } = setUp([50, 48, 49].map((height) => transaction([submit(3n)], { height })));
    await recover();
    expect(recorded.map(({ height }) => height)).toEqual([48n, 49n, 50n]);
  });

  it("says how many it has read, and how long the others take", async () => {
    const many = Array.from({ length: 40 }, () => transaction([submit(3n)]));
    const { progress, recover } = setUp(many);
    await recover();
    expect(progress[0]).toBe("read 10 of 40 transactions from earlier processes; about 3 s left");
    expect(progress[1]).toBe("read 20 of 40 transactions from earlier processes; about 2 s left");
  });

  it("reads nothing before the sums have begun", async () => {
    const { searches, recover } = setUp([transaction([submit(3n)])], { newestHeight: async () => undefined });
    expect(await recover()).toBeUndefined();
    expect(searches).toEqual([]);
  });
});
