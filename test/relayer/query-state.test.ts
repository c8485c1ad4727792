import { describe, expect, it } from "vitest";
import { queryChangeSubscriptions, queryChanges } from "../../src/relayer/chain/query-events.ts";
import { answered, failed, isDue, refreshed, statusOf } from "../../src/relayer/registry/query-state.ts";
import { isServed } from "../../src/relayer/chain/registered-query.ts";
import { isNewer } from "../../src/cosmos/comet/ibc-height.ts";
import { sampleQuery, sampleState } from "./samples.ts";

const backoff = { minMs: 100, baseMs: 1_000, maxMs: 8_000 };
const at = { nowMs: 50_000, backoff, random: () => 1 };
const error = { code: "rejected", reason: "no" } as const;

describe("isDue", () => {
  it("is true without a result, then so that results are an update period apart", () => {
    expect(isDue(sampleState(), 1n, 0)).toBe(true);
    // A result sent after block 14 is included in block 15 at the earliest.
    const served = sampleState({ lastLocalHeight: 10n, updatePeriod: 5n });
    expect([13n, 14n, 15n, 16n].map((height) => isDue(served, height, 0))).toEqual([false, true, true, true]);
  });

  it("allows a KV query of period 1 one result in every block", () => {
    const served = sampleState({ lastLocalHeight: 10n, updatePeriod: 1n });
    expect([9n, 10n].map((height) => isDue(served, height, 0))).toEqual([false, true]);
  });

  it("counts the period of a TX query from the height of its last search", () => {
    const served = sampleState({ type: "tx", lastLocalHeight: 10n, updatePeriod: 5n });
    expect([14n, 15n].map((height) => isDue(served, height, 0))).toEqual([false, true]);
  });

  it("backs off after failures, up to the maximum, and not after a result", () => {
    let state = sampleState();
    const delays: number[] = [];
    for (let tries = 0; tries < 5; tries++) {
      state = failed(state, error, at);
      delays.push(state.notBeforeMs - at.nowMs);
    }
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 8_000]);
    expect(isDue(state, 1n, 57_999)).toBe(false);
    expect(isDue(state, 1n, 58_000)).toBe(true);
    const good = answered(state, { localHeight: 20n, remote: { revision: 1n, height: 7n } });
    expect(good).toMatchObject({ failures: 0, notBeforeMs: 0, error: undefined, results: 1 });
    expect(isDue(good, 23n, 0)).toBe(false);
  });
});

describe("statusOf", () => {
  it("is pending before the first result, answered after one, and backing off after a failure", () => {
    const good = answered(sampleState(), { localHeight: 20n, remote: undefined });
    expect([sampleState(), good, failed(good, error, at)].map(statusOf)).toEqual([
      "pending",
      "answered",
      "backing_off",
    ]);
  });
});

describe("refreshed", () => {
  it("keeps the backoff of an unchanged question and drops it when the question changed", () => {
    const backingOff = failed(sampleState(), error, at);
    expect(refreshed(backingOff, sampleQuery({ lastLocalHeight: 3n }), 9n)).toMatchObject({
      failures: 1,
      error,
    });
    expect(refreshed(backingOff, sampleQuery({ updatePeriod: 6n }), 9n)).toMatchObject({
      failures: 0,
      error: undefined,
    });
    expect(refreshed(backingOff, sampleQuery({ keys: [] }), 9n)).toMatchObject({
      failures: 0,
      notBeforeMs: 0,
    });
  });

  it("keeps the heights of a result that was included during the read", () => {
    const remote = { revision: 1n, height: 70n };
    const fresh = answered(sampleState(), { localHeight: 20n, remote });
    const read = sampleQuery({ lastLocalHeight: 12n, lastRemoteHeight: { revision: 1n, height: 60n } });
    expect(refreshed(fresh, read, 20n).query).toMatchObject({
      lastLocalHeight: 20n,
      lastRemoteHeight: remote,
    });
    const newer = sampleQuery({ lastLocalHeight: 21n });
    expect(refreshed(fresh, newer, 21n).query).toEqual(newer);
  });

  it("accepts the lower heights of a chain that was reset", () => {
    const before = answered(sampleState(), { localHeight: 900n, remote: { revision: 1n, height: 70n } });
    expect(refreshed(before, sampleQuery(), 3n).query).toEqual(sampleQuery());
  });
});

describe("isNewer", () => {
  it("compares the revision first", () => {
    expect(isNewer({ revision: 1n, height: 5n }, undefined)).toBe(true);
    expect(isNewer({ revision: 1n, height: 5n }, { revision: 1n, height: 5n })).toBe(false);
    expect(isNewer({ revision: 1n, height: 6n }, { revision: 1n, height: 5n })).toBe(true);
    expect(isNewer({ revision: 1n, height: 9n }, { revision: 2n, height: 1n })).toBe(false);
    expect(isNewer({ revision: 3n, height: 1n }, { revision: 2n, height: 9n })).toBe(true);
  });
});

describe("isServed", () => {
  const all = { connectionIds: ["connection-0"], owners: [], queryIds: [], types: ["kv"] } as const;

  it("requires a match of every list", () => {
    expect(isServed(sampleQuery(), all)).toBe(true);
    expect(isServed(sampleQuery({ connectionId: "connection-1" }), all)).toBe(false);
    expect(isServed(sampleQuery({ type: "tx" }), all)).toBe(false);
    expect(isServed(sampleQuery(), { ...all, owners: ["neutron1owner"], queryIds: [2n] })).toBe(false);
    expect(isServed(sampleQuery(), { ...all, owners: ["neutron1other"] })).toBe(false);
    expect(isServed(sampleQuery({ id: 2n }), { ...all, owners: ["neutron1owner"], queryIds: [2n] })).toBe(
      true,
    );
  });
});

describe("queryChanges", () => {
  const event = (action: string, id: string, more: Readonly<Record<string, string>> = {}) => ({
    type: "neutron",
    attributes: Object.entries({
      module: "interchainqueries",
      action,
      query_id: id,
      connection_id: "connection-0",
      ...more,
    }).map(([key, value]) => ({ key, value })),
  });

  it("reads each event separately: a removal and a registration in one transaction", () => {
    const events = [
      event("query_removed", "4"),
      { type: "transfer", attributes: [] },
      event("query_updated", "5", { owner: "x" }),
    ];
    expect(queryChanges(events, "neutron")).toEqual([
      { action: "query_removed", queryId: 4n, connectionId: "connection-0" },
      { action: "query_updated", queryId: 5n, connectionId: "connection-0" },
    ]);
  });

  it("ignores other modules, other chain names, and invalid ids", () => {
    expect(queryChanges([event("query_updated", "x"), event("other", "1")], "neutron")).toEqual([]);
    expect(queryChanges([event("query_updated", "1")], "mychain")).toEqual([]);
    expect(queryChanges([event("query_updated", "1", { module: "dex" })], "neutron")).toEqual([]);
  });

  it("subscribes to both actions under the chain's name", () => {
    expect(queryChangeSubscriptions("mychain")).toEqual([
      "tm.event='Tx' AND mychain.module='interchainqueries' AND mychain.action='query_updated'",
      "tm.event='Tx' AND mychain.module='interchainqueries' AND mychain.action='query_removed'",
    ]);
  });
});
