import { HOUR_MS, MINUTE_MS } from "../../platform/base/time.ts";
import type { LedgerEvent, Rollup } from "../ledger/ledger-view.ts";
import type { AlertEpisode } from "./validator-data.ts";

/** Time with many bad blocks. */
export interface Incident {
  readonly fromMs: number;
  readonly toMs: number;
  readonly bad: bigint;
  readonly cause: string;
}

/** Bad blocks with one cause. */
export interface CauseCount {
  readonly cause: string;
  readonly bad: bigint;
}

/** Share of bad blocks that makes an hour part of an incident: the budget of the full tier is 2 %. */
const INCIDENT_PERCENT = 2n;

/** Cause of bad blocks in hours without an alert. */
export const NO_ALERT = "no alert";

/** What explains bad blocks. */
export interface Explanations {
  readonly alerts: readonly AlertEpisode[];
  readonly events: readonly LedgerEvent[];
}

/** Joins consecutive hours with at least 2 % bad blocks. Oldest first. */
export function incidentsOf(hours: readonly Rollup[], explanations: Explanations): readonly Incident[] {
  const incidents: Incident[] = [];
  for (const { startMs, counts } of hours) {
    const { good, bad } = counts;
    if (bad === 0n || bad * 100n < INCIDENT_PERCENT * (good + bad)) continue;
    const last = incidents.at(-1);
    const endMs = startMs + HOUR_MS;
    if (last?.toMs === startMs)
      incidents[incidents.length - 1] = { ...last, toMs: endMs, bad: last.bad + bad };
    else incidents.push({ fromMs: startMs, toMs: endMs, bad, cause: "" });
  }
  return incidents.map((incident) => ({ ...incident, cause: causeOf(incident, explanations) }));
}

/**
 * Assigns the bad blocks of every hour to one cause; those of an hour whose minutes are known, minute by minute. Greatest count
 * first.
 */
export function causesOf(
  hours: readonly Rollup[],
  explanations: Explanations,
  minutes: readonly Rollup[] = [],
): readonly CauseCount[] {
  const sums = new Map<string, bigint>();
  const add = ({ startMs, counts }: Rollup, spanMs: number): void => {
    if (counts.bad === 0n) return;
    const cause = causeOf({ fromMs: startMs, toMs: startMs + spanMs }, explanations);
    sums.set(cause, (sums.get(cause) ?? 0n) + counts.bad);
  };
  for (const hour of hours) {
    const own = minutes.filter(({ startMs }) => startMs >= hour.startMs && startMs < hour.startMs + HOUR_MS);
    const isWhole = own.reduce((sum, { counts }) => sum + counts.bad, 0n) === hour.counts.bad;
    if (isWhole) for (const minute of own) add(minute, MINUTE_MS);
    else add(hour, HOUR_MS);
  }
  return [...sums]
    .map(([cause, bad]) => ({ cause, bad }))
    .toSorted((a, b) => (a.bad === b.bad ? (a.cause < b.cause ? -1 : 1) : a.bad > b.bad ? -1 : 1));
}

/**
 * The cause of what happened in a range: of the alerts that overlap it, the first one that no other of them causes. Without
 * an alert, an event of the node or the watchdog.
 */
function causeOf(
  range: { readonly fromMs: number; readonly toMs: number },
  { alerts, events }: Explanations,
): string {
  const overlapping = alerts.filter(
    ({ sinceMs, resolvedAtMs }) => sinceMs < range.toMs && (resolvedAtMs ?? Infinity) > range.fromMs,
  );
  const caused = new Set(overlapping.flatMap(({ inhibits }) => inhibits));
  const root = overlapping.find(({ alert }) => !caused.has(alert)) ?? overlapping[0];
  if (root !== undefined) return root.alert;
  const event = events.find(
    ({ kind, fromMs, toMs }) => EXPLAINING.has(kind) && fromMs < range.toMs && toMs >= range.fromMs,
  );
  return event?.kind ?? NO_ALERT;
}

const EXPLAINING: ReadonlySet<string> = new Set([
  "node-restart",
  "sidecar-restart",
  "gap",
  "halt",
  "two-nodes",
]);
