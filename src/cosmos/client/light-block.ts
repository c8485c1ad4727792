import { equalBytes } from "../../platform/base/bytes.ts";
import { CodedError, errorText } from "../../platform/base/errors.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { headerHash, validatorsHash } from "../comet/block-hashes.ts";
import type { SignedHeader as SignedHeaderParts, ValidatorSet as Validators } from "../comet/block-types.ts";
import { signedHeaderToProto, validatorSetToProto } from "../comet/proto-blocks.ts";
import { MAX_VALIDATORS, parseSignedHeader, parseValidators } from "../comet/rpc-json.ts";
import { verifyCommitLight } from "../comet/verify-commit.ts";
import { SignedHeader } from "../proto/gen/tendermint/types/types.ts";
import { ValidatorSet } from "../proto/gen/tendermint/types/validator.ts";
import type { LightBlockBytes } from "./chain-client.ts";
import type { CallEndpoint } from "./rpc-caller.ts";
import { badResponse, resultField, wrongResponse } from "./rpc-response.ts";

/** Maximum number of validators per page of CometBFT's `validators` response. */
const PER_PAGE = 100;

/**
 * Reads the header, commit and all validators at a height from one endpoint and encodes them for a light client. `height` 0 means
 * the latest height. `validators` is the hash of the block's expected validator set, if it is known. Throws `wrong-answer` if the
 * header, the commit and the validators do not match, or if two thirds of the voting power or less have signed the header.
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
  const problem = "does not have the validators that the light client trusts";
  if (expected !== undefined && !equalBytes(expected, signed.header.validatorsHash))
    throw wrongResponse(endpoint, `header ${height}`, problem);
  return toLightBlock(signed, set, endpoint);
}

/** Decodes the signed header in a `commit` result. Throws `wrong-answer` if the commit is for another header. */
export function decodeSignedHeader(result: unknown, endpoint: string): SignedHeaderParts {
  const field = resultField(result, "commit", endpoint).member("signed_header");
  const signed = parsed("commit", endpoint, () => parseSignedHeader(field.value));
  const { header, commit } = signed;
  if (commit.height !== header.height || !equalBytes(commit.blockId.hash, headerHash(header)))
    throw wrongResponse(endpoint, "commit.signed_header", "has a commit that is not for its header");
  return signed;
}

/** Reads the validators at a height page by page, in the node's order. */
async function readValidators(height: bigint, call: CallEndpoint, endpoint: string): Promise<Validators> {
  const entries: unknown[] = [];
  for (let page = 1; ; page++) {
    const params = { height: height.toString(), page: page.toString(), per_page: PER_PAGE.toString() };
    const { validators, total } = decodeValidatorsPage(await call("validators", params), height, endpoint);
    entries.push(...validators);
    if (entries.length === total) return parsed("validators", endpoint, () => parseValidators(entries));
    // Throw if a node returns an empty page or too many entries, so that the loop always ends.
    if (validators.length === 0 || entries.length > total)
      throw badResponse(endpoint, "validators.validators", "does not add up to its total");
  }
}

/** Decodes one page of a `validators` result. Throws `bad-answer` if the page is malformed or for another height. */
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
  const entries = root.member("validators").elements();
  return { validators: entries.map(({ value }) => value), total: Number(total) };
}

/** Verifies that the header, commit and validators belong together, verifies the signatures, and encodes the light block. */
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

/** Runs a parser from `src/cosmos/comet` and converts its error to `bad-answer`, so that the pool tries the next endpoint. */
function parsed<T>(where: string, endpoint: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    if (!(cause instanceof CodedError)) throw cause;
    throw badResponse(endpoint, where, `is invalid: ${cause.message}`);
  }
}
