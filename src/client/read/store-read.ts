import { toHex } from "../../base/bytes.ts";
import type { JsonObject } from "../../base/json.ts";
import type { ProofOp, StoreAnswer, StoreRead } from "../chain-client.ts";
import { ClientError } from "../errors.ts";
import {
  base64Bytes,
  field,
  int64,
  isPresent,
  items,
  text,
  uint32,
  unfit,
  type WireValue,
  wireValue,
} from "./wire-fields.ts";

const EXISTENCE_TAG = 0x0a;

/** Parameters of `abci_query` for a store read with proof. */
export function storeReadParams(read: StoreRead): JsonObject {
  return {
    path: `store/${read.store}/key`,
    data: toHex(read.key),
    height: read.height.toString(),
    prove: true,
  };
}

/** Parameters of `abci_query` for a gRPC query; height 0 asks for the latest. */
export function grpcQueryParams(path: string, request: Uint8Array, height: bigint): JsonObject {
  return { path, data: toHex(request), height: height.toString(), prove: false };
}

/**
 * Decodes the answer to `abci_query` with proof. A key that is present with an empty value gives empty bytes, an absent
 * one undefined: where the answer's `value` does not tell them apart (a node behind an ABCI socket prints null for
 * both), the kind of the first proof does.
 */
export function decodeStoreAnswer(result: unknown, endpoint: string): StoreAnswer {
  const response = field(wireValue(result, "abci_query", endpoint), "response");
  const value = field(response, "value");
  const code = uint32(field(response, "code"));
  const proof = items(field(objectOrEmpty(response, "proofOps"), "ops")).map(decodeProofOp);
  const isThere = isPresent(value) || (code === 0 && proof[0]?.data[0] === EXISTENCE_TAG);
  return {
    code,
    codespace: text(field(response, "codespace")),
    log: text(field(response, "log")),
    height: int64(field(response, "height")),
    value: isThere ? base64Bytes(value) : undefined,
    proof,
  };
}

/** Decodes the answer to a gRPC query over `abci_query`. Throws `abci` on a code other than 0. */
export function decodeGrpcAnswer(result: unknown, path: string, endpoint: string): Uint8Array {
  const response = field(wireValue(result, "abci_query", endpoint), "response");
  const abciCode = uint32(field(response, "code"));
  const codespace = text(field(response, "codespace"));
  const log = text(field(response, "log"));
  if (abciCode !== 0)
    throw new ClientError(
      { code: "abci", path, abciCode, codespace, log },
      `${path} was refused: ${codespace}/${abciCode}: ${log}`,
    );
  return base64Bytes(field(response, "value"));
}

function decodeProofOp(op: WireValue): ProofOp {
  const type = field(op, "type");
  if (text(type) === "") throw unfit(type, "a proof type");
  return { type: text(type), key: base64Bytes(field(op, "key")), data: base64Bytes(field(op, "data")) };
}

/** A field that may be null and is then read as an empty object. */
function objectOrEmpty(parent: WireValue, name: string): WireValue {
  const found = field(parent, name);
  return isPresent(found) ? found : { ...found, value: {} };
}
