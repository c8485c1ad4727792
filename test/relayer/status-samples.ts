import type { ConnectionStatus, QueryView, RelayerStatus } from "../../src/relayer/health/relayer-status.ts";
import type { ClientReading } from "../../src/relayer/watch/watches.ts";
import type { MarketStatus } from "../../src/relayer/forecast/market-view.ts";
import type { HeadView } from "../../src/relayer/watch/head-watch.ts";
import { parseDec18 } from "../../src/platform/base/decimal.ts";
import type { Lateness } from "../../src/relayer/health/lateness.ts";

/** Wall-clock time of the samples. */
export const NOW_MS = Date.UTC(2026, 0, 2);
const DAY_MS = 86_400_000;

/** A chain at height 12 whose last block was seen a second ago. */
export function sampleHead(fields: Partial<HeadView> = {}): HeadView {
  return {
    height: 12n,
    blockTimeMs: NOW_MS - 1_500,
    chainMs: NOW_MS,
    sinceBlockMs: 1_000,
    blockMs: 1_000,
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
    keyCount: 1,
    updatePeriod: 5n,
    state: "answered",
    lastLocalHeight: 11n,
    lastRemoteHeight: 9n,
    unchangedSince: undefined,
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
      unpaid: undefined,
      transactionFee: 10n,
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
      feeByRule: new Map(),
      limits: { dailyFee: undefined, dailyGasPerOwner: undefined },
      lastDay: { fee: 0n, ms: 600_000 },
    },
    market: undefined,
    reserve: 0n,
    gate: { role: "leader", storeError: undefined, refusal: undefined },
    ...fields,
  };
}

/** A market at 1.04 times its minimum that bears 400 results a block, with a demand of 300. */
export function sampleMarket(fields: Partial<MarketStatus> = {}): MarketStatus {
  return {
    denom: "untrn",
    readAtHeight: 12n,
    sinceReadMs: 1_040,
    price: parseDec18("0.0026"),
    minimum: parseDec18("0.0025"),
    ceiling: parseDec18("0.005"),
    cap: parseDec18("1"),
    phase: "steady",
    targetGas: 15_000_000n,
    othersGas: 3_400_000n,
    budgetGas: 11_600_000n,
    feeFactor: parseDec18("1.05"),
    blocks: [
      { height: 10n, price: parseDec18("0.0025"), ownGas: 8_700_000n, ownFee: 22_800n, othersGas: undefined },
      {
        height: 11n,
        price: parseDec18("0.0025"),
        ownGas: 11_600_000n,
        ownFee: 30_500n,
        othersGas: 6_800_000n,
      },
      {
        height: 12n,
        price: parseDec18("0.0026"),
        ownGas: 5_800_000n,
        ownFee: 15_800n,
        othersGas: 3_400_000n,
      },
    ],
    day: [
      { startMs: NOW_MS - 600_000, low: parseDec18("0.0025"), high: parseDec18("0.0031") },
      { startMs: NOW_MS - 300_000, low: parseDec18("0.0025"), high: parseDec18("0.0027") },
    ],
    forecast: {
      sustainableGas: 11_600_000n,
      demandGas: 8_700_000n,
      sustainableResults: 400,
      demandResults: 300,
      lateBlocks: 0,
      resultsPerDay: 25_920_000,
      costPerDay: 1_879_200_000n,
      costPerResult: parseDec18("72.5"),
      remedies: [],
    },
    ...fields,
  };
}

/** The market of {@link sampleMarket} with a demand of 150 results a block with callbacks, of which it bears 100. */
export function sampleMarketWithoutCapacity(fields: Partial<MarketStatus> = {}): MarketStatus {
  return sampleMarket({
    phase: "recovering",
    forecast: {
      sustainableGas: 11_600_000n,
      demandGas: 17_400_000n,
      sustainableResults: 100,
      demandResults: 150,
      lateBlocks: 2.46,
      resultsPerDay: 8_640_000,
      costPerDay: 2_505_600_000n,
      costPerResult: parseDec18("290"),
      remedies: [
        { kind: "longer-periods", factor: 1.4999, costPerDay: 2_505_600_000n },
        {
          kind: "higher-ceiling",
          ceiling: parseDec18("0.01"),
          burstResults: 930,
          costPerDay: 2_505_600_000n,
        },
        { kind: "fewer-callbacks", lateBlocks: 0, costPerDay: 939_600_000n },
      ],
    },
    ...fields,
  });
}
