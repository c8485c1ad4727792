import { MINUTE_MS } from "../../platform/base/time.ts";
import type { LedgerSource, LedgerView, Rollup } from "../ledger/ledger-view.ts";
import type { MissRange } from "../ledger/miss-ranges.ts";
import type { Policy } from "../policy/assessment.ts";
import {
  costedIncidents,
  type CostedIncident,
  type ExplainingAlert,
  explanationsOf,
} from "../alerts/incidents.ts";
import { COMPONENT_SOURCES } from "./status-page-config.ts";

/** Incidents and counts of a range of days. */
export interface PublicHistory {
  readonly days: ReadonlyMap<LedgerSource, readonly Rollup[]>;
  /** Oldest first. */
  readonly incidents: readonly CostedIncident[];
}

/** What a history is read from. */
export interface HistorySource {
  readonly ledger: LedgerView;
  readonly policy: Policy;
  readonly alerts: readonly ExplainingAlert[];
}

/** No day and no incident. */
export const NO_HISTORY: PublicHistory = { days: new Map(), incidents: [] };

/** Shorter halts and gaps are no incidents. */
const LEAST_EVENT_MS = 5 * MINUTE_MS;

/** Reads the history of [fromMs, toMs): times with many bad blocks, and halts and gaps beside them. */
export function readHistory(source: HistorySource, fromMs: number, toMs: number): PublicHistory {
  const { ledger, alerts } = source;
  const hours = ledger.hours(fromMs, toMs);
  const explanations = explanationsOf(ledger, alerts, fromMs, toMs);
  const costed = costedIncidents(source, hours, explanations).flatMap((one) =>
    splitIncident(one, explanations.misses),
  );
  const events = ledger.events(fromMs, toMs).flatMap((event): readonly CostedIncident[] => {
    const { kind } = event;
    const begin = event.fromMs;
    if ((kind !== "halt" && kind !== "gap") || begin < fromMs || event.toMs - begin < LEAST_EVENT_MS)
      return [];
    const isKnown = costed.some((one) => one.fromMs < event.toMs && begin < one.toMs);
    return isKnown ? [] : [{ fromMs: begin, toMs: event.toMs, bad: 0n, cause: kind, costCents: 0n }];
  });
  return {
    days: new Map(
      Object.values(COMPONENT_SOURCES).map((name) => [name, ledger.days(fromMs, toMs, name)] as const),
    ),
    incidents: [...costed, ...events].toSorted((a, b) => a.fromMs - b.fromMs),
  };
}

/** Time without a bad block that ends an incident. */
const QUIET_MS = 2 * MINUTE_MS;

/** Reports join the outages of consecutive hours. Splits them where blocks were good in between, as far as the blocks are known. */
function splitIncident(incident: CostedIncident, misses: readonly MissRange[]): readonly CostedIncident[] {
  const own = misses.filter(({ fromMs, toMs }) => fromMs < incident.toMs && toMs > incident.fromMs);
  const known = own.reduce((sum, { bad }) => sum + bad, 0n);
  const runs: MissRange[][] = [];
  for (const range of own) {
    const last = runs.at(-1);
    const before = last?.at(-1);
    if (last === undefined || before === undefined || range.fromMs - before.toMs > QUIET_MS)
      runs.push([range]);
    else last.push(range);
  }
  if (known !== incident.bad || runs.length < 2) return [incident];
  return runs.map((run) => {
    const bad = run.reduce((sum, range) => sum + range.bad, 0n);
    return {
      fromMs: run[0]?.fromMs ?? incident.fromMs,
      toMs: run.at(-1)?.toMs ?? incident.toMs,
      bad,
      cause: incident.cause,
      costCents: (incident.costCents * bad) / incident.bad,
      ...(incident.currency === undefined ? {} : { currency: incident.currency }),
    };
  });
}

/** Time between the end of one and the begin of the next part of an incident that ranges over the cut. */
const JOIN_MS = MINUTE_MS;

/** Joins the histories before and after a time. An incident that ranges over it is one. */
export function joinHistories(past: PublicHistory, recent: PublicHistory): PublicHistory {
  const sources = new Set([...past.days.keys(), ...recent.days.keys()]);
  const days = new Map(
    [...sources].map((source) => [
      source,
      [...(past.days.get(source) ?? []), ...(recent.days.get(source) ?? [])],
    ]),
  );
  const last = past.incidents.at(-1);
  const [first, ...rest] = recent.incidents;
  if (last === undefined || first === undefined || !continues(last, first))
    return { days, incidents: [...past.incidents, ...recent.incidents] };
  const joined = {
    ...last,
    toMs: first.toMs,
    bad: last.bad + first.bad,
    costCents: last.costCents + first.costCents,
  };
  return { days, incidents: [...past.incidents.slice(0, -1), joined, ...rest] };
}

function continues(last: CostedIncident, next: CostedIncident): boolean {
  return last.cause === next.cause && next.fromMs - last.toMs <= JOIN_MS;
}
