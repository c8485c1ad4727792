import { inflateSync } from "node:zlib";
import { ExtendedCommitInfo } from "../../../../cosmos/proto/gen/tendermint/abci/types.ts";
import { BlockIDFlag } from "../../../../cosmos/proto/gen/tendermint/types/validator.ts";
import { OracleVoteExtension } from "../../../../cosmos/proto/gen/slinky/abci/v1/vote_extensions.ts";
import { concat } from "../../../../platform/base/bytes.ts";

/** A validator's vote on the previous block, as the proposer includes it in a block. */
export interface OracleVote {
  /** Consensus address (20 bytes). */
  readonly consensus: Uint8Array;
  readonly isAbsent: boolean;
  /** The voted price minus the chain's price, by pair id. Empty if the vote has no prices. */
  readonly deltas: ReadonlyMap<bigint, bigint>;
}

/**
 * Reads the votes from a block's first transaction, or returns undefined if it contains none, i.e. vote extensions are off. Only
 * a proposer puts these bytes into a block, since they do not decode as a transaction. Throws for votes that no node here writes.
 */
export function readVotes([first]: readonly Uint8Array[]): readonly OracleVote[] | undefined {
  if (first === undefined || !MAGIC.every((byte, index) => first[index] === byte)) return undefined;
  return ExtendedCommitInfo.decode(readFrame(first)).votes.map(
    ({ validator, voteExtension, blockIdFlag }) => ({
      consensus: validator?.address ?? new Uint8Array(0),
      isAbsent: blockIdFlag === BlockIDFlag.BLOCK_ID_FLAG_ABSENT,
      deltas: deltasOf(voteExtension),
    }),
  );
}

/** Far more bytes than the prices of thousands of pairs need. */
const MAX_EXTENSION_BYTES = 1_048_576;

function deltasOf(extension: Uint8Array): ReadonlyMap<bigint, bigint> {
  if (extension.length === 0) return new Map();
  const { prices } = OracleVoteExtension.decode(
    inflateSync(extension, { maxOutputLength: MAX_EXTENSION_BYTES }),
  );
  return new Map([...prices].map(([id, bytes]) => [id, readGobInt(bytes)]));
}

// Go's gob of a big.Int: version and sign in one byte, then the magnitude.
const POSITIVE = 2;
const NEGATIVE = 3;

/** Encodes an integer the way Go's gob encodes a `big.Int`. */
export function writeGobInt(value: bigint): Uint8Array {
  const digits = value === 0n ? "" : (value < 0n ? -value : value).toString(16);
  const magnitude = Buffer.from(digits.padStart(digits.length + (digits.length % 2), "0"), "hex");
  return concat(Uint8Array.of(value < 0n ? NEGATIVE : POSITIVE), magnitude);
}

function readGobInt([sign, ...magnitude]: Uint8Array): bigint {
  if (sign !== POSITIVE && sign !== NEGATIVE) throw new Error(`byte ${sign} is no sign of a gob integer`);
  const value = magnitude.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return sign === NEGATIVE ? -value : value;
}

// A zstd frame (RFC 8878) with uncompressed blocks, which every zstd reader understands.
const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
/** A single segment, with the content size encoded in 4 bytes. */
const DESCRIPTOR = 0xa0;
const HEADER_BYTES = MAGIC.length + 1 + 4;
const MAX_BLOCK = 128 * 1024;

/** Wraps content in a frame. */
export function writeFrame(content: Uint8Array): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES);
  header.set([...MAGIC, DESCRIPTOR]);
  new DataView(header.buffer).setUint32(MAGIC.length + 1, content.length, true);
  const blocks: Uint8Array[] = [];
  for (let at = 0; at === 0 || at < content.length; at += MAX_BLOCK) {
    const block = content.subarray(at, at + MAX_BLOCK);
    const isLast = at + MAX_BLOCK >= content.length;
    const word = (block.length << 3) | (isLast ? 1 : 0);
    blocks.push(Uint8Array.of(word & 0xff, (word >> 8) & 0xff, (word >> 16) & 0xff), block);
  }
  return concat(header, ...blocks);
}

function readFrame(frame: Uint8Array): Uint8Array {
  if (frame[MAGIC.length] !== DESCRIPTOR) throw new Error("the extended commit is compressed");
  const blocks: Uint8Array[] = [];
  for (let at = HEADER_BYTES; at < frame.length; ) {
    const word = (frame[at] ?? 0) | ((frame[at + 1] ?? 0) << 8) | ((frame[at + 2] ?? 0) << 16);
    if ((word & 6) !== 0) throw new Error("the extended commit is compressed");
    const end = at + 3 + (word >> 3);
    blocks.push(frame.subarray(at + 3, end));
    at = end;
  }
  return concat(...blocks);
}
