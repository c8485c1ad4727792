import { describe, expect, it } from "vitest";
import { answered, handedOver, unchangedBy } from "../../src/relayer/registry/query-state.ts";
import { startAttempt } from "../../src/relayer/state/attempt.ts";
import { requeue, resolve } from "../../src/relayer/submit/submitter-state.ts";
import { submitterOf } from "../../src/relayer/submit/submitter.ts";
import type { ProvenResult, ResultOutcome } from "../../src/relayer/result/proven-result.ts";
import { sampleQuery, sampleResult, sampleState } from "./samples.ts";
import { place, sampleSubmitter } from "./submitter-samples.ts";

/** Nine tenths of 30,000,000. */
const BLOCK = 27_000_000n;

function resultOf(
  id: bigint,
  connectionId = "connection-0",
  fields: Partial<ProvenResult> = {},
): ProvenResult {
  return sampleResult(id, 100, { query: sampleQuery({ id, connectionId }), ...fields });
}

/** A result that is expected to use this gas. */
const ofGas = (id: bigint, gasGuess: bigint, connectionId?: string) =>
  resultOf(id, connectionId, { gasGuess });

describe("the capacity for further results of a connection", () => {
  it("is a block when nothing waits: one leaves next, one may follow", () => {
    const submitter = submitterOf(sampleSubmitter().state);
    expect(submitter.view("connection-0").capacity(1n)).toBe(BLOCK);
  });

  it("is still a block while what waits fits into the block that leaves next", () => {
    const submitter = submitterOf(sampleSubmitter().state);
    submitter.offer([ofGas(1n, BLOCK)]);
    expect(submitter.view("connection-0").capacity(1n)).toBe(BLOCK);
  });

  it("shrinks by what has to wait for a later block, and is none after three quarters of a block", () => {
    const sample = sampleSubmitter();
    const submitter = submitterOf(sample.state);
    submitter.offer([ofGas(1n, BLOCK), ofGas(2n, (BLOCK * 3n) / 4n)]);
    expect(submitter.view("connection-0").capacity(1n)).toBe(BLOCK / 4n);
    submitter.offer([ofGas(3n, 1n)]);
    expect(submitter.view("connection-0").capacity(1n)).toBe(0n);
  });

  it("counts what was sent at this height as in the block that leaves next, and not what is in an older one", () => {
    const sample = sampleSubmitter();
    const submitter = submitterOf(sample.state);
    const before = place(sample, resultOf(9n), "in-flight", { sentAt: 100n, gas: BLOCK });
    submitter.offer([ofGas(1n, BLOCK / 4n)]);
    expect(submitter.view("connection-0").capacity(1n)).toBe(BLOCK - BLOCK / 4n);
    resolve(sample.state, before, { kind: "dropped", reason: "removed" });
    place(sample, resultOf(9n), "in-flight", { sentAt: 99n, gas: BLOCK });
    expect(submitter.view("connection-0").capacity(1n)).toBe(BLOCK);
  });

  it("gives each connection its part, whatever the others have in the queue", () => {
    const submitter = submitterOf(sampleSubmitter(3).state);
    submitter.offer([ofGas(1n, BLOCK * 9n)]);
    expect(submitter.view("connection-0").capacity(1n)).toBe(0n);
    expect(submitter.view("connection-1").capacity(1n)).toBe(BLOCK / 3n);
  });

  it("counts what is due for longer first, of all connections, and then three quarters of a part may wait", () => {
    const sample = sampleSubmitter(3);
    const submitter = submitterOf(sample.state);
    for (const [id, lastLocalHeight] of [
      [1n, 90n],
      [2n, 91n],
      [3n, 92n],
    ] as const)
      sample.queries.set(id, sampleState({ id, lastLocalHeight }));
    // They are due in the order of their ids, whatever the order in which they are offered.
    submitter.offer([ofGas(3n, BLOCK / 4n, "connection-0"), ofGas(2n, BLOCK / 2n, "connection-1")]);
    submitter.offer([ofGas(1n, BLOCK / 2n, "connection-2")]);
    expect(submitter.view("connection-0").capacity(1n)).toBeGreaterThan(0n);
    expect(submitter.view("connection-1").capacity(1n)).toBeGreaterThan(0n);
    submitter.offer([ofGas(4n, 1n, "connection-0")]);
    sample.queries.set(4n, sampleState({ id: 4n, lastLocalHeight: 93n }));
    expect(submitter.view("connection-0").capacity(1n)).toBe(0n);
    expect(submitter.view("connection-1").capacity(1n)).toBeGreaterThan(0n);
  });

  it("is none while nothing may be sent, and while the queue holds half of its bytes", async () => {
    const sample = sampleSubmitter();
    const submitter = submitterOf(sample.state);
    sample.state.pace.stoppedUntilMs = sample.clock.monotonicMs() + 5;
    expect(submitter.view("connection-0").capacity(1n)).toBe(0n);
    await sample.clock.advance(5);
    expect(submitter.view("connection-0").capacity(1n)).toBe(BLOCK);
    submitter.offer([{ ...ofGas(1n, 1n), message: new Uint8Array(32_000_001) }]);
    expect(submitter.view("connection-0").capacity(1n)).toBe(0n);
  });
});

describe("the blocks by which a connection reads early", () => {
  it("are those of its durations, and one beside a connection that reads early while blocks are full", () => {
    const submitter = submitterOf(sampleSubmitter(2).state);
    const [near, distant] = ["connection-0", "connection-1"].map((id) => submitter.view(id));
    expect([near?.lookAhead(0n), distant?.lookAhead(2n), near?.lookAhead(0n)]).toEqual([0n, 2n, 0n]);
    submitter.offer([ofGas(1n, BLOCK)]);
    expect(near?.lookAhead(0n)).toBe(0n);
    submitter.offer([ofGas(2n, 1n)]);
    expect([near?.lookAhead(0n), near?.lookAhead(1n), near?.lookAhead(2n)]).toEqual([1n, 1n, 2n]);
    // What the near one needs itself does not make the others read early.
    expect([near?.lookAhead(0n), distant?.lookAhead(0n), near?.lookAhead(0n)]).toEqual([1n, 0n, 0n]);
  });
});

describe("the capacity with a look-ahead", () => {
  it("is the same for none and one, and a block more for two", () => {
    const submitter = submitterOf(sampleSubmitter().state);
    const capacities = () =>
      [0n, 1n, 2n].map((lookAhead) => submitter.view("connection-0").capacity(lookAhead));
    submitter.offer([ofGas(1n, BLOCK), ofGas(2n, BLOCK / 4n)]);
    expect(capacities()).toEqual([BLOCK - BLOCK / 4n, BLOCK - BLOCK / 4n, BLOCK]);
    submitter.offer([ofGas(3n, BLOCK)]);
    expect(capacities()).toEqual([0n, 0n, BLOCK - BLOCK / 4n]);
  });

  it("counts the results that are being read, until they are offered", () => {
    const submitter = submitterOf(sampleSubmitter(2).state);
    const at = { revision: 1n, height: 10n };
    const query = sampleQuery({ id: 1n, connectionId: "connection-0" });
    const [reserved, given] = [BLOCK + (BLOCK * 3n) / 8n + 1n, BLOCK];
    const reservation = submitter.reserve("connection-0", [{ query, at, gasGuess: reserved }], 1n);
    expect(submitter.view("connection-0").capacity(1n)).toBe(0n);
    expect(submitter.view("connection-1").capacity(1n)).toBe(BLOCK - (BLOCK * 3n) / 8n - 1n);
    submitter.offer([{ ...resultOf(1n), gasGuess: given }], reservation);
    expect(submitter.view("connection-0").capacity(1n)).toBe(BLOCK);
    const [next, none] = [11n, 12n].map((id) =>
      submitter.reserve("connection-0", [{ query: sampleQuery({ id }), at, gasGuess: BLOCK * 2n }], 1n),
    );
    expect([next?.ids.length, none?.ids]).toEqual([1, []]);
    submitter.offer([], next);
    expect(submitter.view("connection-0").capacity(1n)).toBe(BLOCK);
  });
});

describe("a reservation", () => {
  const at = { revision: 1n, height: 10n };

  it("has the longest due, then the lower id, as far as two blocks hold them", () => {
    const sample = sampleSubmitter();
    const submitter = submitterOf(sample.state);
    const candidates = [
      [3n, 9n],
      [2n, 0n],
      [1n, 9n],
      [4n, 0n],
    ].map(([id = 0n, lastLocalHeight = 0n]) => {
      sample.queries.set(id, sampleState({ id, lastLocalHeight }));
      return { query: sampleQuery({ id, lastLocalHeight }), at, gasGuess: BLOCK / 2n };
    });
    const ids = (lookAhead: bigint) => {
      const reservation = submitter.reserve("connection-0", candidates, lookAhead);
      submitter.offer([], reservation);
      return reservation.results.map(({ query }) => query.id);
    };
    expect(ids(0n)).toEqual([2n, 4n, 1n, 3n]);
    candidates.push({ query: sampleQuery({ id: 5n, lastLocalHeight: 20n }), at, gasGuess: BLOCK });
    expect(ids(0n)).toEqual([2n, 4n, 1n, 3n]);
    expect(ids(2n)).toHaveLength(5);
  });

  it("has a query with a result that waits for its block behind those that have none", () => {
    const sample = sampleSubmitter();
    const submitter = submitterOf(sample.state);
    const candidates = [1n, 2n, 3n].map((id) => {
      sample.queries.set(id, sampleState({ id, lastLocalHeight: 90n + id }));
      return { query: sampleQuery({ id, lastLocalHeight: 90n + id }), at, gasGuess: BLOCK / 4n };
    });
    // Query 1 is due for longest.
    submitter.offer([ofGas(1n, BLOCK / 4n)]);
    const { results } = submitter.reserve("connection-0", candidates, 1n);
    expect(results.map(({ query }) => query.id)).toEqual([2n, 3n, 1n]);
  });

  it("has a query whose values were unchanged behind those that are due since before its last read", () => {
    const sample = sampleSubmitter();
    const submitter = submitterOf(sample.state);
    const remote = { revision: 1n, height: 3n };
    const sent = handedOver(sampleState({ id: 1n, updatePeriod: 1n }), { at: remote, hash: "a" });
    const known = answered(sent, { localHeight: 10n, remote });
    const read = { at, hash: "a", localHeight: 100n, maxAge: 200n };
    sample.queries.set(1n, unchangedBy(known, read) ?? known);
    sample.queries.set(2n, sampleState({ id: 2n, updatePeriod: 3n, lastLocalHeight: 90n }));
    const candidates = [1n, 2n].map((id) => {
      const query = sample.queries.get(id)?.query ?? sampleQuery();
      return { query, at, gasGuess: BLOCK / 4n };
    });
    const { results } = submitter.reserve("connection-0", candidates, 0n);
    expect(results.map(({ query }) => query.id)).toEqual([2n, 1n]);
  });

  it("gives others their turn after a read without a result", () => {
    const sample = sampleSubmitter();
    const submitter = submitterOf(sample.state);
    const candidates = [1n, 2n, 3n].map((id) => ({ query: sampleQuery({ id }), at, gasGuess: BLOCK }));
    const ids = (): readonly bigint[] => {
      const reservation = submitter.reserve("connection-0", candidates, 0n);
      submitter.offer([], reservation);
      for (const { query } of reservation.results) submitter.endTurn(query);
      return reservation.results.map(({ query }) => query.id);
    };
    expect([ids(), ids(), ids()]).toEqual([
      [1n, 2n],
      [3n, 1n],
      [2n, 3n],
    ]);
  });

  it("ends with the offer, for each result that was proven and each that was not", () => {
    const sample = sampleSubmitter();
    const submitter = submitterOf(sample.state);
    const expected = [1n, 2n].map((id) => ({ query: sampleQuery({ id }), at, gasGuess: 1n }));
    const reservation = submitter.reserve("connection-0", expected, 1n);
    expect(sample.state.pipeline.expected()).toHaveLength(2);
    submitter.offer([resultOf(2n)], reservation);
    expect(sample.state.pipeline.expected()).toEqual([]);
    expect(sample.state.pipeline.queued().map(({ id, result }) => [id, result.query.id])).toEqual([
      [reservation.ids[1], 2n],
    ]);
    // An outcome is that of a proven result.
    expect(sample.outcomes).toEqual([]);
  });
});

describe("whether a further result of a query may be read", () => {
  const at = (height: bigint) => ({ at: { revision: 1n, height } });

  it("KV: while at most one is read, waits or is planned, whatever is in flight", () => {
    const sample = sampleSubmitter();
    const { pipeline } = sample.state;
    const submitter = submitterOf(sample.state);
    const query = sampleQuery({ id: 1n });
    const view = () => submitter.view("connection-0");
    const may = () => view().mayRead(query);
    const read = (height: bigint) => {
      const [id] = pipeline.expect([{ query, ...at(height), gasGuess: 1n }], 100n);
      return id ?? 0;
    };
    place(sample, resultOf(1n, "connection-0", at(9n)), "in-flight");
    expect(may()).toBe(true);
    const first = read(10n);
    expect(may()).toBe(true);
    const second = read(11n);
    expect(may()).toBe(false);
    expect(view().newest(1n)?.at.height).toBe(11n);
    pipeline.giveUp([first]);
    expect(may()).toBe(true);
    expect(view().newest(1n)?.at.height).toBe(11n);
    const [queued] = [place(sample, resultOf(1n, "connection-0", at(10n)), "queued")];
    expect(may()).toBe(false);
    pipeline.giveUp([second]);
    expect(may()).toBe(true);
    expect(view().newest(1n)?.at.height).toBe(10n);
    pipeline.apply([queued], { kind: "plan" });
    expect(may()).toBe(true);
    submitter.offer([resultOf(1n, "connection-0", at(11n))]);
    expect(may()).toBe(false);
    expect(view().mayRead(sampleQuery({ id: 2n }))).toBe(true);
  });

  it("TX: while none has been read and is without an outcome", () => {
    const sample = sampleSubmitter();
    const submitter = submitterOf(sample.state);
    const may = () => submitter.view("connection-0").mayRead({ id: 1n, type: "tx" });
    expect(may()).toBe(true);
    for (const kind of ["planned", "in-flight"] as const) {
      const entry = place(sample, resultOf(1n), kind);
      expect(may()).toBe(false);
      resolve(sample.state, entry, { kind: "dropped", reason: "removed" });
      expect(may()).toBe(true);
    }
    submitter.offer([resultOf(1n)]);
    expect(may()).toBe(false);
  });
});

describe("the newest result of a query that leaves", () => {
  it("is none, the one in flight, the planned one, or the planned one behind the one in flight", () => {
    const sample = sampleSubmitter();
    const newest = () => submitterOf(sample.state).view("connection-0").newest(1n);
    const at = (height: bigint) => resultOf(1n, "connection-0", { at: { revision: 1n, height } });
    expect(newest()).toBeUndefined();
    const first = place(sample, at(9n), "in-flight");
    expect(newest()).toMatchObject({ sentAt: 100n, at: { height: 9n } });
    // The one in flight is in the next block, so the planned one leaves after it.
    place(sample, at(10n), "planned");
    expect(newest()).toEqual({ sentAt: 101n, at: { revision: 1n, height: 10n } });
    sample.state.deps.height.set(101n, 0n);
    expect(newest()?.sentAt).toBe(101n);
    resolve(sample.state, first, { kind: "dropped", reason: "removed" });
    expect(newest()?.sentAt).toBe(101n);
  });
});

describe("offer", () => {
  it("replaces an older result of a KV query, and refuses what exceeds the queue", () => {
    const sample = sampleSubmitter();
    const submitter = submitterOf(sample.state);
    const at = (height: bigint) => ({ at: { revision: 1n, height } });
    submitter.offer([resultOf(1n, "connection-0", at(9n)), resultOf(1n, "connection-0", at(10n))]);
    expect(sample.attempts).toMatchObject([{ outcome: "superseded", remoteHeight: 9n }]);
    submitter.offer([{ ...resultOf(2n), message: new Uint8Array(64_000_001) }]);
    expect(sample.attempts[1]).toMatchObject({ outcome: "not-broadcast", reason: "the queue is full" });
    const view = submitter.view("connection-0");
    expect([1n, 2n].map((id) => view.mayRead({ id, type: "tx" }))).toEqual([false, true]);
    expect(submitter.status().queued).toBe(1);
  });

  it("counts what is being broadcast as queued", () => {
    const sample = sampleSubmitter();
    place(sample, resultOf(1n), "broadcasting");
    place(sample, resultOf(2n), "in-flight");
    expect(submitterOf(sample.state).status().queued).toBe(1);
  });
});

describe("the metric of results that another relayer made redundant", () => {
  it("counts those only", async () => {
    const sample = sampleSubmitter();
    const { results } = sample.state.deps.metrics;
    const count = async (): Promise<number> => {
      const { values } = await results.get();
      return values.find(({ labels }) => labels["outcome"] === "redundant")?.value ?? 0;
    };
    resolve(sample.state, place(sample, resultOf(1n), "queued"), { kind: "included", height: 1n });
    expect(await count()).toBe(0);
    resolve(sample.state, place(sample, resultOf(1n), "queued"), { kind: "dropped", reason: "redundant" });
    expect(await count()).toBe(1);
  });
});

describe("a resolved result", () => {
  it.each<readonly [ResultOutcome, string, string | undefined]>([
    [{ kind: "included", height: 7n }, "included", undefined],
    [{ kind: "refused", error: { code: "rejected", reason: "no" } }, "rejected", "no"],
    [{ kind: "dropped", reason: "removed" }, "removed", undefined],
    [{ kind: "dropped", reason: "superseded" }, "superseded", undefined],
    [
      { kind: "dropped", reason: "redundant" },
      "redundant",
      "the chain already has a result at this remote height or a newer one",
    ],
    [{ kind: "unsent", reason: "the node is down", error: undefined }, "not-broadcast", "the node is down"],
  ])("%o is the attempt %s, once", (outcome, noted, reason) => {
    const sample = sampleSubmitter();
    const entry = place(sample, resultOf(1n), "queued");
    for (let times = 0; times < 2; times++) resolve(sample.state, entry, outcome);
    expect(sample.outcomes).toEqual([[entry.result, outcome]]);
    expect(sample.attempts).toMatchObject([
      { outcome: noted, reason, localHeight: noted === "included" ? 7n : undefined },
    ]);
  });
});

it.each([-3_600_000, 3_600_000])(
  "an attempt took the time between its start and its end, although the wall clock jumped by %i ms",
  async (jumpMs) => {
    const sample = sampleSubmitter();
    const started = startAttempt(sample.state.deps.clock);
    const entry = place(sample, resultOf(1n, "connection-0", { started }), "queued");
    sample.jumpMs = jumpMs;
    await sample.clock.advance(700);
    resolve(sample.state, entry, { kind: "included", height: 7n });
    expect(sample.attempts).toMatchObject([{ startedAtMs: 1_000_000, durationMs: 700 }]);
  },
);

describe("queueing results again", () => {
  it("yields to the next result of the query when it was in flight, and wakes the loops", () => {
    const sample = sampleSubmitter();
    const old = place(sample, resultOf(1n), "in-flight");
    const next = place(sample, resultOf(1n), "planned");
    const other = place(sample, resultOf(2n), "in-flight");
    const version = sample.state.work.version();
    requeue(sample.state, [old, other]);
    expect([old, next, other].map(({ stage }) => stage.kind)).toEqual(["resolved", "planned", "queued"]);
    expect(sample.attempts).toMatchObject([{ queryId: 1n, outcome: "superseded" }]);
    expect(sample.state.pipeline.sent()).toEqual([]);
    expect(sample.state.work.version()).toBeGreaterThan(version);
  });

  it("keeps what was planned, unless a newer result of the query is in the queue", () => {
    const sample = sampleSubmitter();
    const at = (height: bigint) => ({ at: { revision: 1n, height } });
    const alone = place(sample, resultOf(1n), "planned");
    const old = place(sample, resultOf(2n, "connection-0", at(9n)), "planned");
    const newer = place(sample, resultOf(2n, "connection-0", at(10n)), "queued");
    requeue(sample.state, [alone, old]);
    expect([alone, old, newer].map(({ stage }) => stage.kind)).toEqual(["queued", "resolved", "queued"]);
    expect(sample.attempts).toMatchObject([{ queryId: 2n, remoteHeight: 9n, outcome: "superseded" }]);
  });

  it("of one TX result leaves the others of its query planned", () => {
    const sample = sampleSubmitter();
    const query = sampleQuery({ type: "tx" });
    const [first, second] = [1, 2].map(() => place(sample, sampleResult(1n, 100, { query }), "planned"));
    if (first === undefined || second === undefined) throw new Error("two entries");
    requeue(sample.state, [first]);
    expect(sample.state.pipeline.ofQuery(1n).planned).toEqual([second]);
    requeue(sample.state, [second]);
    expect(sample.state.pipeline.planned()).toEqual([]);
  });

  it("resolves the results of a query that was withdrawn, and leaves resolved ones alone", () => {
    const sample = sampleSubmitter();
    const [withdrawn, done] = [1n, 2n].map((id) => place(sample, resultOf(id), "planned"));
    if (withdrawn === undefined || done === undefined) throw new Error("two entries");
    sample.state.queries.withdrawn.add(1n);
    resolve(sample.state, done, { kind: "included", height: 1n });
    requeue(sample.state, [withdrawn, done]);
    expect([withdrawn, done].map(({ stage }) => stage.kind)).toEqual(["resolved", "resolved"]);
    expect(sample.attempts).toMatchObject([
      { queryId: 2n },
      { queryId: 1n, outcome: "not-broadcast", reason: "an earlier result was not sent" },
    ]);
    expect(sample.state.pipeline.queuedCount()).toBe(0);
  });
});
