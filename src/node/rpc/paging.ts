import { internal } from "./rpc-error.ts";

const DEFAULT_PER_PAGE = 30;
const MAX_PER_PAGE = 100;

/** Entries on a page as CometBFT takes the wish: 30 when absent or below 1, at most 100. */
export function toPerPage(perPage: bigint | undefined): number {
  if (perPage === undefined || perPage < 1n) return DEFAULT_PER_PAGE;
  return perPage > BigInt(MAX_PER_PAGE) ? MAX_PER_PAGE : Number(perPage);
}

/** The page wished for, 1 when absent. Throws the error of a page outside [1, pages]. */
export function toPage(page: bigint | undefined, total: number, perPage: number): number {
  if (page === undefined) return 1;
  const pages = Math.max(1, Math.ceil(total / perPage));
  if (page < 1n || page > BigInt(pages)) {
    throw internal(`page should be within [1, ${pages}] range, given ${page}`);
  }
  return Number(page);
}

/** A page number for a search, which checks it itself; far pages stay far. */
export function toSearchPage(page: bigint | undefined): number {
  return page === undefined ? 1 : Number(page);
}

/** The height wished for: `latest` when absent. Throws the errors of heights that are not there. */
export function toHeight(wish: bigint | undefined, latest: bigint, lowest: bigint): bigint {
  if (wish === undefined) return latest;
  if (wish <= 0n) throw internal(`height must be greater than 0, but got ${wish}`);
  if (wish > latest) {
    throw internal(`height ${wish} must be less than or equal to the current blockchain height ${latest}`);
  }
  if (wish < lowest) throw internal(`height ${wish} is not available, lowest height is ${lowest}`);
  return wish;
}
