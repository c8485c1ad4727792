import { type BlockCounts, NO_BLOCKS } from "../../../src/watchdog/ledger/ledger-view.ts";
import type { Ledger } from "../../../src/watchdog/ledger/ledger.ts";
import type {
  NodeObservation,
  NodeReading,
  Observation,
  PricesReading,
  Seen,
} from "../../../src/watchdog/sources/observation.ts";

/** A source that was read. */
export function up<T>(value: T): Seen<T> {
  return { state: "up", value, durationMs: 1 };
}

/** A source that refused the connection. */
const DOWN: Seen<never> = {
  state: "error",
  failure: { code: "refused", text: "connection refused" },
  durationMs: 1,
};

export const NOT_CONFIGURED: Seen<never> = { state: "not-configured" };

/** A node's page with these counters. */
export function nodePage(success: bigint, failure: bigint, more: Partial<NodeReading> = {}): NodeReading {
  return { chainId: "test-1", success, failure, ...more };
}

/** A price response with these pairs, each at 1. */
export function pricesPage(...pairs: readonly string[]): PricesReading {
  const prices = new Map(pairs.map((pair) => [pair, 1n]));
  return { pairs, prices, tickedAtMs: undefined, version: "", url: "http://127.0.0.1:8080/" };
}

/** A node of which nothing can be read. */
const SILENT_NODE: NodeObservation = {
  name: "node",
  metrics: DOWN,
  prices: DOWN,
  oracleMetrics: DOWN,
  sidecar: DOWN,
  grpc: NOT_CONFIGURED,
  egress: new Map(),
};

/** One poll of the validator "default". The chain is not configured. */
export function observationOf(
  atMs: number,
  nodes: readonly Partial<NodeObservation>[],
  more: Partial<Observation> = {},
): Observation {
  return {
    validator: "default",
    atMs,
    nodes: nodes.map((node) => ({ ...SILENT_NODE, ...node })),
    chain: {
      head: NOT_CONFIGURED,
      validator: NOT_CONFIGURED,
      prices: NOT_CONFIGURED,
      revenue: NOT_CONFIGURED,
    },
    ...more,
  };
}

/** Counts of the calls of one month; zero for a month without blocks. */
export function countsOf(ledger: Ledger, month: string): BlockCounts {
  return ledger.sources.calls.rollups.months.get(month)?.counts ?? NO_BLOCKS;
}
