import type { RegisteredQuery } from "../../src/relayer/chain/registered-query.ts";
import type { Attempt } from "../../src/relayer/state/attempt.ts";
import type { ProvenResult, ResultOutcome } from "../../src/relayer/result/proven-result.ts";
import type { Entry } from "../../src/relayer/submit/pipeline.ts";
import { type QueryState, refreshed } from "../../src/relayer/registry/query-state.ts";

/** The settings of a connection's worker. */
export const SAMPLE_SETTINGS = {
  queries: { allow_kv_callbacks: true, min_kv_update_period: 0n, skip_unchanged: 0 },
  batch: { bytes: 1_000 },
  retry: { first: 1_000, most: 10_000 },
};

/** A KV query with one key; `fields` replace its fields. */
export function sampleQuery(fields: Partial<RegisteredQuery> = {}): RegisteredQuery {
  return {
    id: 1n,
    owner: "neutron1owner",
    type: "kv",
    connectionId: "connection-0",
    keys: [{ path: "bank", key: Uint8Array.of(2, 1) }],
    transactionsFilter: "",
    updatePeriod: 5n,
    registeredAtHeight: 0n,
    lastLocalHeight: 0n,
    lastRemoteHeight: undefined,
    ...fields,
  };
}

/** The state of a query that was read for the first time. */
export function sampleState(fields: Partial<RegisteredQuery> = {}): QueryState {
  return refreshed(undefined, sampleQuery(fields), 0n);
}

/** The outcomes that the sample results have received, in order. */
export const sampleOutcomes: (readonly [result: ProvenResult, outcome: ResultOutcome])[] = [];

/** A proven KV result whose message has `bytes` bytes, each equal to the query id; `fields` replace its fields. */
export function sampleResult(id: bigint, bytes = 100, fields: Partial<ProvenResult> = {}): ProvenResult {
  const result: ProvenResult = {
    query: sampleQuery({ id }),
    message: new Uint8Array(bytes).fill(Number(id)),
    gasGuess: 30_000n,
    at: { revision: 1n, height: 10n },
    update: undefined,
    dueHeight: 5n,
    started: { wallMs: 0, monotonicMs: 0 },
    onOutcome: (outcome) => void sampleOutcomes.push([result, outcome]),
    ...fields,
  };
  return result;
}

let lastId = 0;

/** A queued entry with this result, in no pipeline. */
export function sampleEntry(result: ProvenResult): Entry {
  lastId += 1;
  return { id: lastId, result, stage: { kind: "queued" }, sinceMs: 0, simulations: 0 };
}

/** An included attempt of query 1; `fields` replace its fields. */
export function sampleAttempt(fields: Partial<Attempt> = {}): Attempt {
  return {
    queryId: 1n,
    connectionId: "connection-0",
    owner: "neutron1owner",
    type: "kv",
    startedAtMs: 1_000,
    dueHeight: 5n,
    remoteHeight: 9n,
    txHash: undefined,
    outcome: "included",
    reason: undefined,
    localHeight: undefined,
    gas: 10n,
    fee: 3n,
    simulations: 1,
    ...fields,
  };
}
