import { describe, expect, it } from "vitest";
import type { ProvenResult } from "../../src/relayer/submit/proven-result.ts";
import { createResultQueue, type Entry } from "../../src/relayer/submit/result-queue.ts";
import { sampleEntry, sampleQuery, sampleResult } from "./samples.ts";

const at = (id: bigint, height: bigint, fields: Partial<ProvenResult> = {}): Entry =>
  sampleEntry(sampleResult(id, 100, { at: { revision: 1n, height }, ...fields }));
const tx = (height: bigint): Entry => at(9n, height, { query: sampleQuery({ id: 9n, type: "tx" }) });

describe("a result queue", () => {
  it("keeps the newest result of a KV query only", () => {
    const queue = createResultQueue();
    const [old, young] = [at(1n, 10n), at(1n, 11n)];
    expect(queue.add(old)).toBeUndefined();
    expect(queue.add(young)).toBe(old);
    expect(queue.add(old)).toBe(old);
    expect(queue.entries()).toEqual([young]);
    expect([queue.size(), queue.bytes()]).toEqual([1, 100]);
  });

  it("keeps the order of TX results, also of those that come back", () => {
    const queue = createResultQueue();
    const [first, second, third] = [tx(1n), tx(2n), tx(2n)];
    for (const entry of [first, second, third]) queue.add(entry);
    queue.remove([first, second]);
    expect(queue.putBack([first, second])).toEqual([]);
    expect(queue.ofQuery(9n)).toEqual([first, second, third]);
  });

  it("drops a result that comes back when a newer one waits", () => {
    const queue = createResultQueue();
    const [old, young] = [at(1n, 10n), at(1n, 11n)];
    queue.add(young);
    expect(queue.putBack([old])).toEqual([old]);
    expect(queue.entries()).toEqual([young]);
  });

  it("returns the longest due first", () => {
    const queue = createResultQueue();
    queue.add(at(3n, 10n, { dueHeight: 7n }));
    queue.add(at(2n, 10n, { dueHeight: 8n }));
    queue.add(at(1n, 10n, { dueHeight: 7n }));
    expect(queue.entries().map(({ result }) => result.query.id)).toEqual([1n, 3n, 2n]);
  });

  it("is empty after all were removed", () => {
    const queue = createResultQueue();
    queue.add(at(1n, 10n));
    queue.add(tx(1n));
    queue.remove(queue.entries());
    expect([queue.size(), queue.bytes(), queue.entries()]).toEqual([0, 0, []]);
  });
});
