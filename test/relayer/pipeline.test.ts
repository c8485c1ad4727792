import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPipeline, type Entry, type Pipeline } from "../../src/relayer/submit/pipeline.ts";
import type { ProvenResult } from "../../src/relayer/result/proven-result.ts";
import { sampleQuery, sampleResult } from "./samples.ts";

const at = (id: bigint, height: bigint, fields: Partial<ProvenResult> = {}): ProvenResult =>
  sampleResult(id, 100, { at: { revision: 1n, height }, ...fields });
const tx = (height: bigint): ProvenResult => at(9n, height, { query: sampleQuery({ id: 9n, type: "tx" }) });

/** Queues a result. Resolves what it displaces, as the submitter does. */
function add(
  pipeline: Pipeline,
  result: ProvenResult,
): { readonly entry: Entry; readonly displaced: Entry | undefined } {
  const added = pipeline.queue(result, 0);
  if (added.displaced !== undefined) drop(pipeline, [added.displaced]);
  return added;
}

function drop(pipeline: Pipeline, entries: readonly Entry[]): void {
  pipeline.apply(entries, { kind: "resolve", outcome: { kind: "dropped", reason: "superseded" } });
}

describe("the queued results", () => {
  it("are the newest one of a KV query only", () => {
    const pipeline = createPipeline();
    const old = add(pipeline, at(1n, 10n));
    expect(old.displaced).toBeUndefined();
    const young = add(pipeline, at(1n, 11n));
    expect(young.displaced).toBe(old.entry);
    const again = add(pipeline, at(1n, 10n));
    expect(again.displaced).toBe(again.entry);
    expect(pipeline.queued()).toEqual([young.entry]);
    expect([pipeline.queuedCount(), pipeline.queuedBytes()]).toEqual([1, 100]);
  });

  it("keep the order of TX results, also of those that come back", () => {
    const pipeline = createPipeline();
    const [first, second, third] = [tx(1n), tx(2n), tx(2n)].map((result) => add(pipeline, result).entry);
    if (first === undefined || second === undefined) throw new Error("three entries");
    pipeline.apply([first, second], { kind: "plan" });
    expect(pipeline.ofQuery(9n).queued).toEqual([third]);
    expect(pipeline.requeue([first, second])).toEqual([]);
    expect(pipeline.ofQuery(9n).queued).toEqual([first, second, third]);
  });

  it("do not include one that comes back when a newer one waits", () => {
    const pipeline = createPipeline();
    const old = add(pipeline, at(1n, 10n)).entry;
    pipeline.apply([old], { kind: "plan" });
    const young = add(pipeline, at(1n, 11n)).entry;
    const displaced = pipeline.requeue([old]);
    expect(displaced).toEqual([old]);
    drop(pipeline, displaced);
    expect(pipeline.queued()).toEqual([young]);
  });

  it("stay when their read is given up after it was proven", () => {
    const pipeline = createPipeline();
    const [id] = pipeline.expect([at(1n, 10n)], 5n);
    const { entry } = pipeline.queue(at(1n, 10n), 0, id);
    pipeline.giveUp([entry.id]);
    expect(pipeline.queued()).toEqual([entry]);
    expect(entry.stage).toEqual({ kind: "queued" });
  });

  it("are none after all were resolved", () => {
    const pipeline = createPipeline();
    add(pipeline, at(1n, 10n));
    add(pipeline, tx(1n));
    drop(pipeline, pipeline.queued());
    expect([pipeline.queuedCount(), pipeline.queuedBytes(), pipeline.queued()]).toEqual([0, 0, []]);
    expect(pipeline.ofQuery(1n)).toEqual({ expected: [], queued: [], planned: [], sent: [] });
  });
});

/** Something that happens to the result with this number, of all that there are. */
type Step = readonly [kind: (typeof KINDS)[number], which: number];
const KINDS = ["expect", "offer", "give up", "plan", "broadcast", "accept", "requeue", "resolve"] as const;

/** A submitter that moves results at random, as far as the rules allow, and counts what it resolves. */
function randomWalk() {
  const pipeline = createPipeline();
  const proven: Entry[] = [];
  const outcomes = new Map<Entry, number>();
  let height = 10n;
  const resolve = (entries: readonly Entry[]): void => {
    drop(pipeline, entries);
    for (const entry of entries) outcomes.set(entry, (outcomes.get(entry) ?? 0) + 1);
  };
  const inStage = (kind: string, which: number): readonly Entry[] => {
    const found = proven.filter(({ stage }) => stage.kind === kind);
    const entry = found[which % Math.max(1, found.length)];
    return entry === undefined ? [] : [entry];
  };
  const offer = (result: ProvenResult, id?: number): void => {
    const { entry, displaced } = pipeline.queue(result, 0, id);
    proven.push(entry);
    if (displaced !== undefined) resolve([displaced]);
  };
  const step = ([kind, which]: Step): void => {
    const isTx = which % 4 === 3;
    const queryId = BigInt(which % 4);
    height += 1n;
    const result = isTx
      ? { ...tx(height), query: sampleQuery({ id: queryId, type: "tx" }) }
      : at(queryId, height);
    const expected = pipeline.expected()[which % Math.max(1, pipeline.expected().length)];
    if (kind === "expect") pipeline.expect([result], height);
    else if (kind === "give up") pipeline.giveUp(expected === undefined ? [999] : [expected.id, expected.id]);
    else if (kind === "offer")
      offer(
        expected === undefined
          ? result
          : at(expected.result.query.id, expected.result.at.height, { query: expected.result.query }),
        expected?.id,
      );
    else if (kind === "plan") pipeline.apply(inStage("queued", which), { kind: "plan" });
    else if (kind === "accept") pipeline.apply(inStage("broadcasting", which), { kind: "accept" });
    else if (kind === "broadcast") {
      const free = inStage("planned", which).filter(({ id, result: { query } }) => {
        const { planned, queued, sent } = pipeline.ofQuery(query.id);
        return query.type === "tx"
          ? [...planned, ...queued].every((other) => other.id >= id)
          : sent.length === 0;
      });
      pipeline.apply(free, { kind: "broadcast", sentAt: height, gas: 1n });
    } else if (kind === "requeue") resolve(pipeline.requeue(inStage("in-flight", which)));
    else resolve(proven.filter(({ stage }) => stage.kind !== "resolved").slice(which % 3, (which % 3) + 1));
  };
  return { pipeline, proven, outcomes, step };
}

describe("the pipeline, whatever happens in it", () => {
  const steps = fc.array(fc.tuple(fc.constantFrom(...KINDS), fc.nat(40)), { maxLength: 120 });

  it("has each result in one stage, resolves each once, and has one result of a KV query in flight", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { pipeline, proven, outcomes, step } = randomWalk();
        for (const one of all) {
          step(one);
          const views = [pipeline.expected(), pipeline.queued(), pipeline.planned(), pipeline.sent()];
          const ids = views.flat().map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
          const open = proven.filter(({ stage }) => stage.kind !== "resolved");
          expect(open.length + pipeline.expected().length).toBe(ids.length);
          expect(pipeline.queuedCount()).toBe(pipeline.queued().length);
          expect(pipeline.queuedBytes()).toBe(pipeline.queued().length * 100);
          for (const entry of open) {
            const { expected: _expected, ...own } = pipeline.ofQuery(entry.result.query.id);
            expect(Object.values(own).filter((list) => list.includes(entry))).toHaveLength(1);
            if (entry.result.query.type === "kv") {
              expect(own.sent.length).toBeLessThanOrEqual(1);
              expect(own.queued.length).toBeLessThanOrEqual(1);
            }
          }
          expect([...outcomes.values()].every((times) => times === 1)).toBe(true);
          expect(outcomes.size + open.length).toBe(proven.length);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("refuses a TX result in front of those before it", () => {
    const pipeline = createPipeline();
    const [first, second, third] = [tx(1n), tx(2n), tx(3n)].map((result) => add(pipeline, result).entry);
    if (first === undefined || second === undefined || third === undefined) throw new Error("three entries");
    const broadcast = { kind: "broadcast", sentAt: 1n, gas: 1n } as const;
    pipeline.apply([first, second, third], { kind: "plan" });
    expect(() => pipeline.apply([second], broadcast)).toThrow("query 9 has an earlier result in the queue");
    pipeline.apply([first, second], broadcast);
    pipeline.requeue([first, second]);
    expect(() => pipeline.apply([third], broadcast)).toThrow("query 9 has an earlier result in the queue");
    pipeline.apply([first, second], { kind: "plan" });
    pipeline.apply([first, second, third], broadcast);
    expect(pipeline.ofQuery(9n).sent).toEqual([first, second, third]);
  });

  it("refuses a second result of a KV query in flight, and a second outcome", () => {
    const pipeline = createPipeline();
    const broadcast = { kind: "broadcast", sentAt: 1n, gas: 1n } as const;
    const entries = [at(1n, 10n), at(1n, 11n)].map((result) => {
      const { entry } = add(pipeline, result);
      pipeline.apply([entry], { kind: "plan" });
      return entry;
    });
    pipeline.apply(entries.slice(0, 1), broadcast);
    expect(() => pipeline.apply(entries.slice(1), broadcast)).toThrow(
      "query 1 already has a result in flight",
    );
    drop(pipeline, entries);
    expect(() => drop(pipeline, entries)).toThrow("event resolve is impossible in stage resolved");
  });
});
