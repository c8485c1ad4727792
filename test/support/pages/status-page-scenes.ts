import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/platform/base/time.ts";
import {
  addCounts,
  type BlockCounts,
  type LedgerEvent,
  type LedgerView,
  NO_BLOCKS,
  type Rollup,
} from "../../../src/watchdog/ledger/ledger-view.ts";
import type { PastAlert } from "../../../src/watchdog/alerts/alert-state.ts";
import { firstDayMs } from "../../../src/watchdog/status-page/public-days.ts";
import { ledgerViewOf, monthRecord } from "../watchdog/ledger-view.ts";
import { SCENE_MS } from "./watchdog-scenes.ts";

/** Blocks of an hour at one block in two seconds. */
const BLOCKS = 1_800n;

/** Result of all blocks of an hour but a share: `[bad, unknown]` of a hundred. Undefined: no block was counted. */
type HourShares = readonly [bad: bigint, unknown: bigint] | undefined;

/** What a ledger of the last 90 days has. */
export interface LedgerScene {
  readonly name?: string;
  /** `day` is 0 for the first of the 90 days and 89 for the present one. */
  readonly hour?: (day: number, hour: number) => HourShares;
  readonly coveredFromMs?: number;
  readonly events?: readonly LedgerEvent[];
}

/** Builds counts hour by hour up to the time of the scene. */
export function ledgerScene({
  name = "default",
  hour = () => [0n, 0n],
  coveredFromMs = 0,
  events = [],
}: LedgerScene = {}): LedgerView {
  const fromMs = firstDayMs(SCENE_MS);
  const hours: Rollup[] = [];
  const days = new Map<number, Rollup>();
  for (let startMs = fromMs; startMs <= SCENE_MS; startMs += HOUR_MS) {
    const day = Math.floor((startMs - fromMs) / DAY_MS);
    const shares = hour(day, (startMs % DAY_MS) / HOUR_MS);
    if (shares === undefined) continue;
    const counts = countsOf(shares);
    hours.push({ startMs, counts, estimated: NO_BLOCKS });
    const dayMs = fromMs + day * DAY_MS;
    const before = days.get(dayMs)?.counts ?? NO_BLOCKS;
    days.set(dayMs, { startMs: dayMs, counts: addCounts(before, counts), estimated: NO_BLOCKS });
  }
  const last = hours.at(-1)?.counts ?? NO_BLOCKS;
  const minutes = [0, 1, 2, 3, 4, 5].map((minute) => ({
    startMs: Math.floor(SCENE_MS / MINUTE_MS - minute) * MINUTE_MS,
    counts: { good: last.good / 60n, bad: last.bad / 60n, unknown: last.unknown / 60n },
    estimated: NO_BLOCKS,
  }));
  const month = hours.filter(({ startMs }) => startMs >= Date.UTC(2026, 10, 1));
  const sum = month.reduce((total, { counts }) => addCounts(total, counts), NO_BLOCKS);
  return ledgerViewOf(
    {
      months: [monthRecord("2026-11", sum.good, sum.bad, { coveredFromMs })],
      days: [...days.values()],
      hours,
      minutes: minutes.toReversed(),
      events,
    },
    name,
  );
}

function countsOf([bad, unknown]: readonly [bigint, bigint]): BlockCounts {
  return {
    good: (BLOCKS * (100n - bad - unknown)) / 100n,
    bad: (BLOCKS * bad) / 100n,
    unknown: (BLOCKS * unknown) / 100n,
  };
}

/** An alert that fired, and why: its reason names what the public must not see. */
export function pastAlert(alert: string, sinceMs: number, resolvedAtMs?: number): PastAlert {
  return {
    validator: "default",
    alert,
    severity: "critical",
    title: alert,
    sinceMs,
    firedAtMs: sinceMs + 60_000,
    reason: "the connection to 10.77.0.8:8080 was refused",
    ...(resolvedAtMs === undefined ? {} : { resolvedAtMs }),
  };
}

/**
 * Counting began on day 10. Day 20 has an outage of two hours, day 40 lost 3 % of its blocks, days 50 and 51 are not known, of day 60 a
 * third is not known, and on day 70 an outage ranges over midnight.
 */
export const EVENTFUL: LedgerScene = {
  coveredFromMs: firstDayMs(SCENE_MS) + 10 * DAY_MS,
  hour: (day, hour) => {
    if (day < 10) return undefined;
    if (day === 20 && (hour === 3 || hour === 4)) return [100n, 0n];
    if (day === 40) return [3n, 0n];
    if (day === 50 || day === 51) return [0n, 100n];
    if (day === 60 && hour < 8) return [0n, 100n];
    if ((day === 70 && hour === 23) || (day === 71 && hour === 0)) return [100n, 0n];
    return [0n, 0n];
  },
};

/** The alerts of {@link EVENTFUL}. */
export const EVENTFUL_ALERTS: readonly PastAlert[] = [
  pastAlert("sidecar-down", dayAt(20) + 3 * HOUR_MS, dayAt(20) + 5 * HOUR_MS),
  pastAlert("oracle-calls-failing", dayAt(70) + 23 * HOUR_MS, dayAt(71) + HOUR_MS),
];

function dayAt(day: number): number {
  return firstDayMs(SCENE_MS) + day * DAY_MS;
}
