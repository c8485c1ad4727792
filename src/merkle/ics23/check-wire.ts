import type { WireReader } from "./wire-reader.ts";

/** A field's name, and what it holds: bytes, a varint, packed or single varints, or the named message. */
type Field = readonly [name: string, holds: string];

/** The messages of `cosmos.ics23.v1` below a batch; fields by number, from 1. */
const MESSAGES: ReadonlyMap<string, readonly Field[]> = new Map<string, readonly Field[]>([
  ["BatchProof", [["Entries", "BatchEntry"]]],
  [
    "BatchEntry",
    [
      ["Exist", "ExistenceProof"],
      ["Nonexist", "NonExistenceProof"],
    ],
  ],
  [
    "ExistenceProof",
    [
      ["Key", "bytes"],
      ["Value", "bytes"],
      ["Leaf", "LeafOp"],
      ["Path", "InnerOp"],
    ],
  ],
  [
    "NonExistenceProof",
    [
      ["Key", "bytes"],
      ["Left", "ExistenceProof"],
      ["Right", "ExistenceProof"],
    ],
  ],
  [
    "LeafOp",
    [
      ["Hash", "varint"],
      ["PrehashKey", "varint"],
      ["PrehashValue", "varint"],
      ["Length", "varint"],
      ["Prefix", "bytes"],
    ],
  ],
  [
    "InnerOp",
    [
      ["Hash", "varint"],
      ["Prefix", "bytes"],
      ["Suffix", "bytes"],
    ],
  ],
  [
    "CompressedBatchProof",
    [
      ["Entries", "CompressedBatchEntry"],
      ["LookupInners", "InnerOp"],
    ],
  ],
  [
    "CompressedBatchEntry",
    [
      ["Exist", "CompressedExistenceProof"],
      ["Nonexist", "CompressedNonExistenceProof"],
    ],
  ],
  [
    "CompressedExistenceProof",
    [
      ["Key", "bytes"],
      ["Value", "bytes"],
      ["Leaf", "LeafOp"],
      ["Path", "varints"],
    ],
  ],
  [
    "CompressedNonExistenceProof",
    [
      ["Key", "bytes"],
      ["Left", "CompressedExistenceProof"],
      ["Right", "CompressedExistenceProof"],
    ],
  ],
]);

/**
 * Steps over the field that the reader is at, a message of this name, and throws `WireError` where Go's decoder finds it
 * malformed. Batches need no more than this: a chain refuses them, but says first when they cannot be decoded.
 */
export function checkMessage(reader: WireReader, field: string, message: string): void {
  const outerEnd = reader.enter(field);
  const fields = MESSAGES.get(message) ?? [];
  for (let number = reader.nextField(message); number !== 0; number = reader.nextField(message)) {
    const known = fields[number - 1];
    if (known === undefined) reader.skipUnknown();
    else checkField(reader, known);
  }
  reader.end = outerEnd;
}

function checkField(reader: WireReader, [name, holds]: Field): void {
  if (holds === "bytes") reader.startOfBytes(name);
  else if (holds === "varint") reader.int32(name);
  else if (holds === "varints") reader.skipInt32s(name);
  else checkMessage(reader, name, holds);
}
