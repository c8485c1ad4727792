import { equalBytes, upperHex } from "../../../../../platform/base/bytes.ts";
import { errorText } from "../../../../../platform/base/errors.ts";
import { CometError } from "../../../../../cosmos/comet/comet-error.ts";
import { headerHash } from "../../../../../cosmos/comet/block-hashes.ts";
import { signedHeaderFromProto } from "../../../../../cosmos/comet/proto-blocks.ts";
import type { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { Header as TendermintHeader } from "../../../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL } from "../../../../../cosmos/proto/type-urls.ts";
import { type ModuleError, ErrTxDecode } from "../../../runtime/errors.ts";
import { ErrInvalidHeader, ErrProtoUnmarshal } from "../errors.ts";

/** Go's name of the interface that packed headers are decoded to. */
const INTERFACE = "*exported.ClientMessage";

/** Fields of a remote header that the verification of a TX result uses. */
export interface BlockHeader {
  readonly height: bigint;
  /** Revision number of the header's trusted height. Go passes it to the callback as the revision of the block. */
  readonly trustedRevision: bigint;
  readonly hash: Uint8Array;
  readonly lastBlockHash: Uint8Array;
  readonly validatorsHash: Uint8Array;
  readonly nextValidatorsHash: Uint8Array;
  readonly dataHash: Uint8Array;
  readonly lastResultsHash: Uint8Array;
}

/** A decoded but unverified header, with its packed form. */
export interface UnpackedHeader {
  readonly packed: Any;
  readonly message: TendermintHeader;
}

/** Decodes a packed header. `name` is part of the error text ("block header"). Throws ErrProtoUnmarshal. */
export function unpackHeader(packed: Any | undefined, name: string): UnpackedHeader {
  const unpackError = (reason: string): ModuleError =>
    ErrProtoUnmarshal(`failed to unpack ${name}: ${reason}`);
  if (packed === undefined || packed.typeUrl === "")
    throw unpackError("protobuf Any message cannot be nil: failed unpacking protobuf message from Any");
  if (packed.typeUrl !== TYPE_URL.tendermintHeader) throw unpackError(noConcreteType(packed.typeUrl));
  try {
    return { packed, message: TendermintHeader.decode(packed.value) };
  } catch (error) {
    throw unpackError(errorText(error));
  }
}

/**
 * Reads a header that the light client has verified. Throws ErrInvalidHeader for a header without its required parts.
 */
export function readHeader({ message }: UnpackedHeader): BlockHeader {
  try {
    const { header } = signedHeaderFromProto(message.signedHeader);
    return {
      ...header,
      trustedRevision: message.trustedHeight?.revisionNumber ?? 0n,
      hash: headerHash(header),
      lastBlockHash: header.lastBlockId.hash,
    };
  } catch (error) {
    throw error instanceof CometError ? ErrInvalidHeader(error.message) : error;
  }
}

/**
 * Rejects a packed message that is not a Tendermint header. Go unpacks headers while it decodes a transaction, so that an
 * unknown type fails before any message runs. An absent header passes this check.
 */
export function requireClientMessage(packed: Any | undefined): void {
  if (packed === undefined || packed.typeUrl === "" || packed.typeUrl === TYPE_URL.tendermintHeader) return;
  throw ErrTxDecode(noConcreteType(packed.typeUrl));
}

/**
 * Checks that `next` has the next height, the validators that `header` announces, and `header` as its last block. Throws
 * ErrInvalidHeader.
 */
export function checkConsecutive(header: BlockHeader, next: BlockHeader): void {
  const error = orderError(header, next);
  if (error === undefined) return;
  // Go wraps ErrInvalidHeader in ErrInvalidHeader, so that the text ends with the description twice.
  const inner = ErrInvalidHeader(error);
  throw ErrInvalidHeader(`block.NextBlockHeader is not next for the block.Header: ${inner.message}`);
}

function noConcreteType(typeUrl: string): string {
  return `no concrete type registered for type URL ${typeUrl} against interface ${INTERFACE}`;
}

function orderError(header: BlockHeader, next: BlockHeader): string | undefined {
  if (next.height !== header.height + 1n)
    return `nextHeader.Height (${next.height}) is not actually next for a header with height ${header.height}`;
  if (!equalBytes(header.nextValidatorsHash, next.validatorsHash))
    return `header.NextValidatorsHash is not equal to nextHeader.ValidatorsHash: ${upperHex(header.nextValidatorsHash)} != ${upperHex(next.validatorsHash)}`;
  if (!equalBytes(header.hash, next.lastBlockHash))
    return `header hash is not equal to nextHeader.LastBlockId.Hash: ${upperHex(header.hash)} != ${upperHex(next.lastBlockHash)}`;
  return undefined;
}
