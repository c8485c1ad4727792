import { alertStatuses } from "../../../src/watchdog/alerts/alert-status.ts";
import type { AlertState } from "../../../src/watchdog/alerts/alert-state.ts";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import {
  addCounts,
  type BlockCounts,
  type LedgerView,
  type MonthRecord,
  NO_BLOCKS,
  partOfCounts,
  type Rollup,
} from "../../../src/watchdog/ledger/ledger-view.ts";
import { type WatchdogPageInput, watchdogPages } from "../../../src/watchdog/page/create-page.ts";
import { createPlots } from "../../../src/watchdog/page/validator-plots.ts";
import { assess } from "../../../src/watchdog/policy/assess.ts";
import { SPECIFIED_POLICY } from "../../../src/watchdog/policy/assessment.ts";
import { successRate, tierOf } from "../../../src/watchdog/policy/reward-tier.ts";
import type { SourceStatus, WatchdogStatus } from "../../../src/watchdog/polling/watchdog-status.ts";
import { createManualClock } from "../manual-clock.ts";
import { ledgerViewOf } from "../watchdog/ledger-view.ts";
import { pagesText } from "./page-contents.ts";

/** Time of the scenes: in the 21st day of a month of 30. */
export const SCENE_MS = Date.UTC(2026, 10, 21, 12, 5, 5);
const HOUR = 3_600_000;
const START = Date.UTC(2026, 10, 1);
const RULES = alertsSchema.parse({}).rules;
/** Blocks of an hour at one block in two seconds. */
const BLOCKS = 1_800;

/** What a scene changes in a validator that had no bad block. */
export interface ValidatorScene {
  readonly name?: string;
  /** Share of bad blocks of an hour, counted from the start of the month; "unknown": all are unknown. */
  readonly hour?: (index: number) => number | "unknown" | "none";
  readonly alerts?: readonly AlertState[];
  readonly status?: Partial<WatchdogStatus>;
}

/** A validator and its counts. */
export interface BuiltValidator {
  readonly status: WatchdogStatus;
  readonly ledger: LedgerView;
}

/** Creates the state of an alert. */
export function alertState(
  alert: string,
  phase: AlertState["phase"],
  fields: Partial<AlertState> = {},
): AlertState {
  return {
    validator: "default",
    alert,
    phase,
    sinceMs: SCENE_MS - 75_000,
    lastActiveMs: SCENE_MS,
    reason: "the connection was refused",
    ...fields,
  };
}

const UP: SourceStatus = {
  name: "node",
  node: "node",
  up: true,
  error: "",
  lastSuccessMs: SCENE_MS - 2_000,
  durationMs: 4,
};

/** Builds a validator hour by hour, and assesses it as the watchdog does. */
export function buildValidator({
  name = "default",
  hour = () => 0,
  alerts = [],
  status = {},
}: ValidatorScene): BuiltValidator {
  const shares = Array.from({ length: Math.ceil((SCENE_MS - START) / HOUR) }, (_, index) => hour(index));
  const hours = shares.flatMap((share, index): readonly Rollup[] => {
    if (share === "none") return [];
    const bad = share === "unknown" ? 0 : Math.round(share * BLOCKS);
    const counts: BlockCounts =
      share === "unknown"
        ? { good: 0n, bad: 0n, unknown: BigInt(BLOCKS) }
        : { good: BigInt(BLOCKS - bad), bad: BigInt(bad), unknown: 0n };
    const estimated = index < 20 ? { ...counts, unknown: 0n } : NO_BLOCKS;
    return [{ startMs: START + index * HOUR, counts, estimated }];
  });
  const days = new Map<number, Rollup>();
  for (const { startMs, counts, estimated } of hours) {
    const dayMs = startMs - (startMs % (24 * HOUR));
    const day = days.get(dayMs) ?? { startMs: dayMs, counts: NO_BLOCKS, estimated: NO_BLOCKS };
    days.set(dayMs, {
      ...day,
      counts: addCounts(day.counts, counts),
      estimated: addCounts(day.estimated, estimated),
    });
  }
  const counts = hours.reduce((sum, each) => addCounts(sum, each.counts), NO_BLOCKS);
  const month: MonthRecord = { month: "2026-11", counts, estimated: NO_BLOCKS, coveredFromMs: START };
  const ledger = ledgerViewOf({ months: [month], days: [...days.values()], hours, minutes: [] }, name);
  const rate = successRate(counts);
  const current = {
    month: "2026-11",
    counts,
    estimated: hours.reduce((sum, each) => addCounts(sum, each.estimated), NO_BLOCKS),
    rate,
    tier: rate && tierOf(rate),
    hash: undefined,
  };
  const closed = { ...current, month: "2026-10", hash: "ab".repeat(32) };
  return {
    ledger,
    status: {
      validator: name,
      chainId: "neutron-1",
      startedAtMs: START,
      polledAtMs: SCENE_MS - 2_000,
      current,
      months: [current, closed],
      assessment: assess({ ledger, nowMs: SCENE_MS, policy: SPECIFIED_POLICY, blockTimeMs: 2_000 }),
      prices: "present",
      pairs: ["ATOM/USD", "BTC/USD", "ETH/USD"],
      alerts: alertStatuses(alerts, RULES, ["default"]).map((alert) => ({ ...alert, validator: name })),
      sources: [
        UP,
        { ...UP, name: "prices", durationMs: 3 },
        { ...UP, name: "oracle-metrics", up: false, error: "connection refused", lastSuccessMs: undefined },
        { ...UP, name: "sidecar-metrics" },
      ],
      pending: new Map(),
      deadLetters: new Map(),
      activeSilences: 0,
      ...status,
    },
  };
}

/** A month that began ten minutes ago. */
export interface NewMonth {
  readonly good: number;
  readonly bad: number;
  /** Share of bad blocks of each of the last ten days; absent: the watchdog is new. */
  readonly recent?: number;
  readonly alerts?: readonly AlertState[];
  /** Blocks that the chain still makes. Default: those of a month. */
  readonly remaining?: number;
}

/** Builds a validator of a month of which few blocks are seen. */
export function buildNewMonth({ good, bad, recent, alerts = [], remaining }: NewMonth): BuiltValidator {
  const nowMs = START + 600_000;
  const counts: BlockCounts = { good: BigInt(good), bad: BigInt(bad), unknown: 0n };
  const dayOf = (share: number, index: number): Rollup => {
    const missed = Math.round(share * 24 * BLOCKS);
    const ofDay = { good: BigInt(24 * BLOCKS - missed), bad: BigInt(missed), unknown: 0n };
    return { startMs: START - (index + 1) * 24 * HOUR, counts: ofDay, estimated: NO_BLOCKS };
  };
  const month: MonthRecord = { month: "2026-11", counts, estimated: NO_BLOCKS, coveredFromMs: START };
  const days = recent === undefined ? [] : Array.from({ length: 10 }, (_, index) => dayOf(recent, 9 - index));
  const now = { startMs: START, counts, estimated: NO_BLOCKS };
  const before = days.slice(-3).flatMap(({ startMs, counts: ofDay }) =>
    Array.from({ length: 24 }, (_, hour): Rollup => {
      const ofHour = partOfCounts(ofDay, 1n, 24n);
      return { startMs: startMs + hour * HOUR, counts: ofHour, estimated: NO_BLOCKS };
    }),
  );
  const hours = [...before, now];
  const ledger = ledgerViewOf(
    { months: [month], days: [...days, now], hours, minutes: before.slice(-6) },
    "default",
  );
  const rate = successRate(counts);
  const blockTimeMs = remaining === undefined ? 2_000 : (30 * 24 * HOUR - 600_000) / remaining;
  const base = buildValidator({ alerts });
  const tier = rate && tierOf(rate);
  return {
    ledger,
    status: {
      ...base.status,
      polledAtMs: nowMs,
      current: { month: "2026-11", counts, estimated: NO_BLOCKS, rate, tier, hash: undefined },
      assessment: assess({ ledger, nowMs, policy: SPECIFIED_POLICY, blockTimeMs }),
    },
  };
}

/** Creates the input of the pages. */
export function pageOf(
  validators: readonly BuiltValidator[],
  more: Partial<WatchdogPageInput> = {},
): WatchdogPageInput {
  const ledgerOf = (name: string) => validators.find(({ status }) => status.validator === name)?.ledger;
  const { nowMs = SCENE_MS, history = [] } = more;
  return {
    statuses: validators.map(({ status }) => status),
    ledgerOf,
    plotsOf: createPlots({
      clock: createManualClock(nowMs),
      ledger: ledgerOf,
      storedLedger: ledgerOf,
      alerting: () => ({ history }),
    }),
    silences: [],
    history,
    maintenance: [],
    channels: [{ name: "chat", kind: "slack", acceptedAtMs: SCENE_MS - 3_600_000 }],
    lost: [],
    runbooks: "",
    nowMs,
    pollMs: 18_000,
    ...more,
  };
}

/** Every page of one of the validators, and the common ones, as text. */
export function watchdogText(
  input: WatchdogPageInput,
  validator = input.statuses[0]?.validator ?? "",
): string {
  const paths = ["", "/month", "/chain", "/sources"].map((path) => `/validators/:name${path}`);
  return pagesText(
    watchdogPages(() => input),
    [...paths, "/notifications"],
    { name: validator },
  );
}

/** A validator with a few bad blocks. */
export const HEALTHY: ValidatorScene = {
  hour: (index) => (index % 50 === 7 ? 0.03 : index % 9 === 0 ? 0.004 : 0),
};

/** A validator whose sidecar is down now, after a bad night and a gap. */
export const TROUBLED: ValidatorScene = {
  hour: (index) =>
    index > 489 ? 1 : index > 200 && index < 212 ? 0.6 : index > 300 && index < 306 ? "unknown" : 0.005,
  alerts: [
    alertState("sidecar-down", "firing", {
      reason: "the price sidecar does not respond: connection refused (connect ECONNREFUSED 127.0.0.1:8080)",
    }),
    alertState("oracle-calls-failing", "firing", {
      quietReason: "muted by sidecar-down",
      reason: "100 % of 150 blocks failed",
    }),
    alertState("full-reward-at-risk", "pending", { reason: "the forecast is 97.2 %" }),
    alertState("grpc-closed", "resolved", { resolvedAtMs: SCENE_MS - 60_000, reason: "the port is open" }),
  ],
  status: {
    prices: "unknown",
    pairs: [],
    sources: [
      UP,
      { ...UP, name: "prices", up: false, error: "connection refused", lastSuccessMs: SCENE_MS - 80_000 },
    ],
    pending: new Map([["pagerduty", 1]]),
    deadLetters: new Map(),
  },
};

/** A validator whose month is below both boundaries, whatever happens. */
export const LOST: ValidatorScene = {
  hour: (index) => (index > 100 && index < 160 ? 1 : 0.01),
  alerts: [
    alertState("any-reward-lost", "firing", { reason: "the month is 52000 blocks below the boundary" }),
  ],
};

/** Many validators: most are paid, some are in trouble, some have lost the month. */
export function fleetOf(count: number): WatchdogPageInput {
  return pageOf(
    Array.from({ length: count }, (_, index) => {
      const scene = index % 11 === 3 ? TROUBLED : index % 13 === 6 ? LOST : HEALTHY;
      return buildValidator({ ...scene, name: `validator-${index + 1}` });
    }),
  );
}
