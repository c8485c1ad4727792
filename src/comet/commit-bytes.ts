import { concat } from "../base/bytes.ts";
import { simpleRoot } from "../merkle/simple-tree.ts";
import { BLOCK_ID_FLAG, type BlockId, type Commit, type CommitSig } from "./block-types.ts";
import { blockIdMessage } from "./header-hash.ts";
import {
  bytesField,
  fixed64Field,
  lengthPrefixed,
  messageField,
  stringField,
  timestampMessage,
  varintField,
} from "./wire.ts";

/** Vote types of CometBFT. */
export const VOTE_TYPE = { prevote: 1, precommit: 2 } as const;

/** What a vote says, without the validator. `blockId` undefined, or of no block: a vote for nil. */
interface CanonicalVote {
  readonly type: number;
  readonly height: bigint;
  readonly round: number;
  readonly blockId: BlockId | undefined;
  readonly timestampNs: bigint;
  readonly chainId: string;
}

/** The bytes that a validator signs: length-prefixed `CanonicalVote`. */
export function voteSignBytes(vote: CanonicalVote): Uint8Array {
  return lengthPrefixed(
    concat(
      canonicalHead(vote),
      messageField(5, timestampMessage(vote.timestampNs)),
      stringField(6, vote.chainId),
    ),
  );
}

/**
 * The sign bytes of a commit's votes by index. Votes of a commit differ in their time alone, so all else is encoded
 * once. A nil vote signs no block id. Throws on an index outside the commit.
 */
export function commitSignBytes(chainId: string, commit: Commit): (index: number) => Uint8Array {
  const vote = { type: VOTE_TYPE.precommit, height: commit.height, round: commit.round };
  const forBlock = canonicalHead({ ...vote, blockId: commit.blockId });
  const forNil = canonicalHead({ ...vote, blockId: undefined });
  const tail = stringField(6, chainId);
  return (index) => {
    const signature = commit.signatures[index];
    if (signature === undefined)
      throw new Error(`no signature ${index} in a commit of ${commit.signatures.length}`);
    const head = signature.flag === BLOCK_ID_FLAG.commit ? forBlock : forNil;
    return lengthPrefixed(concat(head, messageField(5, timestampMessage(signature.timestampNs)), tail));
  };
}

/** Hash of a commit (`last_commit_hash` of the next header): Merkle root over its signatures in protobuf. */
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

function canonicalHead(vote: Omit<CanonicalVote, "timestampNs" | "chainId">): Uint8Array {
  const { blockId } = vote;
  const isNil = blockId === undefined || isNoBlock(blockId);
  return concat(
    varintField(1, BigInt(vote.type)),
    fixed64Field(2, vote.height),
    fixed64Field(3, BigInt(vote.round)),
    isNil ? new Uint8Array(0) : messageField(4, blockIdMessage(blockId)),
  );
}

/** Whether a block id names no block. */
export function isNoBlock(id: BlockId): boolean {
  return id.hash.length === 0 && id.parts.total === 0 && id.parts.hash.length === 0;
}
