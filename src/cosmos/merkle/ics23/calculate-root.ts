import { Buffer } from "node:buffer";
import { hash as digest } from "node:crypto";
import { bad, good, type Result } from "../../../platform/base/errors.ts";
import { encodeUvarint } from "../varint.ts";
import { fromHashText, joinStep, toHashText } from "./hashing.ts";
import {
  type CommitmentProof,
  type ExistenceProof,
  type HashText,
  keyOf,
  type LeafOp,
  rangeOf,
} from "./proof-types.ts";
import { NO_HASH } from "./proof-spec.ts";

/**
 * Computes the root of a proof with the operations that the proof names, without any check against a spec (ics23
 * `Calculate`). Go prints this root when it refuses a proof, so it is used for error texts only. The error is Go's
 * text.
 */
export function calculateRoot(proof: CommitmentProof): Result<HashText, string> {
  if (proof.kind === "exist") return calculateExistence(proof.exist);
  if (proof.kind !== "nonexist") return bad("unrecognized proof type");
  const neighbour = proof.nonexist.left ?? proof.nonexist.right;
  if (neighbour === undefined) return bad("nonexistence proof has empty Left and Right proof");
  return calculateExistence(neighbour);
}

function calculateExistence(proof: ExistenceProof): Result<HashText, string> {
  if (proof.leaf === undefined) return bad("existence Proof needs defined LeafOp");
  let hash = applyLeaf(proof, proof.leaf);
  if (!hash.ok) return bad(`leaf, ${hash.error}`);
  for (const step of proof.path) {
    if (hash.value.length === 0) return bad("inner, inner op needs child value");
    hash = hashWith(step.hash, joinStep(step, hash.value));
    if (!hash.ok) return bad(`inner, ${hash.error}`);
  }
  return hash;
}

function applyLeaf(proof: ExistenceProof, leaf: LeafOp): Result<HashText, string> {
  const key = keyOf(proof);
  const value = rangeOf(proof, proof.valueStart, proof.valueEnd);
  if (key.length === 0) return bad("leaf op needs key");
  if (value.length === 0) return bad("leaf op needs value");
  const keyData = prepare(leaf.prehashKey, leaf.length, key);
  if (!keyData.ok) return bad(`prehash key, ${keyData.error}`);
  const valueData = prepare(leaf.prehashValue, leaf.length, value);
  if (!valueData.ok) return bad(`prehash value, ${valueData.error}`);
  const prefix = rangeOf(proof, leaf.prefixStart, leaf.prefixEnd);
  return hashWith(leaf.hash, Buffer.concat([prefix, keyData.value, valueData.value]));
}

function prepare(hashOp: number, lengthOp: number, data: Buffer): Result<Buffer, string> {
  const hashed = hashOp === NO_HASH ? good(toHashText(data)) : hashWith(hashOp, data);
  return hashed.ok ? withLength(lengthOp, fromHashText(hashed.value)) : hashed;
}

/** Node's names of the hash functions in the enum `HashOp`. BITCOIN (5) applies two functions. */
const HASH_NAMES: ReadonlyMap<number, readonly string[]> = new Map([
  [1, ["sha256"]],
  [2, ["sha512"]],
  [4, ["ripemd160"]],
  [5, ["sha256", "ripemd160"]],
  [6, ["sha512-256"]],
  [7, ["blake2b512"]],
  [8, ["blake2s256"]],
]);

function hashWith(hashOp: number, data: Buffer): Result<HashText, string> {
  const names = HASH_NAMES.get(hashOp);
  if (names === undefined) return bad(`unsupported hashop: ${hashOp}`);
  return good(toHashText(names.reduce((bytes, name) => digest(name, bytes, "buffer"), data)));
}

function withLength(lengthOp: number, data: Buffer): Result<Buffer, string> {
  const { length } = data;
  if (lengthOp === 0) return good(data);
  if (lengthOp === 1) return good(Buffer.concat([encodeUvarint(length), data]));
  if (lengthOp === 3 || lengthOp === 4) return good(Buffer.concat([fixed(length, 4, lengthOp === 3), data]));
  if (lengthOp === 5 || lengthOp === 6) return good(Buffer.concat([fixed(length, 8, lengthOp === 5), data]));
  if (lengthOp !== 7 && lengthOp !== 8) return bad(`unsupported lengthop: ${lengthOp}`);
  const wanted = lengthOp === 7 ? 32 : 64;
  return length === wanted ? good(data) : bad(`data was ${length} bytes, not ${wanted}`);
}

function fixed(length: number, size: 4 | 8, bigEndian: boolean): Buffer {
  const bytes = Buffer.alloc(size);
  if (bigEndian) bytes.writeUInt32BE(length, size - 4);
  else bytes.writeUInt32LE(length, 0);
  return bytes;
}
