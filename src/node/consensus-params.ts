import { isRecord, type JsonObject } from "../base/json.ts";

/** Consensus parameters. Only the block limits are in the header's `consensus_hash`. */
export interface ConsensusParams {
  readonly maxBytes: bigint;
  readonly maxGas: bigint;
  readonly evidenceMaxAgeBlocks: bigint;
  readonly evidenceMaxAgeNs: bigint;
  readonly evidenceMaxBytes: bigint;
  /** 0: vote extensions are off, and a block holds nothing but transactions. */
  readonly voteExtensionsEnableHeight: bigint;
}

/** The parameters of a local chain: those of the real network, without vote extensions. */
export const DEFAULT_CONSENSUS_PARAMS: ConsensusParams = {
  maxBytes: 22_020_096n,
  maxGas: 1_000_000_000n,
  evidenceMaxAgeBlocks: 100_000n,
  evidenceMaxAgeNs: 172_800_000_000_000n,
  evidenceMaxBytes: 1_048_576n,
  voteExtensionsEnableHeight: 0n,
};

/** As `consensus_params` answers. */
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

/** Reads what {@link consensusParamsToJson} wrote. Throws a plain error that says what is wrong. */
export function parseConsensusParams(value: unknown): ConsensusParams {
  if (!isRecord(value)) throw new Error("an object was expected");
  const { block, evidence, abci } = value;
  return {
    maxBytes: number(block, "max_bytes"),
    maxGas: number(block, "max_gas"),
    evidenceMaxAgeBlocks: number(evidence, "max_age_num_blocks"),
    evidenceMaxAgeNs: number(evidence, "max_age_duration"),
    evidenceMaxBytes: number(evidence, "max_bytes"),
    voteExtensionsEnableHeight: number(abci, "vote_extensions_enable_height"),
  };
}

function number(part: unknown, name: string): bigint {
  const value = isRecord(part) ? part[name] : undefined;
  if (typeof value !== "string" || !/^-?\d{1,19}$/.test(value)) {
    throw new Error(`${name}: a number in quotes was expected`);
  }
  return BigInt(value);
}
