import { countObservation, type Ledger, type LedgerOptions } from "../ledger/ledger.ts";
import { addEvents, extendEvent } from "../ledger/ledger-events.ts";
import type { ChainObservation, MonthEdge, NodeObservation, NodePage, Observation } from "../observation.ts";

/** A page of a node that Prometheus stored. */
export interface StoredPage {
  readonly node: string;
  /** Has `sampledAtMs`. */
  readonly page: NodePage;
}

export interface FillOptions extends LedgerOptions {
  readonly validator: string;
  /** First block of the month in which the gap ends, when the chain says it. */
  readonly edge?: MonthEdge | undefined;
}

const NOT_CONFIGURED = { state: "not-configured" } as const;

/**
 * Counts stored pages, by the same rules as those that were scraped in time. Blocks and rollups are marked as backfilled, and
 * an event has the time that was filled. Pages that are not after the last reading change nothing.
 */
export function fillLedger(ledger: Ledger, pages: readonly StoredPage[], options: FillOptions): Ledger {
  const { validator, edge, ...counting } = options;
  let filled = ledger;
  const latest = new Map<string, StoredPage>();
  const sorted = pages.toSorted((a, b) => timeOf(a) - timeOf(b));
  const [first] = sorted;
  const atStart = new Set(
    sorted.filter((one) => first && timeOf(one) - timeOf(first) <= RECENT_MS).map(({ node }) => node),
  );
  for (const page of sorted) {
    const atMs = timeOf(page);
    latest.set(page.node, page);
    // The first scrapes of the nodes have times of their own too.
    if (latest.size < atStart.size) continue;
    const shown = [...latest.values()].filter((one) => atMs - timeOf(one) <= RECENT_MS);
    const observation = observationOf(validator, atMs, shown, edge);
    filled = countObservation(filled, observation, { ...counting, isBackfill: true }).ledger;
  }
  return withEvent(filled, ledger);
}

/** A node without a page for this long does not delay the others. */
const RECENT_MS = 60_000;

function timeOf({ page: { sampledAtMs = 0 } }: StoredPage): number {
  return sampledAtMs;
}

function observationOf(
  validator: string,
  atMs: number,
  pages: readonly StoredPage[],
  edge: MonthEdge | undefined,
): Observation {
  const nodes = pages.map(
    ({ node, page }): NodeObservation => ({
      name: node,
      metrics: { state: "up", value: page, durationMs: 0 },
      prices: NOT_CONFIGURED,
      oracleMetrics: NOT_CONFIGURED,
      sidecar: NOT_CONFIGURED,
      grpc: NOT_CONFIGURED,
      egress: new Map(),
    }),
  );
  return { validator, atMs, nodes, chain: chainOf(atMs, pages, edge) };
}

/** The chain as the pages show it. Without the first block of the month, months are split by the time of the samples. */
function chainOf(atMs: number, pages: readonly StoredPage[], edge: MonthEdge | undefined): ChainObservation {
  const first = pages.at(-1);
  const height = first?.page.height;
  const head =
    edge === undefined || first === undefined || height === undefined
      ? NOT_CONFIGURED
      : ({
          state: "up",
          value: { chainId: first.page.chainId, height, blockTimeMs: atMs, monthEdge: edge },
          durationMs: 0,
        } as const);
  return { head, validator: NOT_CONFIGURED, prices: NOT_CONFIGURED, revenue: NOT_CONFIGURED };
}

/** Adds the event of the part that was filled, or extends that of the part before it. */
function withEvent(ledger: Ledger, before: Ledger): Ledger {
  const fromMs = before.sources.calls.cursor?.atMs;
  const toMs = ledger.sources.calls.cursor?.atMs;
  if (fromMs === undefined || toMs === undefined || toMs <= fromMs) return ledger;
  const last = before.events.recent.findLast(({ kind }) => kind === "backfill");
  const text = "the counts of this time were read from Prometheus";
  const events =
    last !== undefined && last.toMs === fromMs
      ? extendEvent(ledger.events, last.id, toMs, text)
      : addEvents(ledger.events, [{ kind: "backfill", fromMs, toMs, text }]);
  return { ...ledger, events };
}
