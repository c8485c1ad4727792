import { toHex } from "../../platform/base/bytes.ts";
import type { JsonField, JsonObject } from "../../platform/base/json.ts";
import type { ProofOp, QueryHeight, StoreResponse, StoreRead } from "./chain-client.ts";
import { isHeightLog } from "./answers.ts";
import { ClientError, heightUnavailable } from "./errors.ts";
import { resultField } from "./rpc-response.ts";

/** First byte of an encoded `ics23.CommitmentProof` that contains an existence proof: field 1, length-delimited. */
const EXISTENCE_TAG = 0x0a;

/** `abci_query` parameters for a store read with proof. */
export function storeReadParams(read: StoreRead): JsonObject {
  return {
    path: `store/${read.store}/key`,
    data: toHex(read.key),
    height: read.height.toString(),
    prove: true,
  };
}

/** `abci_query` parameters for a gRPC query. Height 0 means the latest height. */
export function grpcQueryParams(path: string, request: Uint8Array, height: QueryHeight): JsonObject {
  const exact = typeof height === "bigint" ? height : 0n;
  return { path, data: toHex(request), height: exact.toString(), prove: false };
}

/**
 * Like {@link decodeStoreResponse}, for a read at `height` (0 for the latest). Throws `height-unavailable` if the node does not
 * have the height, so that the pool tries the next endpoint.
 */
export function decodeStoreResponseAt(height: bigint, result: unknown, endpoint: string): StoreResponse {
  const response = decodeStoreResponse(result, endpoint);
  const isOther = response.code === 0 && height !== 0n && response.height !== height;
  if (!isOther && (response.code === 0 || !isHeightLog(response.log))) return response;
  const reason = isOther ? `it returned height ${response.height}` : response.log;
  throw heightUnavailable(endpoint, height, `does not have the state at height ${height}: ${reason}`);
}

/** Decodes an `abci_query` result with proof. */
export function decodeStoreResponse(result: unknown, endpoint: string): StoreResponse {
  const response = resultField(result, "abci_query", endpoint).member("response");
  const value = response.member("value");
  const code = response.member("code").asUint32();
  const proof = response.member("proofOps").orEmpty().member("ops").elements().map(decodeProofOp);
  // A node whose application runs behind an ABCI socket prints null both for an absent key and for an empty value.
  // The kind of the first proof then tells them apart.
  const exists = value.isPresent() || (code === 0 && proof[0]?.data[0] === EXISTENCE_TAG);
  return {
    code,
    codespace: response.member("codespace").asText(),
    log: response.member("log").asText(),
    height: response.member("height").asInt64(),
    value: exists ? value.asBase64() : undefined,
    proof,
    endpoint,
  };
}

/**
 * Decodes the result of a gRPC query over `abci_query`. Throws `abci` for a nonzero code, `height-unavailable` below `atLeast`.
 */
export function decodeGrpcResponse(
  result: unknown,
  { path, height }: { readonly path: string; readonly height: QueryHeight },
  endpoint: string,
): Uint8Array {
  const response = resultField(result, "abci_query", endpoint).member("response");
  const abciCode = response.member("code").asUint32();
  const codespace = response.member("codespace").asText();
  const log = response.member("log").asText();
  if (abciCode !== 0)
    throw new ClientError(
      { code: "abci", path, abciCode, codespace, log },
      `${path} was refused: ${codespace}/${abciCode}: ${log}`,
    );
  if (typeof height !== "bigint")
    requireHeight(response.member("height").asInt64(), height.atLeast, endpoint);
  return response.member("value").asBase64();
}

/** Throws `height-unavailable` if the node is below `atLeast`. Height 0 passes: the node does not say which height it read. */
function requireHeight(height: bigint, atLeast: bigint, endpoint: string): void {
  if (height === 0n || height >= atLeast) return;
  throw heightUnavailable(
    endpoint,
    atLeast,
    `is behind: it returned the state at height ${height}, ${atLeast} is needed`,
  );
}

function decodeProofOp(op: JsonField): ProofOp {
  const type = op.member("type");
  if (type.asText() === "") throw type.error(type.path, "a proof type");
  return { type: type.asText(), key: op.member("key").asBase64(), data: op.member("data").asBase64() };
}
