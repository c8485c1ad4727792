import { GO_ZERO_TIME_NS, NS_PER_SECOND, splitNs } from "../base/rfc3339.ts";
import type * as Proto from "../proto/gen/tendermint/types/types.ts";
import type * as ProtoValidator from "../proto/gen/tendermint/types/validator.ts";
import {
  type BlockId,
  type Commit,
  type CommitSig,
  type Header,
  NO_BLOCK_ID,
  type SignedHeader,
  type Validator,
  type ValidatorSet,
} from "./block-types.ts";
import { inContext, malformed } from "./comet-error.ts";
import { PUBLIC_KEY_SIZE } from "./ed25519.ts";
import { validateBlockId, validateCommit, validateHeader, validateValidatorSet } from "./validate.ts";
import { totalPower } from "./validator-set.ts";

/** A protobuf time, either part possibly negative; an absent one is Go's zero time. */
interface WireTimestamp {
  readonly seconds: bigint;
  readonly nanos: number;
}

/** First second after the year 9999, where protobuf's times end. They begin with Go's zero time. */
const END_OF_TIME_NS = 253_402_300_800n * NS_PER_SECOND;

/** Nanoseconds since the Unix epoch of a `google.protobuf.Timestamp`; absent: Go's zero time. Throws `CometError` outside the years 1 to 9999. */
export function timestampToNs(timestamp: WireTimestamp | undefined): bigint {
  if (timestamp === undefined) return GO_ZERO_TIME_NS;
  const timeNs = timestamp.seconds * NS_PER_SECOND + BigInt(timestamp.nanos);
  const isValid = timestamp.nanos >= 0 && timestamp.nanos < 1_000_000_000;
  if (!isValid || timeNs < GO_ZERO_TIME_NS || timeNs >= END_OF_TIME_NS) {
    throw malformed(
      "timestamp",
      `timestamp: seconds:${timestamp.seconds} nanos:${timestamp.nanos} out of range`,
    );
  }
  return timeNs;
}
/** A `google.protobuf.Timestamp` of nanoseconds since the Unix epoch. */
export function nsToTimestamp(timeNs: bigint): { seconds: bigint; nanos: number } {
  return splitNs(timeNs);
}

/** Reads and checks a header and its commit as `SignedHeaderFromProto`. Throws `CometError`. */
export function signedHeaderFromProto(message: Proto.SignedHeader | undefined): SignedHeader {
  if (message === undefined) throw malformed("signed header", "nil SignedHeader");
  if (message.header === undefined) throw malformed("signed header", "missing header");
  if (message.commit === undefined) throw malformed("signed header", "missing commit");
  return { header: headerFromProto(message.header), commit: commitFromProto(message.commit) };
}

/** Reads and checks a header. Throws `CometError`. */
export function headerFromProto(message: Proto.Header): Header {
  const { version, time, lastBlockId, ...rest } = message;
  const header: Header = {
    ...rest,
    version: { block: version?.block ?? 0n, app: version?.app ?? 0n },
    timeNs: timestampToNs(time),
    lastBlockId: blockIdFromProto(lastBlockId),
  };
  validateHeader(header);
  return header;
}

/** Reads and checks a commit. Throws `CometError`. */
export function commitFromProto(message: Proto.Commit): Commit {
  const commit: Commit = {
    height: message.height,
    round: message.round,
    blockId: blockIdFromProto(message.blockId),
    signatures: message.signatures.map(commitSigFromProto),
  };
  validateCommit(commit);
  return commit;
}

function commitSigFromProto(message: Proto.CommitSig): CommitSig {
  return {
    flag: message.blockIdFlag,
    validatorAddress: message.validatorAddress,
    timestampNs: timestampToNs(message.timestamp),
    signature: message.signature,
  };
}

/** Reads and checks a block id; absent: no block. Throws `CometError`. */
export function blockIdFromProto(message: Proto.BlockID | undefined): BlockId {
  if (message === undefined) return NO_BLOCK_ID;
  const parts = message.partSetHeader ?? NO_BLOCK_ID.parts;
  const id: BlockId = { hash: message.hash, parts: { total: parts.total, hash: parts.hash } };
  validateBlockId(id);
  return id;
}

/** Reads and checks a validator set with its proposer as `ValidatorSetFromProto`. Throws `CometError`. */
export function validatorSetFromProto(message: ProtoValidator.ValidatorSet | undefined): ValidatorSet {
  if (message === undefined) throw malformed("validator set", "nil validator set");
  const validators = message.validators.map(validatorFromProto);
  if (message.proposer === undefined) {
    throw malformed("validator set", "fromProto: validatorSet proposer error: nil validator");
  }
  const proposer = inContext("fromProto: validatorSet proposer error", () =>
    validatorFromProto(message.proposer),
  );
  const set: ValidatorSet = { validators, proposer };
  validateValidatorSet(set);
  return set;
}

function validatorFromProto(message: ProtoValidator.Validator | undefined): Validator {
  if (message === undefined) throw malformed("validator", "nil validator");
  const key = message.pubKey?.sum;
  if (key?.$case !== "ed25519") {
    throw malformed("validator", `fromproto: key type ${key?.$case ?? "<nil>"} is not supported`);
  }
  if (key.value.length !== PUBLIC_KEY_SIZE) {
    throw malformed(
      "validator",
      `invalid size for PubKeyEd25519. Got ${key.value.length}, expected ${PUBLIC_KEY_SIZE}`,
    );
  }
  return {
    address: message.address,
    publicKey: key.value,
    power: message.votingPower,
    priority: message.proposerPriority,
  };
}

/** A signed header as its protobuf message. */
export function signedHeaderToProto(signed: SignedHeader): Proto.SignedHeader {
  return { header: headerToProto(signed.header), commit: commitToProto(signed.commit) };
}

/** A header as its protobuf message. */
export function headerToProto(header: Header): Proto.Header {
  const { version, timeNs, lastBlockId, ...rest } = header;
  return {
    ...rest,
    version: { block: version.block, app: version.app },
    time: nsToTimestamp(timeNs),
    lastBlockId: blockIdToProto(lastBlockId),
  };
}

/** A commit as its protobuf message. */
export function commitToProto(commit: Commit): Proto.Commit {
  return {
    height: commit.height,
    round: commit.round,
    blockId: blockIdToProto(commit.blockId),
    signatures: commit.signatures.map((one) => ({
      blockIdFlag: toFlag(one.flag),
      validatorAddress: one.validatorAddress,
      timestamp: nsToTimestamp(one.timestampNs),
      signature: one.signature,
    })),
  };
}

/** A block id as its protobuf message. */
function blockIdToProto(id: BlockId): Proto.BlockID {
  return { hash: id.hash, partSetHeader: { total: id.parts.total, hash: id.parts.hash } };
}

/** A validator set with proposer and total power as its protobuf message. */
export function validatorSetToProto(set: ValidatorSet): ProtoValidator.ValidatorSet {
  return {
    validators: set.validators.map(validatorToProto),
    proposer: set.proposer === undefined ? undefined : validatorToProto(set.proposer),
    totalVotingPower: totalPower(set.validators),
  };
}

/** A validator as its protobuf message. */
function validatorToProto(validator: Validator): ProtoValidator.Validator {
  return {
    address: validator.address,
    pubKey: { sum: { $case: "ed25519", value: validator.publicKey } },
    votingPower: validator.power,
    proposerPriority: validator.priority,
  };
}

function toFlag(flag: number): ProtoValidator.BlockIDFlag {
  if (flag === 1 || flag === 2 || flag === 3) return flag;
  throw malformed("commit", `unknown BlockIDFlag: ${flag}`);
}
