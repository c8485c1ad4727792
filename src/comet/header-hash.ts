import { concat } from "../base/bytes.ts";
import { simpleRoot } from "../merkle/simple-tree.ts";
import type { BlockId, Header } from "./block-types.ts";
import { bytesField, messageField, stringField, timestampMessage, varintField } from "./wire.ts";

/**
 * Hash of a header: root of the simple Merkle tree over its 14 fields in order, each in protobuf (scalars wrapped as
 * field 1 of a message). 32 bytes; empty when the header names no validators, as in CometBFT.
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

/** `tendermint.types.BlockID`; the part set header is always written. Canonical block ids have the same bytes. */
export function blockIdMessage(id: BlockId): Uint8Array {
  const parts = concat(varintField(1, BigInt(id.parts.total)), bytesField(2, id.parts.hash));
  return concat(bytesField(1, id.hash), messageField(2, parts));
}
