import { concat } from "../../platform/base/bytes.ts";
import { simpleRoot } from "../merkle/simple-tree.ts";
import type { BlockId, Header } from "./block-types.ts";
import { bytesField, messageField, stringField, timestampMessage, varintField } from "./wire.ts";

/**
 * Computes the hash of a header: the Merkle root over its fields in order (CometBFT `Header.Hash`). Each field is
 * encoded in protobuf; a scalar is field 1 of a message. Returns no bytes if `validatorsHash` is empty, as in Go.
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
 * Encodes a `tendermint.types.BlockID`. The part set header is written even if it is empty, because it is not nullable
 * in Go. A `CanonicalBlockID` has the same bytes.
 */
export function blockIdMessage(id: BlockId): Uint8Array {
  const parts = concat(varintField(1, BigInt(id.parts.total)), bytesField(2, id.parts.hash));
  return concat(bytesField(1, id.hash), messageField(2, parts));
}
