import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../platform/base/time.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import { type Month, monthOf } from "../../platform/base/month.ts";
import { type LedgerEvent, NO_BLOCKS } from "../ledger/ledger-view.ts";
import type { Assessment, Policy } from "../policy/assessment.ts";
import { type Cost, costView } from "../policy/cost-text.ts";
import { closedMonth, type CostedMonth, costOf } from "../policy/cost.ts";
import { jsonView, words } from "../../platform/http/json-view.ts";
import { byBegin, isSymptom, NO_CAUSE, piecesOf, SCATTERED } from "./miss-causes.ts";
import type { ExplainingAlert, Incident, IncidentSource } from "./miss-causes.ts";

/** Unexplained bad blocks within this time before or after an incident are added to the incident. */
const BESIDE_MS = MINUTE_MS;

/**
 * Returns the incidents in [fromMs, toMs), oldest first, followed by one incident per month for the month's scattered blocks. The
 * incidents' blocks add up to the bad blocks in the hourly rollups. An incident never spans two months. An incident ends after
 * `quietMs` without bad blocks, or when another cause takes over.
 */
export function incidentsOf(source: IncidentSource, fromMs: number, toMs: number): readonly Incident[] {
  const { ledger, policy } = source;
  const minutes = ledger.minutes(Math.floor(fromMs / HOUR_MS) * HOUR_MS, toMs);
  const pieces = piecesOf(source, minutes, fromMs, toMs);
  const { quietMs } = policy;
  const known = sequence(
    pieces.filter(({ cause }) => cause !== NO_CAUSE && cause !== SCATTERED),
    quietMs,
  );
  const dense = pieces.filter(({ cause }) => cause === NO_CAUSE);
  const single = pieces.filter(({ cause }) => cause === SCATTERED);
  // Extend incidents over adjacent runs of misses, but not over single misses, which are common on a busy machine.
  const before = claim(dense.toReversed(), known, joined).toReversed();
  const runs = sequence(claim(before, known, joined), quietMs);
  const all = [...known, ...runs].toSorted(byBegin);
  const scattered = claim(single, all, (one, { bad }) => ({ ...one, bad: one.bad + bad }));
  const events = ledger.events(fromMs, toMs);
  // Only minutes with blocks can end an incident, so ignore the time after the last minute rollup. Minutes are stored for 12 hours.
  const minute = minutes.at(-1);
  const seenMs = minute === undefined ? toMs : Math.min(toMs, minute.startMs + MINUTE_MS);
  const incidents = withEnds(all, events, { quietMs, toMs: seenMs });
  return [...incidents, ...scatteredOf(scattered)];
}

/** Merges each of `pieces` into an adjacent incident of `incidents`, in place, and returns the pieces without an adjacent incident. */
function claim(
  pieces: readonly Incident[],
  incidents: Incident[],
  add: (incident: Incident, piece: Incident) => Incident,
): readonly Incident[] {
  return pieces.filter((piece) => {
    const index = incidents.findIndex((one) => isBeside(one, piece));
    const found = incidents[index];
    if (found !== undefined) incidents[index] = add(found, piece);
    return found === undefined;
  });
}

/** Joins two consecutive lists, and merges incidents that continue from `past` into `recent`. Also merges each month's scattered blocks. */
export function joinIncidents(
  past: readonly Incident[],
  recent: readonly Incident[],
  quietMs: number,
  nowMs: number,
): readonly Incident[] {
  const all = [...past, ...recent];
  const incidents = sequence(
    all.filter(({ cause }) => cause !== SCATTERED),
    quietMs,
  );
  // Incidents that were ongoing at the end of `past` may have ended since.
  return [
    ...withEnds(incidents, [], { quietMs, toMs: nowMs }),
    ...scatteredOf(all.filter(({ cause }) => cause === SCATTERED)),
  ];
}

/** Fills in the `end` text of incidents without an `end`. The text remains undefined while an incident is ongoing. */
function withEnds(
  incidents: readonly Incident[],
  events: readonly LedgerEvent[],
  seen: SeenTime,
): readonly Incident[] {
  return incidents.map((one, index) => ({
    ...one,
    end: one.end ?? endOf(one, incidents[index + 1], events, seen),
  }));
}

/** An incident is over if it is followed by `quietMs` without bad blocks. Blocks are known up to `toMs`. */
interface SeenTime {
  readonly quietMs: number;
  readonly toMs: number;
}

/** Merges consecutive incidents in `parts` that have the same cause and month and are less than `quietMs` apart. */
function sequence(parts: readonly Incident[], quietMs: number): Incident[] {
  const all: Incident[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    const continues =
      last?.cause === part.cause && part.fromMs - last.toMs < quietMs && part.month === last.month;
    if (last !== undefined && continues) all[all.length - 1] = joined(last, part);
    else all.push(part);
  }
  return all;
}

function isBeside(incident: Incident, piece: Incident): boolean {
  return (
    incident.month === piece.month &&
    piece.toMs - piece.fromMs <= BESIDE_MS &&
    piece.fromMs <= incident.toMs + BESIDE_MS &&
    piece.toMs >= incident.fromMs - BESIDE_MS
  );
}

function joined(a: Incident, b: Incident): Incident {
  return {
    ...a,
    fromMs: Math.min(a.fromMs, b.fromMs),
    toMs: Math.max(a.toMs, b.toMs),
    bad: a.bad + b.bad,
    blocks: spanOf(a.blocks, b.blocks),
    end: b.end,
  };
}

/** Returns the block range that contains both ranges; undefined if either range is unknown. */
function spanOf(a: Incident["blocks"], b: Incident["blocks"]): Incident["blocks"] {
  return a && b && { from: minInt(a.from, b.from), to: maxInt(a.to, b.to) };
}

/** Merges each month's scattered blocks into one incident, which has no `end` text. */
function scatteredOf(parts: readonly Incident[]): readonly Incident[] {
  return sequence(
    parts.map(({ fromMs, toMs, month, bad, cause }): Incident => ({ fromMs, toMs, month, bad, cause })),
    Infinity,
  );
}

/** A restart within this time of an incident's last bad block is reported as the end of the incident. */
const RESTART_MS = 2 * MINUTE_MS;

const RESTARTS: Readonly<Partial<Record<LedgerEvent["kind"], string>>> = {
  "sidecar-restart": "sidecar restart",
  "node-restart": "node restart",
};

function endOf(
  { toMs: lastMs, cause }: Incident,
  next: Incident | undefined,
  events: readonly LedgerEvent[],
  { quietMs, toMs }: SeenTime,
): string | undefined {
  if (next !== undefined && next.fromMs - lastMs < quietMs) return `${next.cause} took over`;
  if (toMs - lastMs < quietMs) return undefined;
  const restart = events.find(
    (event) =>
      RESTARTS[event.kind] !== undefined &&
      event.kind !== cause &&
      Math.abs(event.toMs - lastMs) <= RESTART_MS,
  );
  return (restart && RESTARTS[restart.kind]) ?? "good blocks";
}

/** Returns the cost of an alert's incidents so far this month; undefined if the alert is not about missed votes. */
export function alertCost(
  source: IncidentSource,
  month: CostedMonth,
  { alert, sinceMs }: Pick<ExplainingAlert, "alert" | "sinceMs">,
  nowMs: number,
): Cost | undefined {
  if (isSymptom(alert)) return undefined;
  const { quietMs } = source.policy;
  // The incident may have begun before the alert, if there were no good minutes in between.
  const begun = incidentsOf(source, sinceMs - HOUR_MS, nowMs + 1);
  const own = begun.filter(
    (one) => one.cause === alert && one.toMs > sinceMs - quietMs && one.month === monthOf(nowMs),
  );
  const bad = own.reduce((sum, one) => sum + one.bad, 0n);
  return { ...costOf(month, bad), ...(own[0] && { sinceMs: own[0].fromMs }) };
}

/**
 * Returns the start time of a shift report's data. The data starts at least a day before the shift, so that the report shows
 * ongoing incidents from their start.
 */
export function shiftDataFromMs(fromMs: number): number {
  return Math.floor((fromMs - DAY_MS) / HOUR_MS) * HOUR_MS;
}

export type CostedIncident = Incident & { readonly cost: Cost };

export interface CostSource extends IncidentSource {
  readonly policy: Policy;
  /** The current month's assessment; if absent, costs in the current month are computed as for a closed month. */
  readonly assessment?: Assessment | undefined;
}

/** Returns the data needed to compute the cost of blocks in the given month. */
export function costedMonth({ ledger, policy, assessment }: CostSource, month: Month): CostedMonth {
  if (assessment?.month === month) return assessment;
  const record = ledger.months().find((one) => one.month === month);
  return closedMonth(policy, record?.counts ?? NO_BLOCKS);
}

/** Adds to each incident the cost of its bad blocks in the incident's month. */
export function withCosts(source: CostSource, incidents: readonly Incident[]): readonly CostedIncident[] {
  const monthsOf = new Map<Month, CostedMonth>();
  return incidents.map((incident) => {
    const { month, bad } = incident;
    const costed = monthsOf.get(month) ?? costedMonth(source, month);
    monthsOf.set(month, costed);
    return { ...incident, cost: costOf(costed, bad) };
  });
}

const heightsView = jsonView<{ readonly from: bigint; readonly to: bigint }>(({ integer }) => ({
  from: integer(({ from }) => from),
  to: integer(({ to }) => to),
}));

export const incidentView = jsonView<CostedIncident>(({ value, orNull, time, part, partOrNull }) => ({
  from: time(({ fromMs }) => fromMs),
  to: time(({ toMs }) => toMs),
  blocks: partOrNull(heightsView, ({ blocks }) => blocks),
  cause: value(words, ({ cause }) => cause),
  end: orNull(words, ({ end }) => end),
  cost: part(costView, ({ cost }) => cost),
}));
