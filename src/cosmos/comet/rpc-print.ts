import { upperHex, toBase64 } from "../../platform/base/bytes.ts";
import type { JsonObject, JsonValue } from "../../platform/base/json.ts";
import { formatRfc3339Ns } from "../../platform/base/time.ts";
import type { BlockId, Commit, Header, Validator } from "./block-types.ts";
import { keyTypeOf } from "./validator-key.ts";

/**
 * Converts a header to the JSON of CometBFT's RPC. Hashes are upper-case hex, and 64-bit integers are strings. An `app`
 * version of zero is omitted.
 */
export function headerToJson(header: Header): JsonObject {
  const { block, app } = header.version;
  return {
    version: app === 0n ? { block: `${block}` } : { block: `${block}`, app: `${app}` },
    chain_id: header.chainId,
    height: `${header.height}`,
    time: formatRfc3339Ns(header.timeNs),
    last_block_id: blockIdToJson(header.lastBlockId),
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

/** Converts a commit to the JSON of CometBFT's RPC. An absent signature is null. */
export function commitToJson(commit: Commit): JsonObject {
  return {
    height: `${commit.height}`,
    round: commit.round,
    block_id: blockIdToJson(commit.blockId),
    signatures: commit.signatures.map(
      (sig): JsonValue => ({
        block_id_flag: sig.flag,
        validator_address: upperHex(sig.validatorAddress),
        timestamp: formatRfc3339Ns(sig.timestampNs),
        signature: sig.signature.length === 0 ? null : toBase64(sig.signature),
      }),
    ),
  };
}

/** Converts a block id to the JSON of CometBFT's RPC. */
export function blockIdToJson(id: BlockId): JsonObject {
  return { hash: upperHex(id.hash), parts: { total: id.parts.total, hash: upperHex(id.parts.hash) } };
}

/** Converts a validator to an entry of the RPC's `validators` response. */
export function validatorToJson(validator: Validator): JsonObject {
  return {
    address: upperHex(validator.address),
    pub_key: { type: keyTypeOf(validator.publicKey).jsonType, value: toBase64(validator.publicKey) },
    voting_power: `${validator.power}`,
    proposer_priority: `${validator.priority}`,
  };
}
