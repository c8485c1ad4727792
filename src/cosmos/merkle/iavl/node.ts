import { compareBytes, readUint64BigEndian, sha256 } from "../../../platform/base/bytes.ts";
import { CodedError, unreachable } from "../../../platform/base/errors.ts";

/**
 * Key of a saved node: the version that created it, and its position among that version's nodes. Positions are numbered from 1 in
 * pre-order, so the root that version v creates has the id (v, 1).
 */
export interface NodeId {
  readonly version: number;
  readonly nonce: number;
}

/** A leaf: a key with its value. `id` and `hash` are undefined until the version that created the leaf is committed. */
export interface Leaf {
  readonly kind: "leaf";
  readonly height: 0;
  readonly size: 1;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  id: NodeId | undefined;
  hash: Uint8Array | undefined;
}

/**
 * An inner node. `key` is the smallest key in the right subtree. Smaller keys are in the left subtree. `left` and `right` are
 * nodes, or ids of saved nodes that are not in memory.
 */
export interface Inner {
  readonly kind: "inner";
  readonly height: number;
  readonly size: number;
  readonly key: Uint8Array;
  left: IavlNode | NodeId;
  right: IavlNode | NodeId;
  id: NodeId | undefined;
  hash: Uint8Array | undefined;
}

/**
 * A leaf or inner node of an IAVL tree. Nodes are immutable, because many versions share them. There are two exceptions: a commit
 * sets `id` and `hash`, and a child that was read from storage replaces its id.
 */
export type IavlNode = Leaf | Inner;

/** Reads a saved node by id. Throws `IavlError` if the storage lacks the node or its encoding is invalid. */
export type ReadNode = (id: NodeId) => IavlNode;

/** Creates a leaf without an id or hash. */
export function newLeaf(key: Uint8Array, value: Uint8Array): Leaf {
  return { kind: "leaf", height: 0, size: 1, key, value, id: undefined, hash: undefined };
}

/** Creates an inner node without an id or hash. */
export function newInner(key: Uint8Array, left: IavlNode, right: IavlNode): Inner {
  return {
    kind: "inner",
    height: Math.max(left.height, right.height) + 1,
    size: left.size + right.size,
    key,
    left,
    right,
    id: undefined,
    hash: undefined,
  };
}

/** Returns a child. If the child is not in memory, reads it from storage and keeps it in memory. */
export function childOf(node: Inner, side: "left" | "right", read: ReadNode): IavlNode {
  const child = node[side];
  if ("kind" in child) return child;
  const loaded = read(child);
  node[side] = loaded;
  return loaded;
}

/** Returns true if the path to `key` leads to this node's left child. */
export function goesLeft(node: Inner, key: Uint8Array): boolean {
  return compareBytes(key, node.key) < 0;
}

export function savedHash(node: IavlNode): Uint8Array {
  return node.hash ?? unreachable("a saved tree node has no hash");
}

export function savedId(node: IavlNode): NodeId {
  return node.id ?? unreachable("a tree node was not saved");
}

/** Returns the id of a saved node, whether or not it is in memory. */
export function idOf(child: IavlNode | NodeId): NodeId {
  return "kind" in child ? savedId(child) : child;
}

/** Root hash of an empty tree, which is the SHA-256 of zero bytes. */
export const EMPTY_ROOT_HASH: Uint8Array = sha256(new Uint8Array());

/** Encodes the start of a node's preimage: height, size and the version that created the node, as zigzag varints. */
export function hashPrefix(node: IavlNode, version: number): Uint8Array {
  writePrefix(node, version);
  return writer.copy();
}

/** Hashes a leaf. The hash is the SHA-256 of the prefix, the length-prefixed key and the length-prefixed SHA-256 of the value. */
export function hashLeaf(node: Leaf, version: number): Uint8Array {
  const valueHash = sha256(node.value);
  writePrefix(node, version);
  return writer.prefixed(node.key).prefixed(valueHash).sha256();
}

/**
 * Hashes an inner node. The hash is the SHA-256 of the prefix and the length-prefixed hashes of both children. The node's key is
 * not hashed.
 */
export function hashInner(
  node: IavlNode,
  version: number,
  children: { readonly left: Uint8Array; readonly right: Uint8Array },
): Uint8Array {
  writePrefix(node, version);
  return writer.prefixed(children.left).prefixed(children.right).sha256();
}

function writePrefix(node: IavlNode, version: number): void {
  writer.clear().varint(node.height).varint(node.size).varint(version);
}

const ID_BYTES = 12;
const HASH_BYTES = 32;

/** Codes and data of an {@link IavlError}. `what` completes an error message that starts with "it has". */
type IavlErrorFacts =
  | { readonly code: "broken-node"; readonly what: string }
  | { readonly code: "missing-node"; readonly version: number; readonly nonce: number }
  | { readonly code: "bad-version"; readonly version: bigint }
  | { readonly code: "empty-key" };

/** Thrown if a saved node is missing or damaged, or if a caller passes an empty key or an unknown version. */
export class IavlError extends CodedError<IavlErrorFacts> {}

/** Encodes a node id: the version as 8 bytes and the nonce as 4 bytes, both big-endian. */
export function encodeNodeId(id: NodeId): Uint8Array {
  const bytes = new Uint8Array(ID_BYTES);
  putUint32(bytes, 0, Math.floor(id.version / 2 ** 32));
  putUint32(bytes, 4, id.version);
  putUint32(bytes, 8, id.nonce);
  return bytes;
}

/** Writes the lower 32 bits of `value`, big-endian. Creating a `DataView` would take longer than all other work on an id. */
function putUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** Decodes a node's 12-byte id. Throws `IavlError` if the length is wrong or the version is above 2^53. */
export function decodeNodeId(bytes: Uint8Array): NodeId {
  if (bytes.length !== ID_BYTES) throw broken(`an id of ${bytes.length} bytes`);
  const version = Number(readUint64BigEndian(bytes));
  if (!Number.isSafeInteger(version)) throw broken("an id with a version above 2^53");
  const nonce = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(8);
  return { version, nonce };
}

/**
 * Encodes a node like cosmos/iavl 1.x (`Node.writeBytes`). The encoding contains the height, size and key. For a leaf, the value
 * follows. For an inner node, the hash, the mode and the children's ids follow. A leaf's hash is not stored, because the decoder
 * can compute it.
 */
export function encodeNode(
  node: IavlNode,
  hash: Uint8Array,
  toId: (child: IavlNode | NodeId) => NodeId,
): Uint8Array {
  writer.clear().varint(node.height).varint(node.size).prefixed(node.key);
  if (node.kind === "leaf") return writer.prefixed(node.value).copy();
  const left = toId(node.left);
  const right = toId(node.right);
  // Mode 0 means that both children are referenced by id. In other modes, a child is referenced by its hash, as in iavl 0.x.
  writer.prefixed(hash).varint(0);
  writer.varint(left.version).varint(left.nonce).varint(right.version).varint(right.nonce);
  return writer.copy();
}

/** Decodes a stored node and sets its id. Throws `IavlError` for any bytes that `encodeNode` would not write. */
export function decodeNode(id: NodeId, bytes: Uint8Array): IavlNode {
  const reader = new Reader(bytes);
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
  if (reader.varint() !== 0) throw broken("children in the format of iavl 0.x");
  const left = { version: reader.varint(), nonce: reader.varint() };
  const right = { version: reader.varint(), nonce: reader.varint() };
  return { kind: "inner", ...head, left, right, hash };
}

class Reader {
  private readonly source: Uint8Array;
  private at = 0;

  constructor(source: Uint8Array) {
    this.source = source;
  }

  varint(): number {
    const value = this.uvarint();
    if (value % 2 !== 0) throw broken("a negative number");
    return value / 2;
  }

  bytes(): Uint8Array {
    const length = this.uvarint();
    if (length > this.source.length - this.at) throw broken("an early end");
    this.at += length;
    return this.source.slice(this.at - length, this.at);
  }

  atEnd(): boolean {
    return this.at === this.source.length;
  }

  /** Reads an unsigned varint, multiplying instead of shifting because JavaScript shifts are limited to 32 bits. */
  private uvarint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.source[this.at++];
      if (byte === undefined) throw broken("an early end");
      value += (byte & 0x7f) * scale;
      if (value > Number.MAX_SAFE_INTEGER) throw broken("a number above 2^53");
      if (byte < 0x80) return value;
    }
  }
}

function broken(what: string): IavlError {
  return new IavlError({ code: "broken-node", what }, `a saved tree node is broken: it has ${what}`);
}

/**
 * A byte buffer that is reused for many small encodings. Committing a tree produces thousands of encodings, and an allocation for
 * each part would cost more than the hashing.
 */
class ByteWriter {
  private memory = new Uint8Array(1024);
  private length = 0;

  clear(): this {
    this.length = 0;
    return this;
  }

  /** Appends `value`, which must be between 0 and 2^52, as a zigzag varint. */
  varint(value: number): this {
    // Zigzag maps a number n >= 0 to 2n.
    return this.uvarint(value * 2);
  }

  /** Appends the bytes, prefixed with their length as an unsigned varint. */
  prefixed(bytes: Uint8Array): this {
    this.uvarint(bytes.length).reserve(bytes.length);
    this.memory.set(bytes, this.length);
    this.length += bytes.length;
    return this;
  }

  copy(): Uint8Array {
    return this.memory.slice(0, this.length);
  }

  /** Returns the SHA-256 of all bytes written since the last `clear`. */
  sha256(): Uint8Array {
    return sha256(this.memory.subarray(0, this.length));
  }

  private uvarint(value: number): this {
    this.reserve(10);
    let rest = value;
    while (rest >= 0x80) {
      this.memory[this.length++] = (rest % 0x80) + 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.memory[this.length++] = rest;
    return this;
  }

  private reserve(more: number): void {
    if (this.length + more <= this.memory.length) return;
    const larger = new Uint8Array(2 * this.memory.length + more);
    larger.set(this.memory);
    this.memory = larger;
  }
}

const writer = new ByteWriter();
