import { splitNs } from "../base/rfc3339.ts";
import type { BlockID, Commit, CommitSig, Header } from "../proto/gen/tendermint/types/types.ts";
import type { Timestamp } from "../proto/gen/google/protobuf/timestamp.ts";
import { BlockIDFlag } from "../proto/gen/tendermint/types/validator.ts";
import {
  base64Bytes,
  field,
  hexBytes,
  int64,
  isPresent,
  items,
  text,
  timeNs,
  uint32,
  unfit,
  type WireValue,
} from "./wire-fields.ts";

const HASH_BYTES = 32;
const ADDRESS_BYTES = 20;
/** Bound on what we decode: CometBFT itself allows 10,000 validators (`MaxVotesCount`). */
const MAX_SIGNATURES = 10_000;

/** Decodes the header object of `header`, `commit`, `block` and of the WebSocket events. */
export function decodeHeader(header: WireValue): Header {
  const chainId = field(header, "chain_id");
  if (text(chainId) === "") throw unfit(chainId, "a chain id");
  const version = field(header, "version");
  return {
    version: { block: int64(field(version, "block")), app: int64(field(version, "app")) },
    chainId: text(chainId),
    height: positive(field(header, "height")),
    time: timestamp(field(header, "time")),
    lastBlockId: decodeBlockId(field(header, "last_block_id")),
    lastCommitHash: hash(field(header, "last_commit_hash")),
    dataHash: hash(field(header, "data_hash")),
    validatorsHash: hash(field(header, "validators_hash")),
    nextValidatorsHash: hash(field(header, "next_validators_hash")),
    consensusHash: hash(field(header, "consensus_hash")),
    appHash: hexBytes(field(header, "app_hash")),
    lastResultsHash: hash(field(header, "last_results_hash")),
    evidenceHash: hash(field(header, "evidence_hash")),
    proposerAddress: sized(field(header, "proposer_address"), ADDRESS_BYTES),
  };
}

/** Decodes the commit object of `commit` and of `block` (`last_commit`). */
export function decodeCommit(commit: WireValue): Commit {
  const signatures = field(commit, "signatures");
  const entries = items(signatures);
  if (entries.length > MAX_SIGNATURES) throw unfit(signatures, `a list of at most ${MAX_SIGNATURES}`);
  return {
    height: int64(field(commit, "height")),
    round: uint32(field(commit, "round")),
    blockId: decodeBlockId(field(commit, "block_id")),
    signatures: entries.map(decodeCommitSig),
  };
}

/** Decodes a block id; the one before the first block has empty hashes. */
function decodeBlockId(blockId: WireValue): BlockID {
  const parts = field(blockId, "parts");
  return {
    hash: hash(field(blockId, "hash")),
    partSetHeader: { total: uint32(field(parts, "total")), hash: hash(field(parts, "hash")) },
  };
}

/** An absent validator's entry has flag 1, no address, no signature, and Go's zero time (year 1). */
function decodeCommitSig(signature: WireValue): CommitSig {
  return {
    blockIdFlag: blockIdFlag(field(signature, "block_id_flag")),
    validatorAddress: sized(field(signature, "validator_address"), ADDRESS_BYTES),
    timestamp: timestamp(field(signature, "timestamp")),
    signature: base64Bytes(field(signature, "signature")),
  };
}

function blockIdFlag(wire: WireValue): BlockIDFlag {
  switch (uint32(wire)) {
    case 1:
      return BlockIDFlag.BLOCK_ID_FLAG_ABSENT;
    case 2:
      return BlockIDFlag.BLOCK_ID_FLAG_COMMIT;
    case 3:
      return BlockIDFlag.BLOCK_ID_FLAG_NIL;
    default:
      throw unfit(wire, "a block id flag (1, 2 or 3)");
  }
}

function timestamp(wire: WireValue): Timestamp {
  if (!isPresent(wire)) throw unfit(wire, "a time");
  return splitNs(timeNs(wire));
}

function positive(wire: WireValue): bigint {
  const value = int64(wire);
  if (value < 1n) throw unfit(wire, "a height from 1 on");
  return value;
}

/** 32 bytes, or none where the protocol leaves a hash empty. */
function hash(wire: WireValue): Uint8Array {
  return sized(wire, HASH_BYTES);
}

function sized(wire: WireValue, length: number): Uint8Array {
  const bytes = hexBytes(wire);
  if (bytes.length !== 0 && bytes.length !== length) throw unfit(wire, `${length} bytes in hex`);
  return bytes;
}
