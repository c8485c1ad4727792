import { equalBytes, upperHex } from "../../platform/base/bytes.ts";
import { GO_ZERO_TIME_NS } from "../../platform/base/time.ts";
import {
  BLOCK_ID_FLAG,
  type BlockId,
  type Commit,
  type CommitSig,
  type Header,
  type SignedHeader,
  type Validator,
  type ValidatorSet,
} from "./block-types.ts";
import { CometError, inContext, malformed } from "./comet-error.ts";
import { isNoBlock, headerHash } from "./block-hashes.ts";
import { ADDRESS_SIZE, addressOf } from "./validator-key.ts";
import { totalPower } from "./validator-set.ts";

/** Maximum length of a chain id in bytes. */
export const MAX_CHAIN_ID_LENGTH = 50;

/** Block protocol version that CometBFT 0.38 requires in each header. */
const BLOCK_PROTOCOL = 11n;

const HASH_SIZE = 32;
const MAX_SIGNATURE_SIZE = 64;

/** Checks that a hash is empty or 32 bytes long. Throws `CometError`, as do all functions here. */
export function validateHash(hash: Uint8Array): void {
  if (isHash(hash)) return;
  throw malformed("hash", `expected size to be ${HASH_SIZE} bytes, got ${hash.length} bytes`);
}

function isHash(hash: Uint8Array): boolean {
  return hash.length === 0 || hash.length === HASH_SIZE;
}

/** Checks a header without other data (`Header.ValidateBasic`). */
export function validateHeader(header: Header): void {
  if (header.version.block !== BLOCK_PROTOCOL) {
    throw malformed(
      "header",
      `block protocol is incorrect: got: ${header.version.block}, want: ${BLOCK_PROTOCOL} `,
    );
  }
  const idLength = Buffer.byteLength(header.chainId);
  if (idLength > MAX_CHAIN_ID_LENGTH) {
    throw malformed("header", `chainID is too long; got: ${idLength}, max: ${MAX_CHAIN_ID_LENGTH}`);
  }
  if (header.height < 0n) throw malformed("header", "negative Height");
  if (header.height === 0n) throw malformed("header", "zero Height");
  inContext("wrong LastBlockID", () => validateBlockId(header.lastBlockId));
  validateHeaderHashes(header);
}

function validateHeaderHashes(header: Header): void {
  inContext("wrong LastCommitHash", () => validateHash(header.lastCommitHash));
  inContext("wrong DataHash", () => validateHash(header.dataHash));
  inContext("wrong EvidenceHash", () => validateHash(header.evidenceHash));
  const { length } = header.proposerAddress;
  if (length !== ADDRESS_SIZE) {
    throw malformed("header", `invalid ProposerAddress length; got: ${length}, expected: ${ADDRESS_SIZE}`);
  }
  inContext("wrong ValidatorsHash", () => validateHash(header.validatorsHash));
  inContext("wrong NextValidatorsHash", () => validateHash(header.nextValidatorsHash));
  inContext("wrong ConsensusHash", () => validateHash(header.consensusHash));
  inContext("wrong LastResultsHash", () => validateHash(header.lastResultsHash));
}

/** Checks the two hashes of a block id (`BlockID.ValidateBasic`). */
export function validateBlockId(id: BlockId): void {
  // Go's error for a wrong block hash contains no reason, unlike its error for a wrong part set hash.
  if (!isHash(id.hash)) throw malformed("block id", "wrong Hash");
  inContext("wrong PartSetHeader", () => inContext("wrong Hash", () => validateHash(id.parts.hash)));
}

/** Checks a commit, but does not verify its signatures (`Commit.ValidateBasic`). */
export function validateCommit(commit: Commit): void {
  if (commit.height < 0n) throw malformed("commit", "negative Height");
  if (commit.round < 0) throw malformed("commit", "negative Round");
  // The first block of a chain has an empty last commit, with height 0.
  if (commit.height === 0n) return;
  if (isNoBlock(commit.blockId)) throw malformed("commit", "commit cannot be for nil block");
  if (commit.signatures.length === 0) throw malformed("commit", "no signatures in commit");
  for (const [index, signature] of commit.signatures.entries()) {
    inContext(`wrong CommitSig #${index}`, () => validateCommitSig(signature));
  }
}

/** Checks one validator's vote (`CommitSig.ValidateBasic`). */
export function validateCommitSig(sig: CommitSig): void {
  switch (sig.flag) {
    case BLOCK_ID_FLAG.absent:
      return validateAbsent(sig);
    case BLOCK_ID_FLAG.commit:
    case BLOCK_ID_FLAG.nil:
      return validatePresent(sig);
    default:
      throw malformed("commit", `unknown BlockIDFlag: ${sig.flag}`);
  }
}

function validateAbsent(sig: CommitSig): void {
  if (sig.validatorAddress.length !== 0) throw malformed("commit", "validator address is present");
  if (sig.timestampNs !== GO_ZERO_TIME_NS) throw malformed("commit", "time is present");
  if (sig.signature.length !== 0) throw malformed("commit", "signature is present");
}

function validatePresent(sig: CommitSig): void {
  const { length } = sig.validatorAddress;
  if (length !== ADDRESS_SIZE) {
    throw malformed(
      "commit",
      `expected ValidatorAddress size to be ${ADDRESS_SIZE} bytes, got ${length} bytes`,
    );
  }
  if (sig.signature.length === 0) throw malformed("commit", "signature is missing");
  if (sig.signature.length > MAX_SIGNATURE_SIZE) {
    throw malformed("commit", `signature is too big (max: ${MAX_SIGNATURE_SIZE})`);
  }
}

/** Checks that a commit is for this header and that the header belongs to this chain (`SignedHeader.ValidateBasic`). */
export function validateSignedHeader({ header, commit }: SignedHeader, chainId: string): void {
  inContext("invalid header", () => validateHeader(header));
  inContext("invalid commit", () => validateCommit(commit));
  if (header.chainId !== chainId) {
    throw malformed(
      "signed header",
      `header belongs to another chain ${JSON.stringify(header.chainId)}, not ${JSON.stringify(chainId)}`,
    );
  }
  if (commit.height !== header.height) {
    throw malformed(
      "signed header",
      `header and commit height mismatch: ${header.height} vs ${commit.height}`,
    );
  }
  const hash = headerHash(header);
  if (equalBytes(hash, commit.blockId.hash)) return;
  throw new CometError(
    { code: "bad-commit" },
    `commit signs block ${upperHex(commit.blockId.hash)}, header is block ${upperHex(hash)}`,
  );
}

/** Checks every validator, the total power and the proposer (`ValidatorSet.ValidateBasic`). */
export function validateValidatorSet(set: ValidatorSet): void {
  if (set.validators.length === 0) throw malformed("validator set", "validator set is nil or empty");
  for (const [index, validator] of set.validators.entries()) {
    inContext(`invalid validator #${index}`, () => validateValidator(validator));
  }
  totalPower(set.validators);
  const { proposer } = set;
  if (proposer === undefined) {
    throw malformed("validator set", "proposer failed validate basic, error: nil validator");
  }
  inContext("proposer failed validate basic, error", () => validateValidator(proposer));
  if (set.validators.some((one) => equalBytes(one.address, proposer.address))) return;
  throw malformed("validator set", "proposer not in validator set");
}

function validateValidator(validator: Validator): void {
  if (validator.power < 0n) throw malformed("validator", "validator has negative voting power");
  const address = addressOf(validator.publicKey);
  if (equalBytes(validator.address, address)) return;
  throw malformed(
    "validator",
    `validator address is incorrectly derived from pubkey. Exp: ${upperHex(address)}, got ${upperHex(validator.address)}`,
  );
}
