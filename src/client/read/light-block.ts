import { equalBytes } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import type {
  Header,
  SignedHeader as SignedHeaderParts,
  ValidatorSet as Validators,
} from "../../comet/block-types.ts";
import { headerHash } from "../../comet/header-hash.ts";
import { signedHeaderToProto, validatorSetToProto } from "../../comet/proto-blocks.ts";
import { MAX_VALIDATORS, parseHeader, parseSignedHeader, parseValidators } from "../../comet/rpc-parse.ts";
import { validatorsHash } from "../../comet/validator-set.ts";
import { SignedHeader } from "../../proto/gen/tendermint/types/types.ts";
import { ValidatorSet } from "../../proto/gen/tendermint/types/validator.ts";
import type { LightBlockBytes } from "../chain-client.ts";
import { ClientError } from "../errors.ts";
import { badAnswer } from "../rpc/rpc-response.ts";
import type { RpcRead } from "../rpc/rpc-caller.ts";
import { field, int64, items, unfit, wireValue } from "./wire-fields.ts";

/** CometBFT's largest page. */
const PER_PAGE = 100;

/** Calls and decodes; the signal belongs to the caller. */
export type ReadRpc = <T>(read: RpcRead<T>) => Promise<T>;

/**
 * Reads header, commit and all validators of a height (0: the latest) and encodes them as a light client takes them.
 * That they belong together is checked by their hashes; signatures are left to the light client. For a known height the
 * commit and the first page of validators travel together.
 */
export async function readLightBlock(height: bigint, read: ReadRpc): Promise<LightBlockBytes> {
  if (height === 0n) {
    const latest = await read({ method: "commit", params: {}, decode: decodeSignedHeader });
    return toLightBlock(latest, await readValidators(latest.header.height, read));
  }
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

/** Decodes the answer to `header`. */
export function decodeHeader(result: unknown, endpoint: string): Header {
  const header = field(wireValue(result, "header", endpoint), "header");
  return parsed("header", endpoint, () => parseHeader(header.value));
}

/** Decodes the answer to `commit`; the commit must be for its header. */
export function decodeSignedHeader(result: unknown, endpoint: string): SignedHeaderParts {
  const wire = field(wireValue(result, "commit", endpoint), "signed_header");
  const signed = parsed("commit", endpoint, () => parseSignedHeader(wire.value));
  const { header, commit } = signed;
  if (commit.height !== header.height || !equalBytes(commit.blockId.hash, headerHash(header)))
    throw badAnswer(endpoint, "commit.signed_header", "has a commit that is not for its header");
  return signed;
}

function atHeight(height: bigint, signed: SignedHeaderParts, endpoint: string): SignedHeaderParts {
  if (signed.header.height === height) return signed;
  throw badAnswer(endpoint, "commit.signed_header.header.height", "is not the height that was asked for");
}

/** Reads the validators of a height, page by page, in the node's order. */
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
    if (validators.length === 0 || entries.length > total)
      throw badAnswer("chain", "validators.validators", "does not add up to its total");
  }
}

/** Takes one answer to `validators` apart; the height must be the one that was asked for. */
export function decodeValidatorsPage(
  result: unknown,
  height: bigint,
  endpoint: string,
): { readonly validators: readonly unknown[]; readonly total: number } {
  const root = wireValue(result, "validators", endpoint);
  const blockHeight = field(root, "block_height");
  if (int64(blockHeight) !== height) throw unfit(blockHeight, "the height that was asked for");
  const total = int64(field(root, "total"));
  if (total < 1n || total > MAX_VALIDATORS)
    throw unfit(field(root, "total"), `a number from 1 to ${MAX_VALIDATORS}`);
  return { validators: items(field(root, "validators")).map(({ value }) => value), total: Number(total) };
}

/** Encodes the parts, which must belong together: pages may have come from different endpoints. */
function toLightBlock(signed: SignedHeaderParts, validators: Validators): LightBlockBytes {
  const { header } = signed;
  if (!equalBytes(validatorsHash(validators.validators), header.validatorsHash))
    throw badAnswer("chain", "validators.validators", "is not the validator set of the header");
  return {
    height: header.height,
    timeNs: header.timeNs,
    appHash: header.appHash,
    signedHeader: SignedHeader.encode(signedHeaderToProto(signed)).finish(),
    validatorSet: ValidatorSet.encode(validatorSetToProto(validators)).finish(),
  };
}

/** Runs a parser of CometBFT's forms; what it finds wrong is the endpoint's bad answer. */
function parsed<T>(where: string, endpoint: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    if (!(cause instanceof CodedError)) throw cause;
    throw new ClientError(
      { code: "bad-answer", endpoint, where },
      `${endpoint}: ${where} does not hold: ${cause.message}`,
    );
  }
}
