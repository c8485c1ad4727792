import { describe, expect, it } from "vitest";
import { dropOld, evaluateResult } from "../../src/relayer/submit/choose.ts";
import { resolve } from "../../src/relayer/submit/submitter-state.ts";
import { submitterOf } from "../../src/relayer/submit/submitter.ts";
import { sampleEntry, sampleResult, sampleState } from "./samples.ts";
import { place, sampleSubmitter } from "./submitter-samples.ts";

/** A submitter at height 100, and an entry of query 1, whose last result is at the local height 90 and the remote height 5. */
function setUp(fields: Parameters<typeof sampleState>[0] = {}) {
  const last = { lastLocalHeight: 90n, lastRemoteHeight: { revision: 1n, height: 5n } };
  const known = sampleState({ ...last, ...fields });
  const sample = sampleSubmitter();
  sample.queries.set(1n, known);
  const result = sampleResult(1n, 100, { query: known.query });
  const entry = { ...sampleEntry(result), sinceMs: sample.clock.monotonicMs() };
  return { sample, known, entry, judge: () => evaluateResult(sample.state, entry) };
}

const dropped = (reason: string) => ({ kind: "dropped", reason });

describe("evaluateResult", () => {
  it("sends what is due and newer than the last result", () => {
    expect(setUp().judge()).toBe("ready");
  });

  it.each([-3_600_000, 3_600_000])(
    "does not depend on the wall clock, which jumps by %i ms",
    async (jumpMs) => {
      const { sample, known, judge } = setUp();
      sample.jumpMs = jumpMs;
      expect(judge()).toBe("ready");
      sample.queries.set(1n, { ...known, notBeforeMs: sample.clock.monotonicMs() + 1_000 });
      expect(judge()).toMatchObject({ kind: "unsent", reason: "its query backs off" });
      await sample.clock.advance(1_000);
      expect(judge()).toBe("ready");
      await sample.clock.advance(9_000);
      expect(judge()).toBe("ready");
      await sample.clock.advance(1);
      expect(judge()).toMatchObject({ kind: "unsent", reason: "it waited too long for a transaction" });
    },
  );

  it("drops what was removed, asked differently, or answered meanwhile", () => {
    const { sample, known, judge } = setUp();
    sample.queries.delete(1n);
    expect(judge()).toEqual(dropped("removed"));
    sample.queries.set(1n, sampleState({ ...known.query, updatePeriod: 9n }));
    expect(judge()).toEqual(dropped("superseded"));
    const answered = { ...known.query, lastRemoteHeight: { revision: 1n, height: 10n } };
    sample.queries.set(1n, sampleState(answered));
    expect(judge()).toEqual(dropped("superseded"));
    sample.queries.set(1n, sampleState({ ...answered, lastRemoteHeight: { revision: 1n, height: 9n } }));
    expect(judge()).toBe("ready");
  });

  it("lets one result of a query leave at a time, and waits for one that is due within two blocks", () => {
    const { sample, judge } = setUp();
    const before = place(sample, sampleResult(1n, 100, { at: { revision: 1n, height: 9n } }), "in-flight");
    expect(judge()).toBe("later");
    resolve(sample.state, before, { kind: "dropped", reason: "removed" });
    sample.queries.set(1n, sampleState({ ...setUp().known.query, lastLocalHeight: 98n }));
    expect(judge()).toBe("later");
    sample.queries.set(1n, sampleState({ ...setUp().known.query, lastLocalHeight: 99n }));
    expect(judge()).toEqual(dropped("superseded"));
  });

  it("sends a TX result of any remote height, also of a query that was searched at this height", () => {
    const lastRemoteHeight = { revision: 1n, height: 20n };
    expect(setUp({ type: "tx", lastRemoteHeight }).judge()).toBe("ready");
    expect(setUp({ type: "tx", lastLocalHeight: 100n }).judge()).toBe("ready");
  });

  it("sends no TX result behind one that was not sent", () => {
    const { sample, judge } = setUp();
    sample.state.queries.withdrawn.add(1n);
    expect(judge()).toMatchObject({ kind: "unsent", reason: "an earlier result was not sent" });
  });
});

describe("the age of results that wait", () => {
  it.each([-3_600_000, 0, 3_600_000])(
    "counts from the offer, whatever the wall clock does (%i ms)",
    async (jumpMs) => {
      const { sample, known } = setUp();
      const result = sampleResult(1n, 100, { query: known.query });
      submitterOf(sample.state).offer([result]);
      sample.jumpMs = jumpMs;
      await sample.clock.advance(10_000);
      dropOld(sample.state);
      expect(sample.outcomes).toEqual([]);
      await sample.clock.advance(1);
      dropOld(sample.state);
      expect(sample.outcomes).toMatchObject([[result, { kind: "unsent" }]]);
      expect(sample.attempts).toMatchObject([
        { outcome: "not-broadcast", reason: "it waited too long for a transaction" },
      ]);
    },
  );

  it("counts for planned results too", async () => {
    const { sample, entry } = setUp();
    place(sample, entry.result, "planned");
    await sample.clock.advance(10_001);
    dropOld(sample.state);
    expect(sample.attempts).toMatchObject([{ outcome: "not-broadcast" }]);
    expect(sample.state.pipeline.planned()).toEqual([]);
  });
});
