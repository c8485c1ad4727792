import { ClientError } from "../../cosmos/client-error.ts";
import { LightClientError } from "../../cosmos/light-client/client-queries.ts";
import { DeadlineError } from "../../platform/base/abort.ts";
import { CodedError } from "../../platform/base/errors.ts";

type IbcRelayerErrorFacts =
  /** A paginated query returned too many pages. */
  | { readonly code: "too-many-pages"; readonly pages: number }
  /** A node returned a value without its proof. */
  | { readonly code: "read-failed"; readonly key: string }
  /** A transaction failed, but not because of one of its packets. */
  | { readonly code: "transaction-failed"; readonly chainId: string };

/** Thrown to end a cycle of the IBC relayer. The next cycle starts after a backoff. */
export class IbcRelayerError extends CodedError<IbcRelayerErrorFacts> {}

/**
 * Why a cycle failed: a node did not respond or its response was invalid, a light client could not be updated, a transaction had
 * no effect, a value could not be read, or the cycle took too long.
 */
export const CYCLE_FAILURES = ["node", "light-client", "transaction", "read", "deadline", "other"] as const;

export type CycleFailure = (typeof CYCLE_FAILURES)[number];

export function cycleFailureOf(error: unknown): CycleFailure {
  if (error instanceof ClientError) return "node";
  if (error instanceof LightClientError) return "light-client";
  if (error instanceof DeadlineError) return "deadline";
  if (!(error instanceof IbcRelayerError)) return "other";
  return error.facts.code === "transaction-failed" ? "transaction" : "read";
}
