import { describe, expect, it } from "vitest";
import { rereadQueries } from "../../src/relayer/submit/apply-failure.ts";
import { submitterOf } from "../../src/relayer/submit/submitter.ts";
import { sampleEntry, sampleResult, sampleState } from "./samples.ts";
import { place, sampleSubmitter } from "./submitter-samples.ts";

const signal = new AbortController().signal;
const remoteHeight = (height: bigint) => ({ revision: 1n, height });

/** Queries 1 to 3 with a result of the remote height 10 each: of 1 and 3 it is in the queue, of 2 it is planned. */
function setUp() {
  const sample = sampleSubmitter();
  const states = new Map([1n, 2n, 3n].map((id) => [id, sampleState({ id })]));
  for (const [id, state] of states) sample.queries.set(id, state);
  const entries = new Map(
    [...states].map(([id, { query }]) => [
      id,
      place(sample, sampleResult(id, 100, { query }), id === 2n ? "planned" : "queued"),
    ]),
  );
  const entryOf = (id: bigint) => entries.get(id) ?? sampleEntry(sampleResult(id));
  const answer = (id: bigint, height: bigint): void => {
    sample.queries.set(id, sampleState({ id, lastRemoteHeight: remoteHeight(height) }));
  };
  return { sample, answer, places: () => [1n, 2n, 3n].map((id) => entryOf(id).stage.kind) };
}

describe("reading queries again after another relayer was faster", () => {
  it("reads nothing without a reason", async () => {
    const { sample } = setUp();
    await rereadQueries(sample.state, signal);
    expect(sample.rereads).toEqual([]);
  });

  it("drops the results that are not newer than what the chain has, queued or planned, and no other", async () => {
    const { sample, answer, places } = setUp();
    const { state } = sample;
    for (const id of [1n, 2n, 3n]) state.queries.unread.add(id);
    answer(1n, 10n);
    answer(2n, 11n);
    answer(3n, 9n);
    const version = state.deps.height.version();
    await rereadQueries(state, signal);
    expect(sample.rereads).toEqual([[1n, 2n, 3n]]);
    expect(places()).toEqual(["resolved", "resolved", "queued"]);
    expect(sample.attempts.map(({ queryId, outcome }) => [queryId, outcome])).toEqual([
      [1n, "redundant"],
      [2n, "redundant"],
    ]);
    expect(state.queries.unread.size).toBe(0);
    // The workers may prove again.
    expect(state.deps.height.version()).toBe(version + 1);
  });

  it("drops only results of the queries that were read", async () => {
    const { sample, answer, places } = setUp();
    sample.state.queries.unread.add(2n);
    answer(1n, 10n);
    answer(2n, 10n);
    await rereadQueries(sample.state, signal);
    expect(places()).toEqual(["queued", "resolved", "queued"]);
  });

  it("keeps everything when the read fails, and reads again the next time", async () => {
    const { sample, answer, places } = setUp();
    sample.state.queries.unread.add(1n);
    answer(1n, 10n);
    sample.rereadError = new Error("the node is down");
    await rereadQueries(sample.state, signal);
    expect(places()).toEqual(["queued", "planned", "queued"]);
    const submitter = submitterOf(sample.state).view("connection-0");
    expect(submitter.mayRead({ id: 1n, type: "kv" })).toBe(false);
    // No new result is proven before the chain was asked.
    expect(submitter.mayRead({ id: 4n, type: "kv" })).toBe(true);
    sample.state.queries.unread.add(4n);
    expect(submitter.mayRead({ id: 4n, type: "kv" })).toBe(false);
    sample.rereadError = undefined;
    await rereadQueries(sample.state, signal);
    expect(places()[0]).toBe("resolved");
    expect(submitter.mayRead({ id: 1n, type: "kv" })).toBe(true);
  });

  it("throws on abort", async () => {
    const { sample } = setUp();
    sample.state.queries.unread.add(1n);
    sample.rereadError = new Error("the node is down");
    const stop = AbortSignal.abort(new Error("stop"));
    await expect(rereadQueries(sample.state, stop)).rejects.toThrow("stop");
  });

  it("never drops TX results: the chain takes them in any order of heights", async () => {
    const sample = sampleSubmitter();
    const known = sampleState({ type: "tx", lastRemoteHeight: remoteHeight(20n) });
    sample.queries.set(1n, known);
    place(sample, sampleResult(1n, 100, { query: known.query }), "queued");
    sample.state.queries.unread.add(1n);
    await rereadQueries(sample.state, signal);
    expect(sample.state.pipeline.queuedCount()).toBe(1);
  });
});
