import type { NodeObservation, Observation } from "../observation.ts";
import type { LedgerEvent } from "./ledger-view.ts";

/** What the pages last showed of the processes of one node and its sidecar. */
export interface Processes {
  /** Last poll that showed the sidecar's start. */
  readonly sidecarSeenMs?: number;
  readonly sidecarStartMs?: number;
  readonly sidecarVersion?: string;
  readonly nodeVersion?: string;
  /** Last change of a version. */
  readonly changedMs?: number;
}

/** Two readings of one start can differ by so much: it is computed from a clock that is adjusted. */
const START_TOLERANCE_MS = 2000;

/** The clocks of the sidecar's and the watchdog's machines may differ by so much. */
const CLOCK_TOLERANCE_MS = 10_000;

/** Two programs that answer at one URL in turn have a changed version at each poll: later changes are no events so long. */
const QUIET_MS = 600_000;

/**
 * Compares the pages of a poll with earlier ones. A restart of the sidecar and a changed version are events. What a page does
 * not show stays as it was. Restarts of the node are events of the counters (`advance`).
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
    ...versions,
    ...(startMs === undefined ? {} : { sidecarStartMs: startMs, sidecarSeenMs: atMs }),
    ...(changes.length === 0 ? {} : { changedMs: atMs }),
  };
  const events = [...sidecarRestart(before, startMs), ...(isQuiet ? [] : changes)];
  return { processes, events: events.map((event): LedgerEvent => ({ ...event, node: node.name })) };
}

/** What the pages of one poll show; a key that none shows is absent. */
function seenOf({ metrics, sidecar, prices }: NodeObservation) {
  const nodeVersion = metrics.state === "up" ? metrics.value.version : undefined;
  const page = sidecar.state === "up" ? sidecar.value : undefined;
  // Some builds of the sidecar have no version on one of the two pages.
  const sidecarVersion = [page?.version, prices.state === "up" ? prices.value.version : ""].find(
    (version) => version !== undefined && version !== "",
  );
  return {
    startMs: page?.processStartMs,
    ...(nodeVersion === undefined ? {} : { nodeVersion }),
    ...(sidecarVersion === undefined ? {} : { sidecarVersion }),
  };
}

type NodeEvent = Omit<LedgerEvent, "node">;

function sidecarRestart(
  { sidecarStartMs, sidecarSeenMs }: Processes,
  startMs: number | undefined,
): readonly NodeEvent[] {
  if (startMs === undefined || sidecarStartMs === undefined || sidecarSeenMs === undefined) return [];
  if (startMs - sidecarStartMs <= START_TOLERANCE_MS) return [];
  // A process that ran beside the first one is another sidecar at the same URL.
  if (startMs < sidecarSeenMs - CLOCK_TOLERANCE_MS) return [];
  const fromMs = Math.min(sidecarSeenMs, startMs);
  return [{ kind: "sidecar-restart", fromMs, toMs: startMs, text: "the sidecar restarted" }];
}

function versionChange(
  what: "node" | "sidecar",
  before: string | undefined,
  now: string | undefined,
  atMs: number,
): readonly NodeEvent[] {
  if (before === undefined || now === undefined || before === now) return [];
  const text = `the version of the ${what} changed from ${before} to ${now}`;
  return [{ kind: "version-change", fromMs: atMs, toMs: atMs, text }];
}
