import {
  bytesField,
  concat,
  encodeUvarint,
  lengthPrefixed,
  messageField,
  sha256,
  utf8,
} from "../../platform/base/bytes.ts";
import { splitNs } from "../../platform/base/time.ts";
import { simpleRoot } from "../merkle/simple-tree.ts";
import {
  BLOCK_ID_FLAG,
  type BlockId,
  type Commit,
  type CommitSig,
  type Header,
  type PartSetHeader,
  type Validator,
} from "./block-types.ts";
import { keyTypeOf } from "./validator-key.ts";

/**
 * Computes the hash of a header: the Merkle root over its fields in order (CometBFT `Header.Hash`). Each field is encoded in
 * protobuf. A scalar is encoded as field 1 of a message. Like Go, returns an empty array if `validatorsHash` is empty.
 */
export function headerHash(header: Header): Uint8Array {
  if (header.validatorsHash.length === 0) return new Uint8Array(0);
  return simpleRoot([
    concat(varintField(1, header.version.block), varintField(2, header.version.app)),
    stringField(1, header.chainId),
    varintField(1, header.height),
    timestampMessage(header.timeNs),
    blockIdMessage(header.lastBlockId),
    bytesField(1, header.lastCommitHash),
    bytesField(1, header.dataHash),
    bytesField(1, header.validatorsHash),
    bytesField(1, header.nextValidatorsHash),
    bytesField(1, header.consensusHash),
    bytesField(1, header.appHash),
    bytesField(1, header.lastResultsHash),
    bytesField(1, header.evidenceHash),
    bytesField(1, header.proposerAddress),
  ]);
}

/**
 * Encodes a `tendermint.types.BlockID`. The part set header is written even if it is empty, because it is not nullable in Go. A
 * `CanonicalBlockID` has the same encoding.
 */
function blockIdMessage(id: BlockId): Uint8Array {
  const parts = concat(varintField(1, BigInt(id.parts.total)), bytesField(2, id.parts.hash));
  return concat(bytesField(1, id.hash), messageField(2, parts));
}

/** Value of `SignedMsgType` for a precommit, the only kind of vote in a commit. */
const PRECOMMIT = 2n;

/**
 * Creates a function that returns the sign bytes for the vote at an index: a length-prefixed `CanonicalVote`. The votes in a commit
 * differ only in their time and in their block id (the block or nil), so all other fields are encoded only once. The returned
 * function throws if the index is out of range.
 */
export function commitSignBytes(chainId: string, commit: Commit): (index: number) => Uint8Array {
  const forBlock = canonicalHead(commit, commit.blockId);
  const forNil = canonicalHead(commit, undefined);
  const tail = stringField(6, chainId);
  return (index) => {
    const signature = commit.signatures[index];
    if (signature === undefined)
      throw new Error(`no signature ${index} in a commit of ${commit.signatures.length}`);
    const head = signature.flag === BLOCK_ID_FLAG.commit ? forBlock : forNil;
    return lengthPrefixed(concat(head, messageField(5, timestampMessage(signature.timestampNs)), tail));
  };
}

/** Computes the hash of a commit (`last_commit_hash` in the next header): the Merkle root over its encoded signatures. */
export function commitHash(commit: Pick<Commit, "signatures">): Uint8Array {
  return simpleRoot(commit.signatures.map(commitSigMessage));
}

function commitSigMessage(signature: CommitSig): Uint8Array {
  return concat(
    varintField(1, BigInt(signature.flag)),
    bytesField(2, signature.validatorAddress),
    messageField(3, timestampMessage(signature.timestampNs)),
    bytesField(4, signature.signature),
  );
}

/** Encodes fields 1 to 4 of a `CanonicalVote`. A vote for nil has no block id. */
function canonicalHead({ height, round }: Commit, blockId: BlockId | undefined): Uint8Array {
  const isNil = blockId === undefined || isNoBlock(blockId);
  return concat(
    varintField(1, PRECOMMIT),
    fixed64Field(2, height),
    fixed64Field(3, BigInt(round)),
    isNil ? new Uint8Array(0) : messageField(4, blockIdMessage(blockId)),
  );
}

/** Returns true if all fields of a block id are empty, as in a vote for nil. */
export function isNoBlock(id: BlockId): boolean {
  return id.hash.length === 0 && id.parts.total === 0 && id.parts.hash.length === 0;
}

/** Size in bytes of every part of a block except the last, which may be shorter. */
const PART_SIZE = 65_536;

/** The `ExecTxResult` fields that `last_results_hash` covers. Logs and events are excluded, because they may differ between nodes. */
export interface DeterministicTxResult {
  readonly code: number;
  readonly data: Uint8Array;
  readonly gasWanted: bigint;
  readonly gasUsed: bigint;
}

/** Encodes the Merkle leaf for a transaction's result: an `ExecTxResult` with only code, data, gas wanted and gas used. */
export function txResultLeaf(result: DeterministicTxResult): Uint8Array {
  return concat(
    varintField(1, BigInt(result.code)),
    bytesField(2, result.data),
    varintField(5, result.gasWanted),
    varintField(6, result.gasUsed),
  );
}

/** Computes `last_results_hash`, which the next block's header contains. */
export function resultsHash(results: readonly DeterministicTxResult[]): Uint8Array {
  return simpleRoot(results.map(txResultLeaf));
}

/** Computes `evidence_hash`: the Merkle root over encoded `DuplicateVoteEvidence` and `LightClientAttackEvidence`. */
export const evidenceHash: (evidence: readonly Uint8Array[]) => Uint8Array = simpleRoot;

/** Splits an encoded `Block` into parts and computes the Merkle root over the parts. An empty encoding has no parts. */
export function partSetHeader(block: Uint8Array): PartSetHeader {
  const total = Math.ceil(block.length / PART_SIZE);
  const parts = Array.from({ length: total }, (_, index) =>
    block.subarray(index * PART_SIZE, (index + 1) * PART_SIZE),
  );
  return { total, hash: simpleRoot(parts) };
}

/** Computes the hash of a validator set: the Merkle root over each validator's public key and power, in set order. */
export function validatorsHash(validators: readonly Pick<Validator, "publicKey" | "power">[]): Uint8Array {
  return simpleRoot(
    validators.map(({ publicKey, power }) =>
      concat(keyTypeOf(publicKey).hashPrefix, publicKey, varintField(2, power)),
    ),
  );
}

/** Computes `consensus_hash`: the SHA-256 of `HashedParams`. The header covers no other consensus parameters. */
export function consensusHash(params: { readonly maxBytes: bigint; readonly maxGas: bigint }): Uint8Array {
  return sha256(concat(varintField(1, params.maxBytes), varintField(2, params.maxGas)));
}

/*
 * The encoders for data that CometBFT hashes and signs are written by hand. The bytes must be exact, and must not depend on how
 * a code generator treats default values. Field functions return an empty array for the default value.
 */

const EMPTY = new Uint8Array(0);

/** Encodes an unsigned varint, and a negative number as 64-bit two's complement. */
function varint(value: bigint): Uint8Array {
  const small = value >= 0n && value <= MAX_SMALL;
  return small ? encodeUvarint(Number(value)) : largeVarint(BigInt.asUintN(64, value));
}

/** Largest value encoded with number arithmetic, which is many times faster than bigint arithmetic. */
const MAX_SMALL = 0x7fff_ffffn;

function largeVarint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

/** Encodes an int32, int64, uint32, uint64 or enum field. */
function varintField(field: number, value: bigint): Uint8Array {
  return value === 0n ? EMPTY : concat(tag(field, 0), varint(value));
}

/** Encodes an sfixed64 field, or omits the field if the value is 0. */
function fixed64Field(field: number, value: bigint): Uint8Array {
  if (value === 0n) return EMPTY;
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, value, true);
  return concat(tag(field, 1), bytes);
}

function stringField(field: number, value: string): Uint8Array {
  return bytesField(field, utf8(value));
}

/** Encodes nanoseconds since the Unix epoch as a `google.protobuf.Timestamp`. */
function timestampMessage(timeNs: bigint): Uint8Array {
  const { seconds, nanos } = splitNs(timeNs);
  return concat(varintField(1, seconds), varintField(2, BigInt(nanos)));
}

function tag(field: number, wireType: number): Uint8Array {
  return encodeUvarint((field << 3) | wireType);
}
