import type { LightBlockBytes } from "../../client/chain-client.ts";
import type { WireMessage } from "../../client/tx/tx-sender.ts";
import {
  createTrustFinder,
  headerAny,
  knowsHeight,
  type Trust,
  updateClientMessage,
} from "../connection/client-update.ts";
import { type ConnectionView, viewConnection } from "../connection/connection-view.ts";
import { type ConnectionWorker, noteFailure, noteSubmission, throwStop } from "../connection/worker.ts";
import { type BatchLimits, candidatesAt, type ProvenResult, planBatches } from "../submit/plan.ts";
import { proveResults } from "./prove.ts";
import { answered, isSuspect, type QueryFailure, type QueryState } from "../registry/query-state.ts";
import { type KeyAnswers, readKeys } from "./read-keys.ts";
import { submit } from "../submit/submission.ts";
import type { SubmissionOutcome } from "../submit/submission-outcome.ts";

/**
 * Answers the due KV queries of one connection: all of them at one remote height, with one client update in front, or
 * none when the consensus state exists. Errors of a query go to its state; errors of the connection are thrown.
 */
export async function runKvCycle(
  worker: ConnectionWorker,
  due: readonly QueryState[],
  signal: AbortSignal,
): Promise<void> {
  const view = await viewConnection(worker, signal);
  if (view === undefined) return;
  const candidates = candidatesAt(due, view.at);
  if (candidates.length === 0) return;
  const gathered = await gather(worker, view, candidates, signal);
  const results = prove(worker, view, candidates, gathered);
  await sendAll(worker, view, { results, update: updateMessage(worker, view, gathered) }, signal);
}

/** All that a round reads from the remote chain. */
interface Gathered {
  readonly block: LightBlockBytes;
  readonly answers: KeyAnswers;
  /** undefined: the client knows the block already. */
  readonly trust: Trust | undefined;
}

/** Nothing of this waits for anything else of it, so it takes as long as its slowest part. */
async function gather(
  worker: ConnectionWorker,
  { client, block, at }: ConnectionView,
  candidates: readonly QueryState[],
  signal: AbortSignal,
): Promise<Gathered> {
  const finder = createTrustFinder(trustDeps(worker), client, signal);
  const keys = candidates.flatMap(({ query }) => query.keys);
  const [lightBlock, answers, trust] = await Promise.all([
    worker.remote.lightBlock(block.height, signal),
    readKeys(worker.remote, keys, at.height, signal),
    knowsHeight(client, block) ? undefined : finder.below(block),
  ]);
  return { block: lightBlock, answers, trust };
}

/** What finding trust needs of a worker. */
export function trustDeps(worker: ConnectionWorker): Parameters<typeof createTrustFinder>[0] {
  const nowNs = (): bigint => BigInt(Math.round(worker.clock.nowMs())) * 1_000_000n;
  return { local: worker.local, remote: worker.remote, nowNs };
}

function prove(
  worker: ConnectionWorker,
  { at }: ConnectionView,
  candidates: readonly QueryState[],
  { block, answers }: Gathered,
): readonly ProvenResult[] {
  const { allowKvCallbacks, limits } = worker.settings;
  const options = { sender: worker.sender.address, allowKvCallbacks };
  const proofs = proveResults(candidates, answers, { appHash: block.appHash, at }, options);
  return proofs.flatMap(({ state, result }) => {
    if (result.ok && result.value.message.length <= limits.bytes) return [result.value];
    noteFailure(worker, state, result.ok ? tooLarge(result.value, limits) : result.error);
    return [];
  });
}

/** Why a result that no transaction can hold is not sent. */
export function tooLarge({ message }: ProvenResult, limits: BatchLimits): QueryFailure {
  return {
    code: "too-large",
    reason: `the result takes ${message.length} bytes, more than the ${limits.bytes} that a transaction may have`,
  };
}

function updateMessage(
  worker: ConnectionWorker,
  { client }: ConnectionView,
  { block, trust }: Gathered,
): WireMessage | undefined {
  if (trust === undefined) return undefined;
  return updateClientMessage(client.clientId, headerAny(block, trust), worker.sender.address);
}

/** Those that were refused before travel after and apart from the others, so that they hold nobody up. */
async function sendAll(
  worker: ConnectionWorker,
  view: ConnectionView,
  plan: { readonly results: readonly ProvenResult[]; readonly update: WireMessage | undefined },
  signal: AbortSignal,
): Promise<void> {
  const suspects = plan.results.filter(({ state }) => isSuspect(state));
  const others = plan.results.filter(({ state }) => !isSuspect(state));
  let { update } = plan;
  for (const results of [others, suspects].flatMap((group) => planBatches(group, worker.budget.limits()))) {
    const outcome = await send(worker, { update, results }, signal);
    settle(worker, view, outcome);
    if (outcome.transactions.length > 0 && update !== undefined) {
      worker.metrics.clientUpdates.inc({ connection_id: worker.connectionId });
      update = undefined;
    }
    throwStop(worker, outcome.stop);
    if (outcome.stop !== undefined) return;
  }
}

/** Submits within what transactions may take at this time. */
export async function send<T extends ProvenResult>(
  worker: ConnectionWorker,
  plan: { readonly results: readonly T[]; readonly update: WireMessage | undefined },
  signal: AbortSignal,
): Promise<SubmissionOutcome<T>> {
  const options = { ...worker.settings.submission, mostGas: worker.budget.limits().gas };
  const outcome = await submit(plan, worker.sender, options, signal);
  noteSubmission(worker, outcome);
  return outcome;
}

function settle(
  worker: ConnectionWorker,
  { at }: ConnectionView,
  outcome: SubmissionOutcome<ProvenResult>,
): void {
  for (const { result, height } of outcome.included) {
    worker.registry.replace(result.state, answered(result.state, { localHeight: height, remote: at }));
  }
  for (const { result, error } of outcome.refused) noteFailure(worker, result.state, error);
}
