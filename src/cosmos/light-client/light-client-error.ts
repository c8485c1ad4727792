import { CodedError } from "../../platform/base/errors.ts";

/** Codes and facts of {@link LightClientError}. */
export type LightClientErrorFacts =
  | { readonly code: "no-client"; readonly connectionId: string }
  | { readonly code: "too-many-pages"; readonly pages: number }
  | { readonly code: "no-trusted-height"; readonly clientId: string; readonly height: bigint }
  /** the endpoints have pruned the headers that an update from a trusted height needs */
  | {
      readonly code: "trusted-headers-missing";
      readonly clientId: string;
      readonly heights: readonly bigint[];
    };

/** A light client cannot be read or updated. */
export class LightClientError extends CodedError<LightClientErrorFacts> {}
