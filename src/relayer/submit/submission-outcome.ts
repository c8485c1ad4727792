import type { Confirmation, WireMessage } from "../../client/tx/tx-sender.ts";
import type { ProvenResult } from "./plan.ts";
import type { QueryFailure } from "../registry/query-state.ts";

/** What a submission is made of. */
export interface SubmissionPlan<T extends ProvenResult> {
  /** A client update that must come first, or none when the consensus state exists. */
  readonly update: WireMessage | undefined;
  readonly results: readonly T[];
}

/** A result in a block of the local chain. */
interface IncludedResult<T extends ProvenResult> {
  readonly result: T;
  readonly height: bigint;
}

/** A result that is itself at error. */
export interface RefusedResult<T extends ProvenResult> {
  readonly result: T;
  readonly error: QueryFailure;
}

/** A transaction that is in a block, its messages executed. */
interface IncludedTransaction {
  readonly height: bigint;
  readonly results: number;
  readonly gasUsed: bigint;
  readonly bytes: number;
}

/**
 * Why sending stopped, none of the results being at error: the client update was refused, the node did not take the
 * transaction in, nobody saw it in a block, or it was thrown out of one without a message being named.
 */
export interface SubmissionStop {
  readonly kind: "header-refused" | "refused" | "lost" | "thrown-out";
  readonly reason: string;
}

/** What became of a submission; each result is in exactly one of the first three lists. */
export interface SubmissionOutcome<T extends ProvenResult> {
  readonly included: readonly IncludedResult<T>[];
  readonly refused: readonly RefusedResult<T>[];
  /** In no block, through no error of their own: to be sent again. */
  readonly unsent: readonly T[];
  readonly transactions: readonly IncludedTransaction[];
  readonly stop: SubmissionStop | undefined;
}

/** Nothing was sent, nothing is at error. */
export const NOTHING = { included: [], refused: [], unsent: [], transactions: [], stop: undefined } as const;

/** Nothing of this was sent, for a reason that is no result's. */
export function stopped<T extends ProvenResult>(
  results: readonly T[],
  stop: SubmissionStop,
): SubmissionOutcome<T> {
  return { ...NOTHING, unsent: results, stop };
}

/** What the end of a transaction means for each of its results. */
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
        ...NOTHING,
        included,
        transactions: [{ height, results: results.length, gasUsed, bytes }],
      };
    }
    case "lost":
      return stopped(results, { kind: "lost", reason: confirmation.reason });
    case "refused": {
      const reason = refusalText(confirmation);
      return isForItsSize(confirmation)
        ? thrownOut(results, reason)
        : stopped(results, { kind: "refused", reason });
    }
    case "failed":
      return failedInBlock(plan, confirmation);
  }
}

/** After a failure in the block: the message that it names is at error; the others were only in its company. */
function failedInBlock<T extends ProvenResult>(
  { update, results }: SubmissionPlan<T>,
  confirmation: Extract<Confirmation, { readonly kind: "failed" }>,
): SubmissionOutcome<T> {
  const reason = refusalText(confirmation);
  const named = /message index: (\d{1,6})/.exec(confirmation.log)?.[1];
  if (named === undefined) return thrownOut(results, reason);
  const at = Number(named) - (update === undefined ? 0 : 1);
  if (at < 0) return stopped(results, { kind: "header-refused", reason });
  const [guilty] = results.slice(at, at + 1);
  if (guilty === undefined) return thrownOut(results, reason);
  const unsent = results.filter((_result, place) => place !== at);
  return { ...NOTHING, unsent, refused: [{ result: guilty, error: { code: "rejected", reason } }] };
}

/** Nobody was named: smaller transactions will tell; a result that is thrown out alone has itself to blame. */
function thrownOut<T extends ProvenResult>(results: readonly T[], reason: string): SubmissionOutcome<T> {
  const [only] = results;
  if (results.length === 1 && only !== undefined) {
    return { ...NOTHING, refused: [{ result: only, error: { code: "not-included", reason } }] };
  }
  return stopped(results, { kind: "thrown-out", reason });
}

function refusalText(refusal: { readonly codespace: string; readonly code: number; readonly log: string }) {
  return `${refusal.codespace}/${refusal.code}: ${refusal.log}`;
}

/** `sdk/11` (out of gas) and `sdk/21` (transaction too large): fewer results may fit. */
function isForItsSize({ codespace, code }: { readonly codespace: string; readonly code: number }): boolean {
  return codespace === "sdk" && (code === 11 || code === 21);
}
