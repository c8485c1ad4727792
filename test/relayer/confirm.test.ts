import type { Counter, Histogram } from "prom-client";
import { describe, expect, it } from "vitest";
import type { FinalTx } from "../../src/cosmos/client/tx/tx-types.ts";
import { confirm } from "../../src/relayer/submit/confirm.ts";
import { type ClientUpdate, GAS_PER_TRANSACTION } from "../../src/relayer/result/proven-result.ts";
import type { SentTransaction, Slot } from "../../src/relayer/submit/transaction.ts";
import { sampleResult, sampleState } from "./samples.ts";
import { place, sampleSubmitter } from "./submitter-samples.ts";
import type { PaidTransaction } from "../../src/relayer/result/submit-gate.ts";

const signal = new AbortController().signal;
const HASH = Uint8Array.of(0xab, 0xcd);

const updateTo = (height: number): ClientUpdate => ({
  key: `07-tendermint-0/1-${height}`,
  connectionId: "connection-0",
  message: { typeUrl: "/ibc.core.client.v1.MsgUpdateClient", value: new Uint8Array(10) },
});

/** A submitter with one transaction in flight: the update to height 11, and results of queries 1 and 2. */
function setUp(given: Partial<SentTransaction> = {}) {
  const sample = sampleSubmitter();
  const { state } = sample;
  const update = updateTo(11);
  const entries = [1n, 2n].map((id) => {
    const connectionId = `connection-${id - 1n}`;
    const known = sampleState({ id, connectionId });
    sample.queries.set(id, known);
    const result = { query: known.query, update, gasGuess: id * 30_000n, dueHeight: 98n };
    return place(sample, sampleResult(id, 100, result), "in-flight");
  });
  let released = 0;
  const slots: readonly Slot[] = [
    { kind: "update", update },
    ...entries.map((entry) => ({ kind: "result", entry }) as const),
  ];
  const sent: SentTransaction = {
    tx: { hash: HASH, sequence: 1n, size: 500, gasLimit: 400_000n, feeAmount: 4_000n },
    slots,
    gas: 300_000n,
    reliesOn: new Set(),
    isIsolated: false,
    sentAt: 100n,
    isWhole: true,
    release: () => void (released += 1),
    ...given,
  };
  state.sent = [sent];
  const end = async (confirmation: FinalTx["confirmation"]): Promise<void> => {
    sample.finals = [{ tx: sent.tx, confirmation }];
    await confirm(state, signal);
  };
  const places = () => entries.map(({ stage }) => stage.kind);
  return { sample, state, sent, end, places, released: () => released };
}

const included: FinalTx["confirmation"] = {
  kind: "included",
  height: 101n,
  gasUsed: 300_000n,
  gasWanted: 400_000n,
  data: new Uint8Array(),
};
const failed = (log: string): Extract<FinalTx["confirmation"], { readonly kind: "failed" }> => ({
  kind: "failed",
  height: 101n,
  gasUsed: 300_000n,
  code: 4,
  codespace: "wasm",
  log,
});

const OUT_OF_GAS: FinalTx["confirmation"] = {
  kind: "failed",
  height: 101n,
  gasUsed: 300_000n,
  code: 11,
  codespace: "sdk",
  log: "out of gas in location: ReadFlat",
};

/** Values of a metric that are not 0, by the values of its labels. */
async function values(metric: Counter | Histogram): Promise<Readonly<Record<string, number>>> {
  const { values: all } = await metric.get();
  return Object.fromEntries(
    all
      .filter(({ value }) => value !== 0)
      .map(({ labels, value }) => [Object.values(labels).join(" "), value]),
  );
}

describe("what a transaction cost", () => {
  const paymentsOf = async (confirmation: FinalTx["confirmation"], given: Partial<SentTransaction> = {}) => {
    const { state, end, released } = setUp(given);
    const payments: PaidTransaction[] = [];
    Object.assign(state.deps, { payments: { record: (paid: PaidTransaction) => void payments.push(paid) } });
    await end(confirmation);
    return { payments, released: released(), fees: await values(state.deps.metrics.fees) };
  };

  it("is recorded with its results and updates, also when it failed", async () => {
    const results = [
      { queryId: 1n, connectionId: "connection-0", gas: 30_000n },
      { queryId: 2n, connectionId: "connection-1", gas: 60_000n },
    ];
    const expected = { hash: "ABCD", height: 101n, fee: 4_000n, gasUsed: 300_000n, results };
    const updates = [{ connectionId: "connection-0", gas: 85_000n }];
    expect((await paymentsOf(included)).payments).toMatchObject([{ ...expected, isFailed: false, updates }]);
    const log = "failed to execute message; message index: 1: no";
    expect((await paymentsOf(failed(log))).payments).toMatchObject([{ ...expected, isFailed: true }]);
  });

  it("is recorded when its results relied on a client update that another transaction should have had", async () => {
    const { payments } = await paymentsOf(failed("no consensus state"), { reliesOn: new Set(["x"]) });
    expect(payments).toHaveLength(1);
  });

  it("is nothing when it was lost, or refused before its fee was charged", async () => {
    const lost = await paymentsOf({ kind: "lost", reason: "timeout" });
    expect([lost.payments, lost.released]).toEqual([[], 1]);
    // A later block may still include it: it stays spent.
    const late = await paymentsOf({ kind: "lost", reason: "deadline", isUncertain: true });
    expect([late.payments, late.released]).toEqual([[], 0]);
    const unpaid = { ...failed("account sequence mismatch"), isUnpaid: true } as const;
    expect(await paymentsOf(unpaid)).toEqual({ payments: [], released: 1, fees: {} });
  });

  it("is recorded without results for a client update that nobody waits for any more", async () => {
    const { sample, state } = setUp();
    const payments: PaidTransaction[] = [];
    Object.assign(state.deps, { payments: { record: (paid: PaidTransaction) => void payments.push(paid) } });
    const tx = { hash: Uint8Array.of(1), sequence: 9n, size: 5, gasLimit: 5n, feeAmount: 7n };
    sample.finals = [{ tx, confirmation: included }];
    await confirm(state, signal);
    expect(payments).toMatchObject([{ hash: "01", fee: 7n, results: [], updates: [] }]);
  });
});

describe("a transaction in a block", () => {
  it("tells the fee market its gas and its fee, also when it failed", async () => {
    for (const confirmation of [included, failed("failed to execute message; message index: 1: no")]) {
      const { state, end } = setUp();
      const own: (readonly bigint[])[] = [];
      Object.assign(state.market, { recordOwn: (...paid: readonly bigint[]) => void own.push(paid) });
      await end(confirmation);
      expect(own).toEqual([[101n, 300_000n, 4_000n]]);
    }
  });

  it("settles its results with their shares of gas and fee, and ends all doubt about them", async () => {
    const { sample, state, end, places, released } = setUp();
    state.queries.isolated.set(1n, "x");
    const version = state.deps.height.version();
    await end(included);
    expect([places(), state.sent, released()]).toEqual([["resolved", "resolved"], [], 0]);
    expect(sample.attempts).toMatchObject([
      { queryId: 1n, outcome: "included", localHeight: 101n, txHash: "ABCD" },
      { queryId: 2n, outcome: "included", localHeight: 101n, txHash: "ABCD" },
    ]);
    const paid = sample.attempts.map(({ gas, fee }) => [Number(gas), Number(fee)]);
    expect(paid.map(([gas = 0, fee = 0]) => gas / fee)).toEqual(
      [75, 75].map((each) => expect.closeTo(each, 0)),
    );
    // The second one is expected to use twice as much.
    expect((paid[1]?.[0] ?? 0) / (paid[0]?.[0] ?? 1)).toBeCloseTo(2, 1);
    expect(paid.reduce((sum, [gas = 0]) => sum + gas, 0)).toBeGreaterThan(299_990);
    expect([...state.included]).toEqual([updateTo(11).key]);
    expect([state.queries.isolated.size, state.pipeline.sent()]).toEqual([0, []]);
    expect(state.deps.height.version()).toBe(version + 1);
  });

  it("whose client update was rejected fails the results that need it, and the others are sent again", async () => {
    const { sample, state, sent, end, places } = setUp();
    const known = sampleState({ id: 3n });
    sample.queries.set(3n, known);
    const other = place(
      sample,
      sampleResult(3n, 100, { query: known.query, update: updateTo(12) }),
      "in-flight",
    );
    const more: readonly Slot[] = [
      { kind: "update", update: updateTo(12) },
      { kind: "result", entry: other },
    ];
    state.sent = [{ ...sent, slots: [...sent.slots, ...more] }];
    await end(failed("failed to execute message; message index: 0: header is too old"));
    expect([...places(), other.stage.kind]).toEqual(["resolved", "resolved", "queued"]);
    const reason = "wasm/4: failed to execute message; message index: 0: header is too old";
    expect(sample.outcomes.map(([{ query }, outcome]) => [query.id, outcome])).toMatchObject(
      [1n, 2n].map((id) => [
        id,
        {
          kind: "unsent",
          reason,
          error: {
            message: `the client rejected the update header: ${reason}`,
            facts: { code: "header-refused", connectionId: `connection-${id - 1n}` },
          },
        },
      ]),
    );
  });

  it("that ran out of gas gives the next ones the whole margin again", async () => {
    const { state, end } = setUp();
    for (let times = 0; times < 200; times++) state.margin.learn(300_000n, true, 300_000n);
    const before = state.margin.limit(300_000n, true);
    await end(OUT_OF_GAS);
    expect(state.margin.limit(300_000n, true)).toBe(436_801n);
    expect(before).toBeLessThan(345_000n);
  });

  it("is counted for the connections of its results, in equal parts", async () => {
    const { state, end } = setUp();
    await end(included);
    const { metrics } = state.deps;
    expect(await values(metrics.transactions)).toEqual({ included: 1 });
    expect(await values(metrics.results)).toEqual({ "connection-0 included": 1, "connection-1 included": 1 });
    expect(await values(metrics.fees)).toEqual({ "connection-0": 2_000, "connection-1": 2_000 });
    expect(await values(metrics.gasUsed)).toEqual({ "connection-0": 150_000, "connection-1": 150_000 });
    expect(await values(metrics.txBytes)).toEqual({ "connection-0": 250, "connection-1": 250 });
    expect(await values(metrics.clientUpdates)).toEqual({ "connection-0": 1 });
    const { values: late } = await metrics.lateBlocks.get();
    // Due at 98, in block 101.
    expect(late.find(({ metricName }) => metricName?.endsWith("_sum"))?.value).toBe(3);
  });

  it("teaches what its parts cost, and gives the next ones more room after a shortage", async () => {
    const { state, end } = setUp();
    state.block.shrink();
    state.batch.shrink();
    const [gas, batch] = [state.block.gas(), state.batch.limits().bytes];
    await end(included);
    const learned = [1n, 2n, "connection-0"].map((key) => Number(state.gas.known(key)));
    expect(learned.reduce((total, one) => total + one, 0)).toBeCloseTo(
      300_000 - Number(GAS_PER_TRANSACTION),
      -1,
    );
    expect(state.block.gas()).toBeGreaterThan(gas);
    expect(state.batch.limits().bytes).toBeGreaterThan(batch);
  });

  it("remembers the last thousand client updates", async () => {
    const { state, end } = setUp();
    for (let height = 1_000; height < 2_000; height++) state.included.add(updateTo(height).key);
    await end(included);
    expect(state.included.size).toBe(1_000);
    expect(
      [updateTo(1_000), updateTo(1_001), updateTo(11)].map(({ key }) => state.included.has(key)),
    ).toEqual([false, true, true]);
  });
});

describe("a transaction that failed in its block", () => {
  it("costs the result that is to blame its share; the others are tried again, and the fee is counted", async () => {
    const { sample, state, end, places, released } = setUp();
    await end(failed("failed to execute message; message index: 2: no"));
    expect([places(), released()]).toEqual([["queued", "resolved"], 0]);
    expect(sample.attempts).toMatchObject([{ queryId: 2n, outcome: "rejected", txHash: "ABCD" }]);
    expect(sample.attempts[0]?.gas).toBeGreaterThan(150_000n);
    const { metrics } = state.deps;
    expect(await values(metrics.transactions)).toEqual({ failed: 1 });
    expect(await values(metrics.fees)).toEqual({ "connection-0": 2_000, "connection-1": 2_000 });
    expect(await values(metrics.results)).toEqual({
      "connection-0 not-included": 1,
      "connection-1 not-included": 1,
    });
    expect(await values(metrics.clientUpdates)).toEqual({});
    expect(state.included.size).toBe(0);
  });

  it("blames nobody when it relied on a client update that is in no block", async () => {
    const { sample, end, places } = setUp({ reliesOn: new Set([updateTo(12).key]) });
    await end(failed("failed to execute message; message index: 2: no"));
    expect([places(), sample.attempts]).toEqual([["queued", "queued"], []]);
  });

  it("blames the result when the update that it relied on is in a block", async () => {
    const { state, end, places } = setUp({ reliesOn: new Set([updateTo(12).key]) });
    state.included.add(updateTo(12).key);
    await end(failed("failed to execute message; message index: 2: no"));
    expect(places()).toEqual(["queued", "resolved"]);
  });

  it("counts a result that another relayer made redundant as that, and not as a failure", async () => {
    const { sample, state, end } = setUp();
    await end(failed("message index: 2: 10 is less than or equal to last result's remote height 10"));
    expect(sample.attempts).toMatchObject([{ queryId: 2n, outcome: "redundant" }]);
    expect(await values(state.deps.metrics.results)).toEqual({
      "connection-0 not-included": 1,
      "connection-1 redundant": 1,
    });
    expect([...state.queries.unread]).toEqual([1n, 2n]);
  });
});

describe("a transaction that is in no block", () => {
  it("costs nothing, and its results are tried again", async () => {
    const { sample, state, end, places, released } = setUp();
    await end({ kind: "lost", reason: "timeout" });
    expect([places(), released(), sample.attempts]).toEqual([["queued", "queued"], 1, []]);
    const { metrics } = state.deps;
    expect(await values(metrics.fees)).toEqual({});
    expect(await values(metrics.transactions)).toEqual({ "not-included": 1 });
    expect(await values(metrics.results)).toEqual({
      "connection-0 not-included": 1,
      "connection-1 not-included": 1,
    });
  });
});

describe("a look-up", () => {
  it("changes nothing for a transaction that the submitter did not send, or that is not final", async () => {
    const { sample, state, sent, places } = setUp();
    sample.finals = [{ tx: { ...sent.tx }, confirmation: included }];
    await confirm(state, signal);
    expect([places(), state.sent]).toEqual([["in-flight", "in-flight"], [sent]]);
    sample.finals = [];
    const version = state.deps.height.version();
    await confirm(state, signal);
    expect(state.deps.height.version()).toBe(version);
  });
});
