import { createMetricsRegistry } from "../../../src/platform/process/metrics.ts";
import { registerReloadMetrics } from "../../../src/platform/process/reloadable.ts";
import { monthOf, monthStartMs } from "../../../src/platform/base/month.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/platform/base/time.ts";
import { alertStatuses } from "../../../src/watchdog/alerts/alert-status.ts";
import type { AlertState } from "../../../src/watchdog/alerts/alert-state.ts";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import {
  addCounts,
  type BlockCounts,
  NO_BLOCKS,
  type Rollup,
} from "../../../src/watchdog/ledger/ledger-view.ts";
import { assess } from "../../../src/watchdog/policy/assess.ts";
import { SPECIFIED_POLICY } from "../../../src/watchdog/policy/assessment.ts";
import { successRate, tierOf } from "../../../src/watchdog/policy/reward-tier.ts";
import { createWatchdogMetrics } from "../../../src/watchdog/polling/metrics.ts";
import type { SourceStatus, WatchdogStatus } from "../../../src/watchdog/polling/watchdog-status.ts";
import { ledgerViewOf } from "../watchdog/ledger-view.ts";
import { buildValidator } from "../pages/watchdog-scenes.ts";
import { failed, healthyFrame } from "../watchdog/frames.ts";
import { processPage, sinceFault, type Target } from "./target.ts";

/** Time of a block. */
const BLOCK_MS = 2_000;
const RULES = alertsSchema.parse({}).rules;

/** An alert of a fault: it is pending, and fires after a time. */
interface FaultAlert {
  readonly alert: string;
  /** Time from the begin of the fault until the alert fires. */
  readonly firesAfterMs: number;
  /** Why it notifies nobody. */
  readonly quietReason?: string;
}

/** A validator and what goes wrong with it. */
export interface WallValidator {
  readonly name: string;
  /** Share of bad blocks of an hour of the month, before the fault. */
  readonly usual?: (hour: number) => number;
  /** Absent: all is well. */
  readonly fault?: {
    /** Share of bad blocks; "unseen": the node cannot be read. */
    readonly bad: number | "unseen";
    readonly alerts: readonly FaultAlert[];
    /** Sources that cannot be read. */
    readonly down?: readonly SourceStatus["name"][];
    /** Time of a price response. */
    readonly pricesMs?: number;
    readonly pairs?: readonly string[];
    readonly status?: (atMs: number) => Partial<WatchdogStatus>;
  };
  /** What the chain says; absent: the watchdog does not read the chain. */
  readonly chain?: (atMs: number) => Partial<WatchdogStatus>;
}

const PAIRS = ["ATOM/USD", "BTC/USD", "ETH/USD", "NTRN/USD", "OSMO/USD", "TIA/USD"];
const FEW_BAD = (hour: number): number => (hour % 50 === 7 ? 0.03 : hour % 9 === 0 ? 0.004 : 0);

/** Returns the target of a watchdog: the page of its real metrics, from the status of each validator at each time. */
export function watchdogTarget(
  instance: string,
  endMs: number,
  validators: readonly WallValidator[],
): Target {
  const registry = createMetricsRegistry({
    build: { name: "relaywatch", version: "1.0.0", commit: "f647219", nodeVersion: "v22.11.0" },
    program: "oracle-watchdog",
    processMetrics: false,
  });
  const startMs = endMs - 9 * DAY_MS;
  registerReloadMetrics(registry, "oracle_watchdog", () => ({
    successAtMs: startMs,
    error: undefined,
    failedAtMs: undefined,
    needRestart: [],
  }));
  const metrics = createWatchdogMetrics(registry, ["pagerduty", "chat"]);
  let lastMs: number | undefined;
  return {
    job: "oracle-watchdog",
    instance,
    page: async (atMs) => {
      for (const validator of validators) {
        const status = statusOf(validator, atMs, endMs);
        metrics.showStatus(status);
        recordPolls(metrics, validator, { atMs, endMs, polls: lastMs === undefined ? 1 : 12 });
        for (const { state } of status.alerts)
          if (
            state?.phase === "firing" &&
            state.quietReason === undefined &&
            atMs - state.sinceMs < MINUTE_MS
          )
            for (const channel of ["pagerduty", "chat"]) metrics.recordDelivery(channel, "delivered");
      }
      metrics.recordPing(atMs - 20_000);
      lastMs = atMs;
      return `${await metrics.page()}${await processPage(atMs, startMs)}`;
    },
  };
}

function recordPolls(
  { recordPoll }: ReturnType<typeof createWatchdogMetrics>,
  { fault }: WallValidator,
  { atMs, endMs, polls }: { readonly atMs: number; readonly endMs: number; readonly polls: number },
): void {
  const { observation } = healthyFrame(atMs);
  const down = sinceFault(atMs, endMs) === undefined ? [] : (fault?.down ?? []);
  const nodes = observation.nodes.map((node) => ({
    ...node,
    ...(down.includes("node") ? { metrics: failed() } : {}),
    ...(down.includes("prices") ? { prices: failed() } : {}),
    ...(down.includes("sidecar-metrics") ? { sidecar: failed() } : {}),
  }));
  for (let poll = 0; poll < polls; poll += 1) recordPoll({ ...observation, nodes }, 0);
}

/** Computes a validator's status as the watchdog does: its blocks by minute, hour and day, and the assessment of them. */
function statusOf(validator: WallValidator, atMs: number, endMs: number): WatchdogStatus {
  const { name, fault, chain } = validator;
  const since = fault === undefined ? undefined : sinceFault(atMs, endMs);
  const active = since === undefined ? undefined : fault;
  const ledger = ledgerOf(validator, atMs, endMs);
  const [month] = ledger.months();
  const counts = month?.counts ?? NO_BLOCKS;
  const rate = successRate(counts);
  const current = {
    month: monthOf(atMs),
    counts,
    estimated: NO_BLOCKS,
    rate,
    tier: rate && tierOf(rate),
    hash: undefined,
  };
  const base = buildValidator({ name }).status;
  const states = active === undefined ? [] : active.alerts.map((one) => alertAt(one, name, atMs, since ?? 0));
  const down = active?.down ?? [];
  return {
    ...base,
    startedAtMs: endMs - 9 * DAY_MS,
    polledAtMs: atMs - 2_000,
    lateMs: 3,
    current,
    months: [current],
    assessment: assess({ ledger, nowMs: atMs, policy: SPECIFIED_POLICY, blockTimeMs: BLOCK_MS }),
    pairs: down.includes("prices") ? [] : (active?.pairs ?? PAIRS),
    prices: down.includes("prices") ? "unknown" : active?.pairs?.length === 0 ? "missing" : "present",
    alerts: alertStatuses(states, RULES, [name]),
    sources: base.sources.map((source) => {
      const isDown = down.includes(source.name);
      const readMs = isDown ? atMs - (since ?? 0) - 2_000 : atMs - 2_000;
      return {
        ...source,
        up: source.up && !isDown,
        lastSuccessMs: source.lastSuccessMs === undefined ? undefined : readMs,
        durationMs: source.name === "prices" ? (active?.pricesMs ?? source.durationMs) : source.durationMs,
      };
    }),
    pending: new Map([
      ["pagerduty", 0],
      ["chat", 0],
    ]),
    deadLetters: new Map([
      ["pagerduty", 0],
      ["chat", 0],
    ]),
    ...chain?.(atMs),
    ...active?.status?.(atMs),
  };
}

function alertAt(
  { alert, firesAfterMs, quietReason }: FaultAlert,
  validator: string,
  atMs: number,
  since: number,
): AlertState {
  const isFiring = since >= firesAfterMs;
  return {
    validator,
    alert,
    phase: isFiring ? "firing" : "pending",
    sinceMs: atMs - since + (isFiring ? firesAfterMs : 0),
    lastActiveMs: atMs,
    reason: "",
    ...(isFiring && quietReason !== undefined ? { quietReason } : {}),
  };
}

/** Blocks by result from the begin of the month: hours, and minutes of the last hours, whole ones as they were, the last one so far. */
function ledgerOf({ name, usual = FEW_BAD, fault }: WallValidator, atMs: number, endMs: number) {
  const monthMs = monthStartMs(monthOf(atMs));
  const blocks = (fromMs: number, toMs: number): BlockCounts => {
    const count = Math.round((toMs - fromMs) / BLOCK_MS);
    const isFault = sinceFault(fromMs, endMs) !== undefined;
    const bad = isFault && fault !== undefined ? fault.bad : usual(Math.floor((fromMs - monthMs) / HOUR_MS));
    if (bad === "unseen") return NO_BLOCKS;
    const missed = BigInt(Math.round(count * bad));
    return { good: BigInt(count) - missed, bad: missed, unknown: 0n };
  };
  const rollups = (
    fromMs: number,
    stepMs: number,
    countsOf: (startMs: number, toMs: number) => BlockCounts,
  ) => {
    const length = Math.ceil((atMs - fromMs) / stepMs);
    return Array.from({ length }, (_, index): Rollup => {
      const startMs = fromMs + index * stepMs;
      return { startMs, counts: countsOf(startMs, Math.min(startMs + stepMs, atMs)), estimated: NO_BLOCKS };
    });
  };
  const sum = (parts: readonly Rollup[]): BlockCounts =>
    parts.reduce((all, { counts }) => addCounts(all, counts), NO_BLOCKS);
  const minutes = rollups(Math.floor((atMs - 7 * HOUR_MS) / HOUR_MS) * HOUR_MS, MINUTE_MS, blocks);
  const fromMinutes = minutes[0]?.startMs ?? atMs;
  const hours = rollups(monthMs, HOUR_MS, (startMs, toMs) => {
    if (startMs < fromMinutes) return blocks(startMs, toMs);
    const parts = minutes.filter((minute) => minute.startMs >= startMs && minute.startMs < toMs);
    return sum(parts);
  });
  const days = rollups(monthMs, DAY_MS, (startMs, toMs) =>
    sum(hours.filter((hour) => hour.startMs >= startMs && hour.startMs < toMs)),
  );
  const month = { month: monthOf(atMs), counts: sum(hours), estimated: NO_BLOCKS, coveredFromMs: monthMs };
  return ledgerViewOf({ months: [month], days, hours, minutes }, name);
}
