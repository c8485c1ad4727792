import { readingOf, toSourceFailure } from "../sources/observation.ts";
import type { MonthEdge, NodeReading, Observation } from "../sources/observation.ts";
import { HOUR_MS, isoTime } from "../../platform/base/time.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { nextMonthMs } from "../../platform/base/month.ts";
import { backoffMs, type BackoffOptions } from "../../platform/base/waits.ts";
import { addEvents, extendEvent } from "../ledger/ledger-events.ts";
import { countObservation, type Ledger, type LedgerOptions } from "../ledger/ledger.ts";
import { NO_CHAIN } from "../sources/chain-reader.ts";
import { NOT_CONFIGURED } from "../sources/page-reader.ts";
import { type Labels, type ValidatorTarget, nodeLabels } from "../sources/targets.ts";
import type { StoredHistory } from "./stored-readings.ts";
import type { StoredNodeOptions } from "../polling/poller.ts";
import type { Backfiller } from "../polling/poll-loop.ts";

interface BackfillerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly history: StoredHistory;
}

interface BackfillerOptions extends BackfillOptions {
  readonly target: ValidatorTarget;
  readonly counting: LedgerOptions;
}

/** Limits on the backfill during one poll, because the poll must end regardless of the gap's length. */
const PIECES_PER_POLL = 24;
const FILL_MS = 5000;

const BACKOFF: BackoffOptions = { minMs: 1000, baseMs: 5000, maxMs: 60_000 };

/** The state of a series of failed queries since the last successful query. */
interface Failing {
  readonly sinceMs: number;
  readonly attempts: number;
  readonly retryMs: number;
}

/** Creates a backfiller. The ledger's checkpoint stores the backfiller's progress, except for the searched time without samples. */
export function createBackfiller(options: BackfillerOptions, deps: BackfillerDeps): Backfiller {
  const { clock, logger } = deps;
  const { name } = options.target;
  let searchedToMs = 0;
  let lengthMs = LONGEST_PIECE_MS;
  let failing: Failing | undefined;
  /** Gaps that start before this time are abandoned. */
  let abandonedMs = 0;
  const end = () => {
    searchedToMs = 0;
    failing = undefined;
    return true;
  };
  const fail = (error: unknown, gap: Gap): void => {
    const failure = toSourceFailure(error);
    const shorter = failure.code === "too-large" ? shorterPieceMs(lengthMs) : undefined;
    if (shorter !== undefined) {
      lengthMs = shorter;
      return;
    }
    const nowMs = clock.monotonicMs();
    const { sinceMs, attempts } = failing ?? { sinceMs: nowMs, attempts: 0 };
    failing = { sinceMs, attempts: attempts + 1, retryMs: nowMs + backoffMs(attempts, BACKOFF, deps.random) };
    const fields = { validator: name, ...timesOf(gap), reason: failure.text };
    if (nowMs - sinceMs >= options.giveUpMs) {
      abandonedMs = gap.toMs;
      logger.error("gap not filled from Prometheus; the watchdog continues to count", fields);
    } else if (attempts === 0)
      logger.warn("gap cannot be filled from Prometheus yet; counting waits", fields);
  };
  return async (ledger, observation, save, signal) => {
    const gap = planGap(ledger, observation, options);
    if (ledger === undefined || gap === undefined) return end();
    const { head } = observation.chain;
    const { change: _, ...clockNow } = observation.clock ?? { problem: "" };
    const filling: FillOptions = {
      ...options.counting,
      validator: name,
      edge: readingOf(head)?.monthEdge,
      clock: observation.clock && clockNow,
    };
    let filled = ledger;
    const startMs = clock.monotonicMs();
    for (let pieces = 0; pieces < PIECES_PER_POLL; pieces++) {
      const rest = { fromMs: Math.max(gap.fromMs, searchedToMs), toMs: gap.toMs };
      if (rest.fromMs >= rest.toMs || rest.fromMs < abandonedMs) return end();
      const nowMs = clock.monotonicMs();
      if (nowMs - startMs > FILL_MS || nowMs < (failing?.retryMs ?? 0)) return false;
      const piece = nextPiece(rest, lengthMs);
      try {
        const readings = await readPiece(options.target, ledger.chainId, (labels, of) =>
          deps.history(labels, piece, of, signal),
        );
        failing = undefined;
        const next = fillLedger(filled, readings, filling);
        if (next !== filled) save(next);
        filled = next;
        searchedToMs = piece.toMs;
        const fields = { validator: name, ...timesOf(piece), scrapes: readings.length };
        logger.info("gap filled from Prometheus", fields);
      } catch (error) {
        if (signal.aborted) throw error;
        fail(error, rest);
      }
    }
    return false;
  };
}

async function readPiece(
  { consensusAddress, nodes }: ValidatorTarget,
  chainId: string | undefined,
  read: (labels: Labels, of: StoredNodeOptions) => ReturnType<StoredHistory>,
): Promise<readonly StoredReading[]> {
  const ofNode = nodes.map(async (node) => {
    const readings = await read(nodeLabels(node), { chainId, consensusAddress });
    return readings.map((reading) => ({ node: node.name, reading }));
  });
  return (await Promise.all(ofNode)).flat();
}

function timesOf({ fromMs, toMs }: Gap): { readonly from: string; readonly to: string } {
  return { from: isoTime(fromMs), to: isoTime(toMs) };
}

/** A node's reading, reconstructed from a scrape that Prometheus stored. */
export interface StoredReading {
  readonly node: string;
  /** The reading, which always has `sampledAtMs`, the time of the scrape. */
  readonly reading: NodeReading;
}

interface FillOptions extends LedgerOptions {
  readonly validator: string;
  /** The first block of the month in which the gap ends. Absent if the chain does not report this block. */
  readonly edge?: MonthEdge | undefined;
  /** The state of the clock at the poll that found the gap. If absent, the clock is trusted. */
  readonly clock?: Observation["clock"] | undefined;
}

/**
 * Counts stored readings by the same rules as scraped readings. Marks the blocks as backfilled, and records the filled period as an
 * event. Readings that are not newer than the last counted reading are ignored.
 */
export function fillLedger(ledger: Ledger, readings: readonly StoredReading[], options: FillOptions): Ledger {
  let filled = ledger;
  const latest = new Map<string, StoredReading>();
  const sorted = readings.toSorted((a, b) => timeOf(a) - timeOf(b));
  const [first] = sorted;
  const atStart = new Set(
    sorted.filter((one) => first && timeOf(one) - timeOf(first) <= RECENT_MS).map(({ node }) => node),
  );
  for (const reading of sorted) {
    const atMs = timeOf(reading);
    latest.set(reading.node, reading);
    // Prometheus scrapes nodes at different times, so only start counting when every node in `atStart` has a scrape.
    if (latest.size < atStart.size) continue;
    const shown = [...latest.values()].filter((one) => atMs - timeOf(one) <= RECENT_MS);
    const observation = observationOf(atMs, shown, options);
    filled = countObservation(filled, observation, { ...options, isBackfill: true }).ledger;
  }
  return withEvent(filled, ledger);
}

/** Maximum time between the readings of different nodes that are counted together. */
const RECENT_MS = 60_000;

function timeOf({ reading: { sampledAtMs = 0 } }: StoredReading): number {
  return sampledAtMs;
}

function observationOf(
  atMs: number,
  readings: readonly StoredReading[],
  { validator, edge, clock }: FillOptions,
): Observation {
  const nodes: Observation["nodes"] = readings.map(({ node, reading }) => ({
    name: node,
    metrics: { state: "up", value: reading, durationMs: 0 },
    prices: NOT_CONFIGURED,
    oracleMetrics: NOT_CONFIGURED,
    sidecar: NOT_CONFIGURED,
    grpc: NOT_CONFIGURED,
    egress: new Map(),
  }));
  const chain = chainOf(atMs, readings, edge);
  return { validator, atMs, nodes, chain, ...(clock === undefined ? {} : { clock }) };
}

/** Returns the chain data for a reconstructed observation. If the month's first block is unknown, months are split by sample times. */
function chainOf(
  atMs: number,
  readings: readonly StoredReading[],
  edge: FillOptions["edge"],
): Observation["chain"] {
  const reading = readings.at(-1)?.reading;
  if (edge === undefined || reading?.height === undefined) return NO_CHAIN;
  const value = { chainId: reading.chainId, height: reading.height, blockTimeMs: atMs, monthEdge: edge };
  return { ...NO_CHAIN, head: { state: "up", value, durationMs: 0 } };
}

/** Adds a "backfill" event for the filled part of a gap, or extends the event of the previous part. */
function withEvent(ledger: Ledger, before: Ledger): Ledger {
  const fromMs = before.sources.calls.checkpoint?.atMs;
  const toMs = ledger.sources.calls.checkpoint?.atMs;
  if (fromMs === undefined || toMs === undefined || toMs <= fromMs) return ledger;
  const last = before.events.recent.findLast(({ kind }) => kind === "backfill");
  const text = "the counts for this time were read from Prometheus";
  const events =
    last !== undefined && last.toMs === fromMs
      ? extendEvent(ledger.events, last.id, toMs, text)
      : addEvents(ledger.events, [{ kind: "backfill", fromMs, toMs, text }]);
  return { ...ledger, events };
}

export interface BackfillOptions {
  /** Only gaps longer than this are filled. */
  readonly afterMs: number;
  /** Maximum age of the samples to read, relative to the newest reading. */
  readonly longestMs: number;
  /** If queries fail for this long, the gap is instead counted from the nodes' counters. */
  readonly giveUpMs: number;
}

/** The period between two readings of one validator. */
interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Returns the gap between the last counted reading and a poll's readings. Returns undefined if the readings are close together, if
 * nothing could be read, or before the first reading. A gap starts where the ledger ends, so its month is never finalized and no
 * part is filled twice.
 */
export function planGap(
  ledger: Ledger | undefined,
  { nodes, atMs }: Observation,
  { afterMs, longestMs }: BackfillOptions,
): Gap | undefined {
  const checkpoint = ledger?.sources.calls.checkpoint;
  const times = nodes.flatMap(({ metrics }) =>
    metrics.state === "up" ? [metrics.value.sampledAtMs ?? atMs] : [],
  );
  if (checkpoint === undefined || times.length === 0) return undefined;
  const toMs = Math.max(...times);
  // Also fill the rest of a gap after an interrupted backfill, even if the rest is shorter than `afterMs`.
  const filled = ledger?.events.recent.findLast(({ kind }) => kind === "backfill");
  if (toMs - checkpoint.atMs <= (filled?.toMs === checkpoint.atMs ? 0 : afterMs)) return undefined;
  return { fromMs: Math.max(checkpoint.atMs, toMs - longestMs), toMs };
}

/** Maximum length of a gap's part that one query reads. */
export const LONGEST_PIECE_MS = HOUR_MS;

/** Minimum length of the parts into which a gap is split if responses are too large. */
const SHORTEST_PIECE_MS = 60_000;

/** Returns a gap's next part, which is at most `lengthMs` long and within one month. A query reads the part's samples in (fromMs, toMs]. */
export function nextPiece({ fromMs, toMs }: Gap, lengthMs: number): Gap {
  return { fromMs, toMs: Math.min(toMs, fromMs + lengthMs, nextMonthMs(fromMs)) };
}

/** Returns the length for the next parts after a response was too large. Returns undefined if the part already had the minimum length. */
export function shorterPieceMs(lengthMs: number): number | undefined {
  return lengthMs <= SHORTEST_PIECE_MS ? undefined : Math.max(SHORTEST_PIECE_MS, lengthMs / 4);
}
