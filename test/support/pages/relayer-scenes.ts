import type { ActivitySample } from "../../../src/relayer/page/activity.ts";
import type { RelayerPageInput } from "../../../src/relayer/page/relayer-page.ts";
import type { ProblemSpan } from "../../../src/relayer/health/problem-timeline.ts";
import type { ProblemCode } from "../../../src/relayer/health/problems.ts";
import type { QueryView } from "../../../src/relayer/health/relayer-status.ts";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import type { MarketStatus } from "../../../src/relayer/forecast/market-view.ts";
import { sampleCosts } from "../../relayer/costs/cost-samples.ts";
import { sampleAttempt, sampleState } from "../../relayer/samples.ts";
import {
  NOW_MS,
  sampleConnection,
  sampleHead,
  sampleLateness,
  sampleMarket,
  sampleMarketWithoutCapacity,
  sampleReading,
  sampleStatus,
  sampleView,
} from "../../relayer/status-samples.ts";

const OWNER = "neutron14hj2tavq8fpesdwxxcu44rty3hh90vhujrvcmstl4zr3txmfvw9s5c2epq";

/** Queries of two connections, the last of them TX queries. */
function queriesOf(count: number, view: (id: number) => Partial<QueryView>): readonly QueryView[] {
  return Array.from({ length: count }, (_, index) => {
    const id = index + 1;
    return sampleView({
      id: BigInt(id),
      type: id % 7 === 0 ? "tx" : "kv",
      connectionId: `connection-${id % 2}`,
      owner: OWNER,
      cost: { gas: 1_250_000n * BigInt(id), fee: 3_125n * BigInt(id) },
      ...view(id),
    });
  });
}

function samplesOf(failing: boolean): readonly (ActivitySample | undefined)[] {
  return Array.from({ length: 60 }, (_, index) => {
    if (index < 20) return undefined;
    const stands = failing && index > 50;
    const included = stands ? 0 : 60 + ((index * 7) % 13);
    return {
      startMs: NOW_MS - (59 - index) * 60_000,
      included,
      failed: failing && index > 45 ? 12 : 0,
      transactions: stands ? 0 : 10 + (index % 3),
      updates: stands ? 0 : 10,
      gas: BigInt(included) * 180_000n,
    };
  });
}

const CONNECTIONS = [
  sampleConnection(),
  sampleConnection({
    id: "connection-1",
    chainId: "cosmoshub-4",
    remote: sampleHead({ height: 21_004_512n }),
  }),
];

/** A market with 100 blocks, of which a few were a burst, and with prices of 20 hours. */
function marketOver(market: MarketStatus): MarketStatus {
  const { minimum } = market;
  return {
    ...market,
    blocks: Array.from({ length: 100 }, (_, index) => ({
      height: BigInt(index + 1),
      price: market.price,
      ownGas: index % 40 < 4 ? 27_000_000n : 11_600_000n + BigInt((index * 37) % 9) * 90_000n,
      ownFee: 0n,
      othersGas: index % 5 === 0 ? undefined : 2_400_000n + BigInt((index * 53) % 11) * 200_000n,
    })),
    day: Array.from({ length: 240 }, (_, index) => ({
      startMs: NOW_MS - (240 - index) * 300_000 - (index < 100 ? 3_600_000 : 0),
      low: minimum,
      high: minimum + (minimum * BigInt((index * index) % 90)) / 100n,
    })),
  };
}

/** A time line with a stop 10 to 9 hours ago. */
function timelineOf(failing: boolean): RelayerPageInput["timeline"] {
  const hour = 3_600_000;
  const problem = (
    code: ProblemCode,
    connectionId: string,
    fromMs: number,
    untilMs: number,
  ): ProblemSpan => ({
    code,
    connectionId,
    fromMs,
    untilMs,
    reason: `${connectionId}: no response for 200 s (connect ECONNREFUSED)`,
  });
  return {
    runs: () => [
      { fromMs: NOW_MS - 100 * hour, untilMs: NOW_MS - 10 * hour },
      { fromMs: NOW_MS - 9 * hour, untilMs: NOW_MS - 500 },
    ],
    problems: () =>
      failing
        ? [
            problem("remote-unreachable", "connection-1", NOW_MS - 30 * hour, NOW_MS - 29 * hour),
            problem("queries-overdue", "connection-1", NOW_MS - 3 * hour, NOW_MS - 2 * hour),
            problem("remote-unreachable", "connection-1", NOW_MS - hour, NOW_MS - 500),
          ]
        : [],
  };
}

/** The registered queries behind {@link queriesOf}. */
function queriesWithKeys(count: number) {
  return Array.from({ length: count }, (_, index) => sampleState({ id: BigInt(index + 1), owner: OWNER }));
}

/** Ten attempts of a query, or of several: one failed, one was no longer needed. */
function attemptsOf(queryId: bigint | undefined) {
  return Array.from({ length: 10 }, (_, index) =>
    sampleAttempt({
      queryId: queryId ?? BigInt(index + 1),
      startedAtMs: NOW_MS - index * 12_000,
      localHeight: BigInt(4_000 - index * 5),
      remoteHeight: BigInt(21_004_512 - index * 5),
      txHash: `${index}`.padStart(64, "AB12"),
      outcome: "included",
      gas: 184_000n,
      fee: 975n,
      ...(index === 3 && { outcome: "superseded", localHeight: undefined, txHash: undefined }),
      ...(index === 4 && { outcome: "rejected", reason: "the contract failed: <b>no</b>" }),
    }),
  );
}

/** A relayer with 12 queries, all current. */
export function healthyRelayer(queries = 12): RelayerPageInput {
  return {
    status: sampleStatus({
      connections: CONNECTIONS,
      queries: queriesOf(queries, (id) =>
        id === 3 ? { lateness: sampleLateness({ blocks: 1n, ms: 1_900 }) } : {},
      ),
      account: {
        ...sampleStatus().account,
        balance: 999_999_999_975_198n,
        daysLeft: 41.2,
        unit: { denom: "untrn", name: "NTRN", exponent: 6 },
      },
      market: marketOver(sampleMarket()),
      spending: {
        ...sampleStatus().spending,
        fee: 871_404_000n,
        gasByOwner: new Map([
          [OWNER, 240_000_000_000n],
          [`${OWNER.slice(0, -4)}aaaa`, 91_000_000_000n],
        ]),
      },
    }),
    activity: { samples: () => samplesOf(false) },
    costs: () => sampleCosts(NOW_MS),
    timeline: timelineOf(false),
    deadLetters: () => [],
    attempts: { find: ({ queryId }) => Promise.resolve(attemptsOf(queryId)) },
    registry: { states: () => queriesWithKeys(queries) },
    resubmit: "token",
  };
}

/** A relayer whose second remote chain cannot be reached, with overdue and failing queries, and two dead letters. */
export function troubledRelayer(): RelayerPageInput {
  const healthy = healthyRelayer(120);
  const error = "request to rpc-1 failed: connect ECONNREFUSED";
  return {
    ...healthy,
    status: {
      ...healthy.status,
      connected: false,
      problems: [
        {
          code: "remote-unreachable",
          connectionId: "connection-1",
          text: `connection-1: the remote chain cosmoshub-4 cannot be reached: no response for 312 s (${error}); check the endpoints of the connection`,
        },
        {
          code: "queries-overdue",
          connectionId: "connection-1",
          text: "connection-1: 60 queries are overdue; query 1 by 152 blocks, 304 s",
        },
      ],
      connections: [
        sampleConnection(),
        sampleConnection({
          id: "connection-1",
          chainId: "cosmoshub-4",
          error,
          remote: sampleHead({ height: 21_004_512n, sinceBlockMs: 312_000, sinceReadMs: 312_000, error }),
          client: {
            reading: sampleReading({ clientId: "07-tendermint-41", expiresAtMs: NOW_MS + 3_600_000 }),
            sinceReadMs: 400,
            error: undefined,
          },
        }),
      ],
      queries: queriesOf(120, (id) => {
        if (id % 2 === 1)
          return { lateness: sampleLateness({ blocks: BigInt(153 - id), ms: 304_000, isOverdue: true }) };
        if (id % 10 !== 0) return {};
        const reason =
          "the contract failed: Generic error: balance <b>not</b> found: execute wasm contract failed";
        return { state: "backing_off", failures: 4, retryInMs: 21_000, error: { code: "rejected", reason } };
      }),
      deadLetters: 2,
      account: { ...healthy.status.account, balance: 1_200n, daysLeft: 0.4 },
      market: marketOver(sampleMarketWithoutCapacity({ price: parseDec18("0.0052") })),
    },
    activity: { samples: () => samplesOf(true) },
    costs: () =>
      sampleCosts(NOW_MS, { budget: 100_000_000n, incomplete: "transaction indexing is disabled" }),
    timeline: timelineOf(true),
    deadLetters: () =>
      [7, 14].map((id) => ({
        queryId: BigInt(id),
        hash: `${id}`.padStart(64, "ab12"),
        remoteHeight: 21_004_400n,
        reason: "contract rejected the transaction: <script>alert(1)</script> unauthorized",
        atMs: NOW_MS - 7_200_000,
      })),
  };
}

/** A relayer without queries that has just been set up. */
export function emptyRelayer(): RelayerPageInput {
  const healthy = healthyRelayer(0);
  return {
    ...healthy,
    activity: { samples: () => Array.from({ length: 60 }, () => undefined) },
    attempts: { find: () => Promise.resolve([]) },
  };
}

/** A relayer with one query that is overdue. */
export function oneLateQuery(queries: number): RelayerPageInput {
  const healthy = healthyRelayer(queries);
  const lateness = sampleLateness({ blocks: 31n, ms: 62_000, isOverdue: true });
  return {
    ...healthy,
    status: {
      ...healthy.status,
      problems: [
        {
          code: "queries-overdue",
          connectionId: "connection-1",
          text: "connection-1: 1 query is overdue; query 3 by 31 blocks, 62 s",
        },
      ],
      queries: queriesOf(queries, (id) =>
        id === 3
          ? { lateness, state: "backing_off", failures: 2, error: { code: "rejected", reason: "out of gas" } }
          : {},
      ),
    },
  };
}

/** A relayer whose second remote chain makes no block any more. */
export function haltedRemote(queries: number): RelayerPageInput {
  const healthy = healthyRelayer(queries);
  const [first, second] = CONNECTIONS;
  return {
    ...healthy,
    status: {
      ...healthy.status,
      problems: [
        {
          code: "remote-no-new-block",
          connectionId: "connection-1",
          text: "connection-1: the remote chain cosmoshub-4 has had no new block for 340 s",
        },
      ],
      connections: [first, second].flatMap((one, index) =>
        one === undefined
          ? []
          : [
              index === 1
                ? { ...one, remote: sampleHead({ height: 21_004_512n, sinceBlockMs: 340_000 }) }
                : one,
            ],
      ),
      queries: queriesOf(queries, (id) =>
        id % 2 === 1 ? { lateness: sampleLateness({ blocks: 150n, ms: 300_000 }) } : {},
      ),
    },
  };
}

/** A relayer whose queries need more gas than the fee market bears. */
export function demandAboveMarket(queries: number): RelayerPageInput {
  const healthy = healthyRelayer(queries);
  return {
    ...healthy,
    status: {
      ...healthy.status,
      market: marketOver(sampleMarketWithoutCapacity({ price: parseDec18("0.0052") })),
    },
  };
}
