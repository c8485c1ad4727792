import { setImmediate as nextTurn } from "node:timers/promises";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/platform/base/time.ts";
import { createMetricsRegistry } from "../../../src/platform/process/metrics.ts";
import { registerReloadMetrics } from "../../../src/platform/process/reloadable.ts";
import { registerStatusGauges } from "../../../src/relayer/api/status-gauges.ts";
import { type GateStatus } from "../../../src/relayer/gate/create-gate.ts";
import { registerCostGauges, registerGateMetrics } from "../../../src/relayer/api/cost-gauges.ts";
import type { MarketStatus } from "../../../src/relayer/forecast/market-view.ts";
import type { ProblemCode } from "../../../src/relayer/health/problems.ts";
import type { QueryView, RelayerStatus } from "../../../src/relayer/health/relayer-status.ts";
import { createRelayerMetrics, createRpcObserver } from "../../../src/relayer/result/relayer-metrics.ts";
import { sampleCosts } from "../../relayer/costs/cost-samples.ts";
import {
  sampleConnection,
  sampleHead,
  sampleLateness,
  sampleMarket,
  sampleMarketWithoutCapacity,
  sampleReading,
  sampleStatus,
  sampleView,
} from "../../relayer/status-samples.ts";
import { processPage, sinceFault, type Target } from "./target.ts";

const CONNECTIONS = [
  { id: "connection-18", chainId: "osmosis-1", client: "07-tendermint-19", height: 26_412_000n },
  { id: "connection-9", chainId: "cosmoshub-4", client: "07-tendermint-11", height: 24_204_000n },
] as const;
const LOCAL = "neutron-1";
const OWNERS = [
  "neutron14hj2tavq8fpesdwxxcu44rty3hh90vhujrvcmstl4zr3txmfvw9s5c2epq",
  "neutron1suhgf5svhu4usrurvxzlgn54ksxmn8gljarjtxqnapv8kjnp4nrstdxvff",
];
const BLOCK_MS = 2_000;
const LOCAL_HEIGHT = 31_000_000n;
const LIMITS = { dailyFee: 40_000_000n, dailyGasPerOwner: 900_000_000_000n };

/** What goes wrong with a relayer. */
export interface RelayerFault {
  readonly problems: readonly {
    readonly code: ProblemCode;
    readonly connectionId?: string;
    readonly afterMs: number;
  }[];
  /** No results come: of this connection, or of all. */
  readonly stops?: "connection-9" | "all";
  /** Endpoint that does not respond. */
  readonly endpointDown?: string;
  readonly remoteHalted?: "connection-9";
  readonly demandAboveMarket?: true;
  readonly outOfFunds?: true;
}

/** A relayer of a situation. */
export interface WallRelayer {
  readonly instance: string;
  readonly standby?: true;
  readonly fault?: RelayerFault;
}

/** Returns the target of a relayer: the page of its real metrics, from its status at each time. */
export function relayerTarget(endMs: number, { instance, standby, fault }: WallRelayer): Target {
  const registry = createMetricsRegistry({
    build: { name: "relaywatch", version: "1.0.0", commit: "f647219", nodeVersion: "v22.11.0" },
    program: "icq-relayer",
    processMetrics: false,
  });
  const startMs = endMs - 9 * DAY_MS;
  let atMs = endMs;
  const active = (): RelayerFault | undefined => (sinceFault(atMs, endMs) === undefined ? undefined : fault);
  const status = (): RelayerStatus => statusAt(atMs, endMs, fault, standby);
  const metrics = createRelayerMetrics(
    registry,
    CONNECTIONS.map(({ id }) => id),
  );
  registerStatusGauges(registry, status);
  registerCostGauges(
    registry,
    () => costsAt(atMs, active()),
    () => atMs,
  );
  registerGateMetrics(registry, () => gateAt(atMs, status(), standby), LIMITS);
  registerReloadMetrics(registry, "relaywatch_relayer", () => ({
    successAtMs: startMs,
    error: undefined,
    failedAtMs: undefined,
    needRestart: [],
  }));
  let minutes = 0;
  return {
    job: "icq-relayer",
    instance,
    page: async (at) => {
      atMs = at;
      count(metrics, active(), { atMs, minutes, isStandby: standby === true });
      minutes += 1;
      // The gauges of one turn of the event loop share a status.
      await nextTurn();
      return `${await registry.metrics()}\n${await processPage(atMs, startMs)}`;
    },
  };
}

/** What a minute adds to the counters. */
function count(
  metrics: ReturnType<typeof createRelayerMetrics>,
  fault: RelayerFault | undefined,
  {
    atMs,
    minutes,
    isStandby,
  }: { readonly atMs: number; readonly minutes: number; readonly isStandby: boolean },
): void {
  for (const chainId of [LOCAL, ...CONNECTIONS.map((one) => one.chainId)]) {
    const { onCall, onRequest } = createRpcObserver(metrics, chainId);
    const isDown = fault?.endpointDown !== undefined && chainId === "cosmoshub-4";
    for (let call = 0; call < 30; call += 1)
      onCall({
        endpoint: "",
        method: call % 3 === 0 ? "status" : "abci_query",
        outcome: isDown && call % 3 === 0 ? "network" : "ok",
        durationMs: 40,
      });
    onRequest({
      endpoint: "",
      calls: 30,
      bytesOut: 21_000 + (minutes % 5) * 300,
      bytesIn: 310_000 + (minutes % 7) * 4_000,
      outcome: "ok",
    });
  }
  metrics.queryListReloads.inc();
  if (isStandby) return;
  let transactions = 0;
  CONNECTIONS.forEach(({ id }, index) => {
    const connection_id = id;
    const stops = fault?.stops === "all" || fault?.stops === id;
    metrics.cycles.inc({ connection_id, outcome: stops ? "failed" : "done" }, 30);
    if (stops) return;
    const results = 58 + ((minutes * 7 + index * 5) % 9);
    transactions += 12;
    metrics.proven.inc({ connection_id }, results);
    metrics.results.inc({ connection_id, outcome: "included" }, results);
    metrics.clientUpdates.inc({ connection_id }, 12);
    metrics.gasUsed.inc({ connection_id }, results * 184_000);
    metrics.fees.inc({ connection_id }, results * 72);
    metrics.txBytes.inc({ connection_id }, results * 1_900);
    metrics.lastIncluded.set({ connection_id }, atMs / 1000 - 3);
    for (let result = 0; result < 12; result += 1) {
      metrics.lateBlocks.observe(
        { connection_id },
        fault?.demandAboveMarket ? 5 + (result % 9) : 1 + (result % 2),
      );
      metrics.batchSize.observe({ connection_id }, Math.round(results / 12));
    }
  });
  metrics.transactions.inc({ outcome: "included" }, transactions);
  metrics.simulations.inc(transactions + 2);
}

function statusAt(
  atMs: number,
  endMs: number,
  fault: RelayerFault | undefined,
  standby: true | undefined,
): RelayerStatus {
  const since = sinceFault(atMs, endMs) ?? -1;
  const active = since < 0 ? undefined : fault;
  const blocks = BigInt(Math.floor((atMs - endMs) / BLOCK_MS));
  const base = sampleStatus();
  const localHeight = LOCAL_HEIGHT + blocks;
  const lateOf = (connectionId: string): Partial<QueryView> => {
    const stops = active?.stops === "all" || active?.stops === connectionId;
    const isOverdue = stops && since > 2 * MINUTE_MS;
    if (stops)
      return {
        lateness: sampleLateness({ blocks: BigInt(Math.floor(since / BLOCK_MS)), ms: since, isOverdue }),
      };
    if (active?.demandAboveMarket)
      return { lateness: sampleLateness({ blocks: 17n, ms: 34_000, isOverdue: false }) };
    if (active?.remoteHalted === connectionId)
      return {
        lateness: sampleLateness({
          blocks: BigInt(Math.floor(since / BLOCK_MS)),
          ms: since,
          unanswerable: "no-newer-remote-block",
        }),
      };
    return {};
  };
  return {
    ...base,
    nowMs: atMs,
    localHeight,
    problems: (active?.problems ?? [])
      .filter(({ afterMs }) => since >= afterMs)
      .map(({ code, connectionId }) => ({ code, connectionId, text: code })),
    local: sampleHead({ height: localHeight, blockTimeMs: atMs - 1_500 }),
    account: {
      ...base.account,
      balance: active?.outOfFunds ? 40_000n : 412_000_000n + BigInt(endMs - atMs) / 400n,
      unpaid: active?.outOfFunds ? "insufficient funds" : undefined,
      daysLeft: active?.outOfFunds ? 0.001 : 33.4,
    },
    connections: CONNECTIONS.map(({ id, chainId, client, height }) => {
      const haltedMs = active?.remoteHalted === id ? since : undefined;
      const at = height + (blocks * 10n) / 30n - BigInt(Math.floor((haltedMs ?? 0) / 6_000));
      const seenMs = haltedMs ?? 2_100;
      return sampleConnection({
        id,
        chainId,
        remote: sampleHead({ height: at, blockTimeMs: atMs - seenMs - 900, sinceBlockMs: seenMs }),
        client: {
          reading: sampleReading({
            clientId: client,
            chainId,
            latestHeight: { revision: 1n, height: at - 4n },
            trustingPeriodNs: BigInt(9 * DAY_MS) * 1_000_000n,
            expiresAtMs: atMs - (haltedMs ?? 0) + 9 * DAY_MS - MINUTE_MS,
          }),
          sinceReadMs: 400,
          error: undefined,
        },
      });
    }),
    queries: Array.from({ length: 12 }, (_, index) => {
      const connectionId = CONNECTIONS[index % 2]?.id ?? "";
      return sampleView({
        id: BigInt(index + 1),
        type: index === 6 ? "tx" : "kv",
        connectionId,
        owner: OWNERS[index % 3 === 0 ? 1 : 0] ?? "",
        lastLocalHeight: localHeight - 3n,
        ...lateOf(connectionId),
      });
    }),
    endpoints: endpointsAt(active, since),
    market: marketAt(atMs, active?.demandAboveMarket === true),
    spending: spendingAt(atMs),
    gate: { role: standby ? "standby" : "leader", storeError: undefined, refusal: undefined },
  };
}

/** A market with the cost of the results that {@link count} counts. */
function marketAt(atMs: number, isFull: boolean): MarketStatus {
  const market = isFull ? sampleMarketWithoutCapacity() : sampleMarket();
  const price = isFull ? 0.0052 : 0.0025 + ((atMs / MINUTE_MS) % 11) * 0.00002;
  return {
    ...market,
    price: parseDec18(price.toFixed(6)),
    sinceReadMs: 1_040,
    forecast: { ...market.forecast, resultsPerDay: 172_800, costPerDay: isFull ? 25_000_000n : 12_400_000n },
  };
}

function endpointsAt(fault: RelayerFault | undefined, since: number): RelayerStatus["endpoints"] {
  return [
    [LOCAL, "rpc.neutron.example"],
    [LOCAL, "rpc-2.neutron.example"],
    ["osmosis-1", "rpc.osmosis.example"],
    ["cosmoshub-4", "rpc.cosmos.example"],
    ["cosmoshub-4", "rpc-2.cosmos.example"],
  ].map(([chainId = "", name = ""], index) => {
    const isDown = fault?.endpointDown === name;
    return {
      chainId,
      name,
      state: isDown ? ("down" as const) : ("good" as const),
      failures: isDown ? Math.floor(since / 30_000) : 0,
      lastError: isDown ? "connect ECONNREFUSED" : undefined,
      status: undefined,
      latencyMs: 38 + index * 21,
      distrusted: undefined,
      lacks: new Map(),
      batchSize: 20,
      lagBlocks: isDown ? undefined : BigInt(index % 2),
    };
  });
}

function spendingAt(atMs: number): GateStatus["spending"] {
  const share = (atMs % DAY_MS) / DAY_MS;
  return {
    day: Math.floor(atMs / DAY_MS),
    fee: BigInt(Math.round(12_300_000 * share)),
    gasByOwner: new Map(
      OWNERS.map((owner, index) => [owner, BigInt(Math.round((24_000_000_000 * share) / (index + 1)))]),
    ),
    feeByRule: new Map(),
    limits: LIMITS,
    lastDay: { fee: 12_300_000n, ms: DAY_MS },
  };
}

function gateAt(
  atMs: number,
  { gate: { role }, account, spending }: RelayerStatus,
  standby: true | undefined,
): GateStatus {
  return {
    leadership: {
      role: standby ? "standby" : role,
      holder: "relayer-a",
      error: undefined,
      progress: undefined,
    },
    store: { kind: "sqlite", pendingWrites: 0, droppedWrites: 0, error: undefined },
    spending,
    reserve: { reserve: 1_000_000n, balance: account.balance, readAtMs: atMs - 4_000 },
    refusal: undefined,
  };
}

function costsAt(atMs: number, fault: RelayerFault | undefined) {
  const costs = sampleCosts(atMs, { budget: 400_000_000n });
  const [, , , fourth] = costs.windows;
  const windows = costs.windows.map((window) => ({
    ...window,
    queries: window.queries.map((one, index) => ({ ...one, owner: OWNERS[index % 2] ?? "" })),
    fee:
      { "1h": 512_000n, "24h": 12_300_000n, "7d": 86_100_000n, "30d": 369_000_000n }[window.name as string] ??
      258_000_000n,
  }));
  const forecast =
    costs.forecast === undefined
      ? undefined
      : {
          ...costs.forecast,
          month: {
            now: { low: 362_000_000n, expected: 369_000_000n, high: 378_000_000n },
            cap: { low: 9_000_000_000n, expected: 9_500_000_000n, high: 9_900_000_000n },
          },
        };
  const empty = { soonestMs: HOUR_MS / 60, expectedMs: HOUR_MS / 50, latestMs: HOUR_MS / 40 };
  return {
    ...costs,
    windows: fourth === undefined ? costs.windows : windows,
    forecast:
      forecast === undefined || fault?.outOfFunds === undefined
        ? forecast
        : { ...forecast, empty: { now: empty, cap: empty } },
  };
}
