import { internal } from "./rpc-error.ts";

const DEFAULT_PER_PAGE = 30;
const MAX_PER_PAGE = 100;

/** Entries on a page, after CometBFT's `validatePerPage`: 30 when absent or below 1, at most 100. Never throws. */
export function toPerPage(perPage: bigint | undefined): number {
  if (perPage === undefined || perPage < 1n) return DEFAULT_PER_PAGE;
  return perPage > BigInt(MAX_PER_PAGE) ? MAX_PER_PAGE : Number(perPage);
}

/**
 * The requested page, 1 when absent, after CometBFT's `validatePage`. Throws `RpcError` outside [1, pages].
 * An empty list has one page.
 */
export function toPage(page: bigint | undefined, total: number, perPage: number): number {
  if (page === undefined) return 1;
  const pages = Math.max(1, Math.ceil(total / perPage));
  if (page < 1n || page > BigInt(pages)) {
    throw internal(`page should be within [1, ${pages}] range, given ${page}`);
  }
  return Number(page);
}

/** The requested page of a search, 1 when absent. The search checks the range, since only it knows the total. */
export function toSearchPage(page: bigint | undefined): number {
  // A page beyond 2^53 loses digits, but stays out of range.
  return page === undefined ? 1 : Number(page);
}

/** The requested height, `latest` when absent. Throws `RpcError` with CometBFT's text outside [lowest, latest]. */
export function toHeight(requested: bigint | undefined, latest: bigint, lowest: bigint): bigint {
  if (requested === undefined) return latest;
  if (requested <= 0n) throw internal(`height must be greater than 0, but got ${requested}`);
  if (requested > latest) {
    throw internal(
      `height ${requested} must be less than or equal to the current blockchain height ${latest}`,
    );
  }
  if (requested < lowest) {
    throw internal(`height ${requested} is not available, lowest height is ${lowest}`);
  }
  return requested;
}
