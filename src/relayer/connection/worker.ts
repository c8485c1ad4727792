import type { BackoffOptions } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { ChainClient } from "../../client/chain-client.ts";
import type { TxSender } from "../../client/tx/tx-sender.ts";
import type { BatchBudget } from "../submit/batch-budget.ts";
import type { ClientOfConnection } from "./connection-view.ts";
import type { LocalQueries } from "../registry/local-queries.ts";
import type { RelayerMetrics } from "../api/metrics.ts";
import type { BatchLimits, ProvenResult } from "../submit/plan.ts";
import { failed, type QueryFailure, type QueryState } from "../registry/query-state.ts";
import type { Registry } from "../registry/registry.ts";
import { RelayError } from "../relay-error.ts";
import type { SubmissionOptions } from "../submit/submission.ts";
import type { SubmissionOutcome, SubmissionStop } from "../submit/submission-outcome.ts";

/** One connection to a remote chain, and what its rounds need. */
export interface ConnectionWorker {
  readonly connectionId: string;
  readonly remote: ChainClient;
  readonly local: LocalQueries;
  readonly sender: TxSender;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: RelayerMetrics;
  /** Latest local height seen. */
  readonly localHeight: () => bigint;
  readonly settings: WorkerSettings;
  readonly client: ClientOfConnection;
  readonly budget: BatchBudget;
}

/** How a connection is served. */
export interface WorkerSettings {
  readonly allowKvCallbacks: boolean;
  readonly limits: BatchLimits;
  readonly backoff: BackoffOptions;
  readonly submission: SubmissionOptions;
}

/** Notes an error at the query, with a growing wait; logs a reason once, not at every try. */
export function noteFailure(worker: ConnectionWorker, state: QueryState, error: QueryFailure): void {
  const { connectionId, clock, random, settings, metrics, registry, logger } = worker;
  registry.replace(state, failed(state, error, { nowMs: clock.nowMs(), backoff: settings.backoff, random }));
  metrics.results.inc({ connection_id: connectionId, outcome: error.code });
  // Reasons hold heights and counts that differ from try to try; the code alone says whether this is news.
  logger[state.error?.code === error.code ? "debug" : "warn"]("query has no result", {
    queryId: state.query.id,
    connectionId,
    ...error,
  });
}

/** Counts a submission, tells of its transactions, and learns from it how big they may be. */
export function noteSubmission(worker: ConnectionWorker, outcome: SubmissionOutcome<ProvenResult>): void {
  const { connectionId, metrics, logger } = worker;
  const labels = { connection_id: connectionId };
  metrics.results.inc({ ...labels, outcome: "included" }, outcome.included.length);
  metrics.results.inc({ ...labels, outcome: "not-included" }, outcome.unsent.length);
  for (const { height, results, gasUsed, bytes } of outcome.transactions) {
    metrics.batchSize.observe(labels, results);
    metrics.gasUsed.inc(labels, Number(gasUsed));
    metrics.txBytes.inc(labels, bytes);
    logger.info("results included", { connectionId, results, localHeight: height, gasUsed, bytes });
    worker.budget.grow();
  }
  if (outcome.stop?.kind !== "thrown-out") return;
  worker.budget.shrink();
  logger.warn("transaction was thrown out, smaller ones follow", {
    connectionId,
    results: outcome.unsent.length,
    reason: outcome.stop.reason,
  });
}

/** Throws for a stop that ends the round as an error of the connection; what was thrown out is only sent again. */
export function throwStop(worker: ConnectionWorker, stop: SubmissionStop | undefined): void {
  if (stop === undefined || stop.kind === "thrown-out") return;
  const { code, what } = STOPS[stop.kind];
  throw new RelayError({ code, connectionId: worker.connectionId }, `${what}: ${stop.reason}`);
}

const STOPS = {
  "header-refused": { code: "header-refused", what: "the client refuses the header" },
  refused: { code: "transaction-refused", what: "the local chain does not take our transaction" },
  lost: { code: "transaction-lost", what: "our transaction was lost" },
} as const;
