import { equalBytes, toHex } from "../../../../base/bytes.ts";
import { CometError } from "../../../../comet/comet-error.ts";
import { headerHash } from "../../../../comet/header-hash.ts";
import { signedHeaderFromProto } from "../../../../comet/proto-blocks.ts";
import type { Any } from "../../../../proto/gen/google/protobuf/any.ts";
import { Header as TendermintHeader } from "../../../../proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL } from "../../../../proto/type-urls.ts";
import type { ModuleError } from "../../../runtime/module-error.ts";
import { ErrTxDecode } from "../../../runtime/sdk-errors.ts";
import { invalidHeader, protoUnmarshal } from "../errors.ts";

const INTERFACE = "*exported.ClientMessage";

/** What a TX result needs of a remote header. */
export interface BlockHeader {
  readonly height: bigint;
  /** Revision number of the header's trusted height, which is the remote chain's. */
  readonly trustedRevision: bigint;
  readonly hash: Uint8Array;
  readonly lastBlockHash: Uint8Array;
  readonly validatorsHash: Uint8Array;
  readonly nextValidatorsHash: Uint8Array;
  readonly dataHash: Uint8Array;
  readonly lastResultsHash: Uint8Array;
}

/** A header as it was packed, and decoded but not verified. */
export interface UnpackedHeader {
  readonly packed: Any;
  readonly message: TendermintHeader;
}

/** Unpacks a header; `name` goes into the error ("block header"). Throws icq/1109. */
export function unpackHeader(packed: Any | undefined, name: string): UnpackedHeader {
  const refuse = (reason: string): ModuleError => protoUnmarshal(`failed to unpack ${name}: ${reason}`);
  if (packed === undefined || packed.typeUrl === "")
    throw refuse("protobuf Any message cannot be nil: failed unpacking protobuf message from Any");
  if (packed.typeUrl !== TYPE_URL.tendermintHeader) throw refuse(unregistered(packed.typeUrl));
  try {
    return { packed, message: TendermintHeader.decode(packed.value) };
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : String(error));
  }
}

/** What a header says, once the light client took it. Throws icq/1113 for a header that no light client takes. */
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
    throw error instanceof CometError ? invalidHeader(error.message) : error;
  }
}

/** Refuses a packed message that is no header of a light client; nothing packed is fine. For decoding a transaction. */
export function requireClientMessage(packed: Any | undefined): void {
  if (packed === undefined || packed.typeUrl === "" || packed.typeUrl === TYPE_URL.tendermintHeader) return;
  throw ErrTxDecode(unregistered(packed.typeUrl));
}

/** The second header must be of the next height, by the validators and on the block that the first names. */
export function checkConsecutive(header: BlockHeader, next: BlockHeader): void {
  const error = orderError(header, next);
  if (error === undefined) return;
  const inner = invalidHeader(error);
  throw invalidHeader(`block.NextBlockHeader is not next for the block.Header: ${inner.message}`);
}

function unregistered(typeUrl: string): string {
  return `no concrete type registered for type URL ${typeUrl} against interface ${INTERFACE}`;
}

function orderError(header: BlockHeader, next: BlockHeader): string | undefined {
  if (next.height !== header.height + 1n)
    return `nextHeader.Height (${next.height}) is not actually next for a header with height ${header.height}`;
  if (!equalBytes(header.nextValidatorsHash, next.validatorsHash))
    return `header.NextValidatorsHash is not equal to nextHeader.ValidatorsHash: ${upper(header.nextValidatorsHash)} != ${upper(next.validatorsHash)}`;
  if (!equalBytes(header.hash, next.lastBlockHash))
    return `header hash is not equal to nextHeader.LastBlockId.Hash: ${upper(header.hash)} != ${upper(next.lastBlockHash)}`;
  return undefined;
}

function upper(bytes: Uint8Array): string {
  return toHex(bytes).toUpperCase();
}
