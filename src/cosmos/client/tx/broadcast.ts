import { toBase64 } from "../../../platform/base/bytes.ts";
import { asText, asUint32, member } from "../../../platform/base/json.ts";
import type { EndpointPool } from "../endpoints/endpoint-pool.ts";
import { ClientError } from "../errors.ts";
import { resultField } from "../rpc/rpc-response.ts";
import { TX_TOO_LARGE } from "./simulation.ts";

/** Result of a broadcast. */
export type BroadcastOutcome =
  /** the transaction is in the node's mempool, or the node has seen these bytes before */
  | { readonly kind: "accepted" }
  /** CheckTx refused the transaction */
  | {
      readonly kind: "refused";
      readonly code: number;
      readonly codespace: string;
      readonly log: string;
      /** The JSON-RPC error instead of a response of CheckTx. */
      readonly cause?: ClientError;
    }
  /** no usable response; the node may have the transaction or not */
  | { readonly kind: "unclear"; readonly error: ClientError };

/** Sends a transaction with `broadcast_tx_sync`. Throws the signal's reason, and JSON-RPC errors such as a full mempool. */
export async function broadcastTransaction(
  pool: Pick<EndpointPool, "read">,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<BroadcastOutcome> {
  try {
    return await pool.read(
      { method: "broadcast_tx_sync", params: { tx: toBase64(bytes) }, decode: decodeBroadcast },
      signal,
    );
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (isInCache(error)) return { kind: "accepted" };
    if (isTooLarge(error)) return { kind: "refused", ...TX_TOO_LARGE, log: error.message };
    if (isUnclear(error)) return { kind: "unclear", error };
    throw error;
  }
}

/** Decodes the result of `broadcast_tx_sync`. */
export function decodeBroadcast(result: unknown, endpoint: string): BroadcastOutcome {
  const root = resultField(result, "broadcast_tx_sync", endpoint);
  const code = asUint32(member(root, "code"));
  if (code === 0) return { kind: "accepted" };
  return {
    kind: "refused",
    code,
    codespace: asText(member(root, "codespace")),
    log: asText(member(root, "log")),
  };
}

/** The mempool's cache has these bytes from an earlier broadcast, so that broadcast arrived. */
function isInCache({ facts }: ClientError): boolean {
  return facts.code === "rpc" && facts.data.includes("tx already exists in cache");
}

/**
 * CometBFT reports its size limits (`max_tx_bytes`, `max_body_bytes`) as JSON-RPC errors. Another attempt cannot succeed,
 * so they count as a refusal.
 */
function isTooLarge({ facts }: ClientError): boolean {
  return facts.code === "request-too-large" || (facts.code === "rpc" && /tx too large/i.test(facts.data));
}

function isUnclear({ facts }: ClientError): boolean {
  return ["unreachable", "timeout", "http-status", "bad-answer"].includes(facts.code);
}
