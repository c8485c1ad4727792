import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { toBase64 } from "../../../src/platform/base/bytes.ts";

/** Joins the proof operations of an `abci_query` response into a `MerkleProof`, base64. */
export function encodeMerkleProof(operations: readonly Uint8Array[]): string {
  const writer = new BinaryWriter();
  for (const operation of operations) writer.uint32(10).bytes(operation);
  return toBase64(writer.finish());
}
