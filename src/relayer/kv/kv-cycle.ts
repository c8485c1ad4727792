import type { LightBlockBytes } from "../../client/chain-client.ts";
import type { WireMessage } from "../../client/tx/tx-sender.ts";
import {
  createTrustFinder,
  headerAny,
  isUpdatedTo,
  type Trust,
  updateClientMessage,
} from "../connection/client-update.ts";
import { type ConnectionView, viewConnection } from "../connection/connection-view.ts";
import { type ConnectionWorker, noteFailure } from "../connection/worker.ts";
import { answered, isSuspect, type QueryState } from "../registry/query-state.ts";
import { candidatesAt, planBatches, type ProvenResult, tooLarge } from "../submit/plan.ts";
import { sendBatch, throwStop } from "../submit/send-batch.ts";
import type { SubmissionOutcome } from "../submit/submission-outcome.ts";
import { proveResults } from "./prove.ts";
import { type KeyAnswers, readKeys } from "./read-keys.ts";

/**
 * Answers the due KV queries of one connection. An error of a query is stored in its state. Throws `RelayError` and
 * `ClientError` for an error of the connection.
 *
 * All queries are read at one remote height, so they share one header and at most one client update. The header is that
 * of the newest block H, and the state is that at H−1: a header holds the app hash after the previous block. An older
 * header would save no calls, would make the values older, and could be below the client's latest height.
 */
export async function runKvCycle(
  worker: ConnectionWorker,
  due: readonly QueryState[],
  signal: AbortSignal,
): Promise<void> {
  const view = await viewConnection(worker, signal);
  if (view === undefined) return;
  const candidates = candidatesAt(due, view.stateAt, worker.settings.minKvUpdatePeriod);
  if (candidates.length === 0) return;
  const reads = await readRemote(worker, view, candidates, signal);
  const results = prove(worker, view, candidates, reads);
  await sendAll(worker, view, { results, update: updateMessage(worker, view, reads) }, signal);
}

/** Everything that a cycle reads from the remote chain. */
interface RemoteReads {
  readonly block: LightBlockBytes;
  readonly answers: KeyAnswers;
  /** undefined: the client has the consensus state already. */
  readonly trust: Trust | undefined;
}

/** The three reads are independent of each other. In parallel they take one round trip, however many keys there are. */
async function readRemote(
  worker: ConnectionWorker,
  { client, headerAt, stateAt }: ConnectionView,
  candidates: readonly QueryState[],
  signal: AbortSignal,
): Promise<RemoteReads> {
  const finder = createTrustFinder(worker, client, signal);
  const keys = candidates.flatMap(({ query }) => query.keys);
  const [block, answers, trust] = await Promise.all([
    worker.remote.lightBlock(headerAt.height, signal),
    readKeys(worker.remote, keys, stateAt.height, signal),
    isUpdatedTo(client, headerAt) ? undefined : finder.below(headerAt),
  ]);
  return { block, answers, trust };
}

/** Returns the results that can be sent. Stores the failure of each other query. */
function prove(
  worker: ConnectionWorker,
  { stateAt }: ConnectionView,
  candidates: readonly QueryState[],
  { block, answers }: RemoteReads,
): readonly ProvenResult[] {
  const { allowKvCallbacks, limits } = worker.settings;
  const options = { sender: worker.sender.address, allowKvCallbacks };
  const proofs = proveResults(candidates, answers, { appHash: block.appHash, at: stateAt }, options);
  return proofs.flatMap(({ state, result }) => {
    if (result.ok && result.value.message.length <= limits.bytes) return [result.value];
    noteFailure(worker, state, result.ok ? tooLarge(result.value, limits) : result.error);
    return [];
  });
}

function updateMessage(
  worker: ConnectionWorker,
  { client }: ConnectionView,
  { block, trust }: RemoteReads,
): WireMessage | undefined {
  if (trust === undefined) return undefined;
  return updateClientMessage(client.clientId, headerAny(block, trust), worker.sender.address);
}

async function sendAll(
  worker: ConnectionWorker,
  view: ConnectionView,
  plan: { readonly results: readonly ProvenResult[]; readonly update: WireMessage | undefined },
  signal: AbortSignal,
): Promise<void> {
  // A result that failed before may pass the simulation and fail in the block, with all others of its transaction.
  // So these go last, in transactions of their own.
  const suspects = plan.results.filter(({ state }) => isSuspect(state));
  const others = plan.results.filter(({ state }) => !isSuspect(state));
  let { update } = plan;
  for (const results of [others, suspects].flatMap((group) => planBatches(group, worker.budget.limits()))) {
    const outcome = await sendBatch(worker, { update, results }, signal);
    noteResults(worker, view, outcome);
    if (outcome.transactions.length > 0 && update !== undefined) {
      // The consensus state exists now. The next batches prove against it without an update.
      worker.metrics.clientUpdates.inc({ connection_id: worker.connectionId });
      update = undefined;
    }
    throwStop(worker, outcome.stop);
    // The batches were planned with limits that proved too large. Their queries stay due for the next cycle.
    if (outcome.stop !== undefined) return;
  }
}

function noteResults(
  worker: ConnectionWorker,
  { stateAt }: ConnectionView,
  outcome: SubmissionOutcome<ProvenResult>,
): void {
  for (const { result, height } of outcome.included) {
    worker.registry.replace(result.state, answered(result.state, { localHeight: height, remote: stateAt }));
  }
  for (const { result, error } of outcome.refused) noteFailure(worker, result.state, error);
}
