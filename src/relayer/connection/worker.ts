import type { BackoffOptions } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { ChainClient } from "../../client/chain-client.ts";
import type { TxSender } from "../../client/tx/tx-sender.ts";
import type { RelayerMetrics } from "../api/metrics.ts";
import type { LocalQueries } from "../local-queries.ts";
import { failed, type QueryFailure, type QueryState } from "../registry/query-state.ts";
import type { Registry } from "../registry/registry.ts";
import type { BatchBudget } from "../submit/batch-budget.ts";
import type { BatchLimits } from "../submit/plan.ts";
import type { SubmissionOptions } from "../submit/submission.ts";
import type { ClientOfConnection } from "./connection-view.ts";

/** A worker of one connection: everything that its cycles use. Each connection has one for KV and one for TX queries. */
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
  /** Latest local height. */
  readonly localHeight: () => bigint;
  readonly settings: WorkerSettings;
  readonly client: ClientOfConnection;
  readonly budget: BatchBudget;
}

export interface WorkerSettings {
  readonly allowKvCallbacks: boolean;
  /** Least number of remote blocks between two results of a KV query; absent: 0. */
  readonly minKvUpdatePeriod?: bigint;
  /** Limits of a transaction. `budget` may lower them for a while. */
  readonly limits: BatchLimits;
  /** Backoff of a query after a failure. */
  readonly backoff: BackoffOptions;
  /** `maxGas` comes from the budget. */
  readonly submission: Omit<SubmissionOptions, "maxGas">;
}

/** Stores, counts and logs a failure of one query and starts its backoff. */
export function noteFailure(worker: ConnectionWorker, state: QueryState, error: QueryFailure): void {
  const { connectionId, clock, random, settings, metrics, registry, logger } = worker;
  registry.replace(state, failed(state, error, { nowMs: clock.nowMs(), backoff: settings.backoff, random }));
  metrics.results.inc({ connection_id: connectionId, outcome: error.code });
  // One warning for each new code. Reasons hold heights and counts, which differ at each try.
  logger[state.error?.code === error.code ? "debug" : "warn"]("query failed", {
    queryId: state.query.id,
    connectionId,
    ...error,
  });
}
