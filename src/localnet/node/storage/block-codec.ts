import type { BlockId, Commit, ValidatorSet } from "../../../cosmos/comet/block-types.ts";
import {
  commitFromProto,
  commitToProto,
  headerFromProto,
  headerToProto,
  validatorSetFromProto,
  validatorSetToProto,
} from "../../../cosmos/comet/proto-blocks.ts";
import { Block } from "../../../cosmos/proto/gen/tendermint/types/block.ts";
import * as Types from "../../../cosmos/proto/gen/tendermint/types/types.ts";
import * as Validators from "../../../cosmos/proto/gen/tendermint/types/validator.ts";
import type { StoredBlock } from "../node-view.ts";

/** Encodes a block as `tendermint.types.Block`. The part set header of the block id is a hash of these bytes. */
export function encodeBlock(block: Pick<StoredBlock, "header" | "txs" | "lastCommit">): Uint8Array {
  return Block.encode({
    header: headerToProto(block.header),
    data: { txs: [...block.txs] },
    evidence: { evidence: [] },
    lastCommit: commitToProto(block.lastCommit),
  }).finish();
}

/** Decodes a stored block. Throws on invalid bytes. */
export function decodeBlock(bytes: Uint8Array, blockId: BlockId): StoredBlock {
  const { header, data, lastCommit } = Block.decode(bytes);
  if (header === undefined || lastCommit === undefined) throw new Error("a stored block is damaged");
  return {
    header: headerFromProto(header),
    txs: data?.txs ?? [],
    lastCommit: commitFromProto(lastCommit),
    blockId,
    sizeBytes: bytes.length,
  };
}

/** Encodes a commit as `tendermint.types.Commit`. */
export function encodeCommit(commit: Commit): Uint8Array {
  return Types.Commit.encode(commitToProto(commit)).finish();
}

/** Decodes a stored commit. Throws on invalid bytes. */
export function decodeCommit(bytes: Uint8Array): Commit {
  return commitFromProto(Types.Commit.decode(bytes));
}

/** Encodes a validator set with proposer and priorities as `tendermint.types.ValidatorSet`. */
export function encodeValidatorSet(set: ValidatorSet): Uint8Array {
  return Validators.ValidatorSet.encode(validatorSetToProto(set)).finish();
}

/** Decodes a stored validator set. Throws on invalid bytes. */
export function decodeValidatorSet(bytes: Uint8Array): ValidatorSet {
  return validatorSetFromProto(Validators.ValidatorSet.decode(bytes));
}
