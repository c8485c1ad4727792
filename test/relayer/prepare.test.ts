import { describe, expect, it } from "vitest";
import type { SimulationOutcome } from "../../src/cosmos/client/tx/tx-types.ts";
import { simulateBetweenOthers } from "../../src/relayer/preview/open-preview.ts";
import { prepare } from "../../src/relayer/submit/prepare.ts";
import { resolve } from "../../src/relayer/submit/submitter-state.ts";
import { submitterOf } from "../../src/relayer/submit/submitter.ts";
import { sampleQuery, sampleResult } from "./samples.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { parseDec18 } from "../../src/platform/base/decimal.ts";
import { createUrgency } from "../../src/relayer/gas-budget/urgency.ts";
import { place, type SampleSubmitter, sampleSubmitter } from "./submitter-samples.ts";

const signal = new AbortController().signal;
const at = { revision: 1n, height: 9n };
/** Nine tenths of a block of 27,000,000. */
const NEARLY_FULL = 24_300_000n;

/** A submitter with one result of 100,000 gas that may be planned. */
function setUp() {
  const sample = sampleSubmitter();
  const { state } = sample;
  const submitter = submitterOf(state);
  const ofGas = (id: bigint, gasGuess: bigint) => sampleResult(id, 100, { gasGuess });
  submitter.offer([ofGas(1n, 100_000n)]);
  return {
    state,
    submitter,
    ofGas,
    fly: (gas: bigint) => void place(sample, ofGas(7n, 1n), "in-flight", { gas }),
    plan: (gas: bigint) => void place(sample, ofGas(8n, gas), "planned"),
    /** Returns a function that gives the result up. */
    expected: (gasGuess: bigint) => {
      // A result that is due for longer has its turn first. This one is due later.
      const query = sampleQuery({ id: 9n, lastLocalHeight: 100n });
      const ids = state.pipeline.expect([{ query, at, gasGuess }], 100n);
      return () => state.pipeline.giveUp(ids);
    },
    isPlanned: async () => {
      await prepare(state, signal);
      return state.pipeline.ofQuery(1n).planned.length > 0;
    },
  };
}

describe("results that are due for longer than what is prepared", () => {
  const due = (id: bigint, lastLocalHeight: bigint, gasGuess: bigint) =>
    sampleResult(id, 100, { gasGuess, query: sampleQuery({ id, lastLocalHeight }) });

  /** A submitter whose block is filled by the prepared result of query 1. */
  function filled() {
    const sample = sampleSubmitter();
    const { state } = sample;
    const entry = place(sample, due(1n, 90n, 26_900_000n), "planned");
    state.prepared = [{ entries: [entry], gas: 26_900_000n, simulated: 26_900_000n, isWhole: true }];
    return { state, submitter: submitterOf(state) };
  }

  it("are prepared too, since they leave before it", async () => {
    const { state, submitter } = filled();
    submitter.offer([due(2n, 80n, 1_000_000n)]);
    expect(await prepare(state, signal)).toBe(true);
    expect(state.prepared.map(({ entries }) => entries.map(({ result }) => result.query.id))).toEqual([
      [1n],
      [2n],
    ]);
  });

  it("are no others: what is due later waits for the next block", async () => {
    const { state, submitter } = filled();
    submitter.offer([due(2n, 95n, 1_000_000n)]);
    expect(await prepare(state, signal)).toBe(false);
    expect(state.pipeline.queuedCount()).toBe(1);
  });
});

describe("urgent results above the ceiling", () => {
  const rule = {
    name: "vault",
    owners: [],
    ids: [2n, 3n],
    priority: 1,
    max_price: undefined,
    max_age: undefined,
    daily_fee: undefined,
  };

  /** A submitter for which no result is worth the price, except those of the queries 2 and 3. */
  function crowded() {
    const sample = sampleSubmitter(1, { urgency: createUrgency([rule], parseDec18("1")) });
    const { state } = sample;
    Object.assign(state.market, {
      budget: () => ({ gas: 0n, toleranceGas: 0n, singleGas: 0n, phase: "above-ceiling" }),
      latestPrice: () => parseDec18("0.01"),
      ceiling: () => parseDec18("0.005"),
    });
    const ofQuery = (id: bigint) => sampleResult(id, 100, { query: sampleQuery({ id }) });
    return { sample, state, ofQuery, submitter: submitterOf(state) };
  }
  const prepared = (state: SampleSubmitter["state"]): readonly (readonly bigint[])[] =>
    state.prepared.map(({ entries }) => entries.map(({ result }) => result.query.id));

  it("are one transaction, whatever was prepared below it and whatever waits for a lower price", async () => {
    const { sample, state, ofQuery, submitter } = crowded();
    const below = Array.from({ length: 10 }, (_, index) => BigInt(20 + index));
    const entries = below.map((id) => place(sample, ofQuery(id), "planned"));
    state.prepared = [{ entries, gas: 410_000n, simulated: 410_000n, isWhole: true }];
    submitter.offer([7n, 8n, 9n].map((id) => sampleResult(id, 100, { gasGuess: 9_000_000n })));
    submitter.offer([ofQuery(2n), ofQuery(3n)]);
    expect(await prepare(state, signal)).toBe(true);
    expect(prepared(state)).toEqual([below, [2n, 3n]]);
  });

  it("have their gas beside what is in flight", () => {
    const { sample, state, ofQuery, submitter } = crowded();
    expect(state.block.gas()).toBe(0n);
    submitter.offer([ofQuery(2n), ofQuery(3n), ofQuery(4n)]);
    const alone = state.block.gas();
    // Two results, their transaction and a client update.
    expect(Number(alone)).toBeCloseTo((2 * 30_000 + 195_000) / 0.99, -1);
    const entry = place(sample, ofQuery(9n), "in-flight");
    state.sent = [
      {
        tx: { hash: new Uint8Array(), sequence: 1n, size: 1, gasLimit: 1n, feeAmount: 1n },
        slots: [{ kind: "result", entry }],
        gas: 400_000n,
        reliesOn: new Set(),
        isIsolated: false,
        sentAt: 100n,
        isWhole: true,
        release: () => {},
      },
    ];
    expect(state.block.gas()).toBe(alone + 400_000n);
  });
});

describe("results that the price of gas leaves nothing for", () => {
  it("are not simulated: the budget of the next block is known when it comes", async () => {
    const sample = sampleSubmitter();
    const { state } = sample;
    const budget = { gas: 0n, toleranceGas: 0n, singleGas: 0n, phase: "recovering" };
    Object.assign(state.market, { budget: () => budget });
    submitterOf(state).offer([sampleResult(1n, 100, { query: sampleQuery({ id: 1n }) })]);
    expect(await prepare(state, signal)).toBe(false);
    budget.gas = 1_000_000n;
    expect(await prepare(state, signal)).toBe(true);
  });
});

const mismatch: SimulationOutcome = {
  ok: false,
  codespace: "sdk",
  code: 32,
  log: "account sequence mismatch, expected 8, got 7: incorrect account sequence",
  failedMessage: undefined,
};

describe("a simulation while the node checks its mempool again", () => {
  it("is no failure: the results are simulated again after the next block", async () => {
    const sample = sampleSubmitter();
    const { state, outcomes } = sample;
    let simulations = 0;
    const { simulate } = state.deps.window;
    Object.assign(state.deps.window, { simulate: async () => ((simulations += 1), mismatch) });
    submitterOf(state).offer([sampleResult(1n, 100)]);
    await prepare(state, signal);
    expect(await prepare(state, signal)).toBe(false);
    expect({ simulations, outcomes, queued: state.pipeline.queuedCount() }).toEqual({
      simulations: 1,
      outcomes: [],
      queued: 1,
    });
    Object.assign(state.deps.window, { simulate });
    state.deps.height.set(101n, 0n);
    expect(await prepare(state, signal)).toBe(true);
    expect(state.prepared).toHaveLength(1);
  });
});

describe("a simulation of a command beside a busy relayer of the same account", () => {
  it("is tried again until the node expects its sequence, and not for ever", async () => {
    const clock = createManualClock(0);
    const outcomes = [mismatch, mismatch, { ok: true, gasUsed: 5n } as const];
    const settled = simulateBetweenOthers(async () => outcomes.shift() ?? mismatch, clock, signal);
    await clock.advance(1_000);
    expect(await settled).toEqual({ ok: true, gasUsed: 5n });
    const never = simulateBetweenOthers(async () => mismatch, clock, signal);
    await clock.advance(16_000);
    expect(await never).toBe(mismatch);
  });
});

describe("a few results, while more are being read", () => {
  it("wait for those when the block has no room before them anyway", async () => {
    const { fly, expected, isPlanned, state } = setUp();
    fly(NEARLY_FULL + 1n);
    const release = expected(1_000_001n);
    expect(await isPlanned()).toBe(false);
    // What was read is offered, or was given up.
    release();
    expect(await isPlanned()).toBe(true);
    expect(state.pipeline.queuedCount()).toBe(0);
  });

  it("count what is planned like what is in flight", async () => {
    const { fly, plan, expected, isPlanned } = setUp();
    fly(NEARLY_FULL - 1_000n);
    plan(1_001n);
    expected(1_000_001n);
    expect(await isPlanned()).toBe(false);
  });

  it.each([
    { what: "the block has room", inFlight: NEARLY_FULL, others: 9_000_000n },
    { what: "they are a tenth of the others", inFlight: NEARLY_FULL + 1n, others: 1_000_000n },
  ])("do not wait when $what", async ({ inFlight, others }) => {
    const { fly, expected, isPlanned } = setUp();
    fly(inFlight);
    expected(others);
    expect(await isPlanned()).toBe(true);
  });

  it("wait for those in the queue that wait for the result in front of them", async () => {
    const { fly, plan, submitter, ofGas, isPlanned, state } = setUp();
    fly(NEARLY_FULL);
    plan(1n);
    submitter.offer([ofGas(8n, 1_000_001n)]);
    expect(await isPlanned()).toBe(false);
    const [front] = state.pipeline.ofQuery(8n).planned;
    if (front !== undefined) resolve(state, front, { kind: "dropped", reason: "removed" });
    expect(await isPlanned()).toBe(true);
    expect(state.pipeline.ofQuery(8n).planned).toHaveLength(1);
  });
});
