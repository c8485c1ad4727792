import type { JsonField, JsonObject } from "../../../platform/base/json.ts";

/** Consensus parameters. A header's `consensus_hash` covers only the two block limits. */
export interface ConsensusParams {
  /** Maximum size of an encoded block. */
  readonly maxBytes: bigint;
  /** Maximum gas per block; -1 means no limit. */
  readonly maxGas: bigint;
  readonly evidenceMaxAgeBlocks: bigint;
  readonly evidenceMaxAgeNs: bigint;
  readonly evidenceMaxBytes: bigint;
  /** 0 disables vote extensions, so that a block contains only transactions. */
  readonly voteExtensionsEnableHeight: bigint;
}

/** A local chain's parameters: the same as on the real network, but without vote extensions. */
export const DEFAULT_CONSENSUS_PARAMS: ConsensusParams = {
  maxBytes: 22_020_096n,
  maxGas: 1_000_000_000n,
  evidenceMaxAgeBlocks: 100_000n,
  evidenceMaxAgeNs: 172_800_000_000_000n,
  evidenceMaxBytes: 1_048_576n,
  voteExtensionsEnableHeight: 0n,
};

/** Returns the parameters as JSON, as shown in a genesis document and by the RPC method `consensus_params`. */
export function consensusParamsToJson(
  params: ConsensusParams,
  version: JsonObject = { app: "0" },
): JsonObject {
  return {
    block: { max_bytes: params.maxBytes.toString(), max_gas: params.maxGas.toString() },
    evidence: {
      max_age_num_blocks: params.evidenceMaxAgeBlocks.toString(),
      max_age_duration: params.evidenceMaxAgeNs.toString(),
      max_bytes: params.evidenceMaxBytes.toString(),
    },
    validator: { pub_key_types: ["ed25519"] },
    version,
    abci: { vote_extensions_enable_height: params.voteExtensionsEnableHeight.toString() },
  };
}

/** Parses the JSON from {@link consensusParamsToJson}. All parameters are required. Throws the field's error. */
export function parseConsensusParams(params: JsonField): ConsensusParams {
  const block = params.member("block");
  const evidence = params.member("evidence");
  const abci = params.member("abci");
  return {
    maxBytes: quotedInt64(block.member("max_bytes")),
    maxGas: quotedInt64(block.member("max_gas")),
    evidenceMaxAgeBlocks: quotedInt64(evidence.member("max_age_num_blocks")),
    evidenceMaxAgeNs: quotedInt64(evidence.member("max_age_duration")),
    evidenceMaxBytes: quotedInt64(evidence.member("max_bytes")),
    voteExtensionsEnableHeight: quotedInt64(abci.member("vote_extensions_enable_height")),
  };
}

/** CometBFT's JSON decoder accepts 64-bit integers only as strings. Throws the field's error. */
export function quotedInt64(field: JsonField): bigint {
  if (typeof field.value !== "string" || !/^-?\d+$/.test(field.value)) {
    throw field.error(field.path, "a number in quotes");
  }
  return field.asInt64();
}
