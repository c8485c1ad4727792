import type { Registry } from "prom-client";
import { metricFactory } from "../base/metric-factory.ts";

export interface OracleVote {
  /** True if the sidecar sent a valid response. */
  readonly success: boolean;
  /** False if a price is not an integer. A real node then reports a successful response, but does not vote for any of its prices. */
  readonly usable: boolean;
  readonly latencyMs: number;
  /** Integer prices by lower-case ticker such as "btc/usd", or an empty map on failure. */
  readonly prices: ReadonlyMap<string, bigint>;
}

export interface OracleMetricsOptions {
  readonly chainId: string;
  /** Bech32 consensus address of the node's validator. */
  readonly validator: string;
  /** Returns whether each other validator in the set is absent, keyed by bech32 consensus address. */
  readonly others?: () => ReadonlyMap<string, boolean>;
}

/**
 * Creates the `app_*` metric families. As on a real node, counters have the type gauge, and a series appears only after its first event.
 * For example, a node without failures since startup has no series with `status="Failure"`.
 */
export function createOracleMetrics(registry: Registry, options: OracleMetricsOptions) {
  const families = createFamilies(registry);
  const chain = { chain_id: options.chainId };
  // Tickers that had a price in an earlier vote. If a later vote lacks a ticker's price, the node reports `missing_price`.
  const tracked = new Set<string>();
  const countReport = (ticker: string, status: string, validator = options.validator): void =>
    families.reports.inc({ ...chain, validator, ticker, status });
  return {
    /** Records a vote that failed before the request to the sidecar. */
    observePreBlockError: () => {
      for (const abci_method of ["extend_vote", "pre_blocker"])
        families.requests.inc({ ...chain, abci_method, status: "PreBlockError" });
    },
    /** Records a vote. `delivered` is false if the vote extension did not reach the chain. */
    observe: ({ success, usable, latencyMs, prices }: OracleVote, delivered: boolean) => {
      families.responses.inc({ ...chain, status: success ? "Success" : "Failure" });
      // Observe whole milliseconds, like a real node.
      families.latency.observe(chain, Math.trunc(latencyMs));
      const extended = { ...chain, abci_method: "extend_vote" };
      const failure = success ? "TransformPricesError" : "OracleClientError";
      families.requests.inc({ ...extended, status: success && usable ? "Success" : failure });
      families.methodLatency.observe(extended, latencyMs / 1000);
      // Count the remaining ABCI methods as successful, because a local chain rejects no proposals.
      for (const abci_method of ["pre_blocker", "prepare_proposal", "process_proposal"]) {
        families.requests.inc({ ...chain, abci_method, status: "Success" });
      }
      for (const [ticker, price] of prices) {
        tracked.add(ticker);
        families.prices.set({ ...chain, ticker }, Number(price));
        families.reportedPrices.set({ ...chain, validator: options.validator, ticker }, Number(price));
      }
      for (const ticker of tracked) {
        if (!delivered) countReport(ticker, "absent");
        else countReport(ticker, prices.has(ticker) ? "with_price" : "missing_price");
        // Assume that every other present validator has a price, because each of them has a simulated sidecar.
        for (const [other, isAbsent] of options.others?.() ?? [])
          countReport(ticker, isAbsent ? "absent" : "with_price", other);
      }
    },
  };
}

function createFamilies(registry: Registry) {
  const { gauge, histogram } = metricFactory(registry);
  return {
    methodLatency: histogram(
      "app_abci_method_latency",
      "The time it took for an ABCI method to execute slinky specific logic (in seconds)",
      ["abci_method", "chain_id"],
      [0.0001, 0.0004, 0.002, 0.009, 0.02, 0.1, 0.65, 2, 6, 25],
    ),
    requests: gauge("app_abci_requests", "The number of requests made to the ABCI server", [
      "abci_method",
      "chain_id",
      "status",
    ]),
    latency: histogram(
      "app_oracle_response_latency",
      "The time it took for the oracle to respond",
      ["chain_id"],
      [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    ),
    responses: gauge("app_oracle_responses", "The number of oracle responses", ["chain_id", "status"]),
    prices: gauge("app_prices", "The price of the ticker that is written to state", ["chain_id", "ticker"]),
    reports: gauge(
      "app_report_status_per_validator",
      "The status of the report for a specific validator and ticker",
      ["chain_id", "status", "ticker", "validator"],
    ),
    reportedPrices: gauge(
      "app_reports_per_validator",
      "The price reported for a specific validator and ticker",
      ["chain_id", "ticker", "validator"],
    ),
  };
}
