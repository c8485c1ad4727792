import { type AlertState, advanceAlert } from "../../watchdog/alerts/alert-state.ts";
import type { AlertRule, Verdict } from "../../watchdog/conditions/condition.ts";
import { judgeAll } from "../../watchdog/conditions/conditions.ts";
import { REWARD_CONDITIONS } from "../../watchdog/conditions/reward-conditions.ts";
import { EMPTY_TRAIL } from "../../watchdog/conditions/trail.ts";
import type { Rollup } from "../../watchdog/ledger/ledger-view.ts";
import { type Month, monthStartMs, nextMonthMs } from "../../watchdog/ledger/month.ts";
import { assess } from "../../watchdog/policy/assess.ts";
import { pastView } from "./past-view.ts";
import type { ValidatorData } from "./validator-data.ts";

/** An alert that the rules would have raised. */
export interface PastAlert {
  readonly validator: string;
  readonly alert: string;
  readonly title: string;
  readonly severity: string;
  readonly firedAtMs: number;
  /** Undefined: it still fired at the end of the month. */
  readonly resolvedAtMs: number | undefined;
  /** Misses of the month when it fired. */
  readonly misses: bigint;
  readonly reason: string;
  /** Name of a firing alert that mutes it; undefined: somebody would have been notified. */
  readonly mutedBy: string | undefined;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NOT_SEEN = { state: "not-configured" } as const;

/** Names of the conditions that a ledger alone can judge: those of rate, pay and rotation. */
const JUDGED: ReadonlySet<string> = new Set(REWARD_CONDITIONS.map(({ name }) => name));

/**
 * Judges the rules of rate, pay and rotation on the kept hours of a month. Each hour has one verdict; `for` and
 * `resolve_for` count in minutes. Conditions of nodes and sidecars need what was not kept.
 */
export function backtest(
  data: ValidatorData,
  month: Month,
  rules: readonly AlertRule[],
): readonly PastAlert[] {
  const judged = rules.filter(({ condition }) => JUDGED.has(condition.name));
  const fromMs = monthStartMs(month);
  const toMs = nextMonthMs(fromMs);
  const hours = data.ledger.hours(fromMs - 72 * HOUR_MS, toMs);
  const replay = createReplay(data, judged);
  for (const hour of hours) if (hour.startMs >= fromMs) replay.step(hour, hours);
  return replay.alerts();
}

interface Replay {
  readonly step: (hour: Rollup, hours: readonly Rollup[]) => void;
  readonly alerts: () => readonly PastAlert[];
}

function createReplay(data: ValidatorData, rules: readonly AlertRule[]): Replay {
  const states = new Map<string, AlertState>();
  const alerts: PastAlert[] = [];
  const openOf = new Map<string, number>();
  const advance = (rule: AlertRule, verdict: Verdict, nowMs: number, misses: bigint): void => {
    const { name } = rule.condition;
    const before = states.get(name);
    const timing = { nowMs, gapMs: MINUTE_MS, forMs: rule.forMs, resolveForMs: rule.resolveForMs };
    const created = { validator: data.ledger.validator, alert: name, badBlocksBefore: misses };
    const after = advanceAlert(before, verdict, timing, created);
    if (after === undefined) states.delete(name);
    else states.set(name, after);
    if (after?.phase === "firing" && before?.phase !== "firing") {
      openOf.set(name, alerts.length);
      alerts.push(
        firedAlert(data, rule, {
          reason: verdict.reason,
          nowMs,
          misses,
          mutedBy: muterOf(name, rules, states),
        }),
      );
    }
    const open = openOf.get(name);
    const entry = open === undefined ? undefined : alerts[open];
    if (open === undefined || entry === undefined || after?.phase === "firing") return;
    alerts[open] = { ...entry, resolvedAtMs: nowMs };
    openOf.delete(name);
  };
  return {
    step: (hour, hours) => {
      const endMs = hour.startMs + HOUR_MS;
      const { verdicts, misses } = judgeHour(data, rules, hour, hours);
      for (let nowMs = hour.startMs + MINUTE_MS; nowMs <= endMs; nowMs += MINUTE_MS)
        for (const rule of rules) {
          const verdict = verdicts.get(rule.condition.name);
          if (verdict !== undefined) advance(rule, verdict, nowMs, misses);
        }
    },
    alerts: () => alerts,
  };
}

function firedAlert(
  data: ValidatorData,
  { condition, severity }: AlertRule,
  fired: Pick<PastAlert, "reason" | "misses" | "mutedBy"> & { readonly nowMs: number },
): PastAlert {
  const { nowMs: firedAtMs, ...rest } = fired;
  const { name: alert, title } = condition;
  return {
    ...rest,
    validator: data.ledger.validator,
    alert,
    title,
    severity,
    firedAtMs,
    resolvedAtMs: undefined,
  };
}

/** Name of a firing alert that inhibits this one. */
function muterOf(
  name: string,
  rules: readonly AlertRule[],
  states: ReadonlyMap<string, AlertState>,
): string | undefined {
  return rules.find(
    ({ condition }) => condition.inhibits.includes(name) && states.get(condition.name)?.phase === "firing",
  )?.condition.name;
}

function judgeHour(
  { ledger, policy, assessment }: ValidatorData,
  rules: readonly AlertRule[],
  hour: Rollup,
  hours: readonly Rollup[],
): { readonly verdicts: ReadonlyMap<string, Verdict>; readonly misses: bigint } {
  const nowMs = hour.startMs + HOUR_MS;
  // One millisecond before the end: the end of the last hour belongs to the next month.
  const past = assess({
    ledger: pastView(ledger, hours, nowMs),
    nowMs: nowMs - 1,
    policy,
    blockTimeMs: assessment.blockTimeMs,
  });
  const verdicts = judgeAll(rules, {
    observation: {
      validator: ledger.validator,
      atMs: nowMs,
      nodes: [],
      chain: { head: NOT_SEEN, validator: NOT_SEEN, prices: NOT_SEEN, revenue: NOT_SEEN },
    },
    trail: EMPTY_TRAIL,
    // Minutes are not kept: the mean of the hour takes their place.
    recent: { "5m": hour.counts, "30m": hour.counts },
    assessment: past,
    majorPairs: [],
  });
  return { verdicts, misses: past.counts.bad };
}
