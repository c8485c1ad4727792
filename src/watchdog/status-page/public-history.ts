import { monthOf } from "../../platform/base/month.ts";
import { MINUTE_MS } from "../../platform/base/time.ts";
import type { LedgerSource, Rollup } from "../ledger/ledger-view.ts";
import { incidentsOf, joinIncidents } from "../alerts/incidents.ts";
import { type Incident, type IncidentSource, SCATTERED } from "../alerts/miss-causes.ts";
import { COMPONENT_SOURCES } from "./status-page-config.ts";

export interface PublicHistory {
  readonly days: ReadonlyMap<LedgerSource, readonly Rollup[]>;
  /** Oldest first. */
  readonly incidents: readonly Incident[];
}

export const NO_HISTORY: PublicHistory = { days: new Map(), incidents: [] };

/** Halts and gaps shorter than this are not incidents. */
const LEAST_EVENT_MS = 5 * MINUTE_MS;

/** Reads the history in [fromMs, toMs): incidents, plus halts and gaps. Scattered blocks are not incidents for the public. */
export function readHistory(source: IncidentSource, fromMs: number, toMs: number): PublicHistory {
  const { ledger } = source;
  const incidents = incidentsOf(source, fromMs, toMs).filter(({ cause }) => cause !== SCATTERED);
  const events = ledger.events(fromMs, toMs).flatMap((event): readonly Incident[] => {
    const { kind } = event;
    const begin = event.fromMs;
    if ((kind !== "halt" && kind !== "gap") || begin < fromMs || event.toMs - begin < LEAST_EVENT_MS)
      return [];
    const isKnown = incidents.some((one) => one.fromMs < event.toMs && begin < one.toMs);
    return isKnown ? [] : [{ fromMs: begin, toMs: event.toMs, month: monthOf(begin), bad: 0n, cause: kind }];
  });
  return {
    days: new Map(
      Object.values(COMPONENT_SOURCES).map((name) => [name, ledger.days(fromMs, toMs, name)] as const),
    ),
    incidents: [...incidents, ...events].toSorted((a, b) => a.fromMs - b.fromMs),
  };
}

/** Joins the histories before and after a given time. The two parts of an incident that spans it become one. */
export function joinHistories(
  past: PublicHistory,
  recent: PublicHistory,
  quietMs: number,
  nowMs: number,
): PublicHistory {
  const sources = new Set([...past.days.keys(), ...recent.days.keys()]);
  const days = new Map(
    [...sources].map((source) => [
      source,
      [...(past.days.get(source) ?? []), ...(recent.days.get(source) ?? [])],
    ]),
  );
  return { days, incidents: joinIncidents(past.incidents, recent.incidents, quietMs, nowMs) };
}
