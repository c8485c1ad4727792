import { equalBytes } from "../../../platform/base/bytes.ts";
import { CodedError } from "../../../platform/base/errors.ts";
import { asInt64, elements, member } from "../../../platform/base/json.ts";
import type {
  Header,
  SignedHeader as SignedHeaderParts,
  ValidatorSet as Validators,
} from "../../comet/block-types.ts";
import { headerHash } from "../../comet/block-hashes.ts";
import { signedHeaderToProto, validatorSetToProto } from "../../comet/proto-blocks.ts";
import { MAX_VALIDATORS, parseHeader, parseSignedHeader, parseValidators } from "../../comet/rpc-json.ts";
import { validatorsHash } from "../../comet/block-hashes.ts";
import { SignedHeader } from "../../proto/gen/tendermint/types/types.ts";
import { ValidatorSet } from "../../proto/gen/tendermint/types/validator.ts";
import type { LightBlockBytes } from "../chain-client.ts";
import { ClientError } from "../errors.ts";
import { badResponse, resultField } from "../rpc/rpc-response.ts";
import type { RpcRead } from "../rpc/rpc-caller.ts";

/** Largest page that CometBFT returns. */
const PER_PAGE = 100;

/** Calls a method and decodes the result. */
export type ReadRpc = <T>(read: RpcRead<T>) => Promise<T>;

/**
 * Reads header, commit and all validators of a height and encodes them for a light client. Height 0 means the latest
 * height. Checks by hash that the parts belong together; the light client checks the signatures.
 */
export async function readLightBlock(height: bigint, read: ReadRpc): Promise<LightBlockBytes> {
  if (height === 0n) {
    const latest = await read({ method: "commit", params: {}, decode: decodeSignedHeader });
    return toLightBlock(latest, await readValidators(latest.header.height, read));
  }
  // Both calls start in the same turn of the event loop, so they share one HTTP request.
  const [signed, validators] = await Promise.all([
    read({
      method: "commit",
      params: { height: height.toString() },
      decode: (result, endpoint) => atHeight(height, decodeSignedHeader(result, endpoint), endpoint),
    }),
    readValidators(height, read),
  ]);
  return toLightBlock(signed, validators);
}

/** Decodes the result of `header`. */
export function decodeHeader(result: unknown, endpoint: string): Header {
  const header = member(resultField(result, "header", endpoint), "header");
  return parsed("header", endpoint, () => parseHeader(header.value));
}

/** Decodes the result of `commit`. Throws `bad-answer` also when the commit is for another header. */
export function decodeSignedHeader(result: unknown, endpoint: string): SignedHeaderParts {
  const field = member(resultField(result, "commit", endpoint), "signed_header");
  const signed = parsed("commit", endpoint, () => parseSignedHeader(field.value));
  const { header, commit } = signed;
  if (commit.height !== header.height || !equalBytes(commit.blockId.hash, headerHash(header)))
    throw badResponse(endpoint, "commit.signed_header", "has a commit that is not for its header");
  return signed;
}

function atHeight(height: bigint, signed: SignedHeaderParts, endpoint: string): SignedHeaderParts {
  if (signed.header.height === height) return signed;
  throw badResponse(endpoint, "commit.signed_header.header.height", "is not the requested height");
}

/** Reads the validators of a height page by page, in the node's order. */
async function readValidators(height: bigint, read: ReadRpc): Promise<Validators> {
  const entries: unknown[] = [];
  for (let page = 1; ; page++) {
    const { validators, total } = await read({
      method: "validators",
      params: { height: height.toString(), page: page.toString(), per_page: PER_PAGE.toString() },
      decode: (result, endpoint) => decodeValidatorsPage(result, height, endpoint),
    });
    entries.push(...validators);
    if (entries.length === total) return parsed("validators", "chain", () => parseValidators(entries));
    // A node that returns empty pages, or too many entries, must not keep this loop running.
    if (validators.length === 0 || entries.length > total)
      throw badResponse("chain", "validators.validators", "does not add up to its total");
  }
}

/** Decodes one page of `validators`. Throws `bad-answer` also when the page is of another height. */
export function decodeValidatorsPage(
  result: unknown,
  height: bigint,
  endpoint: string,
): { readonly validators: readonly unknown[]; readonly total: number } {
  const root = resultField(result, "validators", endpoint);
  const blockHeight = member(root, "block_height");
  if (asInt64(blockHeight) !== height) throw blockHeight.error(blockHeight.path, "the requested height");
  const totalField = member(root, "total");
  const total = asInt64(totalField);
  if (total < 1n || total > MAX_VALIDATORS)
    throw totalField.error(totalField.path, `a number from 1 to ${MAX_VALIDATORS}`);
  const validators = elements(member(root, "validators")).map(({ value }) => value);
  return { validators, total: Number(total) };
}

/** Encodes the parts after a check that they belong together, because the pages may come from different endpoints. */
function toLightBlock(signed: SignedHeaderParts, validators: Validators): LightBlockBytes {
  const { header } = signed;
  if (!equalBytes(validatorsHash(validators.validators), header.validatorsHash))
    throw badResponse("chain", "validators.validators", "is not the validator set of the header");
  return {
    height: header.height,
    timeNs: header.timeNs,
    appHash: header.appHash,
    signedHeader: SignedHeader.encode(signedHeaderToProto(signed)).finish(),
    validatorSet: ValidatorSet.encode(validatorSetToProto(validators)).finish(),
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
