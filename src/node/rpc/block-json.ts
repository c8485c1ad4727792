import { toBase64, toHex } from "../../base/bytes.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { formatRfc3339Ns, GO_ZERO_TIME_NS } from "../../base/rfc3339.ts";
import {
  BLOCK_ID_FLAG,
  type BlockId,
  type Commit,
  type CommitSig,
  type Header,
  type Validator,
} from "../../comet/block-types.ts";
import type { StoredBlock } from "../node-view.ts";

/** Upper-case hex, as CometBFT prints hashes and addresses. */
export function upperHex(bytes: Uint8Array): string {
  return toHex(bytes).toUpperCase();
}

/** `BlockID`. */
export function blockIdJson(id: BlockId): JsonObject {
  return { hash: upperHex(id.hash), parts: { total: id.parts.total, hash: upperHex(id.parts.hash) } };
}

/** `Header`. */
export function headerJson(header: Header): JsonObject {
  const { version } = header;
  return {
    version:
      version.app === 0n
        ? { block: version.block.toString() }
        : { block: version.block.toString(), app: version.app.toString() },
    chain_id: header.chainId,
    height: header.height.toString(),
    time: formatRfc3339Ns(header.timeNs),
    last_block_id: blockIdJson(header.lastBlockId),
    last_commit_hash: upperHex(header.lastCommitHash),
    data_hash: upperHex(header.dataHash),
    validators_hash: upperHex(header.validatorsHash),
    next_validators_hash: upperHex(header.nextValidatorsHash),
    consensus_hash: upperHex(header.consensusHash),
    app_hash: upperHex(header.appHash),
    last_results_hash: upperHex(header.lastResultsHash),
    evidence_hash: upperHex(header.evidenceHash),
    proposer_address: upperHex(header.proposerAddress),
  };
}

/** `Commit`. */
export function commitJson(commit: Commit): JsonObject {
  return {
    height: commit.height.toString(),
    round: commit.round,
    block_id: blockIdJson(commit.blockId),
    signatures: commit.signatures.map(commitSigJson),
  };
}

function commitSigJson(one: CommitSig): JsonObject {
  const absent = one.flag === BLOCK_ID_FLAG.absent;
  return {
    block_id_flag: one.flag,
    validator_address: upperHex(one.validatorAddress),
    timestamp: formatRfc3339Ns(absent ? GO_ZERO_TIME_NS : one.timestampNs),
    signature: absent ? null : toBase64(one.signature),
  };
}

/** `Block`. */
export function blockJson(block: StoredBlock): JsonObject {
  return {
    header: headerJson(block.header),
    data: { txs: block.txs.map(toBase64) },
    evidence: { evidence: [] },
    last_commit: commitJson(block.lastCommit),
  };
}

/** `ResultBlock`; without a block CometBFT answers an empty id and null. */
export function resultBlockJson(block: StoredBlock | undefined): JsonObject {
  if (block === undefined) {
    return { block_id: { hash: "", parts: { total: 0, hash: "" } }, block: null };
  }
  return { block_id: blockIdJson(block.blockId), block: blockJson(block) };
}

/** `BlockMeta`. */
export function blockMetaJson(block: StoredBlock): JsonObject {
  return {
    block_id: blockIdJson(block.blockId),
    block_size: block.sizeBytes.toString(),
    header: headerJson(block.header),
    num_txs: block.txs.length.toString(),
  };
}

/** An ed25519 key as CometBFT's JSON. */
export function publicKeyJson(publicKey: Uint8Array): JsonObject {
  return { type: "tendermint/PubKeyEd25519", value: toBase64(publicKey) };
}

/** `Validator`. */
export function validatorJson(validator: Validator): JsonObject {
  return {
    address: upperHex(validator.address),
    pub_key: publicKeyJson(validator.publicKey),
    voting_power: validator.power.toString(),
    proposer_priority: validator.priority.toString(),
  };
}

/** Bytes as base64; none as null. */
export function bytesJson(bytes: Uint8Array): JsonValue {
  return bytes.length === 0 ? null : toBase64(bytes);
}
