import { CodedError } from "../base/errors.ts";

/** What can go wrong for a whole connection or the relayer; errors of one query are `QueryFailure`s. */
export type RelayErrorFacts =
  | { readonly code: "state-unusable"; readonly stateDir: string }
  | { readonly code: "no-client"; readonly connectionId: string }
  | { readonly code: "too-many-pages"; readonly pages: number }
  | {
      readonly code: "wrong-chain";
      readonly connectionId: string;
      readonly expected: string;
      readonly found: string;
    }
  | { readonly code: "client-not-active"; readonly clientId: string; readonly status: string }
  | { readonly code: "no-trusted-height"; readonly clientId: string; readonly height: bigint }
  | { readonly code: "remote-behind"; readonly chainId: string; readonly height: bigint }
  /** an endpoint's answers about one block contradict each other */
  | { readonly code: "bad-block"; readonly height: bigint }
  | { readonly code: "header-refused"; readonly connectionId: string }
  /** the node does not let our transactions in: no money, say */
  | { readonly code: "transaction-refused"; readonly connectionId: string }
  | { readonly code: "transaction-lost"; readonly connectionId: string };

/** An error that stops one connection's round, which is tried again, or the start ("state-unusable"). */
export class RelayError extends CodedError<RelayErrorFacts> {}
