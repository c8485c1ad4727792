import { Registry as MetricsRegistry } from "prom-client";
import { describe, expect, it } from "vitest";
import { type ApiDeps, relayerRoutes } from "../../../src/relayer/api/routes.ts";
import { answered, failed, type QueryState } from "../../../src/relayer/registry/query-state.ts";
import type { DeadLetter } from "../../../src/relayer/state/journal.ts";
import { sampleState } from "./samples.ts";

interface Scene {
  readonly states?: readonly QueryState[];
  readonly errors?: Readonly<Record<string, string>>;
  readonly isLoaded?: boolean;
  readonly deadLetters?: readonly DeadLetter[];
}

function deps({ states = [], errors = {}, isLoaded = true, deadLetters = [] }: Scene): ApiDeps {
  return {
    engine: {
      localHeight: () => 12n,
      isLoaded: () => isLoaded,
      workerErrors: () => new Map([["connection-0", undefined], ...Object.entries(errors)]),
    },
    registry: { states: () => states },
    journal: { deadLetters: () => deadLetters },
    metrics: new MetricsRegistry(),
    isConnected: () => true,
    address: "neutron1relayer",
    nowMs: () => 1_000,
  };
}

async function get(from: ApiDeps, path: string) {
  const route = relayerRoutes(from).find((one) => one.path === path);
  if (route === undefined) throw new Error(`no route ${path}`);
  return route.handle({
    method: "GET",
    path,
    params: {},
    query: new URLSearchParams(),
    headers: {},
    body: new Uint8Array(),
    signal: new AbortController().signal,
  });
}

async function getJson(from: ApiDeps, path: string): Promise<unknown> {
  const { body } = await get(from, path);
  return JSON.parse(typeof body === "string" ? body : "");
}

const backoff = { minMs: 1, baseMs: 4_400, maxMs: 9_000 };
const states: readonly QueryState[] = [
  failed(
    sampleState({ id: 2n }),
    { code: "rejected", reason: "no" },
    { nowMs: 1_000, backoff, random: () => 1 },
  ),
  answered(sampleState({ id: 1n }), { localHeight: 11n, remote: { revision: 1n, height: 40n } }),
  sampleState({ id: 3n, type: "tx" }),
];

const common = { connection_id: "connection-0", owner: "neutron1owner", update_period: "5" };
const QUERIES = [
  {
    ...common,
    id: "1",
    type: "kv",
    state: "answered",
    last_local_height: "11",
    last_remote_height: "40",
    results: 1,
    failures: 0,
    error: null,
    retry_in_ms: 0,
  },
  {
    ...common,
    id: "2",
    type: "kv",
    state: "backing_off",
    last_local_height: "0",
    last_remote_height: null,
    results: 0,
    failures: 1,
    error: { code: "rejected", reason: "no" },
    retry_in_ms: 4_400,
  },
  {
    ...common,
    id: "3",
    type: "tx",
    state: "pending",
    last_local_height: "0",
    last_remote_height: null,
    results: 0,
    failures: 0,
    error: null,
    retry_in_ms: 0,
  },
];

describe("the routes", () => {
  it("return the whole status with snake_case fields, and ids and heights as strings", async () => {
    expect(await getJson(deps({ states, errors: { "connection-1": "it is down" } }), "/api/status")).toEqual({
      address: "neutron1relayer",
      local_height: "12",
      connected: true,
      loaded: true,
      connections: [
        { id: "connection-0", error: null },
        { id: "connection-1", error: "it is down" },
      ],
      queries: QUERIES,
    });
    expect(await getJson(deps({ states }), "/api/queries")).toEqual(QUERIES);
  });

  it("report readiness, and each connection with an error", async () => {
    expect(await get(deps({}), "/readyz")).toMatchObject({ status: 200 });
    expect(await get(deps({ isLoaded: false }), "/readyz")).toMatchObject({ status: 503 });
    expect(await get(deps({ errors: { "connection-1": "it is down" } }), "/readyz")).toMatchObject({
      status: 503,
      body: "connection-1: it is down\n",
    });
  });

  it("list dead letters in the JSON of the Go relayer", async () => {
    const deadLetters = [{ queryId: 6n, hash: "ab", remoteHeight: 9n, reason: "no", atMs: 0 }];
    expect(await getJson(deps({ deadLetters }), "/unsuccessful-txs")).toEqual([
      {
        query_id: 6,
        submitted_tx_hash: "ab",
        neutron_hash: "",
        error_time: "1970-01-01T00:00:00.000Z",
        status: "ErrorOnSubmit",
        message: "no",
      },
    ]);
  });
});
