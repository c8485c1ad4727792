import { toBase64 } from "../../../platform/base/bytes.ts";
import type { JsonObject, JsonValue } from "../../../platform/base/json.ts";
import { blockIdToJson, commitToJson, headerToJson } from "../../../cosmos/comet/rpc-json.ts";
import type { StoredBlock } from "../node-view.ts";

/** CometBFT's `Block`. The evidence is always empty. */
export function blockJson(block: StoredBlock): JsonObject {
  return {
    header: headerToJson(block.header),
    data: { txs: block.txs.map(toBase64) },
    evidence: { evidence: [] },
    last_commit: commitToJson(block.lastCommit),
  };
}

/** `ResultBlock`. For an unknown hash CometBFT returns an empty id and null instead of an error. */
export function resultBlockJson(block: StoredBlock | undefined): JsonObject {
  if (block === undefined) {
    return { block_id: { hash: "", parts: { total: 0, hash: "" } }, block: null };
  }
  return { block_id: blockIdToJson(block.blockId), block: blockJson(block) };
}

/** CometBFT's `BlockMeta`. */
export function blockMetaJson(block: StoredBlock): JsonObject {
  return {
    block_id: blockIdToJson(block.blockId),
    block_size: block.sizeBytes.toString(),
    header: headerToJson(block.header),
    num_txs: block.txs.length.toString(),
  };
}

/** An ed25519 key in CometBFT's JSON. */
export function publicKeyJson(publicKey: Uint8Array): JsonObject {
  return { type: "tendermint/PubKeyEd25519", value: toBase64(publicKey) };
}

/** Bytes as base64. Empty bytes are null, as Go prints a nil slice. */
export function bytesJson(bytes: Uint8Array): JsonValue {
  return bytes.length === 0 ? null : toBase64(bytes);
}
