import { upperHex, equalBytes, toHex } from "../../platform/base/bytes.ts";
import { formatRfc3339Ns } from "../../platform/base/time.ts";
import {
  BLOCK_ID_FLAG,
  type BlockId,
  type Commit,
  type CommitSig,
  type Validator,
  type ValidatorSet,
} from "./block-types.ts";
import { CometError, malformed } from "./comet-error.ts";
import { commitSignBytes } from "./block-hashes.ts";
import { KEY_TYPES, keyTypeOf, publicKeyText, verifyFast, verifyZip215 } from "./validator-key.ts";
import { totalPower } from "./validator-set.ts";

/** A fraction of voting power, such as 1/3. */
export interface TrustLevel {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** A commit, and the chain, block and height that it must be for. */
export interface ExpectedCommit {
  readonly chainId: string;
  readonly blockId: BlockId;
  readonly height: bigint;
  readonly commit: Commit;
}

/** State shared by the checks of one header. Create a new state for each commit and chain id. */
export interface SignatureChecks {
  /**
   * Maps the commit index of each valid signature to the public key that verified the signature. The two checks of a header share
   * many signatures.
   */
  readonly verified: Map<number, Uint8Array>;
  /**
   * Runs for each signature that only the slow ZIP-215 verifier can decide. For a batch, runs for all slow signatures before the first
   * is verified. The callback may throw to stop the verification.
   */
  readonly beforeSlow?: (() => void) | undefined;
}

export function createSignatureChecks(beforeSlow?: () => void): SignatureChecks {
  return { verified: new Map(), beforeSlow };
}

/** Minimum number of signatures for CometBFT's batch verifier, which sums the power first and has different error messages. */
const BATCH_THRESHOLD = 2;

const ED25519_SIGNATURE_SIZE = 64;

/** A commit whose signatures are to be verified. `isBatch` is true if CometBFT would use its batch verifier. */
interface SignedCommit extends Pick<ExpectedCommit, "chainId" | "commit"> {
  readonly isBatch: boolean;
}

/** The index of a signature in the commit, and the validator that should have signed. */
interface Claim {
  readonly index: number;
  readonly validator: Validator;
}

/**
 * Checks that more than 2/3 of the set's power signed the block, and stops once this is proven, like `VerifyCommitLight`. The commit
 * must have passed `validateCommit`. Throws `CometError` if the commit is invalid.
 */
export function verifyCommitLight(
  set: ValidatorSet,
  expected: ExpectedCommit,
  checks: SignatureChecks = createSignatureChecks(),
): void {
  const { commit, height, blockId } = expected;
  if (set.validators.length !== commit.signatures.length) {
    throw badVote(
      `Invalid commit -- wrong set size: ${set.validators.length} vs ${commit.signatures.length}`,
    );
  }
  if (height !== commit.height)
    throw badVote(`Invalid commit -- wrong height: ${height} vs ${commit.height}`);
  if (!isSameBlock(blockId, commit.blockId)) {
    const [want, got] = [blockIdText(blockId), blockIdText(commit.blockId)];
    throw badVote(`invalid commit -- wrong block ID: want ${want}, got ${got}`);
  }
  // As in Go, the needed power is rounded down. The rounding does not weaken the check, because the signed power must be greater
  // than `needed`.
  const needed = (totalPower(set.validators) * 2n) / 3n;
  const claims = function* (): Generator<Claim> {
    for (const [index, sig] of commit.signatures.entries()) {
      const validator = set.validators[index];
      if (sig.flag === BLOCK_ID_FLAG.commit && validator !== undefined) yield { index, validator };
    }
  };
  verifyClaims(claims(), needed, { ...expected, isBatch: isBatchVerified(set, commit) }, checks);
}

/**
 * Checks that validators with more than `level` of a trusted set's power signed the commit, like `VerifyCommitLightTrusting`. Finds
 * validators by address, because another set may have signed the commit. Throws `CometError` if the commit is invalid.
 */
export function verifyCommitLightTrusting(
  trusted: ValidatorSet,
  signed: Pick<ExpectedCommit, "chainId" | "commit">,
  level: TrustLevel,
  checks: SignatureChecks = createSignatureChecks(),
): void {
  if (level.denominator === 0n) throw malformed("trust level", "trustLevel has zero Denominator");
  // In Go, multiplying the power by the numerator can overflow an int64. Go rejects a trust level whose product with the power overflows,
  // so reject it here too. Go also reads the level's numerator and denominator as int64, so 2^63 and above become negative.
  const [numerator, denominator] = [BigInt.asIntN(64, level.numerator), BigInt.asIntN(64, level.denominator)];
  const product = totalPower(trusted.validators) * numerator;
  if ((product < 0n ? -product : product) > 2n ** 63n - 1n) {
    throw malformed(
      "trust level",
      "int64 overflow while calculating voting power needed. please provide smaller trustLevel numerator",
    );
  }
  const isBatch = isBatchVerified(trusted, signed.commit);
  const claims = trustedClaims(trusted, signed.commit);
  verifyClaims(claims, product / denominator, { ...signed, isBatch }, checks);
}

function* trustedClaims(trusted: ValidatorSet, commit: Commit): Generator<Claim> {
  // Iterate in reverse, so that of two validators with the same address, the map contains the first validator, as in Go.
  const byAddress = new Map(trusted.validators.toReversed().map((one) => [toHex(one.address), one]));
  const voteIndex = new Map<Validator, number>();
  for (const [index, sig] of commit.signatures.entries()) {
    const validator = byAddress.get(toHex(sig.validatorAddress));
    if (sig.flag !== BLOCK_ID_FLAG.commit || validator === undefined) continue;
    // Reject a commit with two votes from one validator. Otherwise, this validator's power would be counted twice.
    const first = voteIndex.get(validator);
    if (first !== undefined) {
      throw badVote(`double vote from ${validatorText(validator)} (${first} and ${index})`);
    }
    voteIndex.set(validator, index);
    yield { index, validator };
  }
}

/**
 * Verifies claims in order until their power exceeds `needed`. The checks run in CometBFT's order, because the order determines the
 * error. The batch verifier sums up all power before it verifies any signature. The single verifier does both for each signature.
 */
function verifyClaims(
  claims: Iterable<Claim>,
  needed: bigint,
  signed: SignedCommit,
  checks: SignatureChecks,
): void {
  const { isBatch } = signed;
  const check = signatureCheck(signed, checks);
  const batch: Claim[] = [];
  let got = 0n;
  for (const claim of claims) {
    if (isBatch) batch.push(requireFullLength(claim, signed.commit));
    else check(claim)();
    got += claim.validator.power;
    if (got > needed) break;
  }
  if (got <= needed) throw notEnoughPower(got, needed);
  // Call `beforeSlow` for all signatures before the first slow verification.
  for (const decide of batch.map(check)) decide();
}

/** Returns true if CometBFT verifies in a batch, which it does only for ed25519 keys. */
function isBatchVerified({ validators, proposer }: ValidatorSet, commit: Commit): boolean {
  if (commit.signatures.length < BATCH_THRESHOLD) return false;
  return [proposer, ...validators].every(
    (one) => one === undefined || keyTypeOf(one.publicKey) === KEY_TYPES.ed25519,
  );
}

/**
 * Rejects a signature of the wrong length. CometBFT's batch verifier performs this check when a signature is added, before it
 * verifies any signature.
 */
function requireFullLength(claim: Claim, commit: Commit): Claim {
  const { length } = commit.signatures[claim.index]?.signature ?? [];
  if (length !== ED25519_SIGNATURE_SIZE) throw badVote("invalid signature");
  return claim;
}

/**
 * Creates a function that runs the fast verifier on a claim's signature and returns a second function. The second function runs the
 * slow verifier if necessary, and throws `CometError` for an invalid signature.
 */
function signatureCheck(
  { chainId, commit, isBatch }: SignedCommit,
  { verified, beforeSlow }: SignatureChecks,
): (claim: Claim) => () => void {
  const signBytes = commitSignBytes(chainId, commit);
  return ({ index, validator }) => {
    const sig = commit.signatures[index];
    if (sig === undefined) throw badVote(`no signature at index ${index}`);
    const verifiedBy = verified.get(index);
    const { publicKey } = validator;
    if (verifiedBy !== undefined && equalBytes(verifiedBy, publicKey)) return () => {};
    const claimed = { publicKey, message: signBytes(index), signature: sig.signature };
    const isValid = verifyFast(claimed);
    if (isValid === undefined) beforeSlow?.();
    return () => {
      if (!(isValid ?? verifyZip215(claimed))) {
        throw new CometError(
          { code: "wrong-signature", index },
          `wrong signature (#${index}): ${isBatch ? batchText(sig) : upperHex(sig.signature)}`,
        );
      }
      verified.set(index, publicKey);
    };
  };
}

/** Formats a signature as CometBFT's batch verifier does in errors: the text of the `CommitSig`, encoded in hex. */
function batchText(sig: CommitSig): string {
  const signature = upperHex(sig.signature.subarray(0, 6));
  const address = upperHex(sig.validatorAddress.subarray(0, 6));
  const text = `CommitSig{${signature} by ${address} on ${sig.flag} @ ${formatRfc3339Ns(sig.timestampNs)}}`;
  return upperHex(Buffer.from(text));
}

function isSameBlock(a: BlockId, b: BlockId): boolean {
  return (
    equalBytes(a.hash, b.hash) && a.parts.total === b.parts.total && equalBytes(a.parts.hash, b.parts.hash)
  );
}

function blockIdText(id: BlockId): string {
  return `${upperHex(id.hash)}:${id.parts.total}:${upperHex(id.parts.hash).slice(0, 12)}`;
}

function validatorText({ address, publicKey, power, priority }: Validator): string {
  return `Validator{${upperHex(address)} ${publicKeyText(publicKey)} VP:${power} A:${priority}}`;
}

function notEnoughPower(got: bigint, needed: bigint): CometError {
  return new CometError(
    { code: "not-enough-power", got, needed },
    `invalid commit -- insufficient voting power: got ${got}, needed more than ${needed}`,
  );
}

function badVote(text: string): CometError {
  return new CometError({ code: "bad-commit" }, text);
}
