import type { SimulationOutcome, TxSender, WireMessage } from "../../client/tx/tx-sender.ts";
import { MsgSubmitQueryResult, type QueryResult } from "../../proto/gen/neutron/interchainqueries/tx.ts";
import type { ProvenResult } from "./plan.ts";
import {
  judgeConfirmation,
  NOTHING,
  type RefusedResult,
  stopped,
  type SubmissionOutcome,
  type SubmissionPlan,
  type SubmissionStop,
} from "./submission-outcome.ts";

/** Settings of submissions. */
export interface SubmissionOptions {
  readonly submitTypeUrl: string;
  /** Gas limit = simulated gas × this / 1000. */
  readonly gasAdjustmentPermille: bigint;
  /** A transaction that takes more in simulation is halved; a result that alone takes more travels alone. */
  readonly mostGas: bigint;
}

/** Encodes a `MsgSubmitQueryResult` of this sender. */
export function submitMessage(queryId: bigint, result: QueryResult, sender: string): Uint8Array {
  return MsgSubmitQueryResult.encode({ queryId, sender, clientId: "", result }).finish();
}

/**
 * Simulates, leaves out what the simulation refuses, sends the rest in one transaction and waits for its block.
 * A result that is refused takes no other with it: a refusal that names no message halves the batch, as more gas than
 * a transaction may take does.
 */
export async function submit<T extends ProvenResult>(
  plan: SubmissionPlan<T>,
  sender: TxSender,
  options: SubmissionOptions,
  signal: AbortSignal,
): Promise<SubmissionOutcome<T>> {
  const refused: RefusedResult<T>[] = [];
  let results = plan.results;
  while (results.length > 0) {
    const messages = toMessages({ ...plan, results }, options);
    const simulation = await sender.simulate(messages, signal);
    const verdict = judgeSimulation(simulation, { ...plan, results }, options);
    switch (verdict.kind) {
      case "send": {
        const sent = await sender.send(messages, verdict.gasLimit, signal);
        return withRefused(refused, judgeConfirmation({ ...plan, results }, sent.confirmation, sent.bytes));
      }
      case "halve":
        return withRefused(refused, await inHalves({ ...plan, results }, sender, options, signal));
      case "stop":
        return withRefused(refused, stopped(results, verdict.stop));
      case "leave-out":
        refused.push(...refusedAt(results, verdict.index, simulation));
        results = results.filter((_result, place) => place !== verdict.index);
    }
  }
  return withRefused(refused, NOTHING);
}

function toMessages(plan: SubmissionPlan<ProvenResult>, options: SubmissionOptions): readonly WireMessage[] {
  const results = plan.results.map(({ message }) => ({ typeUrl: options.submitTypeUrl, value: message }));
  return plan.update === undefined ? results : [plan.update, ...results];
}

type SimulationVerdict =
  | { readonly kind: "send"; readonly gasLimit: bigint }
  | { readonly kind: "halve" }
  | { readonly kind: "leave-out"; readonly index: number }
  | { readonly kind: "stop"; readonly stop: SubmissionStop };

function judgeSimulation(
  simulation: SimulationOutcome,
  { update, results }: SubmissionPlan<ProvenResult>,
  options: SubmissionOptions,
): SimulationVerdict {
  const isOne = results.length === 1;
  if (simulation.ok) {
    if (simulation.gasUsed > options.mostGas && !isOne) return { kind: "halve" };
    return { kind: "send", gasLimit: (simulation.gasUsed * options.gasAdjustmentPermille) / 1000n + 1n };
  }
  const { failedMessage: at, log } = simulation;
  if (at === undefined && isAccountError(log))
    return { kind: "stop", stop: { kind: "refused", reason: log } };
  if (at === undefined) return isOne ? { kind: "leave-out", index: 0 } : { kind: "halve" };
  const index = update === undefined ? at : at - 1;
  if (index < 0) return { kind: "stop", stop: { kind: "header-refused", reason: log } };
  // A message that was not sent cannot be named; without this the batch would be simulated for ever.
  if (index >= results.length) return isOne ? { kind: "leave-out", index: 0 } : { kind: "halve" };
  return { kind: "leave-out", index };
}

/** What the checks before the messages say about the signer; no result can help it. */
function isAccountError(log: string): boolean {
  return /account sequence mismatch|signature verification failed|unable to verify single signer/i.test(log);
}

function refusedAt<T extends ProvenResult>(
  results: readonly T[],
  index: number,
  simulation: SimulationOutcome,
): readonly RefusedResult<T>[] {
  const reason = simulation.ok ? "" : simulation.log;
  return results
    .slice(index, index + 1)
    .map((result) => ({ result, error: { code: "rejected" as const, reason } }));
}

async function inHalves<T extends ProvenResult>(
  plan: SubmissionPlan<T>,
  sender: TxSender,
  options: SubmissionOptions,
  signal: AbortSignal,
): Promise<SubmissionOutcome<T>> {
  const middle = Math.ceil(plan.results.length / 2);
  const rest = plan.results.slice(middle);
  const first = await submit({ ...plan, results: plan.results.slice(0, middle) }, sender, options, signal);
  if (first.stop !== undefined) return { ...first, unsent: [...first.unsent, ...rest] };
  // Once the first half is in a block, the consensus state is there and needs no second update.
  const update = first.transactions.length === 0 ? plan.update : undefined;
  const second = await submit({ update, results: rest }, sender, options, signal);
  return {
    included: [...first.included, ...second.included],
    refused: [...first.refused, ...second.refused],
    unsent: [...first.unsent, ...second.unsent],
    transactions: [...first.transactions, ...second.transactions],
    stop: second.stop,
  };
}

/** The outcome with those results that were refused before. */
function withRefused<T extends ProvenResult>(
  refused: readonly RefusedResult<T>[],
  outcome: SubmissionOutcome<T>,
): SubmissionOutcome<T> {
  return { ...outcome, refused: [...refused, ...outcome.refused] };
}
