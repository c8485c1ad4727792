import { Registry as MetricsRegistry } from "prom-client";
import { describe, expect, it } from "vitest";
import { type ApiDeps, relayerRoutes } from "../../src/relayer/api/routes.ts";
import type { RelayerStatus } from "../../src/relayer/health/relayer-status.ts";
import { matchRoute } from "../../src/platform/http/route-server.ts";
import { sampleCosts } from "./costs/cost-samples.ts";
import { sampleState } from "./samples.ts";
import type { Attempt, AttemptFilter } from "../../src/relayer/state/attempt.ts";
import {
  NOW_MS,
  sampleConnection,
  sampleHead,
  sampleLateness,
  sampleStatus,
  sampleView,
} from "./status-samples.ts";

interface Scene {
  readonly status?: Partial<RelayerStatus>;
  readonly onFind?: (filter: AttemptFilter) => void;
}

const ATTEMPT: Attempt = {
  queryId: 7n,
  connectionId: "connection-0",
  owner: "neutron1owner",
  type: "kv",
  startedAtMs: NOW_MS,
  dueHeight: 5n,
  remoteHeight: 0n,
  txHash: undefined,
  outcome: "rejected",
  reason: "no",
  localHeight: undefined,
  gas: 10n,
  fee: 2n,
  simulations: 1,
};

function deps({ status = {}, onFind = () => {} }: Scene = {}): ApiDeps {
  return {
    status: () => sampleStatus(status),
    registry: { states: () => [sampleState({ id: 1n, registeredAtHeight: 4n })] },
    journal: { deadLetters: () => [], acknowledgeDeadLetter: () => false },
    resubmissions: { resubmit: async () => ({ kind: "unknown" }) },
    openResubmit: false,
    attempts: {
      find: async (filter) => (onFind(filter), [ATTEMPT]),
      summary: async ({ parts }) => ({
        outcomes: [{ outcome: "included", part: parts - 1, attempts: 7 }],
        lateness: [{ blocks: 2, attempts: 7 }],
      }),
      costs: async ({ from, to }) => [
        { day: from, owner: "neutron1owner", attempts: 3, included: 2, gas: 5n, fee: BigInt(to) },
      ],
    },
    costs: () => sampleCosts(NOW_MS),
    metrics: new MetricsRegistry(),
  };
}

async function get(from: ApiDeps, target: string) {
  const { pathname: path, searchParams: query } = new URL(target, "http://relayer");
  const match = matchRoute(relayerRoutes(from), "GET", path);
  if (match.kind !== "route") throw new Error(`no route ${path}`);
  return match.route.handle({
    method: "GET",
    path,
    params: match.params,
    query,
    headers: {},
    body: new Uint8Array(),
    signal: new AbortController().signal,
  });
}

async function getJson(from: ApiDeps, path: string): Promise<unknown> {
  const { body } = await get(from, path);
  return JSON.parse(typeof body === "string" ? body : "");
}

const lateness = sampleLateness({ blocks: 21n, ms: 65_432, isOverdue: true });
const queries = [
  sampleView({ resultAge: { blocks: 1n, ms: 2_000, isAtLeast: true }, unchangedSince: 7n }),
  sampleView({
    id: 2n,
    state: "backing_off",
    lastLocalHeight: 0n,
    lastRemoteHeight: undefined,
    resultAge: undefined,
    cost: undefined,
    lateness,
    failures: 1,
    error: { code: "read-failed", reason: "no" },
    retryInMs: 4_400,
  }),
];

const common = {
  type: "kv",
  connection_id: "connection-0",
  owner: "neutron1owner",
  key_count: 1,
  update_period: "5",
  due_height: "16",
  results: 3,
};
const QUERIES = [
  {
    ...common,
    id: "1",
    state: "answered",
    last_local_height: "11",
    last_remote_height: "9",
    unchanged_since_height: "7",
    result_age_blocks: 1,
    result_age_seconds: 2,
    result_age_is_at_least: true,
    gas: "300",
    fee: "30",
    late_blocks: 0,
    late_seconds: 0,
    overdue: false,
    unanswerable: null,
    failures: 0,
    error: null,
    retry_in_ms: 0,
  },
  {
    ...common,
    id: "2",
    state: "backing_off",
    last_local_height: "0",
    last_remote_height: null,
    unchanged_since_height: null,
    result_age_blocks: null,
    result_age_seconds: null,
    result_age_is_at_least: false,
    gas: "0",
    fee: "0",
    late_blocks: 21,
    late_seconds: 65.4,
    overdue: true,
    unanswerable: null,
    failures: 1,
    error: { code: "read-failed", reason: "no" },
    retry_in_ms: 4_400,
  },
];
const HEAD = {
  height: "12",
  block_time: "2026-01-01T23:59:58.500Z",
  seconds_since_block: 1,
  seconds_since_read: 0.5,
  catching_up: false,
  error: null,
};
const CONNECTIONS = [
  {
    id: "connection-0",
    chain_id: "remote-1",
    error: null,
    remote: HEAD,
    client: {
      id: "07-tendermint-0",
      status: "Active",
      consensus_height: "10",
      consensus_revision: "1",
      consensus_time: "2026-01-01T00:00:00.000Z",
      blocks_behind: 2,
      expires_at: "2026-01-03T00:00:00.000Z",
      error: null,
    },
    queries: 2,
    overdue_queries: 1,
    most_late_blocks: 21,
    most_late_seconds: 65.4,
  },
];

describe("the routes", () => {
  it("return the whole status with snake_case fields, and ids and heights as strings", async () => {
    const problems = [{ code: "queries-overdue", connectionId: "connection-0", text: "late" }] as const;
    const node = { chainId: "local-1", latestHeight: 9n, latestTimeNs: 0n, earliestHeight: 2n };
    const health = { name: "a:1", state: "down", failures: 2, lastError: "refused" } as const;
    const known = { status: { ...node, catchingUp: false }, latencyMs: 12.4, lagBlocks: 3n, distrusted: "x" };
    const endpoint = { ...health, ...known };
    const gasByOwner = new Map([
      ["neutron1a", 3n],
      ["neutron1b", 9n],
    ]);
    const limits = { dailyFee: 1_000n, dailyGasPerOwner: undefined };
    const spending = {
      day: 20_455,
      fee: 12n,
      gasByOwner,
      feeByRule: new Map(),
      limits,
      lastDay: { fee: 12n, ms: 600_000 },
    };
    const endpoints = [{ ...endpoint, chainId: "local-1" }];
    const status = { queries, problems, endpoints, spending, reserve: 50n };
    expect(await getJson(deps({ status }), "/api/status")).toEqual({
      ready: false,
      config: null,
      problems: [{ code: "queries-overdue", connection_id: "connection-0", text: "late", since: null }],
      address: "neutron1relayer",
      local_height: "12",
      connected: true,
      loaded: true,
      local: HEAD,
      account: { denom: "untrn", balance: "70", transaction_fee: "10", days_left: null, error: null },
      role: "leader",
      spending: {
        day: "2026-01-02",
        fees: "12",
        daily_fee: "1000",
        reserve: "50",
        daily_gas_per_owner: null,
        owners: [
          { owner: "neutron1b", gas: "9" },
          { owner: "neutron1a", gas: "3" },
        ],
      },
      market: null,
      dead_letters: 0,
      not_sending: null,
      connections: CONNECTIONS,
      queries: QUERIES,
      endpoints: [
        {
          chain_id: "local-1",
          name: "a:1",
          state: "down",
          failures: 2,
          last_error: "refused",
          distrusted: "x",
          height: "9",
          earliest_height: "2",
          catching_up: false,
          lag_blocks: 3,
          latency_seconds: 0.012,
          version: null,
          batch_size: null,
          lacks: {},
        },
      ],
    });
    expect(await getJson(deps({ status }), "/api/queries")).toEqual(QUERIES);
    expect(await getJson(deps({ status }), "/api/connections")).toEqual(CONNECTIONS);
  });

  it("return what is not known as null", async () => {
    const client = { reading: undefined, sinceReadMs: 1, error: "down" };
    const status = { connections: [sampleConnection({ client })] };
    expect(await getJson(deps({ status }), "/api/connections")).toMatchObject([
      { client: { id: null, status: null, error: "down" } },
    ]);
  });

  it("return one query with its keys, and an error for an unknown or malformed id", async () => {
    const from = deps({ status: { queries } });
    expect(await getJson(from, "/api/queries/1")).toEqual({
      ...QUERIES[0],
      overdue_limit_blocks: 20,
      registered_at_height: "4",
      keys: [{ path: "bank", key: "AgE=" }],
      transactions_filter: "",
    });
    expect(await get(from, "/api/queries/9")).toMatchObject({ status: 404 });
    for (const id of ["x", "-1", "1e3", "9".repeat(30)])
      expect(await get(from, `/api/queries/${id}`)).toMatchObject({ status: 400 });
  });

  it("return the attempts that the parameters select, and say what is wrong with a parameter", async () => {
    const filters: AttemptFilter[] = [];
    const from = deps({ onFind: (filter) => void filters.push(filter) });
    expect(await getJson(from, "/api/attempts")).toEqual([
      {
        query_id: "7",
        connection_id: "connection-0",
        owner: "neutron1owner",
        type: "kv",
        started_at: "2026-01-02T00:00:00.000Z",
        due_height: "5",
        remote_height: null,
        tx_hash: null,
        outcome: "rejected",
        reason: "no",
        local_height: null,
        gas: "10",
        fee: "2",
        simulations: 1,
      },
    ]);
    const all =
      "query_id=7&connection_id=c&owner=o&outcome=not-broadcast&since=1970-01-01T00:00:01Z&until=1970-01-01T00:00:02Z&limit=3";
    await get(from, `/api/attempts?${all}`);
    expect(filters).toEqual([
      { limit: 100 },
      {
        queryId: 7n,
        connectionId: "c",
        owner: "o",
        outcome: "not-broadcast",
        sinceMs: 1_000,
        untilMs: 2_000,
        limit: 3,
      },
    ]);
    for (const bad of [
      "query_id=x",
      "outcome=none",
      "since=soon",
      "limit=0",
      "limit=1001",
      "other=1",
      "toString=1",
    ])
      expect(await get(from, `/api/attempts?${bad}`), bad).toMatchObject({ status: 400 });
    expect((await get(from, "/api/attempts?other=1")).body).toContain("query_id, connection_id, owner");
  });

  it("count the attempts of a time, and refuse one that is none", async () => {
    const range = "since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z";
    expect(await getJson(deps(), `/api/attempts/summary?${range}&parts=48`)).toEqual({
      outcomes: [{ outcome: "included", part: 47, attempts: 7 }],
      lateness: [{ blocks: 2, attempts: 7 }],
    });
    for (const bad of [
      "",
      "since=2026-01-01T00:00:00Z",
      `${range}&parts=0`,
      `${range}&parts=1001`,
      `${range}&parts=1.5`,
    ])
      expect(await get(deps(), `/api/attempts/summary?${bad}`), bad).toMatchObject({ status: 400 });
  });

  it("report that the process is alive until a loop hangs, whatever the chains do", async () => {
    const away = sampleHead({ sinceReadMs: 9_000_000, sinceTryMs: 299_000, error: "refused" });
    expect(await get(deps({ status: { local: away } }), "/livez")).toMatchObject({ status: 200 });
    const connections = [sampleConnection({ remote: sampleHead({ sinceTryMs: 301_000 }) })];
    expect(await get(deps({ status: { connections } }), "/livez")).toMatchObject({
      status: 503,
      body: "connection-0: its read loop has made no progress for 301 s\n",
    });
  });

  it("report readiness, and each problem with its code and reason", async () => {
    expect(await get(deps(), "/readyz")).toMatchObject({ status: 200, body: "ok\n" });
    expect(await get(deps({ status: { deadLetters: 2 } }), "/readyz")).toMatchObject({
      status: 200,
      body: "degraded\ndead-letters: 2 transactions were not delivered; send them again or acknowledge them: relaywatch relayer dead-letters\n",
    });
    const lacks = new Map([["tx_search", "it has 0 of the 2 transactions"]]);
    const health = {
      name: "a:1",
      state: "good",
      failures: 0,
      lastError: undefined,
      distrusted: undefined,
    } as const;
    const read = { status: undefined, latencyMs: undefined, lagBlocks: undefined };
    const endpoints = [{ ...health, ...read, chainId: "remote-1", lacks }];
    expect(await get(deps({ status: { endpoints } }), "/readyz")).toMatchObject({
      status: 200,
      body: "degraded\ntransaction-index: remote-1: it has 0 of the 2 transactions; another index is used, or blocks are read\n",
    });
    const problems = [
      { code: "local-not-followed", connectionId: undefined, text: "it is down" },
      { code: "cycle-failed", connectionId: "connection-1", text: "connection-1: no" },
    ] as const;
    expect(await get(deps({ status: { problems } }), "/readyz")).toMatchObject({
      status: 503,
      body: "local-not-followed: it is down\ncycle-failed: connection-1: no\n",
    });
    expect(await get(deps({ status: { problems } }), "/livez")).toMatchObject({ status: 200 });
  });
});

describe("GET /api/costs", () => {
  it("returns the costs by day and owner, with amounts as text", async () => {
    expect(await getJson(deps(), "/api/costs?from=20000&to=20001")).toEqual([
      { day: 20_000, owner: "neutron1owner", attempts: 3, included: 2, gas: "5", fee: "20001" },
    ]);
  });

  it.each(["", "from=1", "from=2&to=1", "from=0&to=500", "from=a&to=1"])("refuses %j", async (query) => {
    expect((await get(deps(), `/api/costs?${query}`)).status).toBe(400);
  });
});
