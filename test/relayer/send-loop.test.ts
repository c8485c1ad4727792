import { afterEach, describe, expect, it } from "vitest";
import { type Logger, silentLogger } from "../../src/platform/base/logger.ts";
import { raceAbort } from "../../src/platform/base/abort.ts";
import { createDeferred } from "../../src/platform/process/deferred.ts";
import { ClientError } from "../../src/cosmos/client-error.ts";
import { parseDec18 } from "../../src/platform/base/decimal.ts";
import { initialState, type State } from "../../src/cosmos/fee-market/market.ts";
import { createUrgency } from "../../src/relayer/gas-budget/urgency.ts";
import { createMarket } from "../../src/relayer/gas-budget/create-market.ts";
import { PARAMS, TARGET } from "./gas-budget/market-world.ts";
import { runPreparing, runSending } from "../../src/relayer/submit/send-loop.ts";
import type { SentTransaction } from "../../src/relayer/submit/transaction.ts";
import type { SubmitterDeps } from "../../src/relayer/submit/submitter-state.ts";
import { sampleResult, sampleState } from "./samples.ts";
import { place, type SampleSubmitter, sampleSubmitter } from "./submitter-samples.ts";

const unreachable = new ClientError(
  { code: "unreachable", endpoint: "x", reason: "ECONNRESET" },
  "x is down",
);

/** A transaction in flight without results. */
const inFlight: SentTransaction = {
  tx: { hash: new Uint8Array(), sequence: 1n, size: 1, gasLimit: 1n, feeAmount: 1n },
  slots: [],
  gas: 1n,
  reliesOn: new Set(),
  isIsolated: false,
  sentAt: 100n,
  isWhole: true,
  release: () => {},
};

let end = async (): Promise<void> => {};
afterEach(() => end());

/** Starts a loop of a submitter. It ends with the test. */
function start(loop: typeof runSending, sample: SampleSubmitter): void {
  const stop = new AbortController();
  const done = loop(sample.state, stop.signal);
  end = () => (stop.abort(new Error("the test is over")), done);
}

/** A submitter whose calls are counted. */
function setUp(more: Partial<SubmitterDeps> = {}) {
  const calls = { prices: 0, limits: 0 };
  const log: string[] = [];
  const line =
    (level: string): Logger["info"] =>
    (message) =>
      void log.push(`${level} ${message}`);
  const logger: Logger = { ...silentLogger, info: line("info"), warn: line("warn"), debug: line("debug") };
  const node = { isDown: false };
  const sample = sampleSubmitter(1, {
    logger,
    random: () => 0.5,
    readBlockLimits: async () => {
      calls.limits += 1;
      if (node.isDown) throw unreachable;
      return { utilization: 40_000_000n, gas: undefined, bytes: undefined };
    },
    ...more,
  });
  Object.assign(sample.state.deps.window, {
    gasPrice: async () => {
      calls.prices += 1;
      if (node.isDown) throw unreachable;
      return parseDec18("0.01");
    },
  });
  const addResult = (id: bigint) => {
    sample.queries.set(id, sampleState({ id }));
    const result = sampleResult(id, 100, { query: sampleState({ id }).query });
    return place(sample, result, "queued");
  };
  const addPrepared = (id: bigint) => {
    const entry = addResult(id);
    sample.state.pipeline.apply([entry], { kind: "plan" });
    sample.state.prepared = [{ entries: [entry], gas: 100_000n, simulated: 100_000n, isWhole: true }];
    return entry;
  };
  return { sample, calls, log, node, addResult, addPrepared };
}

describe("the look-ups of what is in flight", () => {
  it("come at once after a block, then after 60 and 200 ms, and then twice a second", async () => {
    const { sample } = setUp();
    const { state, clock } = sample;
    state.sent = [inFlight];
    start(runSending, sample);
    await clock.advance(0);
    const counts: number[] = [];
    for (const ms of [59, 1, 199, 1, 499, 1, 499, 1]) {
      await clock.advance(ms);
      counts.push(sample.lookUps.length);
    }
    expect(counts).toEqual([1, 2, 2, 3, 3, 4, 4, 5]);
    state.deps.height.set(101n, 0n);
    await clock.advance(0);
    expect(sample.lookUps).toEqual([100n, 100n, 100n, 100n, 100n, 101n]);
    await clock.advance(60);
    expect(sample.lookUps).toHaveLength(7);
  });

  it("come half a second after a broadcast, when nothing was in flight before", async () => {
    const { sample, addPrepared } = setUp();
    const { clock } = sample;
    addPrepared(1n);
    start(runSending, sample);
    await clock.advance(499);
    expect([sample.broadcasts.length, sample.lookUps]).toEqual([1, []]);
    await clock.advance(1);
    expect(sample.lookUps).toEqual([100n]);
  });

  it("are not made without a height or without anything in flight, and the loop rests then", async () => {
    const { sample } = setUp();
    const { state, clock } = sample;
    const { height } = state.deps;
    const { version } = height;
    let steps = 0;
    Object.assign(height, { version: () => (steps++, version()) });
    start(runSending, sample);
    await clock.advance(9_000);
    expect([sample.lookUps, steps]).toEqual([[], 4]);
    state.sent = [inFlight];
    height.set(0n, 0n);
    await clock.advance(9_000);
    expect(sample.lookUps).toEqual([]);
    expect(steps).toBeLessThan(10);
  });
});

describe("what is read for a broadcast", () => {
  it("is the price of each new block, while something waits", async () => {
    const { sample, calls, addResult } = setUp();
    const { state, clock } = sample;
    start(runSending, sample);
    await clock.advance(1_000);
    expect(calls.prices).toBe(0);
    addResult(1n);
    state.deps.height.set(101n, 0n);
    await clock.advance(1_000);
    expect([calls.prices, state.pace.price?.height]).toEqual([1, 101n]);
  });

  it("is read beside the broadcast while the last price is good, and before it when it is not", async () => {
    const { sample, addPrepared } = setUp();
    const { state, clock } = sample;
    let prices = 0;
    const never = createDeferred<ReturnType<typeof parseDec18>>();
    Object.assign(state.deps.window, { gasPrice: () => (prices++, never.promise) });
    state.pace.price = { height: 100n, gasPrice: parseDec18("0.01") };
    start(runSending, sample);
    await clock.advance(0);
    addPrepared(1n);
    state.deps.height.set(101n, 0n);
    await clock.advance(0);
    expect([prices, sample.broadcasts.length]).toEqual([1, 1]);
    addPrepared(2n);
    state.deps.height.set(102n, 0n);
    await clock.advance(1_000);
    expect(sample.broadcasts).toHaveLength(1);
    never.resolve(parseDec18("0.02"));
    await clock.advance(0);
    expect(sample.broadcasts).toHaveLength(2);
  });

  it("is read again when the read beside a broadcast failed", async () => {
    const { sample, addPrepared, node, log } = setUp();
    const { state, clock } = sample;
    state.pace.price = { height: 100n, gasPrice: parseDec18("0.01") };
    start(runSending, sample);
    node.isDown = true;
    addPrepared(1n);
    state.deps.height.set(101n, 0n);
    await clock.advance(0);
    expect([sample.broadcasts.length, log.filter((line) => line.startsWith("warn"))]).toEqual([1, []]);
    node.isDown = false;
    addPrepared(2n);
    state.deps.height.set(102n, 0n);
    await clock.advance(0);
    expect([sample.broadcasts.length, state.pace.price.height]).toEqual([2, 102n]);
  });

  it("are the limits of a block once a minute, and after six seconds when they could not be read", async () => {
    const { sample, calls, node, log } = setUp();
    const { state, clock } = sample;
    node.isDown = true;
    start(runSending, sample);
    await clock.advance(9_000);
    expect([calls.limits, state.block.gas()]).toEqual([2, 27_000_000n]);
    const warned =
      "warn the limits of a block and the fee market's parameters cannot be read, the last known ones are used";
    expect(log).toEqual([warned]);
    node.isDown = false;
    await clock.advance(9_000);
    expect([calls.limits, state.block.gas()]).toEqual([3, 36_000_000n]);
    expect(log).toEqual([warned, "info the limits of a block can be read again"]);
    await clock.advance(50_000);
    expect(calls.limits).toBe(3);
    await clock.advance(20_000);
    expect(calls.limits).toBe(4);
  });

  it("forgets removed queries with the limits", async () => {
    const { sample } = setUp();
    const { state, clock } = sample;
    sample.queries.set(1n, sampleState({ id: 1n }));
    for (const id of [1n, 2n]) {
      state.queries.isolated.set(id, "x");
      state.queries.withdrawn.add(id);
      state.gas.learn([{ key: id, guess: 1n }], 50n);
    }
    state.gas.learn([{ key: "connection-0", guess: 1n }], 50n);
    start(runSending, sample);
    await clock.advance(0);
    expect([...state.queries.isolated.keys()]).toEqual([1n]);
    expect([...state.queries.withdrawn]).toEqual([1n]);
    expect([1n, 2n, "connection-0"].map((key) => state.gas.known(key) !== undefined)).toEqual([
      true,
      false,
      true,
    ]);
  });
});

describe("work that needs the account for itself", () => {
  it("waits until nothing is in flight, and nothing new is prepared or sent before it", async () => {
    let isDue = true;
    let checks = 0;
    const placesThen: string[] = [];
    const upkeep = {
      isDue: () => (checks++, isDue),
      run: async () => {
        placesThen.push(...entries.map(({ stage }) => stage.kind));
        isDue = false;
      },
    };
    const { sample, addResult, addPrepared } = setUp({ upkeep });
    const { state, clock } = sample;
    const entries = [addResult(1n), addPrepared(2n)];
    state.sent = [inFlight];
    const stop = new AbortController();
    const loops = [runSending(state, stop.signal), runPreparing(state, stop.signal)];
    end = async () => {
      stop.abort(new Error("the test is over"));
      await Promise.all(loops);
    };
    await clock.advance(2_000);
    expect(placesThen).toEqual([]);
    // Both loops ask at least twice a second.
    expect(checks).toBeGreaterThanOrEqual(8);
    sample.finals = [{ tx: inFlight.tx, confirmation: { kind: "lost", reason: "x" } }];
    await clock.advance(2_000);
    expect(placesThen).toEqual(["queued", "planned"]);
    expect(entries.map(({ stage }) => stage.kind)).toEqual(["in-flight", "in-flight"]);
  });
});

describe("when nothing can be sent", () => {
  it("all that waits is settled, the reason is shown, and each kind of error is a warning once", async () => {
    const { sample, log, node, addResult, addPrepared } = setUp();
    const { state, clock } = sample;
    start(runSending, sample);
    await clock.advance(0);
    node.isDown = true;
    const entry = addResult(1n);
    state.deps.height.set(101n, 0n);
    await clock.advance(20_000);
    expect(entry.stage.kind).toBe("resolved");
    expect(sample.attempts).toMatchObject([{ outcome: "not-broadcast", reason: "x is down" }]);
    expect(state.pace.stopped).toBe("x is down");
    // Without anything that waits nothing is read, which does not show that something can be sent.
    addResult(2n);
    state.deps.height.set(102n, 0n);
    await clock.advance(20_000);
    expect(log.filter((line) => !line.startsWith("debug"))).toEqual(["warn transactions cannot be sent"]);
    expect(state.prepared).toEqual([]);
    node.isDown = false;
    addPrepared(3n);
    state.deps.height.set(103n, 0n);
    await clock.advance(5_000);
    expect(log.at(-1)).toBe("info transactions can be sent again");
  });

  it("it is tried again with growing pauses", async () => {
    const { sample, log } = setUp();
    const { state, clock } = sample;
    sample.finals = [];
    Object.assign(state.deps.window, { confirm: () => Promise.reject(new Error("no index")) });
    state.sent = [inFlight];
    start(runSending, sample);
    await clock.advance(60_000);
    expect(log.filter((line) => line.startsWith("warn"))).toHaveLength(1);
    const tries = log.filter((line) => line.endsWith("transactions cannot be sent")).length;
    expect(tries).toBeGreaterThan(4);
    expect(tries).toBeLessThan(20);
  });
});

describe("a chain that was reset", () => {
  it("has none of the client updates of before, and nothing waits for a height of before", async () => {
    const { sample, addPrepared } = setUp();
    const { state, clock } = sample;
    start(runSending, sample);
    await clock.advance(0);
    state.included.add("07-tendermint-0/1-11");
    state.queries.isolated.set(1n, "x");
    state.pace.heldBelow = 101n;
    // Endpoints differ by some blocks.
    state.deps.height.set(59n, 0n);
    await clock.advance(0);
    expect([state.included.size, state.queries.isolated.size]).toEqual([1, 1]);
    sample.reset();
    state.work.wake();
    await clock.advance(0);
    expect([state.included.size, state.queries.isolated.size, sample.windowResets]).toEqual([0, 0, 1]);
    addPrepared(1n);
    state.work.wake();
    await clock.advance(1_000);
    expect(sample.broadcasts).toHaveLength(1);
  });

  it("gets no result that was proven before, whether it waits or is in flight", async () => {
    const { sample, addResult, addPrepared } = setUp();
    const { state, clock } = sample;
    addPrepared(1n);
    start(runSending, sample);
    await clock.advance(0);
    expect(sample.broadcasts).toHaveLength(1);
    addResult(2n);
    state.pace.stoppedUntilMs = clock.monotonicMs() + 1_000;
    addPrepared(3n);
    sample.reset();
    state.work.wake();
    await clock.advance(10_000);
    expect(sample.broadcasts).toHaveLength(1);
    const dropped = { kind: "dropped", reason: "removed" };
    expect(sample.outcomes.map(([, outcome]) => outcome)).toEqual([dropped, dropped, dropped]);
    expect(state.sent).toHaveLength(1);
  });
});

describe("preparing", () => {
  it("simulates what waits, and says how long that took", async () => {
    const { sample, addResult } = setUp();
    const { state, clock } = sample;
    Object.assign(state.deps.window, {
      simulate: async () => {
        await clock.sleep(30, new AbortController().signal);
        return { ok: true, gasUsed: 200_000n };
      },
    });
    const entry = addResult(1n);
    start(runPreparing, sample);
    await clock.advance(1_000);
    expect([state.pace.simulateMs, entry.stage.kind]).toEqual([30, "planned"]);
  });

  it("simulates what fails again and again at most every 20 ms", async () => {
    const { sample, addResult } = setUp();
    const { state, clock } = sample;
    let simulations = 0;
    Object.assign(state.deps.window, {
      simulate: async () => {
        simulations += 1;
        if (simulations > 100) throw new Error("too often");
        const log = "block utilization of 2 cannot exceed 1";
        return { ok: false, codespace: "sdk", code: 11, log, failedMessage: undefined };
      },
    });
    addResult(1n);
    start(runPreparing, sample);
    await clock.advance(1_000);
    expect(simulations).toBeGreaterThan(10);
    expect(simulations).toBeLessThanOrEqual(51);
  });

  it("is not simulated before a height is known, or while upkeep is due", async () => {
    let isDue = true;
    const { sample, addResult } = setUp({ upkeep: { isDue: () => isDue, run: async () => {} } });
    const { state, clock } = sample;
    const entry = addResult(1n);
    start(runPreparing, sample);
    await clock.advance(2_000);
    expect(entry.stage.kind).toBe("queued");
    state.deps.height.set(0n, 0n);
    isDue = false;
    await clock.advance(2_000);
    expect(entry.stage.kind).toBe("queued");
    state.deps.height.set(100n, 0n);
    await clock.advance(2_000);
    expect(entry.stage.kind).toBe("planned");
  });

  it("is looked after twice a second while something waits, without any event", async () => {
    let checks = 0;
    const { sample, addResult } = setUp({
      upkeep: { isDue: () => ++checks > 0, run: async () => {} },
    });
    const { clock } = sample;
    addResult(1n);
    start(runPreparing, sample);
    await clock.advance(3_000);
    expect(checks).toBeGreaterThanOrEqual(6);
  });
});

describe("what waits", () => {
  it("is settled when it is too old, and when another relayer was faster", async () => {
    const { sample, addResult } = setUp();
    const { state, clock } = sample;
    start(runSending, sample);
    await clock.advance(0);
    const [old, redundant] = [addResult(1n), addResult(2n)];
    sample.queries.set(2n, sampleState({ id: 2n, lastRemoteHeight: { revision: 1n, height: 10n } }));
    state.queries.unread.add(2n);
    await clock.advance(3_000);
    expect([old.stage.kind, redundant.stage.kind]).toEqual(["queued", "resolved"]);
    await clock.advance(9_000);
    expect(sample.attempts.map(({ queryId, outcome }) => [queryId, outcome])).toEqual([
      [2n, "redundant"],
      [1n, "not-broadcast"],
    ]);
  });
});

describe("the fee market", () => {
  const LIMITS = {
    market: PARAMS,
    utilization: PARAMS.maxBlockUtilization,
    gas: undefined,
    bytes: undefined,
  };

  /** A submitter on a chain with a market, whose reads end when the test says. */
  function onMarket(more: Partial<SubmitterDeps> = {}) {
    const market = createMarket(
      { ceiling: undefined, cap: parseDec18("1"), denom: "untrn" },
      { monotonicMs: () => 0, nowMs: () => 0 },
    );
    const plans: (readonly [height: bigint, backlogGas: bigint])[] = [];
    const reads: {
      readonly height: bigint;
      readonly end: (state: State) => void;
      readonly fail: (error: Error) => void;
    }[] = [];
    const parts = setUp({
      market: {
        ...market,
        plan: (height, backlog) => (plans.push([height, backlog.gas]), market.plan(height, backlog)),
      },
      readBlockLimits: async () => LIMITS,
      readMarketState: (height, signal) => {
        const { promise, resolve, reject } = createDeferred<State>();
        reads.push({ height, end: resolve, fail: reject });
        return raceAbort(promise, signal);
      },
      ...more,
    });
    return { ...parts, plans, reads };
  }

  it("is read before anything is sent, and then no more than its target is", async () => {
    const { sample, reads, calls, addPrepared } = onMarket();
    const { state, clock } = sample;
    addPrepared(1n);
    start(runSending, sample);
    await clock.advance(5_000);
    expect([reads.map((read) => read.height), sample.broadcasts]).toEqual([[100n], []]);
    expect(state.block.gas()).toBe(TARGET);
    reads[0]?.end(initialState(PARAMS));
    await clock.advance(0);
    expect([sample.broadcasts.length, calls.prices]).toEqual([1, 0]);
  });

  it("is read as soon as its parameters could be, without a new block", async () => {
    let tries = 0;
    const readBlockLimits = async () => (++tries === 1 ? Promise.reject(unreachable) : LIMITS);
    const { sample, reads, calls, addPrepared } = onMarket({ readBlockLimits });
    start(runSending, sample);
    await sample.clock.advance(10_000);
    expect(reads.map((read) => read.height)).toEqual([100n]);
    reads[0]?.end(initialState(PARAMS));
    await sample.clock.advance(0);
    addPrepared(1n);
    await sample.clock.advance(3_000);
    expect([sample.broadcasts.length, calls.prices]).toEqual([1, 0]);
  });

  it("wakes the workers when it was read and some queries are urgent above its ceiling", async () => {
    const rule = {
      name: "vault",
      owners: [],
      ids: [1n],
      priority: 0,
      max_price: undefined,
      max_age: undefined,
      daily_fee: undefined,
    };
    for (const rules of [[], [rule]]) {
      const { sample, reads } = onMarket({ urgency: createUrgency(rules, parseDec18("1")) });
      const { height } = sample.state.deps;
      start(runSending, sample);
      await sample.clock.advance(0);
      const before = height.version();
      reads[0]?.end(initialState(PARAMS));
      await sample.clock.advance(0);
      expect(height.version() > before).toBe(rules.length > 0);
      await end();
    }
  });

  it("that cannot be read is a warning once, and allows what keeps its price", async () => {
    const { sample, reads, log, addPrepared } = onMarket();
    const { state, clock } = sample;
    addPrepared(1n);
    start(runSending, sample);
    await clock.advance(0);
    const warned = "warn the fee market cannot be read, blocks get its target less others' gas";
    for (const at of [101n, 102n]) {
      reads.at(-1)?.fail(unreachable);
      await clock.advance(0);
      state.deps.height.set(at, 0n);
      await clock.advance(600);
    }
    expect(log.filter((line) => !line.startsWith("debug"))).toEqual([warned]);
    // At the price that the chain says.
    expect([sample.broadcasts.length, state.block.gas()]).toEqual([1, TARGET]);
    reads.at(-1)?.end(initialState(PARAMS));
    await clock.advance(0);
    expect(log.at(-1)).toBe("info the fee market can be read again");
    // The market of five blocks is computed from the last one.
    for (const at of [103n, 104n, 105n, 106n, 107n, 108n, 109n]) {
      state.deps.height.set(at, 0n);
      await clock.advance(600);
      reads.at(-1)?.fail(unreachable);
      await clock.advance(0);
      expect(log.filter((line) => line === warned)).toHaveLength(at < 108n ? 1 : 2);
    }
  });

  it("is read at each height, three times at once at most, and the price is not read besides", async () => {
    const { sample, reads, calls, addPrepared } = onMarket();
    const { height } = sample.state.deps;
    addPrepared(1n);
    start(runSending, sample);
    await sample.clock.advance(0);
    reads[0]?.end(initialState(PARAMS));
    await sample.clock.advance(600);
    for (const at of [101n, 102n, 103n, 104n, 105n]) {
      height.set(at, 0n);
      await sample.clock.advance(600);
    }
    expect(reads.map((read) => read.height)).toEqual([100n, 101n, 102n, 103n]);
    expect(calls.prices).toBe(0);
  });

  it("plans again before it sends, when a block was made while it looked for its transactions", async () => {
    const { sample, plans, reads, addPrepared } = onMarket();
    const { state, clock } = sample;
    start(runSending, sample);
    await clock.advance(0);
    reads[0]?.end(initialState(PARAMS));
    await clock.advance(600);
    const { window, height } = state.deps;
    const confirmed = createDeferred<readonly []>();
    const plannedFor: (bigint | undefined)[] = [];
    Object.assign(window, {
      confirm: () => confirmed.promise,
      broadcast: async () => (plannedFor.push(plans.at(-1)?.[0]), []),
    });
    state.sent = [inFlight];
    addPrepared(1n);
    height.set(101n, 0n);
    await clock.advance(0);
    height.set(102n, 0n);
    confirmed.resolve([]);
    await clock.advance(0);
    expect(plannedFor[0]).toBe(102n);
  });

  it("plans with each query whose result is due and not in flight for the next block", async () => {
    const { sample, plans, reads, addResult } = onMarket();
    const { state, queries } = sample;
    // Period 5: one was answered, one is due, one waits for its transaction, and one was sent for the newest block. So were two of the
    // periods 1 and 2: the next block is due to have a result of the first one.
    for (const [id, lastLocalHeight] of [
      [1n, 99n],
      [2n, 90n],
    ] as const)
      queries.set(id, sampleState({ id, lastLocalHeight }));
    addResult(3n);
    queries.set(4n, sampleState({ id: 4n, lastLocalHeight: 90n }));
    place(sample, sampleResult(4n, 100, { query: sampleState({ id: 4n }).query }), "in-flight", {
      sentAt: 100n,
    });
    for (const [id, updatePeriod] of [
      [5n, 1n],
      [6n, 2n],
    ] as const) {
      const { query } = sampleState({ id, updatePeriod, lastLocalHeight: 90n });
      queries.set(id, sampleState(query));
      place(sample, sampleResult(id, 100, { query }), "in-flight", { sentAt: 100n });
    }
    state.deps.height.set(101n, 0n);
    start(runSending, sample);
    await sample.clock.advance(0);
    reads[0]?.end(initialState(PARAMS));
    await sample.clock.advance(0);
    const keys = (id: bigint): bigint => BigInt(queries.get(id)?.query.keys.length ?? 0);
    expect(plans.at(-1)).toEqual([
      101n,
      state.gas.estimate({ key: 2n, guess: 30_000n * keys(2n) }) +
        state.gas.estimate({ key: 3n, guess: 30_000n * keys(3n) }) +
        state.gas.estimate({ key: 5n, guess: 30_000n * keys(5n) }),
    ]);
  });
});
