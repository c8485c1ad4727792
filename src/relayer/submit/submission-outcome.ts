import { TX_TOO_LARGE } from "../../client/tx/simulation.ts";
import type { Confirmation, WireMessage } from "../../client/tx/tx-sender.ts";
import type { QueryFailure } from "../registry/query-state.ts";
import type { ProvenResult } from "./plan.ts";

/** The content of one transaction. */
export interface SubmissionPlan<T extends ProvenResult> {
  /** Client update before the results; undefined when the consensus state exists. */
  readonly update: WireMessage | undefined;
  readonly results: readonly T[];
}

/** A result in a block of the local chain. */
interface IncludedResult<T extends ProvenResult> {
  readonly result: T;
  readonly height: bigint;
}

/** A result with an error of its own. */
export interface RefusedResult<T extends ProvenResult> {
  readonly result: T;
  readonly error: QueryFailure;
}

/** A transaction in a block, executed without error. */
interface IncludedTransaction {
  readonly height: bigint;
  /** Number of results. */
  readonly results: number;
  readonly gasUsed: bigint;
  readonly bytes: number;
}

/**
 * Why a submission ended early although no result has an error of its own:
 *
 * - "header-refused": the client update failed;
 * - "refused": the node refused the transaction in simulation or in its mempool, because of the account;
 * - "lost": the transaction was not included in time;
 * - "unattributed": the transaction failed and no message was named, so its size may be the reason.
 */
export interface SubmissionStop {
  readonly kind: "header-refused" | "refused" | "lost" | "unattributed";
  readonly reason: string;
}

/** The outcome of a submission. Each result is in exactly one of `included`, `refused` and `unsent`. */
export interface SubmissionOutcome<T extends ProvenResult> {
  readonly included: readonly IncludedResult<T>[];
  readonly refused: readonly RefusedResult<T>[];
  /** Not included, without an error of their own. They stay due. */
  readonly unsent: readonly T[];
  readonly transactions: readonly IncludedTransaction[];
  readonly stop: SubmissionStop | undefined;
  /** Whether the node refused a simulation for its size, so that the next transactions should be smaller. */
  readonly isTooLarge: boolean;
}

/** The outcome of a submission without results. */
export const EMPTY_OUTCOME = {
  included: [],
  refused: [],
  unsent: [],
  transactions: [],
  stop: undefined,
  isTooLarge: false,
} as const;

/** The outcome when none of `results` was included. */
export function stopped<T extends ProvenResult>(
  results: readonly T[],
  stop: SubmissionStop,
): SubmissionOutcome<T> {
  return { ...EMPTY_OUTCOME, unsent: results, stop };
}

/** Derives the outcome of each result from the confirmation of their transaction. `bytes` is its encoded size. */
export function judgeConfirmation<T extends ProvenResult>(
  plan: SubmissionPlan<T>,
  confirmation: Confirmation,
  bytes: number,
): SubmissionOutcome<T> {
  const { results } = plan;
  switch (confirmation.kind) {
    case "included": {
      const { height, gasUsed } = confirmation;
      const included = results.map((result) => ({ result, height }));
      return {
        ...EMPTY_OUTCOME,
        included,
        transactions: [{ height, results: results.length, gasUsed, bytes }],
      };
    }
    case "lost":
      return stopped(results, { kind: "lost", reason: confirmation.reason });
    case "refused": {
      const reason = errorLine(confirmation);
      return isSizeError(confirmation)
        ? unattributed(results, reason)
        : stopped(results, { kind: "refused", reason });
    }
    case "failed":
      return failedInBlock(plan, confirmation);
  }
}

/**
 * A transaction is atomic: one failed message undoes all others. The message that the log names is refused; the other
 * results are unsent.
 */
function failedInBlock<T extends ProvenResult>(
  { update, results }: SubmissionPlan<T>,
  confirmation: Extract<Confirmation, { readonly kind: "failed" }>,
): SubmissionOutcome<T> {
  const reason = errorLine(confirmation);
  const messageIndex = /message index: (\d{1,6})/.exec(confirmation.log)?.[1];
  if (messageIndex === undefined) return unattributed(results, reason);
  // The client update is message 0.
  const at = Number(messageIndex) - (update === undefined ? 0 : 1);
  if (at < 0) return stopped(results, { kind: "header-refused", reason });
  const [refused] = results.slice(at, at + 1);
  if (refused === undefined) return unattributed(results, reason);
  const unsent = results.filter((_result, index) => index !== at);
  return { ...EMPTY_OUTCOME, unsent, refused: [{ result: refused, error: { code: "rejected", reason } }] };
}

/**
 * The transaction failed without naming a message. Several results stay due and are tried in smaller transactions. A
 * single result is refused, so that it backs off and does not cost a fee in every block.
 */
function unattributed<T extends ProvenResult>(results: readonly T[], reason: string): SubmissionOutcome<T> {
  const [only] = results;
  if (results.length === 1 && only !== undefined) {
    return { ...EMPTY_OUTCOME, refused: [{ result: only, error: { code: "not-included", reason } }] };
  }
  return stopped(results, { kind: "unattributed", reason });
}

function errorLine(error: { readonly codespace: string; readonly code: number; readonly log: string }) {
  return `${error.codespace}/${error.code}: ${error.log}`;
}

/** `sdk/11` (out of gas) and `sdk/21` (transaction too large): a smaller transaction may pass. */
function isSizeError(error: AbciCode): boolean {
  return isTxTooLarge(error) || (error.codespace === "sdk" && error.code === 11);
}

/** Whether the node refused the transaction, or the request that carries it, for its size. */
export function isTxTooLarge({ codespace, code }: AbciCode): boolean {
  return codespace === TX_TOO_LARGE.codespace && code === TX_TOO_LARGE.code;
}

interface AbciCode {
  readonly codespace: string;
  readonly code: number;
}
