import { toBase64 } from "../../platform/base/bytes.ts";
import type { Comparison, KvPreview } from "../preview/preview-kv.ts";
import type { TxComparison, TxPreview } from "../preview/preview-tx.ts";

/** Converts a preview to the JSON of `relayer dry-run` and `relayer inspect`. */
export function kvPreviewJson({ query, at, outcome, other }: KvPreview) {
  const isAccepted = outcome.kind === "accepted";
  return {
    id: `${query.id}`,
    type: query.type,
    connection_id: query.connectionId,
    remote_height: `${at.height}`,
    outcome: outcome.kind,
    results: isAccepted ? 1 : 0,
    gas: isAccepted ? `${outcome.gas}` : null,
    bytes: isAccepted ? outcome.bytes : null,
    values: isAccepted
      ? outcome.values.map(({ storagePrefix, key, value }) => ({
          path: storagePrefix,
          key: toBase64(key),
          value: toBase64(value),
        }))
      : [],
    before: other.kind,
    before_height: other.kind === "none" ? null : `${other.at.height}`,
    reason: isAccepted ? comparisonText(other) : outcome.reason,
  };
}

function comparisonText(other: Comparison): string | null {
  if (other.kind === "unreadable") return `the last result cannot be compared: ${other.reason}`;
  if (other.kind !== "differs") return null;
  return `the last result, of remote height ${other.at.height}, has other values for ${other.keys} keys`;
}

/** As {@link kvPreviewJson}, for a TX query. */
export function txPreviewJson({ query, from, to, txs, other, reason }: TxPreview) {
  const sent = txs.filter((tx) => tx.reason === undefined);
  const failed = txs.find((tx) => tx.reason !== undefined);
  const isAccepted = reason === undefined && failed === undefined;
  return {
    id: `${query.id}`,
    type: query.type,
    connection_id: query.connectionId,
    remote_height: `${to}`,
    outcome: isAccepted ? "accepted" : "refused",
    results: sent.length,
    gas: `${sent.reduce((sum, { gas }) => sum + (gas ?? 0n), 0n)}`,
    searched_from: `${from}`,
    txs: txs.map((tx) => ({
      hash: tx.hash,
      height: `${tx.height}`,
      gas: tx.gas === undefined ? null : `${tx.gas}`,
      reason: tx.reason ?? null,
      received: tx.received ?? null,
    })),
    before: other.kind,
    reason: reason ?? (failed === undefined ? txComparisonText(other) : `${failed.hash}: ${failed.reason}`),
  };
}

function txComparisonText(other: TxComparison): string | null {
  if (other.kind === "unreadable") return `what the chain has received cannot be compared: ${other.reason}`;
  if (other.kind !== "differs") return null;
  const [first] = other.missing;
  return `the chain has later transactions, and lacks ${other.missing.length} before them, such as ${first}`;
}
