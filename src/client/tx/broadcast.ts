import { toBase64 } from "../../base/bytes.ts";
import { ClientError } from "../errors.ts";
import type { EndpointPool } from "../endpoints/endpoint-pool.ts";
import { field, text, uint32, wireValue } from "../read/wire-fields.ts";

/** What the node said to a broadcast. */
export type BroadcastOutcome =
  /** in its mempool, or it knows these bytes already */
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly code: number; readonly codespace: string; readonly log: string }
  /** no answer: it may have arrived or not; sending the same bytes again does no harm */
  | { readonly kind: "unclear"; readonly error: ClientError };

/** Sends bytes by `broadcast_tx_sync`. Throws the signal's reason, and JSON-RPC errors such as a full mempool. */
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
    if (isKnownAlready(error)) return { kind: "accepted" };
    if (isTooLarge(error)) return { ...TX_TOO_LARGE, log: error.message };
    if (isUnclear(error)) return { kind: "unclear", error };
    throw error;
  }
}

/** Decodes the answer to `broadcast_tx_sync`. */
export function decodeBroadcast(result: unknown, endpoint: string): BroadcastOutcome {
  const root = wireValue(result, "broadcast_tx_sync", endpoint);
  const code = uint32(field(root, "code"));
  if (code === 0) return { kind: "accepted" };
  return { kind: "refused", code, codespace: text(field(root, "codespace")), log: text(field(root, "log")) };
}

function isKnownAlready({ facts }: ClientError): boolean {
  return facts.code === "rpc" && facts.data.includes("tx already exists in cache");
}

/** The node's own limit, which it reports as a JSON-RPC error: sending it again cannot help, so it is a refusal. */
function isTooLarge({ facts }: ClientError): boolean {
  return facts.code === "rpc" && /tx too large/i.test(facts.data);
}

/** The SDK's code for it. */
const TX_TOO_LARGE = { kind: "refused", code: 21, codespace: "sdk" } as const;

function isUnclear({ facts }: ClientError): boolean {
  return ["unreachable", "timeout", "http-status", "bad-answer"].includes(facts.code);
}
