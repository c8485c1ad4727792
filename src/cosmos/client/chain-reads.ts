import { equalBytes, toHex } from "../../platform/base/bytes.ts";
import { CodedError, errorText } from "../../platform/base/errors.ts";
import type { JsonField, JsonObject } from "../../platform/base/json.ts";
import { headerHash, validatorsHash } from "../comet/block-hashes.ts";
import type { SignedHeader as SignedHeaderParts, ValidatorSet as Validators } from "../comet/block-types.ts";
import { signedHeaderToProto, validatorSetToProto } from "../comet/proto-blocks.ts";
import { MAX_VALIDATORS, parseSignedHeader, parseValidators } from "../comet/rpc-json.ts";
import { verifyCommitLight } from "../comet/verify-commit.ts";
import { SignedHeader } from "../proto/gen/tendermint/types/types.ts";
import { ValidatorSet } from "../proto/gen/tendermint/types/validator.ts";
import type { LightBlockBytes, ProofOp, QueryHeight, StoreResponse, StoreRead } from "./chain-client.ts";
import { isHeightLog } from "./answers.ts";
import { ClientError, heightUnavailable } from "./errors.ts";
import type { CallEndpoint } from "./rpc-caller.ts";
import { badResponse, resultField, wrongResponse } from "./rpc-response.ts";

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

/**
 * As {@link decodeStoreResponse}, for a read at `height` (0: the latest one). Throws `height-unavailable` when the node does
 * not have the height, so that the pool tries the next endpoint.
 */
export function decodeStoreResponseAt(height: bigint, result: unknown, endpoint: string): StoreResponse {
  const response = decodeStoreResponse(result, endpoint);
  const isOther = response.code === 0 && height !== 0n && response.height !== height;
  if (!isOther && (response.code === 0 || !isHeightLog(response.log))) return response;
  const reason = isOther ? `it returned height ${response.height}` : response.log;
  throw heightUnavailable(endpoint, height, `does not have the state at height ${height}: ${reason}`);
}

/** Decodes the result of `abci_query` with proof. */
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

/** Decodes the result of a gRPC query over `abci_query`. Throws `abci` when the code is not 0, `height-unavailable` below `atLeast`. */
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

/** Throws `height-unavailable` for a node below `atLeast`. Height 0 passes: the node does not say what it has read. */
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

/** Largest page that CometBFT returns. */
const PER_PAGE = 100;

/**
 * Reads header, commit and all validators of a height from one endpoint and encodes them for a light client. Height 0 means the
 * latest height. `validators` is the hash of the validator set that the block must have, if it is known. Throws `wrong-answer`
 * when the parts do not belong together, or when validators with more than two thirds of the power have not signed the header.
 */
export async function readLightBlock(
  height: bigint,
  call: CallEndpoint,
  endpoint: string,
  validators?: Promise<Uint8Array | undefined>,
): Promise<LightBlockBytes> {
  const readCommit = async (params: JsonObject): Promise<SignedHeaderParts> =>
    decodeSignedHeader(await call("commit", params), endpoint);
  if (height === 0n) {
    const latest = await readCommit({});
    return toLightBlock(latest, await readValidators(latest.header.height, call, endpoint), endpoint);
  }
  // Both calls start in the same turn of the event loop, so they share one HTTP request.
  const [signed, set, expected] = await Promise.all([
    readCommit({ height: height.toString() }),
    readValidators(height, call, endpoint),
    validators,
  ]);
  if (signed.header.height !== height)
    throw wrongResponse(endpoint, "commit.signed_header.header.height", "is not the requested height");
  if (expected !== undefined && !equalBytes(expected, signed.header.validatorsHash))
    throw wrongResponse(
      endpoint,
      `header ${height}`,
      "does not have the validators that the light client trusts",
    );
  return toLightBlock(signed, set, endpoint);
}

/** Decodes the result of `commit`. Throws `wrong-answer` when the commit is for another header. */
export function decodeSignedHeader(result: unknown, endpoint: string): SignedHeaderParts {
  const field = resultField(result, "commit", endpoint).member("signed_header");
  const signed = parsed("commit", endpoint, () => parseSignedHeader(field.value));
  const { header, commit } = signed;
  if (commit.height !== header.height || !equalBytes(commit.blockId.hash, headerHash(header)))
    throw wrongResponse(endpoint, "commit.signed_header", "has a commit that is not for its header");
  return signed;
}

/** Reads the validators of a height page by page, in the node's order. */
async function readValidators(height: bigint, call: CallEndpoint, endpoint: string): Promise<Validators> {
  const entries: unknown[] = [];
  for (let page = 1; ; page++) {
    const params = { height: height.toString(), page: page.toString(), per_page: PER_PAGE.toString() };
    const { validators, total } = decodeValidatorsPage(await call("validators", params), height, endpoint);
    entries.push(...validators);
    if (entries.length === total) return parsed("validators", endpoint, () => parseValidators(entries));
    // A node that returns empty pages, or too many entries, must not make this loop endless.
    if (validators.length === 0 || entries.length > total)
      throw badResponse(endpoint, "validators.validators", "does not add up to its total");
  }
}

/** Decodes one page of `validators`. Throws `bad-answer` also when the page is of another height. */
export function decodeValidatorsPage(
  result: unknown,
  height: bigint,
  endpoint: string,
): { readonly validators: readonly unknown[]; readonly total: number } {
  const root = resultField(result, "validators", endpoint);
  const blockHeight = root.member("block_height");
  if (blockHeight.asInt64() !== height) throw blockHeight.error(blockHeight.path, "the requested height");
  const totalField = root.member("total");
  const total = totalField.asInt64();
  if (total < 1n || total > MAX_VALIDATORS)
    throw totalField.error(totalField.path, `a number from 1 to ${MAX_VALIDATORS}`);
  const validators = root
    .member("validators")
    .elements()
    .map(({ value }) => value);
  return { validators, total: Number(total) };
}

/** Verifies that the parts belong together, and the signatures, and encodes them. */
function toLightBlock(signed: SignedHeaderParts, set: Validators, endpoint: string): LightBlockBytes {
  const { header, commit } = signed;
  const { chainId, height } = header;
  if (!equalBytes(validatorsHash(set.validators), header.validatorsHash))
    throw wrongResponse(endpoint, "validators.validators", "is not the validator set of the header");
  try {
    verifyCommitLight(set, { chainId, blockId: commit.blockId, height, commit });
  } catch (error) {
    throw wrongResponse(endpoint, `header ${height}`, `does not verify: ${errorText(error)}`);
  }
  return {
    height,
    timeNs: header.timeNs,
    appHash: header.appHash,
    signedHeader: SignedHeader.encode(signedHeaderToProto(signed)).finish(),
    validatorSet: ValidatorSet.encode(validatorSetToProto(set)).finish(),
  };
}

/** Runs a parser of `src/cosmos/comet` and turns its error into `bad-answer`, so that the pool tries the next endpoint. */
function parsed<T>(where: string, endpoint: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    if (!(cause instanceof CodedError)) throw cause;
    throw new ClientError(
      { code: "bad-answer", endpoint, where },
      `${endpoint}: ${where} is invalid: ${cause.message}`,
    );
  }
}
