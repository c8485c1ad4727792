import { toHex } from "../../../platform/base/bytes.ts";
import {
  asBase64,
  asInt64,
  asText,
  asUint32,
  elements,
  isPresent,
  type JsonField,
  member,
  type JsonObject,
} from "../../../platform/base/json.ts";
import type { ProofOp, QueryHeight, StoreAnswer, StoreRead } from "../chain-client.ts";
import { ClientError } from "../errors.ts";
import { resultField } from "../rpc/rpc-response.ts";

/** First byte of an encoded `ics23.CommitmentProof` with an existence proof: field 1, length-delimited. */
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

/** Parameters of `abci_query` for a gRPC query. Height 0 means the latest height. */
export function grpcQueryParams(path: string, request: Uint8Array, height: QueryHeight): JsonObject {
  const exact = typeof height === "bigint" ? height : 0n;
  return { path, data: toHex(request), height: exact.toString(), prove: false };
}

/** Logs of nodes that are behind a height or have pruned it. Baseapp and the root multistore have several texts. */
const UNAVAILABLE =
  /height has not been pruned|version does not exist|height in the future|failed to load state at height/i;

/**
 * As {@link decodeStoreAnswer}, for a read at `height` (0: the latest one). Throws `height-unavailable` when the node does
 * not have the height, so that the pool tries the next endpoint.
 */
export function decodeStoreAnswerAt(height: bigint, result: unknown, endpoint: string): StoreAnswer {
  const answer = decodeStoreAnswer(result, endpoint);
  const isOther = answer.code === 0 && height !== 0n && answer.height !== height;
  if (!isOther && (answer.code === 0 || !UNAVAILABLE.test(answer.log))) return answer;
  const reason = isOther ? `it returned height ${answer.height}` : answer.log;
  throw new ClientError(
    { code: "height-unavailable", endpoint, height },
    `${endpoint} does not have the state at height ${height}: ${reason}`,
  );
}

/** Decodes the result of `abci_query` with proof. */
export function decodeStoreAnswer(result: unknown, endpoint: string): StoreAnswer {
  const response = member(resultField(result, "abci_query", endpoint), "response");
  const value = member(response, "value");
  const code = asUint32(member(response, "code"));
  const proof = elements(member(objectOrEmpty(member(response, "proofOps")), "ops")).map(decodeProofOp);
  // A node whose application runs behind an ABCI socket prints null both for an absent key and for an empty value.
  // The kind of the first proof then tells them apart.
  const exists = isPresent(value) || (code === 0 && proof[0]?.data[0] === EXISTENCE_TAG);
  return {
    code,
    codespace: asText(member(response, "codespace")),
    log: asText(member(response, "log")),
    height: asInt64(member(response, "height")),
    value: exists ? asBase64(value) : undefined,
    proof,
    endpoint,
  };
}

/** Decodes the result of a gRPC query over `abci_query`. Throws `abci` when the code is not 0, `height-unavailable` below `atLeast`. */
export function decodeGrpcResponse(
  result: unknown,
  { path, height }: { readonly path: string; readonly height: QueryHeight },
  endpoint: string,
): Uint8Array {
  const response = member(resultField(result, "abci_query", endpoint), "response");
  const abciCode = asUint32(member(response, "code"));
  const codespace = asText(member(response, "codespace"));
  const log = asText(member(response, "log"));
  if (abciCode !== 0)
    throw new ClientError(
      { code: "abci", path, abciCode, codespace, log },
      `${path} was refused: ${codespace}/${abciCode}: ${log}`,
    );
  if (typeof height !== "bigint")
    requireHeight(asInt64(member(response, "height")), height.atLeast, endpoint);
  return asBase64(member(response, "value"));
}

/** Throws `height-unavailable` for a node below `atLeast`. Height 0 passes: the node does not say what it has read. */
function requireHeight(height: bigint, atLeast: bigint, endpoint: string): void {
  if (height === 0n || height >= atLeast) return;
  throw new ClientError(
    { code: "height-unavailable", endpoint, height: atLeast },
    `${endpoint} is behind: it returned the state at height ${height}, ${atLeast} is needed`,
  );
}

function decodeProofOp(op: JsonField): ProofOp {
  const type = member(op, "type");
  if (asText(type) === "") throw type.error(type.path, "a proof type");
  return { type: asText(type), key: asBase64(member(op, "key")), data: asBase64(member(op, "data")) };
}

/** Go prints a nil pointer as null. It counts as an object without members. */
function objectOrEmpty(field: JsonField): JsonField {
  return isPresent(field) ? field : { ...field, value: {} };
}
