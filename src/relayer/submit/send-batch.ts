import type { ConnectionWorker } from "../connection/worker.ts";
import { RelayError } from "../relay-error.ts";
import type { ProvenResult } from "./plan.ts";
import { submit } from "./submission.ts";
import type { SubmissionOutcome, SubmissionPlan, SubmissionStop } from "./submission-outcome.ts";

/** Submits one batch within the present budget of the connection. Updates metrics, log and budget with the outcome. */
export async function sendBatch<T extends ProvenResult>(
  worker: ConnectionWorker,
  plan: SubmissionPlan<T>,
  signal: AbortSignal,
): Promise<SubmissionOutcome<T>> {
  const options = { ...worker.settings.submission, maxGas: worker.budget.limits().gas };
  const outcome = await submit(plan, worker.sender, options, signal);
  noteOutcome(worker, outcome);
  return outcome;
}

function noteOutcome(worker: ConnectionWorker, outcome: SubmissionOutcome<ProvenResult>): void {
  const { connectionId, metrics, logger } = worker;
  const labels = { connection_id: connectionId };
  metrics.results.inc({ ...labels, outcome: "included" }, outcome.included.length);
  metrics.results.inc({ ...labels, outcome: "not-included" }, outcome.unsent.length);
  for (const { height, results, gasUsed, bytes } of outcome.transactions) {
    metrics.batchSize.observe(labels, results);
    metrics.gasUsed.inc(labels, Number(gasUsed));
    metrics.txBytes.inc(labels, bytes);
    logger.debug("results included", { connectionId, results, localHeight: height, gasUsed, bytes });
    worker.budget.grow();
  }
  if (outcome.isTooLarge) {
    worker.budget.shrink();
    logger.info("transaction too large for the node, the next ones are smaller", { connectionId });
  }
  if (outcome.stop?.kind !== "unattributed") return;
  worker.budget.shrink();
  logger.warn("transaction failed without naming a message, the next ones are smaller", {
    connectionId,
    results: outcome.unsent.length,
    reason: outcome.stop.reason,
  });
}

/**
 * Throws `RelayError` for a stop that must end the cycle with an error of the connection. Returns for "unattributed":
 * its results stay due and are sent in smaller transactions, without a backoff of the connection.
 */
export function throwStop(worker: ConnectionWorker, stop: SubmissionStop | undefined): void {
  if (stop === undefined || stop.kind === "unattributed") return;
  const { code, text } = STOPS[stop.kind];
  throw new RelayError({ code, connectionId: worker.connectionId }, `${text}: ${stop.reason}`);
}

const STOPS = {
  "header-refused": { code: "header-refused", text: "the client refused the update header" },
  refused: { code: "transaction-refused", text: "the local node refused the transaction" },
  lost: { code: "transaction-lost", text: "the transaction was not included" },
} as const;
