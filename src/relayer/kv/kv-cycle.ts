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
import { type Lane, noteFailure, noteSubmission, throwStop } from "../connection/worker.ts";
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
export async function runRound(lane: Lane, due: readonly QueryState[], signal: AbortSignal): Promise<void> {
  const view = await viewConnection(lane, signal);
  if (view === undefined) return;
  const candidates = candidatesAt(due, view.at);
  if (candidates.length === 0) return;
  const gathered = await gather(lane, view, candidates, signal);
  const results = prove(lane, view, candidates, gathered);
  await sendAll(lane, view, { results, update: updateMessage(lane, view, gathered) }, signal);
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
  lane: Lane,
  { client, block, at }: ConnectionView,
  candidates: readonly QueryState[],
  signal: AbortSignal,
): Promise<Gathered> {
  const finder = createTrustFinder(trustDeps(lane), client, signal);
  const keys = candidates.flatMap(({ query }) => query.keys);
  const [lightBlock, answers, trust] = await Promise.all([
    lane.remote.lightBlock(block.height, signal),
    readKeys(lane.remote, keys, at.height, signal),
    knowsHeight(client, block) ? undefined : finder.below(block),
  ]);
  return { block: lightBlock, answers, trust };
}

/** What finding trust needs of a lane. */
export function trustDeps(lane: Lane): Parameters<typeof createTrustFinder>[0] {
  const nowNs = (): bigint => BigInt(Math.round(lane.clock.nowMs())) * 1_000_000n;
  return { local: lane.local, remote: lane.remote, nowNs };
}

function prove(
  lane: Lane,
  { at }: ConnectionView,
  candidates: readonly QueryState[],
  { block, answers }: Gathered,
): readonly ProvenResult[] {
  const { allowKvCallbacks, limits } = lane.settings;
  const options = { sender: lane.sender.address, allowKvCallbacks };
  const proofs = proveResults(candidates, answers, { appHash: block.appHash, at }, options);
  return proofs.flatMap(({ state, result }) => {
    if (result.ok && result.value.message.length <= limits.bytes) return [result.value];
    noteFailure(lane, state, result.ok ? tooLarge(result.value, limits) : result.error);
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
  lane: Lane,
  { client }: ConnectionView,
  { block, trust }: Gathered,
): WireMessage | undefined {
  if (trust === undefined) return undefined;
  return updateClientMessage(client.clientId, headerAny(block, trust), lane.sender.address);
}

/** Those that were refused before travel after and apart from the others, so that they hold nobody up. */
async function sendAll(
  lane: Lane,
  view: ConnectionView,
  plan: { readonly results: readonly ProvenResult[]; readonly update: WireMessage | undefined },
  signal: AbortSignal,
): Promise<void> {
  const suspects = plan.results.filter(({ state }) => isSuspect(state));
  const others = plan.results.filter(({ state }) => !isSuspect(state));
  let { update } = plan;
  for (const results of [others, suspects].flatMap((group) => planBatches(group, lane.budget.limits()))) {
    const outcome = await send(lane, { update, results }, signal);
    settle(lane, view, outcome);
    if (outcome.transactions.length > 0 && update !== undefined) {
      lane.metrics.clientUpdates.inc({ connection_id: lane.connectionId });
      update = undefined;
    }
    throwStop(lane, outcome.stop);
    if (outcome.stop !== undefined) return;
  }
}

/** Submits within what transactions may take at this time. */
export async function send<T extends ProvenResult>(
  lane: Lane,
  plan: { readonly results: readonly T[]; readonly update: WireMessage | undefined },
  signal: AbortSignal,
): Promise<SubmissionOutcome<T>> {
  const options = { ...lane.settings.submission, mostGas: lane.budget.limits().gas };
  const outcome = await submit(plan, lane.sender, options, signal);
  noteSubmission(lane, outcome);
  return outcome;
}

function settle(lane: Lane, { at }: ConnectionView, outcome: SubmissionOutcome<ProvenResult>): void {
  for (const { result, height } of outcome.included) {
    lane.registry.replace(result.state, answered(result.state, { localHeight: height, remote: at }));
  }
  for (const { result, error } of outcome.refused) noteFailure(lane, result.state, error);
}
