import { readUint64BigEndian } from "../../../platform/base/bytes.ts";
import { CodedError } from "../../../platform/base/errors.ts";
import { createByteWriter } from "../byte-writer.ts";
import { hashLeaf } from "./hash-node.ts";
import type { IavlNode, NodeId } from "./node.ts";

const ID_BYTES = 12;
const HASH_BYTES = 32;
const writer = createByteWriter();

/** Facts of an {@link IavlError}. `what` completes "it has …". */
export type IavlErrorFacts =
  | { readonly code: "broken-node"; readonly what: string }
  | { readonly code: "missing-node"; readonly version: number; readonly nonce: number }
  | { readonly code: "bad-version"; readonly version: bigint }
  | { readonly code: "empty-key" };

/** A saved node is missing or broken, or a caller passed an empty key or a version that the tree does not have. */
export class IavlError extends CodedError<IavlErrorFacts> {}

/** Encodes a node id: the version in 8 bytes and the nonce in 4 bytes, both big-endian. */
export function encodeNodeId(id: NodeId): Uint8Array {
  const bytes = new Uint8Array(ID_BYTES);
  putUint32(bytes, 0, Math.floor(id.version / 2 ** 32));
  putUint32(bytes, 4, id.version);
  putUint32(bytes, 8, id.nonce);
  return bytes;
}

/** Writes the lower 32 bits, big-endian. Creating a `DataView` would cost more than all other work on an id. */
function putUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** Decodes a node id. Throws `IavlError` for another length or a version above 2^53. */
export function decodeNodeId(bytes: Uint8Array): NodeId {
  if (bytes.length !== ID_BYTES) throw broken(`an id of ${bytes.length} bytes`);
  const version = Number(readUint64BigEndian(bytes));
  if (!Number.isSafeInteger(version)) throw broken("an id with a version above 2^53");
  const nonce = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(8);
  return { version, nonce };
}

/**
 * Encodes a node as cosmos/iavl 1.x does (`Node.writeBytes`): height, size and key, then the value of a leaf, or the
 * hash, the mode and both children's ids of an inner node. A leaf's hash is not stored: the decoder computes it.
 */
export function encodeNode(
  node: IavlNode,
  hash: Uint8Array,
  idOf: (child: IavlNode | NodeId) => NodeId,
): Uint8Array {
  writer.clear().varint(node.height).varint(node.size).prefixed(node.key);
  if (node.kind === "leaf") return writer.prefixed(node.value).copy();
  const left = idOf(node.left);
  const right = idOf(node.right);
  // Mode 0: both children are named by id. In other modes a child is named by its hash, as in iavl 0.x.
  writer.prefixed(hash).varint(0);
  writer.varint(left.version).varint(left.nonce).varint(right.version).varint(right.nonce);
  return writer.copy();
}

/** Decodes the node with this id. Throws `IavlError` for bytes that `encodeNode` does not write. */
export function decodeNode(id: NodeId, bytes: Uint8Array): IavlNode {
  const reader = createReader(bytes);
  const height = reader.varint();
  const size = reader.varint();
  const key = reader.bytes();
  const node = height === 0 ? decodeLeaf(id, key, reader) : decodeInner({ id, height, size, key }, reader);
  if (!reader.atEnd()) throw broken("bytes after the end");
  if (node.size !== size) throw broken(`a leaf with size ${size}`);
  return node;
}

function decodeLeaf(id: NodeId, key: Uint8Array, reader: Reader): IavlNode {
  const leaf: IavlNode = {
    kind: "leaf",
    height: 0,
    size: 1,
    key,
    value: reader.bytes(),
    id,
    hash: undefined,
  };
  leaf.hash = hashLeaf(leaf, id.version);
  return leaf;
}

function decodeInner(
  head: { readonly id: NodeId; readonly height: number; readonly size: number; readonly key: Uint8Array },
  reader: Reader,
): IavlNode {
  const hash = reader.bytes();
  if (hash.length !== HASH_BYTES) throw broken(`a hash of ${hash.length} bytes`);
  if (reader.varint() !== 0) throw broken("children in the form of iavl 0.x");
  const left = { version: reader.varint(), nonce: reader.varint() };
  const right = { version: reader.varint(), nonce: reader.varint() };
  return { kind: "inner", ...head, left, right, hash };
}

interface Reader {
  readonly varint: () => number;
  readonly bytes: () => Uint8Array;
  readonly atEnd: () => boolean;
}

function createReader(source: Uint8Array): Reader {
  let at = 0;
  // Multiplies instead of shifting: JavaScript shifts work on 32 bits.
  const uvarint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = source[at++];
      if (byte === undefined) throw broken("an early end");
      value += (byte & 0x7f) * scale;
      if (value > Number.MAX_SAFE_INTEGER) throw broken("a number above 2^53");
      if (byte < 0x80) return value;
    }
  };
  const varint = (): number => {
    const value = uvarint();
    if (value % 2 !== 0) throw broken("a negative number");
    return value / 2;
  };
  const bytes = (): Uint8Array => {
    const length = uvarint();
    if (length > source.length - at) throw broken("an early end");
    at += length;
    return source.slice(at - length, at);
  };
  return { varint, bytes, atEnd: () => at === source.length };
}

function broken(what: string): IavlError {
  return new IavlError({ code: "broken-node", what }, `a saved tree node is broken: it has ${what}`);
}
