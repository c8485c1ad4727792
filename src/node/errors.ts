import { CodedError } from "../base/errors.ts";

/** Why a transaction did not enter the mempool at all. */
export type MempoolErrorFacts =
  | { readonly code: "tx-in-cache" }
  | { readonly code: "mempool-full"; readonly txs: number; readonly bytes: number }
  | { readonly code: "tx-too-large"; readonly bytes: number; readonly maxBytes: number };

/** A transaction that the mempool refuses before CheckTx; texts as CometBFT's. */
export class MempoolError extends CodedError<MempoolErrorFacts> {}

/** A page beyond what a search found. */
export class PageError extends CodedError<{ readonly code: "page-out-of-range"; readonly pages: number }> {}

/** Why a node does not start or stops. */
export type NodeErrorFacts =
  | { readonly code: "home-in-use"; readonly home: string; readonly pid: number | undefined }
  | { readonly code: "home-unusable"; readonly home: string }
  | { readonly code: "no-state"; readonly home: string }
  | { readonly code: "other-genesis"; readonly chainId: string }
  | { readonly code: "bad-genesis"; readonly path: string }
  | { readonly code: "state-mismatch"; readonly height: bigint }
  | { readonly code: "no-quorum"; readonly height: bigint }
  | { readonly code: "bad-validator-update"; readonly reason: string };

/** An error of the node itself. */
export class NodeError extends CodedError<NodeErrorFacts> {}
