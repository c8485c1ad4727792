import type { ConnectionStatus, QueryView, RelayerStatus } from "../../src/relayer/health/status.ts";
import type { ClientReading } from "../../src/relayer/health/watches.ts";
import type { HeadView } from "../../src/relayer/health/head-watch.ts";
import type { Lateness } from "../../src/relayer/health/lateness.ts";

/** Wall-clock time of the samples. */
export const NOW_MS = Date.UTC(2026, 0, 2);
const DAY_MS = 86_400_000;

/** A chain at height 12 whose last block was seen a second ago. */
export function sampleHead(fields: Partial<HeadView> = {}): HeadView {
  return {
    height: 12n,
    blockTimeMs: NOW_MS - 1_500,
    sinceBlockMs: 1_000,
    sinceReadMs: 500,
    sinceTryMs: 500,
    catchingUp: false,
    error: undefined,
    ...fields,
  };
}

/** An active client two blocks behind `sampleHead` that expires in a day. */
export function sampleReading(fields: Partial<ClientReading> = {}): ClientReading {
  return {
    clientId: "07-tendermint-0",
    chainId: "remote-1",
    latestHeight: { revision: 1n, height: 10n },
    trustingPeriodNs: BigInt(2 * DAY_MS) * 1_000_000n,
    trustLevel: { numerator: 1n, denominator: 3n },
    status: "Active",
    consensusTimeMs: NOW_MS - DAY_MS,
    expiresAtMs: NOW_MS + DAY_MS,
    ...fields,
  };
}

export function sampleConnection(fields: Partial<ConnectionStatus> = {}): ConnectionStatus {
  return {
    id: "connection-0",
    chainId: "remote-1",
    error: undefined,
    remote: sampleHead(),
    client: { reading: sampleReading(), sinceReadMs: 500, error: undefined },
    ...fields,
  };
}

export function sampleLateness(fields: Partial<Lateness> = {}): Lateness {
  return {
    dueHeight: 16n,
    blocks: 0n,
    ms: 0,
    unanswerable: undefined,
    limit: 20n,
    isOverdue: false,
    ...fields,
  };
}

/** A KV query with a result. */
export function sampleView(fields: Partial<QueryView> = {}): QueryView {
  return {
    id: 1n,
    type: "kv",
    connectionId: "connection-0",
    owner: "neutron1owner",
    updatePeriod: 5n,
    state: "answered",
    lastLocalHeight: 11n,
    lastRemoteHeight: 9n,
    resultAge: { blocks: 1n, ms: 2_000, isAtLeast: false },
    lateness: sampleLateness(),
    results: 3,
    cost: { gas: 300n, fee: 30n },
    failures: 0,
    error: undefined,
    retryInMs: 0,
    isRequested: false,
    ...fields,
  };
}

/** A relayer without problems and without queries. */
export function sampleStatus(fields: Partial<RelayerStatus> = {}): RelayerStatus {
  return {
    address: "neutron1relayer",
    nowMs: NOW_MS,
    localHeight: 12n,
    connected: true,
    loaded: true,
    problems: [],
    local: sampleHead(),
    account: {
      address: "neutron1relayer",
      denom: "untrn",
      balance: 70n,
      daysLeft: undefined,
      sinceReadMs: 500,
      error: undefined,
    },
    connections: [sampleConnection()],
    queries: [],
    endpoints: [],
    deadLetters: 0,
    spending: {
      day: Math.floor(NOW_MS / DAY_MS),
      fee: 0n,
      gasByOwner: new Map(),
      limits: { dailyFee: undefined, dailyGasPerOwner: undefined },
    },
    market: undefined,
    reserve: 0n,
    gate: { role: "leader", storeError: undefined, refusal: undefined },
    ...fields,
  };
}
