import { concat } from "../../platform/base/bytes.ts";
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

/** `SignedMsgType` of a precommit. A commit has no other votes. */
const PRECOMMIT = 2n;

/**
 * Creates a function that returns the sign bytes of the vote at an index: a `CanonicalVote` after its length. The votes of
 * a commit differ only in their time and in whether they are for the block or for nil, so all other parts are encoded
 * once. The returned function throws for an index outside of the commit.
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

/**
 * Computes the hash of a commit (`last_commit_hash` of the next header): the Merkle root over its encoded signatures.
 */
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

/** Encodes fields 1 to 4 of a `CanonicalVote`. A vote for nil, or for no block, has no block id. */
function canonicalHead({ height, round }: Commit, blockId: BlockId | undefined): Uint8Array {
  const isNil = blockId === undefined || isNoBlock(blockId);
  return concat(
    varintField(1, PRECOMMIT),
    fixed64Field(2, height),
    fixed64Field(3, BigInt(round)),
    isNil ? new Uint8Array(0) : messageField(4, blockIdMessage(blockId)),
  );
}

/** Whether a block id is empty, as in a vote for nil. */
export function isNoBlock(id: BlockId): boolean {
  return id.hash.length === 0 && id.parts.total === 0 && id.parts.hash.length === 0;
}
