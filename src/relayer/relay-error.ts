import { CodedError } from "../base/errors.ts";

/** What can go wrong for a whole connection; faults of one query are `QueryFault`s. */
export type RelayFault =
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
  | {
      readonly code: "header-refused";
      readonly clientId: string;
      readonly height: bigint;
      readonly log: string;
    };

/** A fault that stops one connection's round; the round is tried again. */
export class RelayError extends CodedError<RelayFault> {}
