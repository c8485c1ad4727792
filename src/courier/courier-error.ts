import { CodedError } from "../base/errors.ts";

/** Codes and facts of {@link CourierError}. */
type CourierErrorFacts =
  /** a list of a chain never ends */
  | { readonly code: "too-many-pages"; readonly pages: number }
  /** a value that the chain contains was read without its proof */
  | { readonly code: "read-failed"; readonly key: string }
  /** a transaction failed for another reason than one of its packets */
  | { readonly code: "transaction-failed"; readonly chainId: string };

/** Ends one cycle of the courier, which is retried after a backoff. */
export class CourierError extends CodedError<CourierErrorFacts> {}
