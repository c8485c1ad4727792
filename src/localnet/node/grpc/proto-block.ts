import { encodeBech32 } from "../../../platform/base/bytes.ts";
import type { BlockId } from "../../../cosmos/comet/block-types.ts";
import { commitToProto, headerToProto } from "../../../cosmos/comet/proto-blocks.ts";
import type { Block as SdkBlock } from "../../../cosmos/proto/gen/cosmos/base/tendermint/v1beta1/types.ts";
import type { Block } from "../../../cosmos/proto/gen/tendermint/types/block.ts";
import type { BlockID } from "../../../cosmos/proto/gen/tendermint/types/types.ts";
import type { StoredBlock } from "../node-view.ts";

/** Converts a block id to `tendermint.types.BlockID`. */
export function protoBlockId({ hash, parts }: BlockId): BlockID {
  return { hash, partSetHeader: { ...parts } };
}

/** Converts a stored block to `tendermint.types.Block`. */
export function protoBlock({ header, txs, lastCommit }: StoredBlock): Block {
  return {
    header: headerToProto(header),
    data: { txs: [...txs] },
    evidence: { evidence: [] },
    lastCommit: commitToProto(lastCommit),
  };
}

/** Converts a stored block to the SDK's own `Block`, in which the proposer's address is bech32. */
export function sdkBlock(stored: StoredBlock, consensusPrefix: string): SdkBlock {
  const { header, ...rest } = protoBlock(stored);
  const proposerAddress = encodeBech32(consensusPrefix, stored.header.proposerAddress);
  return { ...rest, header: header === undefined ? undefined : { ...header, proposerAddress } };
}
