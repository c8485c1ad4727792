import type { SimulationOutcome, TxSender, WireMessage } from "../../client/tx/tx-sender.ts";
import { MsgSubmitQueryResult, type QueryResult } from "../../proto/gen/neutron/interchainqueries/tx.ts";
import type { ProvenResult } from "./plan.ts";
import {
  EMPTY_OUTCOME,
  isTxTooLarge,
  judgeConfirmation,
  type RefusedResult,
  stopped,
  type SubmissionOutcome,
  type SubmissionPlan,
  type SubmissionStop,
} from "./submission-outcome.ts";

export interface SubmissionOptions {
  /** Type URL of `MsgSubmitQueryResult`; it holds the chain's own name. */
  readonly submitTypeUrl: string;
  /** Gas limit = simulated gas × this / 1000. */
  readonly gasAdjustmentPermille: bigint;
  /** A transaction with more simulated gas is halved, unless it has one result only. */
  readonly maxGas: bigint;
}

/** Encodes a `MsgSubmitQueryResult`. `sender` is a bech32 address. */
export function submitMessage(queryId: bigint, result: QueryResult, sender: string): Uint8Array {
  return MsgSubmitQueryResult.encode({ queryId, sender, clientId: "", result }).finish();
}

/**
 * Simulates the results in one transaction, sends it, and waits for its block.
 *
 * One failing result must not stop the others, and must not cost a fee. So a result that the simulation names is left
 * out, and the others are simulated again. When the simulation names no message, the node refuses it for its size, or the
 * gas exceeds `maxGas`, the two halves are submitted one after the other. Rejects only on abort and with `ClientError`.
 */
export async function submit<T extends ProvenResult>(
  plan: SubmissionPlan<T>,
  sender: TxSender,
  options: SubmissionOptions,
  signal: AbortSignal,
): Promise<SubmissionOutcome<T>> {
  const refused: RefusedResult<T>[] = [];
  let results = plan.results;
  // Terminates: each turn returns or removes a result.
  while (results.length > 0) {
    const messages = toMessages({ ...plan, results }, options);
    const simulation = await sender.simulate(messages, signal);
    const verdict = judgeSimulation(simulation, { ...plan, results }, options);
    switch (verdict.kind) {
      case "send": {
        const sent = await sender.send(messages, verdict.gasLimit, signal);
        return withRefused(refused, judgeConfirmation({ ...plan, results }, sent.confirmation, sent.bytes));
      }
      case "halve": {
        const halves = await submitHalves({ ...plan, results }, sender, options, signal);
        const isTooLarge = halves.isTooLarge || (!simulation.ok && isTxTooLarge(simulation));
        return withRefused(refused, { ...halves, isTooLarge });
      }
      case "stop":
        return withRefused(refused, stopped(results, verdict.stop));
      case "leave-out":
        refused.push(...refusedAt(results, verdict.index, simulation));
        results = results.filter((_result, index) => index !== verdict.index);
    }
  }
  return withRefused(refused, EMPTY_OUTCOME);
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
  const isSingle = results.length === 1;
  if (simulation.ok) {
    if (simulation.gasUsed > options.maxGas && !isSingle) return { kind: "halve" };
    return { kind: "send", gasLimit: (simulation.gasUsed * options.gasAdjustmentPermille) / 1000n + 1n };
  }
  const { failedMessage, log } = simulation;
  // Halving cannot repair the account, it would only repeat the failure for every part.
  if (failedMessage === undefined && isAccountError(log))
    return { kind: "stop", stop: { kind: "refused", reason: log } };
  if (failedMessage === undefined) return isSingle ? { kind: "leave-out", index: 0 } : { kind: "halve" };
  // The client update is message 0.
  const index = update === undefined ? failedMessage : failedMessage - 1;
  if (index < 0) return { kind: "stop", stop: { kind: "header-refused", reason: log } };
  // An index beyond the messages removes nothing: without this line the same batch would be simulated for ever.
  if (index >= results.length) return isSingle ? { kind: "leave-out", index: 0 } : { kind: "halve" };
  return { kind: "leave-out", index };
}

/** Whether the ante handlers refused the signer, whatever the messages are. */
function isAccountError(log: string): boolean {
  return /account sequence mismatch|signature verification failed|unable to verify single signer/i.test(log);
}

function refusedAt<T extends ProvenResult>(
  results: readonly T[],
  index: number,
  simulation: SimulationOutcome,
): readonly RefusedResult<T>[] {
  const code = !simulation.ok && isTxTooLarge(simulation) ? "too-large" : "rejected";
  const reason = simulation.ok ? "" : simulation.log;
  return results.slice(index, index + 1).map((result) => ({ result, error: { code, reason } }));
}

async function submitHalves<T extends ProvenResult>(
  plan: SubmissionPlan<T>,
  sender: TxSender,
  options: SubmissionOptions,
  signal: AbortSignal,
): Promise<SubmissionOutcome<T>> {
  const middle = Math.ceil(plan.results.length / 2);
  const secondHalf = plan.results.slice(middle);
  const first = await submit({ ...plan, results: plan.results.slice(0, middle) }, sender, options, signal);
  if (first.stop !== undefined) return { ...first, unsent: [...first.unsent, ...secondHalf] };
  // Once a transaction of the first half is included, the consensus state exists and needs no second update.
  const update = first.transactions.length === 0 ? plan.update : undefined;
  const second = await submit({ update, results: secondHalf }, sender, options, signal);
  return {
    included: [...first.included, ...second.included],
    refused: [...first.refused, ...second.refused],
    unsent: [...first.unsent, ...second.unsent],
    transactions: [...first.transactions, ...second.transactions],
    stop: second.stop,
    isTooLarge: first.isTooLarge || second.isTooLarge,
  };
}

/** Adds the results that were left out before. */
function withRefused<T extends ProvenResult>(
  refused: readonly RefusedResult<T>[],
  outcome: SubmissionOutcome<T>,
): SubmissionOutcome<T> {
  return { ...outcome, refused: [...refused, ...outcome.refused] };
}
