import { MAX_VERSION, readingOf } from "../sources/observation.ts";
import type { NodeObservation, Observation, RevenueParams, RevenueReading } from "../sources/observation.ts";
import type { Month } from "../../platform/base/month.ts";
import { isRecord, stringifyJson } from "../../platform/base/json.ts";
import { ascending } from "../../platform/base/order.ts";
import { counted, stepText } from "../../platform/base/text.ts";
import { START_TOLERANCE_MS } from "../sources/sample-values.ts";
import type { BlockCounts, LedgerEvent } from "./ledger-view.ts";
import { type Baseline, CLOCK_TOLERANCE_MS, type LedgerStep } from "./counter-state.ts";
import type { SourceCounting, SourceLedger } from "./source-ledger.ts";

/** An event with its id; ids are consecutive numbers. */
export interface StoredEvent extends LedgerEvent {
  readonly id: number;
}

/** A ledger's recent events, oldest first, and the id of the next event. */
export interface EventList {
  readonly recent: readonly StoredEvent[];
  readonly nextId: number;
}

export const NO_EVENTS: EventList = { recent: [], nextId: 1 };

/** Maximum number of events in memory; the state file contains all events. */
export const MAX_RECENT_EVENTS = 200;

export function addEvents(list: EventList, events: readonly LedgerEvent[]): EventList {
  if (events.length === 0) return list;
  const added = events.map((event, index) => ({ ...event, id: list.nextId + index }));
  return {
    recent: [...list.recent, ...added].slice(-MAX_RECENT_EVENTS),
    nextId: list.nextId + events.length,
  };
}

/** Updates the end time and the text of an ongoing event, such as a halt. */
export function extendEvent(list: EventList, id: number, toMs: number, text: string): EventList {
  const recent = list.recent.map((event) => (event.id === id ? { ...event, toMs, text } : event));
  return { ...list, recent };
}

/** The ledger fields that hold events, and earlier values with which a poll is compared to find new events. */
export interface EventLedger {
  readonly events: EventList;
  readonly progress?: Progress;
  /** By node name, the start times and versions that the node's and sidecar's pages last showed. */
  readonly processes: ReadonlyMap<string, Processes>;
  /** The chain's reward parameters, encoded by {@link encodeParams}. */
  readonly params?: string;
}

export interface CountedPoll {
  readonly observation: Observation;
  /** The ledger of the source "calls" before the poll. */
  readonly before: SourceLedger;
  readonly calls: SourceCounting;
  /** Months that this poll closed, and months that it reopened because a wrong clock had closed them. */
  readonly closed: readonly Month[];
  readonly reopened: readonly Month[];
  readonly intervalMs: number;
  /** Readings further apart than this produce a "gap" event. Default: three poll intervals, but at least one minute. */
  readonly gapMs?: number | undefined;
}

/** Adds events for changes that a poll shows in counters, processes, reward parameters, height and closed months. */
export function followPoll(ledger: EventLedger, poll: CountedPoll): EventLedger {
  const { observation, closed, reopened } = poll;
  const { atMs, clock } = observation;
  const { processes, events } = followProcesses(ledger.processes, observation);
  const { params, changes } = followParams(ledger.params, observation);
  const { progress, events: followed } = followProgress(
    ledger.progress,
    addEvents(ledger.events, [
      ...(clock?.change === undefined ? [] : [eventAt("clock-jump", atMs, clock.change)]),
      ...countingEvents(poll),
      ...events,
      ...changes,
    ]),
    heightOf(observation),
    atMs,
  );
  const openAgain = "is open again; it was closed by a wrong clock";
  const changed = [
    ...reopened.map((month) => eventAt("month-reopened", atMs, `${month} ${openAgain}`)),
    ...closed.map((month) => eventAt("month-sealed", atMs, `${month} is closed`)),
  ];
  return {
    events: addEvents(followed, changed),
    processes,
    ...(progress === undefined ? {} : { progress }),
    ...(params === undefined ? {} : { params }),
  };
}

export function recordStart<L extends EventLedger>(ledger: L, atMs: number): L {
  const start = eventAt("watchdog-start", atMs, "the watchdog started running");
  return { ...ledger, events: addEvents(ledger.events, [start]) };
}

function eventAt(kind: LedgerEvent["kind"], atMs: number, text: string): LedgerEvent {
  return { kind, fromMs: atMs, toMs: atMs, text };
}

function heightOf({ nodes }: Observation): bigint | undefined {
  const heights = nodes.flatMap(({ metrics }) => readingOf(metrics)?.height ?? []);
  return heights.toSorted(ascending).at(-1);
}

/** Returns the events that counters show: the first reading, gaps, node restarts, and two nodes at one URL. */
function countingEvents(poll: CountedPoll): readonly LedgerEvent[] {
  const { observation, before, calls } = poll;
  const { atMs } = observation;
  const restarts = calls.steps.flatMap(({ node, step, before: last }) => {
    if (!step.restarted) return nodeClock(node, last?.processStartMs, step.baseline);
    const { isReplaced, baseline } = step;
    const startMs = isReplaced ? atMs : (baseline.processStartMs ?? atMs);
    return [nodeRestart(node, step, last?.atMs ?? atMs, startMs)];
  });
  const conflicts = calls.conflicts
    .filter((node) => before.counterStates.get(node)?.conflict?.alternates !== true)
    .map((node) => ({ ...eventAt("two-nodes", atMs, "one URL alternates between two nodes"), node }));
  return [...readingEvents(poll), ...restarts, ...conflicts];
}

/** Returns the events found by comparing the counted reading with the previous reading. */
function readingEvents({
  observation: { atMs },
  before: { checkpoint: last },
  calls: { source, steps },
  intervalMs,
  gapMs = Math.max(60_000, 3 * intervalMs),
}: CountedPoll): readonly LedgerEvent[] {
  const { checkpoint } = source;
  if (checkpoint === undefined || checkpoint === last) return [];
  if (last === undefined) {
    const first = steps.find(({ node }) => node === checkpoint.node)?.step;
    return first === undefined ? [] : [firstReading(first.fromMs, first.counts, atMs, checkpoint.node)];
  }
  return checkpoint.atMs - last.atMs > gapMs
    ? [{ kind: "gap", fromMs: last.atMs, toMs: checkpoint.atMs, text: "no node could be read" }]
    : [];
}

function followParams(before: string | undefined, { atMs, chain: { revenue } }: Observation) {
  if (revenue.state !== "up" && revenue.state !== "absent") return { params: before, changes: [] };
  const params = encodeParams(readingOf(revenue));
  if (before === undefined || before === params) return { params, changes: [] };
  return { params, changes: [eventAt("parameter-change", atMs, paramsChange(before, params))] };
}

/** Creates the event for the first reading, which counts the blocks made since `fromMs`. */
function firstReading(fromMs: number, { good, bad }: BlockCounts, atMs: number, node: string): LedgerEvent {
  const before = Number(good + bad);
  const text =
    before === 0
      ? "counting begins"
      : `counting begins; ${counted(before, "block")} before it ${before === 1 ? "is" : "are"} dated by the node's start, which is an estimate`;
  return { kind: "first-reading", fromMs: Math.min(fromMs, atMs), toMs: atMs, node, text };
}

/** Detects that a node machine's clock was set, because a process's start time shifts along with the clock. */
function nodeClock(
  node: string,
  before: number | undefined,
  { processStartMs: now, atMs }: Baseline,
): readonly LedgerEvent[] {
  if (before === undefined || now === undefined || Math.abs(now - before) <= START_TOLERANCE_MS) return [];
  const text = `the clock of the node's machine was set ${stepText(now - before)}`;
  return [{ ...eventAt("clock-jump", atMs, text), node }];
}

/** Creates the event for a node restart, which lasts from the last reading to the start of the new process. */
export function nodeRestart(
  node: string,
  { counts: { unknown }, isReplaced }: Pick<LedgerStep, "counts" | "isReplaced">,
  fromMs: number,
  toMs: number,
): LedgerEvent {
  const lost = unknown === 1n ? "the result of 1 block is" : `the results of ${unknown} blocks are`;
  const what = isReplaced ? "another node responds at this URL" : "the node restarted";
  const text = unknown === 0n ? what : `${what}; ${lost} not known`;
  return { kind: "node-restart", fromMs, toMs: Math.max(fromMs, toMs), node, text };
}

interface Progress {
  readonly height: bigint;
  /** When this height was first seen, on the wall clock. */
  readonly sinceMs: number;
  /** Id of the current halt's event; absent unless the chain has halted. */
  readonly haltId?: number;
}

/** The chain is considered halted after this long without a block. */
const HALT_MS = 60_000;

/** Records the highest height of a poll. A halt is one event, which starts at the last block and is extended by every poll. */
function followProgress(
  progress: Progress | undefined,
  events: EventList,
  height: bigint | undefined,
  atMs: number,
): { readonly progress: Progress | undefined; readonly events: EventList } {
  if (height === undefined) return { progress, events };
  if (height !== progress?.height) return { progress: { height, sinceMs: atMs }, events };
  const { sinceMs, haltId } = progress;
  if (atMs - sinceMs < HALT_MS) return { progress, events };
  const text = `no block after height ${height}`;
  if (haltId !== undefined) return { progress, events: extendEvent(events, haltId, atMs, text) };
  return {
    progress: { ...progress, haltId: events.nextId },
    events: addEvents(events, [{ kind: "halt", fromMs: sinceMs, toMs: atMs, text }]),
  };
}

/** Start time and versions of a node and its sidecar, as last shown on their metrics pages. */
export interface Processes {
  /** When a poll last read the sidecar's start time. */
  readonly sidecarSeenMs?: number;
  readonly sidecarStartMs?: number;
  readonly sidecarVersion?: string;
  readonly nodeVersion?: string;
  /** Time of the poll that last found a changed version; absent before the first change. */
  readonly changedMs?: number;
}

/** After a version change, ignore further changes for this long, because two programs may alternate at one URL. */
const QUIET_MS = 600_000;

/**
 * Adds events for sidecar restarts and version changes since the last poll. Start times and versions that no page shows keep their
 * old values. Node restarts are detected from the counters (`advance`).
 */
export function followProcesses(
  before: ReadonlyMap<string, Processes>,
  { nodes, atMs }: Observation,
): { readonly processes: ReadonlyMap<string, Processes>; readonly events: readonly LedgerEvent[] } {
  const followed = nodes.map((node) => followOne(before.get(node.name) ?? {}, node, atMs));
  return {
    processes: new Map(nodes.map(({ name }, index) => [name, followed[index]?.processes ?? {}])),
    events: followed.flatMap(({ events }) => events),
  };
}

function followOne(before: Processes, node: NodeObservation, atMs: number) {
  const { startMs, ...versions } = seenOf(node);
  const changes = [
    ...versionChange("node", before.nodeVersion, versions.nodeVersion, atMs),
    ...versionChange("sidecar", before.sidecarVersion, versions.sidecarVersion, atMs),
  ];
  const isQuiet = before.changedMs !== undefined && atMs - before.changedMs < QUIET_MS;
  const processes: Processes = {
    ...before,
    ...latestVersions(before, versions),
    ...(startMs === undefined ? {} : { sidecarStartMs: startMs, sidecarSeenMs: atMs }),
    ...(changes.length === 0 ? {} : { changedMs: atMs }),
  };
  const events = [...sidecarRestart(before, startMs), ...(isQuiet ? [] : changes)];
  return { processes, events: events.map((event): LedgerEvent => ({ ...event, node: node.name })) };
}

/** Returns the start time and versions that one poll read, without fields that no page shows. */
function seenOf({ metrics, sidecar, prices }: NodeObservation) {
  const nodeVersion = readingOf(metrics)?.version;
  const reading = readingOf(sidecar);
  // Check both pages, because some sidecar builds show their version on only one of them.
  const sidecarVersion = [reading?.version, readingOf(prices)?.version].find(
    (version) => version !== undefined && version !== "" && version.length <= MAX_VERSION,
  );
  return {
    startMs: reading?.processStartMs,
    ...(nodeVersion === undefined ? {} : { nodeVersion }),
    ...(sidecarVersion === undefined ? {} : { sidecarVersion }),
  };
}

type Versions = Pick<Processes, "nodeVersion" | "sidecarVersion">;

/**
 * Replaces the stored versions. A version text that currently lacks some of its programs keeps its old value, so that a change is
 * detected once they reappear.
 */
function latestVersions(before: Versions, now: Versions): Versions {
  const latest = (key: keyof Versions): Versions =>
    now[key] === undefined || isPartOf(now[key], before[key]) ? {} : { [key]: now[key] };
  return { ...latest("nodeVersion"), ...latest("sidecarVersion") };
}

/** Returns true if a page that used to show versions of several programs, "0.50.9, go1.24", now shows only some of them. */
function isPartOf(part: string, whole: string | undefined): boolean {
  const known = new Set(whole?.split(", "));
  return part.split(", ").every((version) => known.has(version));
}

function sidecarRestart(
  { sidecarStartMs, sidecarSeenMs }: Processes,
  startMs: number | undefined,
): readonly LedgerEvent[] {
  if (startMs === undefined || sidecarStartMs === undefined || sidecarSeenMs === undefined) return [];
  if (startMs - sidecarStartMs <= START_TOLERANCE_MS) return [];
  // A process that was already running alongside the first process belongs to another sidecar at the same URL.
  if (startMs < sidecarSeenMs - CLOCK_TOLERANCE_MS) return [];
  const fromMs = Math.min(sidecarSeenMs, startMs);
  return [{ kind: "sidecar-restart", fromMs, toMs: startMs, text: "the sidecar restarted" }];
}

function versionChange(
  what: "node" | "sidecar",
  before: string | undefined,
  now: string | undefined,
  atMs: number,
): readonly LedgerEvent[] {
  // A label that appears or disappears is not a change, because the SDK's server_info disappears from the page 1,000 s after the
  // node starts.
  if (before === undefined || now === undefined || isPartOf(now, before) || isPartOf(before, now)) return [];
  return [eventAt("version-change", atMs, `the ${what}'s version changed from ${before} to ${now}`)];
}

const NO_PROGRAMME = "no reward programme";

/** A reward parameter's display name, and a function that formats its value. */
type ParamText = readonly [name: string, show: (value: string) => string];

const asIs = (value: string): string => value;
/** Formats a fraction scaled by 10^18 as a percentage. */
const percent = (value: string): string => `${Number(value) / 1e16} %`;

const TEXTS: Readonly<Record<keyof RevenueParams, ParamText>> = {
  blocksAllowedToMiss: ["blocks that may be missed", percent],
  blocksRequired: ["blocks required for any pay", percent],
  votesAllowedToMiss: ["votes that may be missed", percent],
  votesRequired: ["votes required for any pay", percent],
  baseCompensation: ["pay of a full month", asIs],
  quoteAsset: ["unit of the pay", asIs],
  schedule: ["payment schedule", asIs],
};

/** Encodes reward parameters as text for later comparison. `revenue` is undefined if the chain has no revenue module. */
export function encodeParams(revenue: RevenueReading | undefined): string {
  if (revenue === undefined) return NO_PROGRAMME;
  return stringifyJson(revenue.params);
}

/** Describes how two encoded parameter sets differ, for example "the pay of a full month from 2500 to 3000". */
export function paramsChange(before: string, after: string): string {
  if (after === NO_PROGRAMME) return "the chain no longer has a reward programme";
  if (before === NO_PROGRAMME) return "the chain now has a reward programme";
  const [from, to] = [before, after].map((text): unknown => JSON.parse(text));
  const changes = Object.entries(TEXTS).flatMap(([key, [name, show]]) => {
    const [old = "", now = ""] = [from, to].map((params) => (isRecord(params) ? String(params[key]) : ""));
    return old === now ? [] : [`${name} from ${show(old)} to ${show(now)}`];
  });
  return `the chain's reward parameters changed: ${changes.join(", ")}`;
}
