import { equalBytes, toHex } from "../base/bytes.ts";
import { formatRfc3339Ns } from "../base/rfc3339.ts";
import {
  BLOCK_ID_FLAG,
  type BlockId,
  type Commit,
  type CommitSig,
  type Validator,
  type ValidatorSet,
} from "./block-types.ts";
import { CometError, malformed } from "./comet-error.ts";
import { commitSignBytes } from "./commit-bytes.ts";
import { verifyEd25519 } from "./ed25519.ts";
import { upperHex } from "./validate.ts";
import { totalPower } from "./validator-set.ts";

/** A fraction of voting power, such as 1/3. */
export interface TrustLevel {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** A commit for a block of a chain. */
export interface CommitOf {
  readonly chainId: string;
  readonly blockId: BlockId;
  readonly height: bigint;
  readonly commit: Commit;
}

/**
 * Signatures of one commit that were found good, by index. Both checks of a header look at many of the same
 * signatures; with one memo each is computed once. Good for one commit and one chain id only.
 */
export type SignatureMemo = Map<number, Uint8Array>;

/** From this many signatures on, CometBFT verifies in a batch: power is counted first, and its error texts differ. */
const BATCH_THRESHOLD = 2;

/** A signature that counts, and the validator whose it should be. */
interface Claim {
  readonly index: number;
  readonly validator: Validator;
}

/**
 * Checks that more than 2/3 of the set's power signed this block, as `VerifyCommitLight`: stops as soon as it is
 * enough. The commit must have passed its stateless checks. Throws `CometError`.
 */
export function verifyCommitLight(set: ValidatorSet, of: CommitOf, memo: SignatureMemo = new Map()): void {
  const { commit } = of;
  if (set.validators.length !== commit.signatures.length) {
    throw badCommit(`wrong set size: ${set.validators.length} vs ${commit.signatures.length}`);
  }
  if (of.height !== commit.height) throw badCommit(`wrong height: ${of.height} vs ${commit.height}`);
  if (!isSameBlock(of.blockId, commit.blockId)) {
    throw badCommit(`wrong block ID: want ${blockIdText(of.blockId)}, got ${blockIdText(commit.blockId)}`);
  }
  const needed = (totalPower(set.validators) * 2n) / 3n;
  const claims = function* (): Generator<Claim> {
    for (const [index, sig] of commit.signatures.entries()) {
      const validator = set.validators[index];
      if (sig.flag === BLOCK_ID_FLAG.commit && validator !== undefined) yield { index, validator };
    }
  };
  verifyClaims(claims(), needed, { chainId: of.chainId, commit }, memo);
}

/**
 * Checks that more than `level` of a trusted set's power is among the signers, as `VerifyCommitLightTrusting`.
 * Validators are found by address, since the commit may be of another set. Throws `CometError`.
 */
export function verifyCommitLightTrusting(
  trusted: ValidatorSet,
  of: Pick<CommitOf, "chainId" | "commit">,
  level: TrustLevel,
  memo: SignatureMemo = new Map(),
): void {
  if (level.denominator === 0n) throw malformed("trust level", "trustLevel has zero Denominator");
  const product = totalPower(trusted.validators) * level.numerator;
  if (product > 2n ** 63n - 1n) {
    throw malformed(
      "trust level",
      "int64 overflow while calculating voting power needed. please provide smaller trustLevel numerator",
    );
  }
  verifyClaims(trustedClaims(trusted, of.commit), product / level.denominator, of, memo);
}

function* trustedClaims(trusted: ValidatorSet, commit: Commit): Generator<Claim> {
  const byAddress = new Map(trusted.validators.map((one) => [toHex(one.address), one]));
  const seen = new Map<Validator, number>();
  for (const [index, sig] of commit.signatures.entries()) {
    const validator = byAddress.get(toHex(sig.validatorAddress));
    if (sig.flag !== BLOCK_ID_FLAG.commit || validator === undefined) continue;
    const first = seen.get(validator);
    if (first !== undefined) {
      throw badVote(`double vote from ${validatorText(validator)} (${first} and ${index})`);
    }
    seen.set(validator, index);
    yield { index, validator };
  }
}

/** Walks claims until their power exceeds `needed`; order of checks as CometBFT's batch and single verifiers. */
function verifyClaims(
  claims: Iterable<Claim>,
  needed: bigint,
  of: Pick<CommitOf, "chainId" | "commit">,
  memo: SignatureMemo,
): void {
  const isBatch = of.commit.signatures.length >= BATCH_THRESHOLD;
  const check = signatureCheck(of, isBatch, memo);
  const batch: Claim[] = [];
  let got = 0n;
  for (const claim of claims) {
    if (isBatch) batch.push(claim);
    else check(claim);
    got += claim.validator.power;
    if (got > needed) break;
  }
  if (got <= needed) throw notEnoughPower(got, needed);
  for (const claim of batch) check(claim);
}

function signatureCheck(
  { chainId, commit }: Pick<CommitOf, "chainId" | "commit">,
  isBatch: boolean,
  memo: SignatureMemo,
): (claim: Claim) => void {
  const signBytes = commitSignBytes(chainId, commit);
  return ({ index, validator }) => {
    const sig = commit.signatures[index];
    if (sig === undefined) throw badVote(`no signature at index ${index}`);
    const known = memo.get(index);
    if (known !== undefined && equalBytes(known, validator.publicKey)) return;
    if (!verifyEd25519(validator.publicKey, signBytes(index), sig.signature)) {
      throw new CometError(
        { code: "wrong-signature", index },
        `wrong signature (#${index}): ${isBatch ? batchText(sig) : upperHex(sig.signature)}`,
      );
    }
    memo.set(index, validator.publicKey);
  };
}

/** CometBFT's batch verifier prints the signature's description, and that in hex. */
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
  return `Validator{${upperHex(address)} PubKeyEd25519{${upperHex(publicKey)}} VP:${power} A:${priority}}`;
}

function notEnoughPower(got: bigint, needed: bigint): CometError {
  return new CometError(
    { code: "not-enough-power", got, needed },
    `invalid commit -- insufficient voting power: got ${got}, needed more than ${needed}`,
  );
}

function badCommit(text: string): CometError {
  return badVote(`invalid commit -- ${text}`);
}

function badVote(text: string): CometError {
  return new CometError({ code: "bad-commit" }, text);
}
