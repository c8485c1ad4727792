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
import { nsToTimestamp, timestampToNs } from "./timestamp.ts";
import {
  validateBlockId,
  validateCommit,
  validateCommitSig,
  validateHeader,
  validateValidatorSet,
} from "./validate.ts";
import { KEY_TYPES, keyTypeOf } from "./validator-key.ts";
import { totalPower } from "./validator-set.ts";

/**
 * Converts and validates a header and commit, like `SignedHeaderFromProto`. Throws `CometError`, as do all `…FromProto` functions.
 */
export function signedHeaderFromProto(message: Proto.SignedHeader | undefined): SignedHeader {
  if (message === undefined) throw malformed("signed header", "nil SignedHeader");
  if (message.header === undefined) throw malformed("signed header", "missing header");
  if (message.commit === undefined) throw malformed("signed header", "missing commit");
  return { header: headerFromProto(message.header), commit: commitFromProto(message.commit) };
}

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

export function commitFromProto(message: Proto.Commit): Commit {
  const commit: Commit = {
    height: message.height,
    round: message.round,
    // As in Go, check both fields before the height, and add no prefix to their errors.
    blockId: blockIdFromProto(message.blockId),
    signatures: message.signatures.map(commitSigFromProto),
  };
  validateCommit(commit);
  return commit;
}

function commitSigFromProto(message: Proto.CommitSig): CommitSig {
  const signature: CommitSig = {
    flag: message.blockIdFlag,
    validatorAddress: message.validatorAddress,
    timestampNs: timestampToNs(message.timestamp),
    signature: message.signature,
  };
  validateCommitSig(signature);
  return signature;
}

/** Converts a block id from protobuf and validates it. Returns the empty block id if `message` is undefined. */
export function blockIdFromProto(message: Proto.BlockID | undefined): BlockId {
  if (message === undefined) return NO_BLOCK_ID;
  const parts = message.partSetHeader ?? NO_BLOCK_ID.parts;
  const id: BlockId = { hash: message.hash, parts: { total: parts.total, hash: parts.hash } };
  validateBlockId(id);
  return id;
}

/** Converts and validates a validator set with its proposer, like `ValidatorSetFromProto`. */
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
  if (key === undefined) throw malformed("validator", "fromproto: key type <nil> is not supported");
  const { goName, size } = KEY_TYPES[key.$case];
  if (key.value.length !== size) {
    throw malformed("validator", `invalid size for ${goName}. Got ${key.value.length}, expected ${size}`);
  }
  return {
    address: message.address,
    publicKey: key.value,
    power: message.votingPower,
    priority: message.proposerPriority,
  };
}

export function signedHeaderToProto(signed: SignedHeader): Proto.SignedHeader {
  return { header: headerToProto(signed.header), commit: commitToProto(signed.commit) };
}

export function headerToProto(header: Header): Proto.Header {
  const { version, timeNs, lastBlockId, ...rest } = header;
  return {
    ...rest,
    version: { block: version.block, app: version.app },
    time: nsToTimestamp(timeNs),
    lastBlockId: blockIdToProto(lastBlockId),
  };
}

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

function blockIdToProto(id: BlockId): Proto.BlockID {
  return { hash: id.hash, partSetHeader: { total: id.parts.total, hash: id.parts.hash } };
}

/** Converts a validator set to protobuf, with its proposer and total power. */
export function validatorSetToProto(set: ValidatorSet): ProtoValidator.ValidatorSet {
  return {
    validators: set.validators.map(validatorToProto),
    proposer: set.proposer === undefined ? undefined : validatorToProto(set.proposer),
    totalVotingPower: totalPower(set.validators),
  };
}

function publicKeyToProto(value: Uint8Array): { $case: keyof typeof KEY_TYPES; value: Uint8Array } {
  return { $case: keyTypeOf(value) === KEY_TYPES.secp256k1 ? "secp256k1" : "ed25519", value };
}

function validatorToProto(validator: Validator): ProtoValidator.Validator {
  return {
    address: validator.address,
    pubKey: { sum: publicKeyToProto(validator.publicKey) },
    votingPower: validator.power,
    proposerPriority: validator.priority,
  };
}

function toFlag(flag: number): ProtoValidator.BlockIDFlag {
  if (flag === 1 || flag === 2 || flag === 3) return flag;
  throw malformed("commit", `unknown BlockIDFlag: ${flag}`);
}
