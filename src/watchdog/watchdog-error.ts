import { CodedError } from "../base/errors.ts";

/** What ends a watchdog that cannot do its work: all are matters of configuration. */
export type WatchdogErrorFacts =
  | { readonly code: "wrong-chain"; readonly expected: string }
  | { readonly code: "state-in-use"; readonly folder: string }
  | { readonly code: "state-unusable"; readonly folder: string };

/** An error of the watchdog as a whole. */
export class WatchdogError extends CodedError<WatchdogErrorFacts> {}
