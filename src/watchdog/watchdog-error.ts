import { CodedError } from "../platform/base/errors.ts";

/** Errors that end the watchdog. The operator must change the configuration. */
export type WatchdogErrorFacts =
  | { readonly code: "wrong-chain"; readonly expected: string }
  | { readonly code: "state-in-use"; readonly folder: string }
  | { readonly code: "state-unusable"; readonly folder: string };

/** Thrown by the watchdog's service. */
export class WatchdogError extends CodedError<WatchdogErrorFacts> {}
