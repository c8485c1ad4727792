import { equalBytes } from "../base/bytes.ts";
import { type Header, SignedHeader } from "../proto/gen/tendermint/types/types.ts";
import { type Validator, ValidatorSet } from "../proto/gen/tendermint/types/validator.ts";
import type { LightBlockBytes } from "./chain-client.ts";
import { badAnswer } from "./rpc-answer.ts";
import type { RpcRead } from "./rpc-caller.ts";
import {
  base64Bytes,
  field,
  hexBytes,
  int64,
  items,
  text,
  unfit,
  type WireValue,
  wireValue,
} from "./wire-fields.ts";
import { decodeCommit, decodeHeader } from "./wire-header.ts";

/** CometBFT's largest page. */
const PER_PAGE = 100;
/** CometBFT's largest validator set. */
const MAX_VALIDATORS = 10_000;

/** Calls and decodes; the signal belongs to the caller. */
export type ReadRpc = <T>(read: RpcRead<T>) => Promise<T>;

/**
 * Reads header, commit and all validators of a height (0: the latest) and encodes them as a light client takes them.
 * Heights, chain and counts are compared; hashes and signatures are left to the light client. For a known height the
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

function atHeight(height: bigint, signed: DecodedSignedHeader, endpoint: string): DecodedSignedHeader {
  if (signed.header.height === height) return signed;
  throw badAnswer(endpoint, "commit.signed_header.header.height", "is not the height that was asked for");
}

/** A signed header whose parts are there. */
export interface DecodedSignedHeader extends SignedHeader {
  readonly header: Header;
}

/** Decodes the answer to `commit`. */
export function decodeSignedHeader(result: unknown, endpoint: string): DecodedSignedHeader {
  const signedHeader = field(wireValue(result, "commit", endpoint), "signed_header");
  const header = decodeHeader(field(signedHeader, "header"));
  const commitHeight = field(field(signedHeader, "commit"), "height");
  if (int64(commitHeight) !== header.height) throw unfit(commitHeight, "the height of its header");
  return { header, commit: decodeCommit(field(signedHeader, "commit")) };
}

/** Reads the validators of a height, page by page, in the node's order. */
async function readValidators(height: bigint, read: ReadRpc): Promise<readonly Validator[]> {
  const validators: Validator[] = [];
  for (let page = 1; ; page++) {
    const { entries, total } = await read({
      method: "validators",
      params: { height: height.toString(), page: page.toString(), per_page: PER_PAGE.toString() },
      decode: (result, endpoint) => decodeValidatorsPage(result, height, endpoint),
    });
    validators.push(...entries);
    if (validators.length === total) return validators;
    if (entries.length === 0 || validators.length > total)
      throw badAnswer("chain", "validators.validators", "does not add up to its total");
  }
}

/** Decodes one answer to `validators`; the height must be the one that was asked for. */
export function decodeValidatorsPage(
  result: unknown,
  height: bigint,
  endpoint: string,
): { readonly entries: readonly Validator[]; readonly total: number } {
  const root = wireValue(result, "validators", endpoint);
  const blockHeight = field(root, "block_height");
  if (int64(blockHeight) !== height) throw unfit(blockHeight, "the height that was asked for");
  const total = int64(field(root, "total"));
  if (total < 1n || total > MAX_VALIDATORS)
    throw unfit(field(root, "total"), `a number from 1 to ${MAX_VALIDATORS}`);
  return { entries: items(field(root, "validators")).map(decodeValidator), total: Number(total) };
}

function decodeValidator(validator: WireValue): Validator {
  const key = field(validator, "pub_key");
  const keyType = field(key, "type");
  const $case = KEY_TYPES.get(text(keyType));
  if ($case === undefined) throw unfit(keyType, "a known key type");
  return {
    address: hexBytes(field(validator, "address")),
    pubKey: { sum: { $case, value: base64Bytes(field(key, "value")) } },
    votingPower: int64(field(validator, "voting_power")),
    proposerPriority: int64(field(validator, "proposer_priority")),
  };
}

const KEY_TYPES = new Map<string, "ed25519" | "secp256k1">([
  ["tendermint/PubKeyEd25519", "ed25519"],
  ["tendermint/PubKeySecp256k1", "secp256k1"],
]);

/** Encodes the parts. The proposer is the header's; a set without it cannot be the header's set. */
function toLightBlock(signed: DecodedSignedHeader, validators: readonly Validator[]): LightBlockBytes {
  const { header } = signed;
  const proposer = validators.find(({ address }) => equalBytes(address, header.proposerAddress));
  if (proposer === undefined)
    throw badAnswer("chain", "validators.validators", "does not hold the proposer of the header");
  const totalVotingPower = validators.reduce((sum, { votingPower }) => sum + votingPower, 0n);
  const time = header.time ?? { seconds: 0n, nanos: 0 };
  return {
    height: header.height,
    timeNs: time.seconds * 1_000_000_000n + BigInt(time.nanos),
    appHash: header.appHash,
    signedHeader: SignedHeader.encode(signed).finish(),
    validatorSet: ValidatorSet.encode({ validators: [...validators], proposer, totalVotingPower }).finish(),
  };
}
