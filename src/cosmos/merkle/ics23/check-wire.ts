import type { WireReader } from "./wire-reader.ts";

/** A field: its name, and its type. The type is "bytes", "varint", "varints" (repeated) or the name of a message. */
type Field = readonly [name: string, type: string];

/** Messages of `cosmos.ics23.v1` that a batch proof can contain. Field n of a message is at index n - 1. */
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
 * Skips the current field, which contains `message`. Throws `WireError` if Go's decoder would refuse it. A batch proof
 * needs no decoding, because verification refuses every batch. But a malformed batch must give Go's decoding error
 * first.
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

function checkField(reader: WireReader, [name, type]: Field): void {
  if (type === "bytes") reader.startOfBytes(name);
  else if (type === "varint") reader.int32(name);
  else if (type === "varints") reader.skipInt32s(name);
  else checkMessage(reader, name, type);
}
