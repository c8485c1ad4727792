import { backtest } from "../../../../src/watchdog/report/backtest.ts";
import { alertsSchema } from "../../../../src/watchdog/conditions/alerts-config.ts";
import { CONDITIONS } from "../../../../src/watchdog/conditions/conditions.ts";
import { GRACE_MS, type PastInput } from "../../../../src/watchdog/conditions/condition.ts";
import { monthStartMs } from "../../../../src/platform/base/month.ts";
import { assess } from "../../../../src/watchdog/policy/assess.ts";
import { SPECIFIED_POLICY } from "../../../../src/watchdog/policy/assessment.ts";
import { openLedgerFile } from "../../../../src/watchdog/state/sqlite-state.ts";
import { readResult } from "./result.ts";

const MONTH = "2026-10";
const END_MS = monthStartMs("2026-11");
const BLOCK_MS = 6000;

/** An alert with its times: first active, firing, end. */
export interface TimedAlert {
  readonly alert: string;
  readonly times: readonly [number, number, number];
}

/** One validator's alerts of the month that the store can evaluate: as they were raised, and as a backtest finds them. */
export interface Backtested {
  readonly name: string;
  readonly live: readonly TimedAlert[];
  readonly tested: readonly TimedAlert[];
}

/** Evaluates the month on the store that a replay left, and reads what the watchdog raised then. */
export function backtestReplay(folder: string, intervalMs: number): readonly Backtested[] {
  const { rules } = alertsSchema.parse({});
  const results = readResult(folder);
  const file = openLedgerFile(folder);
  const found = results.map(({ name, alerts }): Backtested => {
    const ledger = file.view(name);
    if (ledger === undefined) throw new Error(`the store has no ${name}`);
    const assessment = assess({ ledger, nowMs: END_MS - 1, policy: SPECIFIED_POLICY, blockTimeMs: BLOCK_MS });
    const data = { ledger, policy: SPECIFIED_POLICY, assessment, alerts: [] };
    const live = alerts.filter(
      ({ alert, firedAtMs }) => isEvaluated(alert) && firedAtMs >= monthStartMs(MONTH) && firedAtMs < END_MS,
    );
    return {
      name,
      live: sorted(live),
      tested: sorted(backtest(data, MONTH, { rules, graceMs: GRACE_MS, intervalMs })),
    };
  });
  file.close();
  return found;
}

/** What the store has of a condition's input. */
export function pastInput(alert: string): PastInput | undefined {
  return CONDITIONS.find(({ name }) => name === alert)?.past;
}

function isEvaluated(alert: string): boolean {
  return typeof pastInput(alert) === "string";
}

/** In an order in which both lists agree; what fires at the end of the month ends with it. */
function sorted(
  alerts: readonly {
    readonly alert: string;
    readonly sinceMs: number;
    readonly firedAtMs: number;
    readonly resolvedAtMs?: number | undefined;
  }[],
): readonly TimedAlert[] {
  return alerts
    .map(({ alert, sinceMs, firedAtMs, resolvedAtMs = END_MS }): TimedAlert => {
      return { alert, times: [sinceMs, firedAtMs, Math.min(resolvedAtMs, END_MS)] };
    })
    .toSorted((a, b) => (a.alert === b.alert ? a.times[0] - b.times[0] : a.alert < b.alert ? -1 : 1));
}
