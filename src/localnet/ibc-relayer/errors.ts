import { ClientError } from "../../cosmos/client-error.ts";
import { LightClientError } from "../../cosmos/light-client/client-queries.ts";
import { DeadlineError } from "../../platform/base/abort.ts";
import { CodedError } from "../../platform/base/errors.ts";

type IbcRelayerErrorFacts =
  /** A paginated query returned too many pages. */
  | { readonly code: "too-many-pages"; readonly pages: number }
  /** A node returned no proof for a path in the chain's `ibc` store. */
  | { readonly code: "read-failed"; readonly key: string }
  /** A transaction failed, but no single packet or channel message caused the failure. */
  | { readonly code: "transaction-failed"; readonly chainId: string };

/** Thrown to end a cycle of the IBC relayer. The relayer starts the next cycle after a backoff. */
export class IbcRelayerError extends CodedError<IbcRelayerErrorFacts> {}

/**
 * Reasons why a cycle failed: no valid response from a node, a light client that could not be updated, a transaction without effect,
 * a value that could not be read, or a cycle that exceeded its deadline.
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
