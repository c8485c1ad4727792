import { toHex, sha256 } from "../../platform/base/bytes.ts";
import type { BlockCounts } from "./block-counts.ts";
import type { Books } from "./books.ts";
import type { LedgerSource, MonthRecord } from "./ledger-view.ts";
import type { Month } from "./month.ts";

/** What identifies a record besides its month. */
export interface SealedAs {
  readonly chainId: string;
  readonly source: LedgerSource;
}

/**
 * Returns the SHA-256 of a record as hex: of the JSON list of chain, source, month, covered time, counts, estimated counts,
 * and backfilled counts when there are any.
 */
function sealHash({ chainId, source }: SealedAs, record: MonthRecord): string {
  const { month, coveredFromMs, counts, estimated, backfilled } = record;
  const filled = backfilled === undefined ? [] : [texts(backfilled)];
  const tallies = [texts(counts), texts(estimated), ...filled];
  const text = JSON.stringify([chainId, source, month, coveredFromMs, ...tallies]);
  return toHex(sha256(new TextEncoder().encode(text)));
}

function texts({ good, bad, unknown }: BlockCounts): readonly string[] {
  return [good, bad, unknown].map(String);
}

/** Seals all months before `month`. Returns the books and the months that were sealed now. */
export function sealMonths(books: Books, month: Month, as: SealedAs, atMs: number) {
  const sealed = [...books.months.values()].filter(
    (record) => record.month < month && record.seal === undefined,
  );
  if (sealed.length === 0) return { books, sealed };
  const months = new Map(books.months);
  for (const record of sealed)
    months.set(record.month, { ...record, seal: { atMs, hash: sealHash(as, record) } });
  return { books: { ...books, months }, sealed };
}
