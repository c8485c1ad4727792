import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/platform/base/time.ts";
import type { WatchdogStatus } from "../../../src/watchdog/polling/watchdog-status.ts";
import { nodeTargets, type NodeFault } from "./node-target.ts";
import { relayerTarget, type RelayerFault } from "./relayer-target.ts";
import { ALERT_VIEW_MS, DAY_VIEW_MS, type Target } from "./target.ts";
import { watchdogTarget, type WallValidator } from "./watchdog-target.ts";

/** What the dashboards show: the series of some hours until a time. */
export interface Situation {
  readonly name: string;
  /** The present of its pictures. Each situation has a month of its own, so that none sees another's series. */
  readonly endMs: number;
  /** Opened by the link of an alert at the begin of the fault; otherwise as a dashboard opens by itself. */
  readonly isLinked: boolean;
  /** Length of its series. */
  readonly historyMs: number;
  readonly targets: readonly Target[];
  /** Nodes whose months the recording rules have counted. */
  readonly nodes: readonly {
    readonly validator: string;
    readonly host: string;
    readonly fault?: NodeFault;
  }[];
}

interface Parts {
  readonly isLinked?: false;
  readonly validators?: readonly WallValidator[];
  readonly nodeFault?: NodeFault;
  readonly relayers?: readonly { readonly instance: string; readonly standby?: true }[];
  readonly relayerFault?: RelayerFault;
}

const VALIDATOR = { name: "default", chain: healthyChain };

const ALONE: readonly WallValidator[] = [VALIDATOR];

/** Midday of the 21st of the months of a year. */
function endOf(index: number): number {
  return Date.UTC(2025, index, 21, 12, 5);
}

function situation(name: string, index: number, parts: Parts, endMs = endOf(index)): Situation {
  const {
    isLinked = true,
    validators = ALONE,
    nodeFault,
    relayers = [{ instance: "relayer:9999" }],
    relayerFault,
  } = parts;
  const nodes = validators.map(({ name: validator }, at) => ({
    validator,
    host: validators.length === 1 ? "node" : `node-${at + 1}`,
    ...(at === 0 && nodeFault !== undefined ? { fault: nodeFault } : {}),
  }));
  return {
    name,
    endMs,
    isLinked,
    historyMs: isLinked ? ALERT_VIEW_MS : DAY_VIEW_MS,
    nodes,
    targets: [
      watchdogTarget("watchdog:9998", endMs, validators),
      ...relayers.map((relayer) =>
        relayerTarget(endMs, { ...relayer, ...(relayerFault === undefined ? {} : { fault: relayerFault }) }),
      ),
      ...nodes.flatMap((node) => nodeTargets(endMs, node)),
    ],
  };
}

/** What the chain says of a validator that signs, was paid, and compares well. */
function healthyChain(atMs: number): Partial<WatchdogStatus> {
  const share = (good: bigint) => ({ good, total: 10_000n });
  return {
    standing: {
      jail: { state: "active" },
      window: {
        windowBlocks: 36_000n,
        counted: 36_000n,
        missed: 12n,
        allowed: 34_200n,
        left: 34_188n,
        signed: { good: 35_988n, total: 36_000n },
        ifAllMissed: { least: 34_188n, most: 34_200n },
        atPresentRate: { kind: "never" },
        allMissedMs: 34_188 * 2_000,
        presentMs: undefined,
      },
      windowNote: undefined,
      commits: { seen: 10, missed: 0, others: 33, missing: 0, power: { others: 900n, missing: 0n } },
      votes: { seen: 10, missed: 0, others: 33, missing: 1 },
      peers: {
        comparisons: [
          {
            measure: "signing",
            since: "signing window",
            own: share(9_997n),
            rank: 3,
            compared: 34,
            notBetter: 31,
            median: share(9_970n),
            atMs: atMs - 5 * MINUTE_MS,
          },
          {
            measure: "votes",
            since: "start of the node",
            own: share(9_980n),
            rank: 9,
            compared: 34,
            notBetter: 25,
            median: share(9_940n),
            atMs: atMs - 5 * MINUTE_MS,
          },
        ],
        notes: [],
      },
    },
    compared: {
      comparisons: ["BTC/USD", "ETH/USD"].map((pair) => ({
        node: "node",
        pair,
        reference: "chain" as const,
        own: 97_123_450_000n,
        other: 97_101_000_000n,
        decimals: 8,
        distance: 22_450_000n,
        ageMs: 1_800,
        sidecars: 1,
      })),
      notCompared: [],
    },
    payments: [
      {
        month: "2026-10",
        outcome: "paid",
        searchedMs: atMs - DAY_MS,
        height: 30_500_000n,
        timeMs: atMs - 20 * DAY_MS,
        amount: { denom: "untrn", amount: 4_210_000_000n },
        expected: 4_210_000_000n,
      },
    ],
  };
}

const firing = (alert: string, minutes: number) => ({ alert, firesAfterMs: minutes * MINUTE_MS });
const muted = (alert: string, minutes: number, by: string) => ({
  ...firing(alert, minutes),
  quietReason: `muted by ${by}`,
});

const HEALTHY = situation("healthy", 0, { isLinked: false });

const SIDECAR_DOWN = situation("sidecar-down", 1, {
  validators: [
    {
      ...VALIDATOR,
      fault: {
        bad: 1,
        down: ["prices", "sidecar-metrics"],
        alerts: [
          firing("sidecar-down", 1),
          muted("oracle-calls-failing", 0, "sidecar-down"),
          muted("all-prices-missing", 2, "sidecar-down"),
          muted("full-reward-fast-burn", 10, "sidecar-down"),
          { alert: "full-reward-at-risk", firesAfterMs: 2 * HOUR_MS },
        ],
      },
    },
  ],
  nodeFault: { bad: 1, sidecarDown: true },
});

const MARKET_FULL = situation("market-full", 2, {
  relayerFault: { problems: [], demandAboveMarket: true },
});

const THREE_VALIDATORS = situation("two-relayers-three-validators", 3, {
  isLinked: false,
  validators: [
    { ...VALIDATOR, name: "val-berlin" },
    {
      ...VALIDATOR,
      name: "val-helsinki",
      usual: (hour) => (hour > 100 && hour < 130 ? 0.6 : 0.006),
    },
    {
      ...VALIDATOR,
      name: "val-singapore",
      usual: (hour) => (hour > 200 && hour < 240 ? 1 : 0.01),
      fault: { bad: 0.01, alerts: [firing("any-reward-lost", 0)] },
    },
  ],
  relayers: [{ instance: "relayer-a:9999" }, { instance: "relayer-b:9999", standby: true }],
});

/** In which every dashboard is rendered. */
export const SITUATIONS: readonly Situation[] = [HEALTHY, SIDECAR_DOWN, MARKET_FULL, THREE_VALIDATORS];

/** A month with 1,200 blocks, a tenth of them bad. */
export const YOUNG_MONTH = situation(
  "young-month",
  11,
  { isLinked: false, validators: [{ ...VALIDATOR, usual: () => 0.1 }] },
  Date.UTC(2025, 11, 1, 0, 40),
);

/** The usual faults besides, each for the dashboard that people open then. */
export const FAULTS: readonly Situation[] = [
  situation("sidecar-slow", 4, {
    validators: [
      {
        ...VALIDATOR,
        fault: {
          bad: 0.4,
          pricesMs: 1_400,
          alerts: [firing("sidecar-slow", 5), firing("full-reward-fast-burn", 12)],
        },
      },
    ],
    nodeFault: { bad: 0.4 },
  }),
  situation("prices-frozen", 5, {
    validators: [{ ...VALIDATOR, fault: { bad: 0, alerts: [firing("stale-price-timestamp", 2)] } }],
    nodeFault: { frozen: true },
  }),
  situation("node-down", 6, {
    validators: [
      { ...VALIDATOR, fault: { bad: "unseen", down: ["node"], alerts: [firing("cannot-see-votes", 2)] } },
    ],
    nodeFault: { nodeDown: true },
  }),
  situation("prices-missing", 7, {
    validators: [
      {
        ...VALIDATOR,
        fault: {
          bad: 1,
          pairs: [],
          alerts: [firing("all-prices-missing", 2), muted("major-pairs-missing", 5, "all-prices-missing")],
        },
      },
    ],
    nodeFault: { frozen: true },
  }),
  situation("relayer-out-of-funds", 8, {
    relayerFault: {
      problems: [
        { code: "account-cannot-pay", afterMs: 0 },
        { code: "not-sending", afterMs: 2 * MINUTE_MS },
        { code: "queries-overdue", connectionId: "connection-18", afterMs: 2 * MINUTE_MS },
        { code: "queries-overdue", connectionId: "connection-9", afterMs: 2 * MINUTE_MS },
      ],
      stops: "all",
      outOfFunds: true,
    },
  }),
  situation("endpoint-down", 9, { relayerFault: { problems: [], endpointDown: "rpc.cosmos.example" } }),
  situation("remote-chain-halted", 10, {
    relayerFault: {
      problems: [{ code: "remote-no-new-block", connectionId: "connection-9", afterMs: 2 * MINUTE_MS }],
      remoteHalted: "connection-9",
    },
  }),
];
