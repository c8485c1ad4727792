import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { ALL_PRICES_MISSING } from "./conditions/alert-state.ts";
import type { DeliveryOutcome } from "./notify/delivery.ts";
import { TIERS, toRatio } from "./policy/reward-tier.ts";
import { SOURCE_NAMES, type Observation } from "./sources/poller.ts";
import { looksOf, type WatchdogStatus } from "./status.ts";

/** Names, help and labels of everything that the watchdog exports. */
export const WATCHDOG_METRICS = {
  monthBlocks: {
    name: "oracle_watchdog_month_blocks",
    help: "Blocks of the current UTC month by what came of their oracle call; unknown ones passed unseen over a restart of the node.",
    labelNames: ["chain_id", "result"],
  },
  successRatio: {
    name: "oracle_watchdog_month_success_ratio",
    help: "Success / (Success + Failure) of the current UTC month; absent while nothing has been counted.",
    labelNames: ["chain_id"],
  },
  tier: {
    name: "oracle_watchdog_month_tier",
    help: "1 for the reward tier of the current UTC month, 0 for the others.",
    labelNames: ["chain_id", "tier"],
  },
  sourceUp: {
    name: "oracle_watchdog_source_up",
    help: "1 when the last look at the source succeeded.",
    labelNames: ["source"],
  },
  sourceSuccess: {
    name: "oracle_watchdog_source_last_success_timestamp_seconds",
    help: "Time of the last successful look at the source.",
    labelNames: ["source"],
  },
  looks: {
    name: "oracle_watchdog_looks_total",
    help: "Looks at sources by outcome.",
    labelNames: ["source", "outcome"],
  },
  lookDuration: {
    name: "oracle_watchdog_look_duration_seconds",
    help: "Time that a look at a source took.",
    labelNames: ["source"],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
  },
  pricedPairs: {
    name: "oracle_watchdog_priced_pairs",
    help: "Pairs with a price in the sidecar's last answer.",
    labelNames: [],
  },
  nodeRestarts: {
    name: "oracle_watchdog_node_restarts_total",
    help: "Restarts of the node's counters that were seen.",
    labelNames: [],
  },
  alertFiring: {
    name: "oracle_watchdog_alert_firing",
    help: "1 while the alert is firing.",
    labelNames: ["alert"],
  },
  notices: {
    name: "oracle_watchdog_notices_total",
    help: "Tries to deliver a notice by outcome.",
    labelNames: ["outcome"],
  },
  waitingNotices: {
    name: "oracle_watchdog_waiting_notices",
    help: "Notices that wait for delivery.",
    labelNames: [],
  },
} as const;

/** Where the watchdog reports what it does. */
export interface WatchdogMetrics {
  readonly looked: (seen: Observation, restarted: boolean) => void;
  readonly showStatus: (status: WatchdogStatus) => void;
  readonly delivered: (outcome: DeliveryOutcome) => void;
}

/** Registers the catalogue, with closed label sets at zero. */
export function createWatchdogMetrics(registry: Registry): WatchdogMetrics {
  const registers = [registry];
  const gauge = (key: GaugeKey): Gauge => new Gauge({ ...WATCHDOG_METRICS[key], registers });
  const gauges: Gauges = {
    monthBlocks: gauge("monthBlocks"),
    successRatio: gauge("successRatio"),
    tier: gauge("tier"),
    sourceUp: gauge("sourceUp"),
    sourceSuccess: gauge("sourceSuccess"),
    pricedPairs: gauge("pricedPairs"),
    alertFiring: gauge("alertFiring"),
    waitingNotices: gauge("waitingNotices"),
  };
  const looks = new Counter({ ...WATCHDOG_METRICS.looks, registers });
  const duration = new Histogram({
    ...WATCHDOG_METRICS.lookDuration,
    buckets: [...WATCHDOG_METRICS.lookDuration.buckets],
    registers,
  });
  const restarts = new Counter({ ...WATCHDOG_METRICS.nodeRestarts, registers });
  const notices = new Counter({ ...WATCHDOG_METRICS.notices, registers });
  for (const source of SOURCE_NAMES)
    for (const outcome of ["good", "failed"]) looks.inc({ source, outcome }, 0);
  for (const outcome of ["delivered", "failed", "given-up"]) notices.inc({ outcome }, 0);
  gauges.alertFiring.set({ alert: ALL_PRICES_MISSING }, 0);
  return {
    looked: (seen, restarted) => {
      for (const [source, { outcome, tookMs }] of looksOf(seen)) {
        looks.inc({ source, outcome: outcome.ok ? "good" : "failed" });
        duration.observe({ source }, tookMs / 1000);
        gauges.sourceUp.set({ source }, outcome.ok ? 1 : 0);
        if (outcome.ok) gauges.sourceSuccess.set({ source }, seen.atMs / 1000);
      }
      if (restarted) restarts.inc();
    },
    showStatus: (status) => showStatus(gauges, status),
    delivered: (outcome) => notices.inc({ outcome }),
  };
}

type GaugeKey =
  | "monthBlocks"
  | "successRatio"
  | "tier"
  | "sourceUp"
  | "sourceSuccess"
  | "pricedPairs"
  | "alertFiring"
  | "waitingNotices";

type Gauges = Readonly<Record<GaugeKey, Gauge>>;

function showStatus(gauges: Gauges, status: WatchdogStatus): void {
  gauges.pricedPairs.set(status.pairs.length);
  gauges.waitingNotices.set(status.waitingNotices);
  gauges.alertFiring.set({ alert: ALL_PRICES_MISSING }, status.alert.phase === "firing" ? 1 : 0);
  const { chainId: chain_id, current } = status;
  if (chain_id === undefined) return;
  for (const result of ["good", "bad", "unknown"] as const)
    gauges.monthBlocks.set({ chain_id, result }, Number(current.counts[result]));
  for (const tier of TIERS) gauges.tier.set({ chain_id, tier }, current.tier === tier ? 1 : 0);
  if (current.rate === undefined) gauges.successRatio.reset();
  else gauges.successRatio.set({ chain_id }, toRatio(current.rate));
}
