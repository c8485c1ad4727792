import { describe, expect, it } from "vitest";
import { startAttempt } from "../../src/relayer/state/attempt.ts";
import { finish, move, putBack } from "../../src/relayer/submit/submitter-state.ts";
import { submitterOf } from "../../src/relayer/submit/submitter.ts";
import type { ProvenResult, ResultOutcome } from "../../src/relayer/submit/proven-result.ts";
import { sampleEntry, sampleQuery, sampleResult } from "./samples.ts";
import { sampleSubmitter } from "./submitter-samples.ts";

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

describe("the room for further results of a connection", () => {
  it("is a block when nothing waits: one leaves next, one may follow", () => {
    const { room } = submitterOf(sampleSubmitter().state);
    expect(room("connection-0", 1n)).toBe(BLOCK);
  });

  it("is still a block while what waits fits into the block that leaves next", () => {
    const submitter = submitterOf(sampleSubmitter().state);
    submitter.offer([ofGas(1n, BLOCK)]);
    expect(submitter.room("connection-0", 1n)).toBe(BLOCK);
  });

  it("shrinks by what has to wait for a later block, and is none after a quarter of a block", () => {
    const sample = sampleSubmitter();
    const submitter = submitterOf(sample.state);
    submitter.offer([ofGas(1n, BLOCK), ofGas(2n, BLOCK / 4n)]);
    expect(submitter.room("connection-0", 1n)).toBe(BLOCK - BLOCK / 4n);
    submitter.offer([ofGas(3n, 1n)]);
    expect(submitter.room("connection-0", 1n)).toBe(0n);
  });

  it("counts what was sent at this height as in the block that leaves next, and not what is in an older one", () => {
    const sample = sampleSubmitter();
    const submitter = submitterOf(sample.state);
    const at = { revision: 1n, height: 9n };
    sample.state.flying.set(9n, { sentAt: 100n, at, gas: BLOCK });
    submitter.offer([ofGas(1n, BLOCK / 4n)]);
    expect(submitter.room("connection-0", 1n)).toBe(BLOCK - BLOCK / 4n);
    sample.state.flying.set(9n, { sentAt: 99n, at, gas: BLOCK });
    expect(submitter.room("connection-0", 1n)).toBe(BLOCK);
  });

  it("gives each connection its part, whatever the others have in the queue", () => {
    const submitter = submitterOf(sampleSubmitter(3).state);
    submitter.offer([ofGas(1n, BLOCK * 9n)]);
    expect(submitter.room("connection-0", 1n)).toBe(0n);
    expect(submitter.room("connection-1", 1n)).toBe(BLOCK / 3n);
  });

  it("lets each connection count on its part only of the block that leaves next", () => {
    const submitter = submitterOf(sampleSubmitter(3).state);
    submitter.offer([ofGas(1n, BLOCK / 3n + BLOCK / 12n)]);
    expect(submitter.room("connection-0", 1n)).toBeGreaterThan(0n);
    submitter.offer([ofGas(2n, 1n)]);
    expect(submitter.room("connection-0", 1n)).toBe(0n);
  });

  it("is none while nothing may be sent, and while the queue holds half of its bytes", async () => {
    const sample = sampleSubmitter();
    const submitter = submitterOf(sample.state);
    sample.state.stoppedUntilMs = sample.clock.monotonicMs() + 5;
    expect(submitter.room("connection-0", 1n)).toBe(0n);
    await sample.clock.advance(5);
    expect(submitter.room("connection-0", 1n)).toBe(BLOCK);
    submitter.offer([{ ...ofGas(1n, 1n), message: new Uint8Array(32_000_001) }]);
    expect(submitter.room("connection-0", 1n)).toBe(0n);
  });
});

describe("the room for a lead", () => {
  it("is the same for none and one, and a block more for two", () => {
    const submitter = submitterOf(sampleSubmitter().state);
    const room = () => [0n, 1n, 2n].map((lead) => submitter.room("connection-0", lead));
    submitter.offer([ofGas(1n, BLOCK), ofGas(2n, BLOCK / 4n)]);
    expect(room()).toEqual([BLOCK - BLOCK / 4n, BLOCK - BLOCK / 4n, BLOCK]);
    submitter.offer([ofGas(3n, BLOCK)]);
    expect(room()).toEqual([0n, 0n, BLOCK - BLOCK / 4n]);
  });

  it("counts the results that are being read, until they are offered", () => {
    const submitter = submitterOf(sampleSubmitter(2).state);
    const at = { revision: 1n, height: 10n };
    const query = sampleQuery({ id: 1n, connectionId: "connection-0" });
    const release = submitter.expect([{ query, at, gasGuess: BLOCK }]);
    expect(submitter.room("connection-0", 1n)).toBe(0n);
    expect(submitter.room("connection-1", 1n)).toBe(BLOCK);
    release();
    expect(submitter.room("connection-0", 1n)).toBe(BLOCK);
  });
});

describe("whether a further result of a query may be read", () => {
  const at = (height: bigint) => ({ at: { revision: 1n, height } });

  it("KV: while at most one is read, waits or is planned, whatever is in flight", () => {
    const sample = sampleSubmitter();
    const submitter = submitterOf(sample.state);
    const query = sampleQuery({ id: 1n });
    const may = () => submitter.mayRead(query);
    const read = (height: bigint) => submitter.expect([{ query, ...at(height), gasGuess: 1n }]);
    move(sample.state, sampleEntry(resultOf(1n, "connection-0", at(9n))), "flight");
    expect(may()).toBe(true);
    const first = read(10n);
    expect(may()).toBe(true);
    const second = read(11n);
    expect(may()).toBe(false);
    expect(submitter.leaving(1n)?.at.height).toBe(11n);
    first();
    expect(may()).toBe(true);
    expect(submitter.leaving(1n)?.at.height).toBe(11n);
    submitter.offer([resultOf(1n, "connection-0", at(10n))]);
    expect(may()).toBe(false);
    second();
    expect(may()).toBe(true);
    expect(submitter.leaving(1n)?.at.height).toBe(10n);
    move(sample.state, sampleEntry(resultOf(1n, "connection-0", at(9n))), "planned");
    expect(may()).toBe(false);
    expect(submitter.mayRead(sampleQuery({ id: 2n }))).toBe(true);
  });

  it("TX: while none is on its way at all", () => {
    const sample = sampleSubmitter();
    const submitter = submitterOf(sample.state);
    const may = () => submitter.mayRead({ id: 1n, type: "tx" });
    expect(may()).toBe(true);
    const entry = sampleEntry(resultOf(1n));
    for (const place of ["planned", "flight"] as const) {
      move(sample.state, entry, place);
      expect(may()).toBe(false);
    }
    move(sample.state, entry, "done");
    expect(may()).toBe(true);
    submitter.offer([resultOf(1n)]);
    expect(may()).toBe(false);
  });
});

describe("the newest result of a query that leaves", () => {
  it("is none, the one in flight, the planned one, or the planned one behind the one in flight", () => {
    const sample = sampleSubmitter();
    const submitter = submitterOf(sample.state);
    expect(submitter.leaving(1n)).toBeUndefined();
    const [first, second] = [9n, 10n].map((height) =>
      sampleEntry(resultOf(1n, "connection-0", { at: { revision: 1n, height } })),
    );
    if (first === undefined || second === undefined) throw new Error("two entries");
    move(sample.state, first, "flight");
    expect(submitter.leaving(1n)).toMatchObject({ sentAt: 100n, at: { height: 9n } });
    // The one in flight is in the next block, so the planned one leaves after it.
    move(sample.state, second, "planned");
    expect(submitter.leaving(1n)).toEqual({ sentAt: 101n, at: { revision: 1n, height: 10n } });
    sample.state.deps.height.set(101n, 0n);
    expect(submitter.leaving(1n)?.sentAt).toBe(101n);
    move(sample.state, first, "done");
    expect(submitter.leaving(1n)?.sentAt).toBe(101n);
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
    expect([1n, 2n].map((id) => submitter.mayRead({ id, type: "tx" }))).toEqual([false, true]);
    expect(submitter.status().queued).toBe(1);
  });

  it("counts what is being broadcast as queued", () => {
    const sample = sampleSubmitter();
    sample.state.launching = [sampleEntry(resultOf(1n))];
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
    finish(sample.state, sampleEntry(resultOf(1n)), { kind: "included", height: 1n });
    expect(await count()).toBe(0);
    finish(sample.state, sampleEntry(resultOf(1n)), { kind: "dropped", reason: "redundant" });
    expect(await count()).toBe(1);
  });
});

describe("a settled result", () => {
  it.each<readonly [ResultOutcome, string, string | undefined]>([
    [{ kind: "included", height: 7n }, "included", undefined],
    [{ kind: "refused", error: { code: "rejected", reason: "no" } }, "rejected", "no"],
    [{ kind: "dropped", reason: "removed" }, "removed", undefined],
    [{ kind: "dropped", reason: "superseded" }, "superseded", undefined],
    [
      { kind: "dropped", reason: "redundant" },
      "redundant",
      "the chain has a result of this remote height or a newer one",
    ],
    [{ kind: "unsent", reason: "the node is down", error: undefined }, "not-broadcast", "the node is down"],
  ])("%o is the attempt %s, once", (outcome, noted, reason) => {
    const sample = sampleSubmitter();
    const settled: ResultOutcome[] = [];
    const entry = sampleEntry(resultOf(1n, "connection-0", { settle: (one) => void settled.push(one) }));
    for (let times = 0; times < 2; times++) finish(sample.state, entry, outcome);
    expect(settled).toEqual([outcome]);
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
    const entry = sampleEntry(resultOf(1n, "connection-0", { started }));
    sample.jumpMs = jumpMs;
    await sample.clock.advance(700);
    finish(sample.state, entry, { kind: "included", height: 7n });
    expect(sample.attempts).toMatchObject([{ startedAtMs: 1_000_000, durationMs: 700 }]);
  },
);

describe("putting back", () => {
  it("yields to the next result of the query when it was in flight, and wakes the loops", () => {
    const sample = sampleSubmitter();
    const [old, next, other] = [resultOf(1n), resultOf(1n), resultOf(2n)].map(sampleEntry);
    if (old === undefined || next === undefined || other === undefined) throw new Error("three entries");
    move(sample.state, old, "flight");
    move(sample.state, next, "planned");
    move(sample.state, other, "flight");
    const version = sample.state.work.version();
    putBack(sample.state, [old, other]);
    expect([old.place, next.place, other.place]).toEqual(["done", "planned", "queued"]);
    expect(sample.attempts).toMatchObject([{ queryId: 1n, outcome: "superseded" }]);
    expect([...sample.state.flying.keys()]).toEqual([]);
    expect(sample.state.work.version()).toBeGreaterThan(version);
  });

  it("keeps what was planned, unless a newer result of the query is in the queue", () => {
    const sample = sampleSubmitter();
    const at = (height: bigint) => ({ at: { revision: 1n, height } });
    const [alone, old, newer] = [
      resultOf(1n),
      resultOf(2n, "connection-0", at(9n)),
      resultOf(2n, "connection-0", at(10n)),
    ].map(sampleEntry);
    if (alone === undefined || old === undefined || newer === undefined) throw new Error("three entries");
    for (const entry of [alone, old]) move(sample.state, entry, "planned");
    sample.state.queue.add(newer);
    putBack(sample.state, [alone, old]);
    expect([alone.place, old.place, newer.place]).toEqual(["queued", "done", "queued"]);
    expect(sample.attempts).toMatchObject([{ queryId: 2n, remoteHeight: 9n, outcome: "superseded" }]);
  });

  it("of one TX result leaves the others of its query planned", () => {
    const sample = sampleSubmitter();
    const query = sampleQuery({ type: "tx" });
    const [first, second] = [1, 2].map(() => sampleEntry(sampleResult(1n, 100, { query })));
    if (first === undefined || second === undefined) throw new Error("two entries");
    for (const entry of [first, second]) move(sample.state, entry, "planned");
    putBack(sample.state, [first]);
    expect(sample.state.planned.get(1n)).toEqual([second]);
    putBack(sample.state, [second]);
    expect(sample.state.planned.size).toBe(0);
  });

  it("settles the results of a query that was withdrawn, and leaves settled ones alone", () => {
    const sample = sampleSubmitter();
    const [withdrawn, done] = [resultOf(1n), resultOf(2n)].map(sampleEntry);
    if (withdrawn === undefined || done === undefined) throw new Error("two entries");
    sample.state.withdrawn.add(1n);
    finish(sample.state, done, { kind: "included", height: 1n });
    putBack(sample.state, [withdrawn, done]);
    expect([withdrawn.place, done.place]).toEqual(["done", "done"]);
    expect(sample.attempts).toMatchObject([
      { queryId: 2n },
      { queryId: 1n, outcome: "not-broadcast", reason: "a result before it was not sent" },
    ]);
    expect(sample.state.queue.size()).toBe(0);
  });
});
