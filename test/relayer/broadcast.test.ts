import { describe, expect, it } from "vitest";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { confirm } from "../../src/relayer/submit/confirm.ts";
import { broadcastPrepared } from "../../src/relayer/submit/broadcast.ts";
import { submitterOf } from "../../src/relayer/submit/submitter.ts";
import { gasItem } from "../../src/relayer/submit/transaction.ts";
import { sampleResult, sampleState } from "./samples.ts";
import { place, sampleSubmitter } from "./submitter-samples.ts";
import { GAS_PER_TRANSACTION } from "../../src/relayer/result/proven-result.ts";
import { createGasMargin } from "../../src/relayer/submit/budgets.ts";

const signal = new AbortController().signal;
const update = {
  key: "07-tendermint-0/1-11",
  connectionId: "connection-0",
  message: { typeUrl: "/ibc.core.client.v1.MsgUpdateClient", value: new Uint8Array(10) },
};

/** A submitter with one prepared transaction of two results, whose simulation used `simulated` gas. */
function setUp(simulated: bigint) {
  const sample = sampleSubmitter();
  const entries = [1n, 2n].map((id) => {
    const known = sampleState({ id });
    sample.queries.set(id, known);
    const result = sampleResult(id, 100, { query: known.query, update });
    return place(sample, result, "planned");
  });
  const gas = entries.reduce(
    (sum, entry) => sum + sample.state.gas.estimate(gasItem(entry)),
    GAS_PER_TRANSACTION,
  );
  sample.state.prepared = [{ entries, gas, simulated, isWhole: true }];
  const send = async (): Promise<bigint | undefined> => {
    await broadcastPrepared(sample.state, signal);
    return sample.broadcasts[0]?.[0]?.gasLimit;
  };
  return { sample, entries, gas, send };
}

describe("the gas limit of a transaction", () => {
  it("covers what its simulation used, and the payout, when the estimates of its parts are lower", async () => {
    const { send } = setUp(2_000_000n);
    expect(await send()).toBe(2_036_000n);
  });

  it("has the whole margin at first: two results, one client update, the fixed gas, and that of the payout", async () => {
    const { gas, send } = setUp(100_000n);
    expect(await send()).toBe(((gas + 85_000n + 36_000n) * 13n) / 10n + 1n);
  });

  it("follows what transactions use, apart for those that were cut, and returns after one ran out of gas", () => {
    const margin = createGasMargin(1_300n);
    const limit = (isWhole: boolean): number => Number(margin.limit(964_000n, isWhole)) / 1_000_000;
    expect(limit(true)).toBeCloseTo(1.3, 3);
    for (let times = 0; times < 200; times++) margin.learn(964_000n, true, 1_000_000n);
    expect(limit(true)).toBeCloseTo(1.01, 3);
    expect(limit(false)).toBeCloseTo(1.3, 3);
    // One that used more than expected raises it immediately.
    margin.learn(964_000n, true, 1_080_000n);
    expect(limit(true)).toBeCloseTo(1.09, 3);
    margin.learn(964_000n, true, undefined);
    expect(limit(true)).toBeCloseTo(1.3, 3);
    // Never above the configured adjustment.
    margin.learn(964_000n, true, 9_000_000n);
    expect(limit(true)).toBeCloseTo(1.3, 3);
  });

  it("covers no more than what is left of the transaction after results have left it", async () => {
    const { sample, send } = setUp(2_000_000n);
    sample.queries.delete(2n);
    // The simulated gas less the estimate of the one that is gone.
    expect(await send()).toBe(2_036_000n - 30_000n);
    expect(sample.attempts).toMatchObject([{ queryId: 2n, outcome: "removed" }]);
  });
});

describe("an account with too few coins", () => {
  it("stops the sending for a while: no cycle fails, and it is reported with the reason", async () => {
    const { sample, entries, send } = setUp(200_000n);
    const { state } = sample;
    const { broadcast } = state.deps.window;
    const log = "spendable balance 1577untrn is smaller than 54796untrn: insufficient funds";
    const tx = { hash: new Uint8Array(), sequence: 1n, size: 1, gasLimit: 1n, feeAmount: 54_796n };
    const refused = { kind: "refused", tx, code: 5, codespace: "sdk", log } as const;
    Object.assign(state.deps.window, { broadcast: async () => [refused] });
    // The problem is logged once, and each further try would be another line.
    const lines: string[] = [];
    const logLine = (message: string): void => void lines.push(message);
    Object.assign(state.deps, { logger: { ...silentLogger, info: logLine, warn: logLine } });
    await send();
    expect(lines).toEqual([]);
    expect(sample.funds).toEqual([`sdk/5: ${log}`]);
    expect(sample.outcomes.map(([, outcome]) => outcome)).toEqual(
      entries.map(() => ({ kind: "unsent", reason: `sdk/5: ${log}`, error: undefined })),
    );
    expect(state.pace.stoppedUntilMs).toBeGreaterThan(sample.clock.monotonicMs());
    Object.assign(state.deps.window, { broadcast });
    await sample.clock.advance(15_000);
    const again = sampleResult(1n, 100, { query: sampleState({ id: 1n }).query, update });
    state.prepared = [{ entries: [place(sample, again, "planned")], gas: 1n, simulated: 1n, isWhole: true }];
    await send();
    expect(sample.funds.at(-1)).toBe("accepted");
  });
});

describe("the cost of a transaction", () => {
  it("is the sum of its results' shares, also when its gas teaches the estimates something new", async () => {
    const { sample, send } = setUp(200_000n);
    await send();
    const tx = sample.state.sent[0]?.tx;
    if (tx === undefined) throw new Error("nothing was sent");
    const block = { height: 101n, gasUsed: 400_000n, gasWanted: 500_000n, data: new Uint8Array() };
    const confirmation = { kind: "included", ...block } as const;
    const finals = async () => [{ tx, confirmation }];
    const deps = { ...sample.state.deps, window: { ...sample.state.deps.window, confirm: finals } };
    await confirm({ ...sample.state, deps }, signal);
    const sum = (read: (attempt: (typeof sample.attempts)[number]) => bigint): bigint =>
      sample.attempts.reduce((total, attempt) => total + read(attempt), 0n);
    expect(sample.attempts).toHaveLength(2);
    expect(sum(({ gas }) => gas)).toBe(400_000n);
    // Each share is rounded down.
    expect([tx.feeAmount, tx.feeAmount - 1n]).toContain(sum(({ fee }) => fee));
  });
});

describe("launch", () => {
  it("marks what it broadcasts as in flight before the node replies, and counts it as sent afterwards", async () => {
    const { sample, entries, send } = setUp(200_000n);
    await send();
    expect(entries.map(({ stage }) => stage.kind)).toEqual(["in-flight", "in-flight"]);
    expect(sample.state.sent).toHaveLength(1);
    expect(sample.state.prepared).toEqual([]);
    expect(sample.state.pipeline.sent()).toEqual(entries);
  });

  it("keeps what exceeds the room of the block beside what is in flight", async () => {
    const { sample, send } = setUp(200_000n);
    const { state } = sample;
    const tx = { hash: new Uint8Array(), sequence: 1n, size: 10, gasLimit: 1n, feeAmount: 1n };
    const more = { sentAt: 100n, isWhole: true };
    const other = {
      ...more,
      tx,
      slots: [],
      reliesOn: new Set<string>(),
      isIsolated: false,
      release: () => {},
    };
    state.sent = [{ ...other, gas: state.block.gas() }];
    expect(await send()).toBeUndefined();
    expect(state.prepared).toHaveLength(1);
    state.sent = [{ ...other, gas: state.block.gas() / 2n }];
    expect(await send()).toBeDefined();
  });

  it("sends nothing while the gate or the price forbids it", async () => {
    const { sample, send } = setUp(200_000n);
    const { state } = sample;
    state.pace.heldBelow = 101n;
    expect(await send()).toBeUndefined();
    state.pace.heldBelow = 100n;
    state.pace.stoppedUntilMs = sample.clock.monotonicMs() + 1;
    expect(await send()).toBeUndefined();
    await sample.clock.advance(1);
    expect(await send()).toBeDefined();
  });

  it("gives back what the transactions were allowed to cost when the account cannot be read, and tries them again", async () => {
    const { sample, entries, send } = setUp(200_000n);
    const { state } = sample;
    sample.broadcastError = new Error("no endpoint");
    await expect(send()).rejects.toThrow("no endpoint");
    expect([sample.admitted, sample.released]).toEqual([1, 1]);
    expect(entries.map(({ stage }) => stage.kind)).toEqual(["queued", "queued"]);
    expect([state.sent, state.pipeline.sent()]).toEqual([[], []]);
  });

  it("measures for how long nothing reaches a node, in this term only", async () => {
    const { sample, send } = setUp(200_000n);
    const submitter = submitterOf(sample.state);
    sample.broadcastError = new Error("no endpoint");
    await expect(send()).rejects.toThrow("no endpoint");
    await sample.clock.advance(60_000);
    expect(submitter.status().muteMs).toBeGreaterThanOrEqual(60_000);
    submitter.beginTerm();
    expect(submitter.status().muteMs).toBe(0);
  });

  it("gives nothing back when it is ended meanwhile: the node may have the transactions", async () => {
    const { sample } = setUp(200_000n);
    sample.broadcastError = new Error("stop");
    const stop = AbortSignal.abort(sample.broadcastError);
    await expect(broadcastPrepared(sample.state, stop)).rejects.toThrow("stop");
    expect([sample.admitted, sample.released]).toEqual([1, 0]);
  });
});
