import { describe, expect, it } from "vitest";
import {
  answered,
  asAnswered,
  dueHeightOf,
  failed,
  handedOver,
  isDue,
  lastReadHeight,
  notIncluded,
  type QueryState,
  refreshed,
  requested,
  statusOf,
  unchangedBy,
  unchangedSince,
} from "../../src/relayer/registry/query-state.ts";
import {
  isServed,
  queryChangeSubscriptions,
  queryChanges,
} from "../../src/relayer/chain/registered-query.ts";
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

describe("a KV query whose values do not change", () => {
  const remote = (height: bigint) => ({ revision: 1n, height });
  const sent = (state: QueryState, height: bigint, hash = "a"): QueryState =>
    handedOver(state, { at: remote(height), hash });
  const included = (state: QueryState, height: bigint, localHeight: bigint): QueryState =>
    answered(state, { localHeight, remote: remote(height) });
  /** Period 5; the result of the remote height 100 is in block 10. */
  const known = included(sent(sampleState(), 100n), 100n, 10n);
  const read = (height: bigint, localHeight: bigint, hash = "a") => ({
    at: remote(height),
    hash,
    localHeight,
    maxAge: 12n,
  });
  /** Throws when a result must be sent. */
  const skipped = (state: QueryState, height: bigint, localHeight: bigint): QueryState => {
    const next = unchangedBy(state, read(height, localHeight));
    if (next === undefined) throw new Error("a result must be sent");
    return next;
  };

  it("needs no result until the last one is so many blocks old", () => {
    expect(unchangedBy(known, read(105n, 15n))).toBeDefined();
    expect(unchangedBy(known, read(111n, 21n))).toBeDefined();
    expect(unchangedBy(known, read(112n, 22n))).toBeUndefined();
    // A result in each fifth block is never older.
    expect(unchangedBy(known, { ...read(105n, 15n), maxAge: 5n })).toBeUndefined();
  });

  it("needs one for other values, when the last ones are unknown, and when an operator wants one", () => {
    expect(unchangedBy(known, read(105n, 15n, "b"))).toBeUndefined();
    expect(unchangedBy(requested(known), read(105n, 15n))).toBeUndefined();
    const afterStart = sampleState({ lastLocalHeight: 10n, lastRemoteHeight: remote(100n) });
    expect(unchangedBy(afterStart, read(105n, 15n))).toBeUndefined();
    const ofOther = refreshed(
      known,
      sampleQuery({ lastLocalHeight: 12n, lastRemoteHeight: remote(102n) }),
      14n,
    );
    expect(unchangedBy(ofOther, read(105n, 15n))).toBeUndefined();
    expect(unchangedBy(included(known, 103n, 13n), read(105n, 18n))).toBeUndefined();
    const afterReset = refreshed(
      included(sent(known, 500n), 500n, 900n),
      sampleQuery({ lastLocalHeight: 2n, lastRemoteHeight: remote(3n) }),
      4n,
    );
    expect(unchangedBy(afterReset, read(4n, 7n))).toBeUndefined();
    const changed = refreshed(known, sampleQuery({ ...known.query, keys: [] }), 14n);
    expect(unchangedBy(changed, read(105n, 15n))).toBeUndefined();
  });

  it("is compared with the newest result that has no outcome, and with the last one again when that failed", () => {
    const pending = sent(known, 105n, "b");
    expect(unchangedBy(pending, read(106n, 16n, "a"))).toBeUndefined();
    const again = unchangedBy(pending, read(106n, 16n, "b"));
    expect(again).toBeDefined();
    expect(unchangedBy(pending, { ...read(106n, 16n, "b"), maxAge: 5n })).toBeUndefined();
    const lost = notIncluded(again ?? known, remote(105n));
    expect(unchangedBy(lost, read(107n, 17n, "a"))).toBeDefined();
    expect(unchangedBy(lost, read(107n, 17n, "b"))).toBeUndefined();
    // The read tells nothing about the result that failed.
    expect(dueHeightOf(lost)).toBe(15n);
    // The chain was read before the outcome is known, and another relayer may be ahead.
    const onChain = (height: bigint) => ({
      ...pending.query,
      lastLocalHeight: 15n,
      lastRemoteHeight: remote(height),
    });
    expect(unchangedBy(refreshed(pending, onChain(105n), 15n), read(106n, 20n, "b"))).toBeDefined();
    expect(unchangedBy(refreshed(pending, onChain(106n), 15n), read(107n, 20n, "b"))).toBeUndefined();
  });

  it("is read again after its period, as if it had been answered, and answered when a result is required", () => {
    const first = skipped(failed(known, error, at), 106n, 16n);
    expect(first).toMatchObject({ error: undefined, failures: 0, notBeforeMs: 0, results: 1 });
    expect([19n, 20n].map((height) => isDue(first, height, 0))).toEqual([false, true]);
    expect([dueHeightOf(first), asAnswered(first).lastLocalHeight]).toEqual([21n, 16n]);
    const second = skipped(first, 111n, 21n);
    expect([20n, 21n].map((height) => isDue(second, height, 0))).toEqual([false, true]);
    expect([dueHeightOf(second), asAnswered(second).lastLocalHeight]).toEqual([22n, 17n]);
    expect([21n, 22n].map((height) => lastReadHeight(second, height)?.height)).toEqual([111n, 100n]);
    expect(asAnswered(known)).toBe(known.query);
    expect(dueHeightOf(included(sent(second, 112n), 112n, 22n))).toBe(27n);
  });

  it("has these values since the first of the results in a row with them", () => {
    expect(unchangedSince(known)).toBeUndefined();
    const first = skipped(known, 105n, 15n);
    expect(unchangedSince(first)).toBe(10n);
    expect(unchangedSince(sent(first, 110n, "b"))).toBeUndefined();
    const next = included(sent(first, 112n), 112n, 22n);
    expect(unchangedSince(next)).toBeUndefined();
    expect(unchangedSince(skipped(next, 117n, 27n))).toBe(10n);
    const other = included(sent(first, 110n, "b"), 110n, 20n);
    expect(unchangedSince(skipped(included(sent(other, 115n), 115n, 25n), 120n, 30n))).toBe(25n);
    const onChain = { ...first.query, lastLocalHeight: 22n, lastRemoteHeight: remote(112n) };
    expect(included(refreshed(sent(first, 112n), onChain, 22n), 112n, 22n).sent).toEqual(next.sent);
    const ofOther = refreshed(
      next,
      { ...next.query, lastLocalHeight: 24n, lastRemoteHeight: remote(114n) },
      24n,
    );
    expect(unchangedSince(skipped(included(sent(ofOther, 119n), 119n, 29n), 124n, 34n))).toBe(29n);
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
