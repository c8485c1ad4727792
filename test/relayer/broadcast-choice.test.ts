import { describe, expect, it } from "vitest";
import { type Dec18, formatDec18, parseDec18 } from "../../src/platform/base/decimal.ts";
import type { BroadcastResult, TxDraft } from "../../src/cosmos/client/tx/tx-types.ts";
import type { RegisteredQuery } from "../../src/relayer/chain/registered-query.ts";
import type { MarketBudget } from "../../src/relayer/gas-budget/budget.ts";
import { createUrgency } from "../../src/relayer/gas-budget/urgency.ts";
import { broadcastPrepared } from "../../src/relayer/submit/broadcast.ts";
import type { ProvenResult } from "../../src/relayer/result/proven-result.ts";
import type { Entry } from "../../src/relayer/submit/pipeline.ts";
import type { Admission, AdmissionRequest } from "../../src/relayer/result/submit-gate.ts";
import { gasInFlight, resolve, type SubmitterDeps } from "../../src/relayer/submit/submitter-state.ts";
import { sampleResult, sampleState } from "./samples.ts";
import { place, sampleSubmitter } from "./submitter-samples.ts";

const signal = new AbortController().signal;
const UPDATE_URL = "/ibc.core.client.v1.MsgUpdateClient";
const update = {
  key: "07-tendermint-0/1-11",
  connectionId: "connection-0",
  message: { typeUrl: UPDATE_URL, value: new Uint8Array(10) },
};

/** A result of query `id`: due unless `query` says otherwise. */
interface Part {
  readonly id: bigint;
  readonly query?: Partial<RegisteredQuery>;
  readonly result?: Partial<ProvenResult>;
}

/** Fields of a query whose next result is due in two blocks. */
const SOON = { lastLocalHeight: 98n };

/** A submitter whose prepared transactions have these results. */
function setUp(more: Partial<SubmitterDeps> = {}) {
  const sample = sampleSubmitter(1, more);
  const { state } = sample;
  const prepare = (parts: readonly Part[], gas = 200_000n): readonly Entry[] => {
    const entries = parts.map(({ id, query, result }): Entry => {
      const known = sampleState({ id, ...query });
      sample.queries.set(id, known);
      const proven = sampleResult(id, 100, { query: known.query, ...result });
      return place(sample, proven, "planned");
    });
    state.prepared = [...state.prepared, { entries, gas, simulated: gas, isWhole: true }];
    return entries;
  };
  /** Returns the ids of the results of each transaction, and "update". */
  const contents = (): readonly (readonly string[])[] =>
    sample.broadcasts
      .flat()
      .map(({ messages }) =>
        messages.map(({ typeUrl, value }) => (typeUrl === UPDATE_URL ? "update" : `${value[0]}`)),
      );
  const send = async (): Promise<readonly (readonly string[])[]> => {
    await broadcastPrepared(state, signal);
    return contents();
  };
  const replies = (result: (draft: TxDraft) => BroadcastResult): void => {
    Object.assign(state.deps.window, {
      broadcast: async (drafts: readonly TxDraft[]) => drafts.map(result),
    });
  };
  return { sample, state, prepare, send, contents, replies };
}

describe("a broadcast", () => {
  it("waits until the window is open", async () => {
    const { state, prepare, send } = setUp();
    prepare([{ id: 1n }]);
    let isOpen = false;
    Object.assign(state.deps.window, { isOpen: () => isOpen });
    expect(await send()).toEqual([]);
    expect(state.prepared).toHaveLength(1);
    isOpen = true;
    expect(await send()).toEqual([["1"]]);
  });

  it("costs the price of this block or of the one before, and never that of another chain", async () => {
    const { state, prepare, send } = setUp();
    let reads = 0;
    const gasPrice = async () => parseDec18(`0.0${++reads}`);
    Object.assign(state.deps.window, { gasPrice });
    let id = 0n;
    const readsAt = async (height: bigint): Promise<number> => {
      state.deps.height.set(height, 0n);
      prepare([{ id: ++id }]);
      await send();
      return reads;
    };
    expect(await readsAt(100n)).toBe(1);
    expect(await readsAt(101n)).toBe(1);
    expect(await readsAt(102n)).toBe(2);
    expect(await readsAt(5n)).toBe(3);
  });

  it("does not begin without room in the block: bytes and gas, of what is in flight and of what leaves", async () => {
    const { state, prepare, send } = setUp();
    // Nine tenths of each.
    state.block.setLimits({ utilization: 1_000_000n, gas: undefined, bytes: 1_000n });
    const ofBytes = (id: bigint, bytes: number) => ({
      id,
      result: { message: new Uint8Array(bytes).fill(Number(id)) },
    });
    prepare([ofBytes(1n, 500)]);
    prepare([ofBytes(2n, 401)]);
    prepare([ofBytes(3n, 300)], 700_001n);
    prepare([ofBytes(4n, 400)], 200_001n);
    expect(await send()).toEqual([["1"], ["4"]]);
    expect(gasInFlight(state)).toBe(400_001n);
    // As large as the block with what is in flight: 900 bytes, 600,001 gas.
    state.sent = state.sent.map((one, index) => ({ ...one, tx: { ...one.tx, size: 250 - index } }));
    expect(state.sent.reduce((sum, { tx }) => sum + tx.size, 0)).toBe(499);
    expect(await send()).toEqual([["1"], ["4"], ["2"]]);
    const [one] = state.sent;
    if (one === undefined) throw new Error("nothing in flight");
    const besides = async (gas: bigint, size: number) => {
      state.sent = [{ ...one, gas, tx: { ...one.tx, size } }];
      return (await send()).at(-1);
    };
    expect(await besides(0n, 601)).toEqual(["2"]);
    expect(await besides(200_000n, 0)).toEqual(["2"]);
    expect(await besides(199_999n, 600)).toEqual(["3"]);
  });

  it("of more than a block goes when it is alone", async () => {
    const { state, prepare, send } = setUp();
    state.block.setLimits({ utilization: 1_000_000n, gas: undefined, bytes: undefined });
    prepare([{ id: 1n }], 5_000_000n);
    prepare([{ id: 2n }], 5_000_000n);
    expect(await send()).toEqual([["1"]]);
    expect(await send()).toEqual([["1"]]);
    state.sent = [];
    expect(await send()).toEqual([["1"], ["2"]]);
  });

  it("takes the longest due of a transaction that does not fit, and nothing behind it overtakes", async () => {
    const { state, prepare, send } = setUp();
    // Nine tenths: 360,000.
    state.block.setLimits({ utilization: 400_000n, gas: undefined, bytes: undefined });
    prepare([{ id: 1n }], 140_000n);
    const due = (id: bigint, lastLocalHeight: bigint) => ({ id, query: { lastLocalHeight } });
    prepare([due(2n, 90n), due(3n, 70n), due(4n, 80n)], 250_000n);
    prepare([{ id: 5n, query: { lastLocalHeight: 94n } }], 50_000n);
    // 220,000 are left: 110,000 for the transaction, and three results at 30,000 by their estimates, 250,000 by the simulation.
    expect(await send()).toEqual([["1"]]);
    expect(state.prepared.map(({ entries }) => entries.length)).toEqual([3, 1]);
    state.sent = state.sent.map((one) => ({ ...one, gas: 180_000n }));
    expect((await send()).slice(1)).toEqual([["3", "4"]]);
    expect(state.prepared.map(({ entries }) => entries.map(({ result }) => result.query.id))).toEqual([
      [2n],
      [5n],
    ]);
  });

  it("is not split for less than a tenth of a block: each transaction has its fixed gas", async () => {
    const { state, prepare, send } = setUp();
    // Nine tenths: 3,600,000.
    state.block.setLimits({ utilization: 4_000_000n, gas: undefined, bytes: undefined });
    prepare([{ id: 1n }]);
    expect(await send()).toEqual([["1"]]);
    const inFlight = (gas: bigint): void => {
      state.sent = state.sent.slice(0, 1).map((one) => ({ ...one, gas }));
    };
    prepare(
      Array.from({ length: 20 }, (_, index) => ({ id: BigInt(index + 2) })),
      710_000n,
    );
    // 350,000 are left, enough for eight results.
    inFlight(3_250_000n);
    expect(await send()).toEqual([["1"]]);
    // 380,000 are left: 110,000 for the transaction and nine results at 30,000.
    inFlight(3_220_000n);
    expect((await send()).slice(1).map((ids) => ids.length)).toEqual([9]);
  });

  it("waits while fewer results are due than will be soon, and else leaves those behind", async () => {
    const { state, prepare, send } = setUp();
    prepare([{ id: 1n }, { id: 2n, query: SOON }, { id: 3n, query: SOON }]);
    prepare([{ id: 5n }, { id: 6n, query: SOON }]);
    expect(await send()).toEqual([["5"]]);
    expect(state.prepared.map(({ entries }) => entries.map(({ result }) => result.query.id))).toEqual([
      [1n, 2n, 3n],
      [6n],
    ]);
    state.deps.height.set(102n, 0n);
    expect(await send()).toEqual([["5"], ["1", "2", "3"], ["6"]]);
  });

  it("has one result of a query at a time", async () => {
    const { state, prepare, send } = setUp();
    const query = { type: "tx" } as const;
    prepare([{ id: 1n, query }]);
    prepare([{ id: 1n, query }]);
    expect(await send()).toEqual([["1"]]);
    expect(state.prepared).toHaveLength(1);
  });

  it("that is split leaves no TX result prepared behind those of its query: it would overtake them when they fail", async () => {
    const { state, prepare, send, replies } = setUp();
    // Nine tenths: 360,000, of which 220,000 are left: 110,000 for the transaction, and three results at 30,000.
    state.block.setLimits({ utilization: 400_000n, gas: undefined, bytes: undefined });
    prepare([{ id: 1n }], 140_000n);
    await send();
    const part = (id: bigint, type: "kv" | "tx", height: bigint): Part => ({
      id,
      query: { type, lastLocalHeight: 90n - id },
      result: { at: { revision: 1n, height } },
    });
    const entries = prepare(
      [...[11n, 12n, 13n, 14n].map((at) => part(3n, "tx", at)), part(2n, "kv", 11n)],
      300_000n,
    );
    const sizes: number[] = [];
    replies(({ messages }) => {
      sizes.push(messages.length);
      return { kind: "skipped", reason: "the sequence of the account is not certain" };
    });
    await send();
    expect(sizes).toEqual([3]);
    const { planned, queued } = state.pipeline.ofQuery(3n);
    expect([planned, queued]).toEqual([[], entries.slice(0, 4)]);
    expect(state.prepared.map((one) => one.entries)).toEqual([entries.slice(4)]);
  });

  it("is planned again when one of its results is to be tried apart from the others", async () => {
    const { state, prepare, send } = setUp();
    const [first, second] = prepare([{ id: 1n }, { id: 2n }]);
    state.queries.isolated.set(2n, "2 1");
    expect(await send()).toEqual([]);
    expect([first?.stage.kind, second?.stage.kind]).toEqual(["queued", "queued"]);
    expect(state.prepared).toEqual([]);
  });

  it("leaves out what was settled meanwhile", async () => {
    const { prepare, send, state } = setUp();
    const [first] = prepare([{ id: 1n }, { id: 2n }]);
    if (first !== undefined) resolve(state, first, { kind: "dropped", reason: "removed" });
    expect(await send()).toEqual([["2"]]);
  });
});

describe("client updates", () => {
  const result = { update };

  it("are in the first transaction that needs them; the others of the block rely on it", async () => {
    const { state, prepare, send } = setUp();
    prepare([{ id: 1n, result }]);
    prepare([{ id: 2n, result }]);
    expect(await send()).toEqual([["update", "1"], ["2"]]);
    expect(state.sent.map(({ reliesOn }) => [...reliesOn])).toEqual([[], [update.key]]);
    prepare([{ id: 3n, result }]);
    expect((await send()).at(-1)).toEqual(["3"]);
    expect(state.sent.at(-1)?.reliesOn).toEqual(new Set([update.key]));
    // In a block, nothing can go wrong with it any more.
    state.included.add(update.key);
    prepare([{ id: 4n, result }]);
    expect((await send()).at(-1)).toEqual(["4"]);
    expect(state.sent.at(-1)?.reliesOn).toEqual(new Set());
  });

  it("are in each doubtful transaction, and no other relies on those", async () => {
    const { state, prepare, send } = setUp();
    state.queries.isolated.set(1n, "1 1");
    prepare([{ id: 1n, result }]);
    prepare([{ id: 2n, result }]);
    expect(await send()).toEqual([
      ["update", "1"],
      ["update", "2"],
    ]);
    expect(state.sent.map(({ isIsolated }) => isIsolated)).toEqual([true, false]);
    state.queries.isolated.set(3n, "3 1");
    prepare([{ id: 3n, result }]);
    expect((await send()).at(-1)).toEqual(["update", "3"]);
    expect(state.sent.at(-1)?.reliesOn).toEqual(new Set());
  });
});

describe("the gate", () => {
  it("learns what each owner's part is, and is asked again without the owners that it refuses", async () => {
    const requests: AdmissionRequest[] = [];
    const admit = async (request: AdmissionRequest): Promise<Admission> => {
      requests.push(request);
      return request.gasByOwner.has("neutron1a")
        ? { admitted: false, reason: "used up", owners: ["neutron1a"] }
        : { admitted: true, release: () => {} };
    };
    const { sample, prepare, send } = setUp({ gate: { admit } });
    prepare([
      { id: 1n, query: { owner: "neutron1a" }, result: { gasGuess: 90_000n } },
      { id: 2n, query: { owner: "neutron1b" }, result: { gasGuess: 30_000n } },
    ]);
    expect(await send()).toEqual([["2"]]);
    expect(sample.attempts).toMatchObject([{ queryId: 1n, outcome: "over-budget", reason: "used up" }]);
    const [whole, rest] = requests;
    // 200,000 gas and the payout, with three tenths more.
    expect(whole?.gasByOwner).toEqual(
      new Map([
        ["neutron1a", 230_100n],
        ["neutron1b", 76_700n],
      ]),
    );
    expect(whole?.fee).toBe((whole?.gas ?? 0n) / 100n + 1n);
    expect([...(rest?.gasByOwner.keys() ?? [])]).toEqual(["neutron1b"]);
  });

  it("stops everything for two seconds when it refuses all, and says so once", async () => {
    const admission: Admission = { admitted: false, reason: "the balance is below the reserve" };
    const { sample, state, prepare, send } = setUp({ gate: { admit: async () => admission } });
    const [entry] = prepare([{ id: 1n }]);
    expect(await send()).toEqual([]);
    expect([entry?.stage.kind, state.pace.stopped]).toEqual(["resolved", admission.reason]);
    expect(sample.attempts).toMatchObject([{ outcome: "not-broadcast", reason: admission.reason }]);
    prepare([{ id: 2n }]);
    await sample.clock.advance(1_999);
    await send();
    expect(state.prepared).toHaveLength(1);
    await sample.clock.advance(1);
    await send();
    expect(state.prepared).toEqual([]);
  });
});

describe("a transaction that the node does not take", () => {
  it("costs nothing, and its results are tried again when it was not sent", async () => {
    const { sample, state, prepare, send, replies } = setUp();
    replies(() => ({ kind: "skipped", reason: "the sequence of the account is not certain" }));
    const [entry] = prepare([{ id: 1n }]);
    await send();
    expect([sample.released, entry?.stage.kind, state.sent]).toEqual([1, "queued", []]);
  });

  it("is counted as refused", async () => {
    const { sample, state, prepare, send, replies } = setUp();
    replies(({ gasLimit }) => ({
      kind: "refused",
      tx: { hash: new Uint8Array(), sequence: 1n, size: 1, gasLimit, feeAmount: 1n },
      code: 4,
      codespace: "sdk",
      log: "signature verification failed",
    }));
    state.pace.stopped = "before";
    const [entry] = prepare([{ id: 1n }]);
    await send();
    expect([sample.released, entry?.stage.kind, state.pace.stopped]).toEqual([1, "resolved", "before"]);
    expect(sample.attempts).toMatchObject([{ outcome: "not-broadcast" }]);
    const { values } = await state.deps.metrics.transactions.get();
    expect(values.find(({ labels }) => labels["outcome"] === "refused")?.value).toBe(1);
  });

  it("is no reason to show any more after one that it took", async () => {
    const { state, prepare, send } = setUp();
    state.pace.stopped = "before";
    prepare([{ id: 1n }]);
    await send();
    expect(state.pace.stopped).toBeUndefined();
  });
});

/** A rule of urgency for query 2. */
const RULE = {
  name: "vault",
  owners: [],
  ids: [2n],
  priority: 1,
  max_price: parseDec18("0.012"),
  max_age: undefined,
  daily_fee: undefined,
};

describe("the price that is offered on a market", () => {
  /** Returns the price that is offered for the results of these queries, when the next block charges `price` and it can rise by an eighth. */
  async function offered(price: string, ...ids: readonly bigint[]): Promise<string> {
    const prices: Dec18[] = [];
    const own: (bigint | undefined)[] = [];
    const { state, prepare, send } = setUp({
      urgency: createUrgency([RULE], parseDec18("1")),
    });
    Object.assign(state.market, {
      priceAt: (_height: bigint, ownGas: bigint) => (
        own.push(ownGas), { price: parseDec18(price), rise: parseDec18("1.125") }
      ),
      latestPrice: () => parseDec18(price),
      ceiling: () => parseDec18("0.005"),
    });
    Object.assign(state.deps.window, {
      broadcast: async (drafts: readonly TxDraft[], { gasPrice }: { readonly gasPrice: Dec18 }) => {
        prices.push(gasPrice);
        return drafts.map(() => ({ kind: "skipped", reason: "test" }));
      },
    });
    prepare(ids.map((id) => ({ id })));
    await send();
    // What leaves in this broadcast raises the price too.
    expect(own).toEqual([200_000n]);
    return prices.map(formatDec18).join();
  }

  it("is what the block after the next one can charge, although that is more than the multiplier", async () => {
    expect(await offered("0.0040", 1n)).toBe("0.004540000000000000");
  });

  it("is at most the ceiling, and for urgent results the price of their rule", async () => {
    expect(await offered("0.0049", 1n)).toBe("0.005000000000000000");
    expect(await offered("0.0100", 2n)).toBe("0.011350000000000000");
    expect(await offered("0.0115", 2n)).toBe("0.012000000000000000");
  });

  it("of an urgent result beside others is theirs", async () => {
    expect(await offered("0.0049", 1n, 2n)).toBe("0.005000000000000000");
  });
});

describe("the budget of the fee market", () => {
  const budget = (more: Partial<MarketBudget>): MarketBudget => ({
    gas: 2_000_000n,
    toleranceGas: 0n,
    singleGas: 0n,
    phase: "steady",
    ...more,
  });

  it("may be exceeded by its tolerance, rather than to split a transaction", async () => {
    const { sample, state, prepare, send } = setUp();
    const present = { ...budget({}) };
    Object.assign(state.market, { budget: () => present });
    prepare(
      Array.from({ length: 60 }, (_, index) => ({ id: BigInt(index + 1) })),
      2_050_000n,
    );
    Object.assign(present, { toleranceGas: 50_000n });
    expect((await send()).map((ids) => ids.length)).toEqual([60]);
    expect(sample.state.prepared).toEqual([]);
  });

  it("splits what exceeds it by more, and plans a small remainder again", async () => {
    const { sample, state, prepare, send } = setUp();
    Object.assign(state.market, { budget: () => budget({ toleranceGas: 49_999n }) });
    prepare(
      Array.from({ length: 60 }, (_, index) => ({ id: BigInt(index + 1) })),
      2_050_000n,
    );
    // By the estimates 110,000 for the transaction and 30,000 for each result, 1,910,000 in all; the simulation used more.
    const [sent] = (await send()).map((ids) => ids.length);
    expect(sent).toBe(Math.floor(((2_049_999 * 1_910) / 2_050 - 110_000) / 30_000));
    expect(sample.state.prepared).toEqual([]);
    expect(sample.state.pipeline.queuedCount()).toBe(60 - (sent ?? 0));
  });

  it("lets a single result go that exceeds it, and no more than one", async () => {
    const { state, prepare, send } = setUp();
    Object.assign(state.market, { budget: () => budget({ gas: 100_000n, singleGas: 500_000n }) });
    prepare([{ id: 1n }, { id: 2n }], 400_000n);
    expect(await send()).toEqual([]);
    state.prepared = [];
    prepare([{ id: 3n }], 500_001n);
    expect(await send()).toEqual([]);
    state.prepared = [];
    prepare([{ id: 4n }], 500_000n);
    expect(await send()).toEqual([["4"]]);
  });

  it("above the ceiling takes what is urgent out of a transaction that was prepared below it", async () => {
    const urgency = createUrgency([{ ...RULE, ids: [2n, 5n] }], parseDec18("1"));
    const { sample, state, prepare, send } = setUp({ urgency });
    Object.assign(state.market, {
      budget: () => budget({ gas: 0n, phase: "above-ceiling" }),
      latestPrice: () => parseDec18("0.006"),
      ceiling: () => parseDec18("0.005"),
    });
    prepare(
      Array.from({ length: 60 }, (_, index) => ({ id: BigInt(index + 1) })),
      2_050_000n,
    );
    expect(await send()).toEqual([["2", "5"]]);
    expect(sample.state.prepared.map(({ entries }) => entries.length)).toEqual([58]);
  });

  it("of nothing sends nothing", async () => {
    const { state, prepare, send } = setUp();
    Object.assign(state.market, { budget: () => budget({ gas: 0n, phase: "above-ceiling" }) });
    prepare([{ id: 1n }]);
    expect(await send()).toEqual([]);
    expect(state.prepared).toHaveLength(1);
  });
});
