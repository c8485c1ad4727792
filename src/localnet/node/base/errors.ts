import { CodedError } from "../../../platform/base/errors.ts";

export type MempoolErrorFacts =
  | { readonly code: "tx-in-cache" }
  | { readonly code: "mempool-full"; readonly txs: number; readonly bytes: number }
  | { readonly code: "tx-too-large"; readonly bytes: number; readonly maxBytes: number };

/** Thrown if the mempool rejects a transaction before CheckTx. Error messages match CometBFT's. */
export class MempoolError extends CodedError<MempoolErrorFacts> {}

export class PageError extends CodedError<{ readonly code: "page-out-of-range"; readonly pages: number }> {}

/**
 * Checks a page number. The first page is page 1, and an empty list has one page. Throws {@link PageError} with the same message as
 * CometBFT.
 */
export function requirePage(page: number | bigint, total: number, perPage: number): void {
  const pages = Math.max(1, Math.ceil(total / perPage));
  if (page >= 1 && page <= pages) return;
  throw new PageError(
    { code: "page-out-of-range", pages },
    `page should be within [1, ${pages}] range, given ${page}`,
  );
}

export type NodeErrorFacts =
  | { readonly code: "home-in-use"; readonly home: string; readonly pid: number | undefined }
  | { readonly code: "home-unusable"; readonly home: string }
  | { readonly code: "store-failed"; readonly path: string }
  | { readonly code: "no-state"; readonly home: string }
  | { readonly code: "other-genesis"; readonly chainId: string }
  | { readonly code: "bad-genesis"; readonly path: string }
  | { readonly code: "state-mismatch"; readonly height: bigint }
  | { readonly code: "no-quorum"; readonly height: bigint }
  | { readonly code: "bad-evidence"; readonly height: bigint }
  | { readonly code: "bad-validator-update"; readonly reason: string }
  | { readonly code: "bad-time" }
  | { readonly code: "bad-snapshot" };

/** Thrown if a node cannot start, must stop, or rejects a control command. */
export class NodeError extends CodedError<NodeErrorFacts> {}
