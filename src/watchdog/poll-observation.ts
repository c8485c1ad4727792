import type { Observation, Seen } from "./observation.ts";
import type { Poll, Scrape } from "./sources/poller.ts";

/** Name of the only validator, and of its node. */
export const VALIDATOR = "default";

const NOT_CONFIGURED = { state: "not-configured" } as const;

/** Converts a poll of one node to an observation. The chain is not read. */
export function pollObservation(poll: Poll): Observation {
  return {
    validator: VALIDATOR,
    atMs: poll.atMs,
    nodes: [
      {
        name: "node",
        metrics: seen(poll.node, (node) => node),
        prices: seen(poll.prices, (prices) => ({ ...prices, prices: new Map() })),
        oracleMetrics: seen(poll.oracleMetrics, ({ kind }) => ({ kind })),
        sidecar: seen(poll.sidecarMetrics, (page) => ({
          systemUpdates: page.kind === "sidecar" ? BigInt(Math.round(page.systemUpdates)) : 0n,
          tickerUpdates: new Map(),
          marketProviders: new Map(),
          providers: new Map(),
        })),
        grpc: NOT_CONFIGURED,
        egress: new Map(),
      },
    ],
    chain: {
      head: NOT_CONFIGURED,
      validator: NOT_CONFIGURED,
      prices: NOT_CONFIGURED,
      revenue: NOT_CONFIGURED,
    },
  };
}

function seen<T, U>(scrape: Scrape<T> | undefined, convert: (value: T) => U): Seen<U> {
  if (scrape === undefined) return NOT_CONFIGURED;
  const { outcome, durationMs } = scrape;
  return outcome.ok
    ? { state: "up", value: convert(outcome.value), durationMs }
    : { state: "error", failure: outcome.error, durationMs };
}
