import type { TxSender, WireMessage } from "../client/tx-sender.ts";
import { MsgSubmitQueryResult, type QueryResult } from "../proto/gen/neutron/interchainqueries/tx.ts";
import type { ProvenResult } from "./plan.ts";
import type { QueryFault } from "./query-state.ts";

/** What became of one result of a submission. */
export interface ResultOutcome<T extends ProvenResult> {
  readonly result: T;
  /** undefined: included. */
  readonly fault: QueryFault | undefined;
}

/** What became of a submission as a whole. */
export interface SubmissionOutcome<T extends ProvenResult> {
  /** Local height of the block that has it; undefined when nothing was included. */
  readonly height: bigint | undefined;
  readonly gasUsed: bigint;
  readonly bytes: number;
  readonly outcomes: readonly ResultOutcome<T>[];
  /** The client update in front was refused: nothing of this round can be sent; the log says why. */
  readonly headerRefused: string | undefined;
}

/** What a submission is made of. */
export interface SubmissionPlan<T extends ProvenResult> {
  /** A client update that must come first, or none when the consensus state exists. */
  readonly update: WireMessage | undefined;
  readonly results: readonly T[];
}

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
  const refused: ResultOutcome<T>[] = [];
  let results = plan.results;
  for (;;) {
    if (results.length === 0) return nothingSent(refused);
    const messages = toMessages({ ...plan, results }, options);
    const simulation = await sender.simulate(messages, signal);
    if (simulation.ok) {
      if (simulation.gasUsed > options.mostGas && results.length > 1)
        return joined(refused, await inHalves({ ...plan, results }, sender, options, signal));
      const gasLimit = (simulation.gasUsed * options.gasAdjustmentPermille) / 1000n + 1n;
      return send({ results, messages, gasLimit, refused }, sender, signal);
    }
    const at = simulation.failedMessage;
    if (at === 0 && plan.update !== undefined) return headerRefused(plan, simulation.log);
    if (at === undefined && results.length > 1)
      return joined(refused, await inHalves({ ...plan, results }, sender, options, signal));
    const index = at === undefined ? 0 : at - (plan.update === undefined ? 0 : 1);
    refused.push(
      ...results.slice(index, index + 1).map((result) => rejected(result, "rejected", simulation.log)),
    );
    results = results.filter((_result, place) => place !== index);
  }
}

/** The outcome with those results that were refused before. */
function joined<T extends ProvenResult>(
  refused: readonly ResultOutcome<T>[],
  outcome: SubmissionOutcome<T>,
): SubmissionOutcome<T> {
  return { ...outcome, outcomes: [...outcome.outcomes, ...refused] };
}

function toMessages(plan: SubmissionPlan<ProvenResult>, options: SubmissionOptions): readonly WireMessage[] {
  const results = plan.results.map(({ message }) => ({ typeUrl: options.submitTypeUrl, value: message }));
  return plan.update === undefined ? results : [plan.update, ...results];
}

interface ReadyToSend<T extends ProvenResult> {
  readonly results: readonly T[];
  readonly messages: readonly WireMessage[];
  readonly gasLimit: bigint;
  readonly refused: readonly ResultOutcome<T>[];
}

async function send<T extends ProvenResult>(
  ready: ReadyToSend<T>,
  sender: TxSender,
  signal: AbortSignal,
): Promise<SubmissionOutcome<T>> {
  const sent = await sender.send(ready.messages, ready.gasLimit, signal);
  const { confirmation } = sent;
  const spent = {
    gasUsed: "gasUsed" in confirmation ? confirmation.gasUsed : 0n,
    bytes: sent.bytes,
    headerRefused: undefined,
  };
  if (confirmation.kind === "included") {
    const included = ready.results.map((result) => ({ result, fault: undefined }));
    return { ...spent, height: confirmation.height, outcomes: [...included, ...ready.refused] };
  }
  const reason =
    confirmation.kind === "lost"
      ? confirmation.reason
      : `${confirmation.codespace}/${confirmation.code}: ${confirmation.log}`;
  const outcomes = blame(ready, confirmation.kind === "failed" ? confirmation.log : "", reason);
  return { ...spent, height: undefined, outcomes: [...outcomes, ...ready.refused] };
}

/** After a failure in the block: the message that it names is at fault; the others were only in its company. */
function blame<T extends ProvenResult>(
  ready: ReadyToSend<T>,
  log: string,
  reason: string,
): readonly ResultOutcome<T>[] {
  const index = /message index: (\d+)/.exec(log)?.[1];
  const at = index === undefined ? undefined : Number(index) - (ready.messages.length - ready.results.length);
  return ready.results.map((result, place) =>
    rejected(
      result,
      place === at ? "rejected" : "not-included",
      place === at || at === undefined ? reason : `in one transaction with a refused result: ${reason}`,
    ),
  );
}

async function inHalves<T extends ProvenResult>(
  plan: SubmissionPlan<T>,
  sender: TxSender,
  options: SubmissionOptions,
  signal: AbortSignal,
): Promise<SubmissionOutcome<T>> {
  const middle = Math.ceil(plan.results.length / 2);
  const first = await submit({ ...plan, results: plan.results.slice(0, middle) }, sender, options, signal);
  if (first.headerRefused !== undefined) return first;
  // Once the first half is in a block, the consensus state is there and needs no second update.
  const update = first.height === undefined ? plan.update : undefined;
  const second = await submit({ update, results: plan.results.slice(middle) }, sender, options, signal);
  return {
    height: second.height ?? first.height,
    gasUsed: first.gasUsed + second.gasUsed,
    bytes: first.bytes + second.bytes,
    outcomes: [...first.outcomes, ...second.outcomes],
    headerRefused: second.headerRefused,
  };
}

function rejected<T extends ProvenResult>(
  result: T,
  code: QueryFault["code"],
  reason: string,
): ResultOutcome<T> {
  return { result, fault: { code, reason } };
}

function nothingSent<T extends ProvenResult>(outcomes: readonly ResultOutcome<T>[]): SubmissionOutcome<T> {
  return { height: undefined, gasUsed: 0n, bytes: 0, outcomes, headerRefused: undefined };
}

function headerRefused<T extends ProvenResult>(plan: SubmissionPlan<T>, log: string): SubmissionOutcome<T> {
  return {
    ...nothingSent(plan.results.map((result) => rejected(result, "not-included", log))),
    headerRefused: log,
  };
}
