import { toHex } from "../../platform/base/bytes.ts";
import type { JsonField } from "../../platform/base/json.ts";
import type { ProofOp, QueryHeight, StoreResponse, StoreRead } from "./chain-client.ts";
import { isHeightLog } from "./answers.ts";
import { ClientError, heightUnavailable } from "./errors.ts";
import type { RpcRead } from "./rpc-caller.ts";
import { resultField } from "./rpc-response.ts";

/** First byte of an encoded `ics23.CommitmentProof` that contains an existence proof: field 1, length-delimited. */
const EXISTENCE_TAG = 0x0a;

/**
 * Reads a store key with proof. Throws `height-unavailable` if the node does not have the height, so that the pool tries the next
 * endpoint.
 */
export function storeRead({ store, key, height }: StoreRead): RpcRead<StoreResponse> {
  return {
    method: "abci_query",
    params: { path: `store/${store}/key`, data: toHex(key), height: height.toString(), prove: true },
    decode: (result, endpoint) => {
      const response = decodeStoreResponse(result, endpoint);
      const isOther = response.code === 0 && height !== 0n && response.height !== height;
      if (!isOther && (response.code === 0 || !isHeightLog(response.log))) return response;
      const reason = isOther ? `it returned height ${response.height}` : response.log;
      throw heightUnavailable(endpoint, height, `does not have the state at height ${height}: ${reason}`);
    },
  };
}

/** Runs a gRPC query over `abci_query`; see {@link decodeGrpcResponse}. */
export function grpcRead(path: string, request: Uint8Array, height: QueryHeight): RpcRead<Uint8Array> {
  const exact = typeof height === "bigint" ? height : 0n;
  return {
    method: "abci_query",
    params: { path, data: toHex(request), height: exact.toString(), prove: false },
    decode: (result, endpoint) => decodeGrpcResponse(result, { path, height }, endpoint),
  };
}

/** Decodes an `abci_query` result with proof. */
export function decodeStoreResponse(result: unknown, endpoint: string): StoreResponse {
  const response = resultField(result, "abci_query", endpoint).member("response");
  const value = response.member("value");
  const code = response.member("code").asUint32();
  const proof = response.member("proofOps").orEmpty().member("ops").elements().map(decodeProofOp);
  // A node whose application runs behind an ABCI socket prints null both for an absent key and for an empty value, so use the kind
  // of the first proof to tell them apart.
  const exists = value.isPresent() || (code === 0 && proof[0]?.data[0] === EXISTENCE_TAG);
  return {
    code,
    codespace: response.member("codespace").asText(),
    log: response.member("log").asText(),
    height: response.member("height").asHeight(),
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
  if (abciCode !== 0) {
    const text = `${path} was refused: ${codespace}/${abciCode}: ${log}`;
    throw new ClientError({ code: "abci", path, abciCode, codespace, log }, text);
  }
  if (typeof height !== "bigint") {
    const { atLeast } = height;
    const found = response.member("height").asHeight();
    const text = `lags behind: it returned the state at height ${found}, but at least ${atLeast} is needed`;
    // A node that returns 0 does not report which height it read.
    if (found !== 0n && found < atLeast) throw heightUnavailable(endpoint, atLeast, text);
  }
  return response.member("value").asBase64();
}

function decodeProofOp(op: JsonField): ProofOp {
  const type = op.member("type");
  if (type.asText() === "") throw type.error(type.path, "a proof type");
  return { type: type.asText(), key: op.member("key").asBase64(), data: op.member("data").asBase64() };
}
