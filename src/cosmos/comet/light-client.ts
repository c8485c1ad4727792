import { upperHex, equalBytes } from "../../platform/base/bytes.ts";
import type { Header, SignedHeader, ValidatorSet } from "./block-types.ts";
import { CometError, inContext } from "./comet-error.ts";
import { goDurationText, goTimeText } from "../../platform/base/time.ts";
import { validateSignedHeader } from "./validate.ts";
import { validatorsHash } from "./block-hashes.ts";
import {
  createSignatureChecks,
  type SignatureChecks,
  type TrustLevel,
  verifyCommitLight,
  verifyCommitLightTrusting,
} from "./verify-commit.ts";

/** A trusted header, and the validators whose signatures count toward the trust level when verifying a non-adjacent header. */
export interface TrustedHeader {
  readonly header: Pick<Header, "chainId" | "height" | "timeNs" | "nextValidatorsHash">;
  readonly validators: ValidatorSet;
}

/** A header to verify, with its commit and the validator set at its height. */
export interface UntrustedHeader extends SignedHeader {
  readonly validators: ValidatorSet;
}

/** Light-client parameters, and the verifier's time `nowNs`. */
export interface TrustOptions {
  readonly nowNs: bigint;
  readonly trustingPeriodNs: bigint;
  readonly maxClockDriftNs: bigint;
  readonly trustLevel: TrustLevel;
  /**
   * Called before the slow verifier checks signatures, which takes 1 to 2 ms for each signature; see
   * {@link SignatureChecks.beforeSlow}.
   */
  readonly beforeSlowSignature?: (() => void) | undefined;
}

/**
 * Verifies a header against a trusted header, like CometBFT's `light.Verify`. An adjacent header (next height) must have the trusted
 * header's next validators. A non-adjacent header must be signed by validators with more than `trustLevel` of the trusted power. In both
 * cases, validators with more than 2/3 of the power in the header's own set must have signed. Throws `CometError` with CometBFT's message.
 */
export function verifyHeader(
  trusted: TrustedHeader,
  untrusted: UntrustedHeader,
  options: TrustOptions,
): void {
  // After the trusting period, the trusted validators may have withdrawn their stake, so that they can sign a fork without a
  // penalty.
  const expiryNs = trusted.header.timeNs + options.trustingPeriodNs;
  if (expiryNs <= options.nowNs) {
    throw new CometError(
      { code: "old-header-expired" },
      `old header has expired at ${goTimeText(expiryNs)} (now: ${goTimeText(options.nowNs)})`,
    );
  }
  inContext("invalid header", () => checkNewHeader(trusted.header, untrusted, options));
  const checks = createSignatureChecks(options.beforeSlowSignature);
  if (untrusted.header.height === trusted.header.height + 1n) requireNextValidators(trusted, untrusted);
  else verifyTrustLevel(trusted, untrusted, options.trustLevel, checks);
  const { chainId } = trusted.header;
  const { header, commit, validators } = untrusted;
  // As in Go, run this check last, because a malicious header may come with a very large validator set.
  inContext("invalid header", () =>
    verifyCommitLight(
      validators,
      { chainId, blockId: commit.blockId, height: header.height, commit },
      checks,
    ),
  );
}

/**
 * Returns true if a trust level lies within [1/3, 1]. Consensus assumes that less than 1/3 of the power is dishonest. Therefore, a
 * header is certain to have an honest signer only if validators with more than 1/3 of the power have signed the header. The check
 * triples the numerator, which wraps around at 2^64 like Go's uint64.
 */
export function isTrustLevel({ numerator, denominator }: TrustLevel): boolean {
  return denominator !== 0n && BigInt.asUintN(64, numerator * 3n) >= denominator && numerator <= denominator;
}

function checkNewHeader(
  trusted: TrustedHeader["header"],
  untrusted: UntrustedHeader,
  options: TrustOptions,
): void {
  inContext("untrustedHeader.ValidateBasic failed", () => validateSignedHeader(untrusted, trusted.chainId));
  const { header } = untrusted;
  if (header.height <= trusted.height) {
    throw invalid(
      `expected new header height ${header.height} to be greater than one of old header ${trusted.height}`,
    );
  }
  checkTime(trusted.timeNs, header.timeNs, options);
  const supplied = validatorsHash(untrusted.validators.validators);
  if (equalBytes(header.validatorsHash, supplied)) return;
  throw invalid(
    `expected new header validators (${upperHex(header.validatorsHash)}) to match those that were supplied (${upperHex(supplied)}) at height ${header.height}`,
  );
}

/**
 * Checks that the new header's time is after the old header's time, and not in the future. Bounds are exclusive, like Go's `After`
 * and `Before`.
 */
function checkTime(oldNs: bigint, newNs: bigint, { nowNs, maxClockDriftNs }: TrustOptions): void {
  if (newNs <= oldNs) {
    throw invalid(
      `expected new header time ${goTimeText(newNs)} to be after old header time ${goTimeText(oldNs)}`,
    );
  }
  if (newNs < nowNs + maxClockDriftNs) return;
  throw invalid(
    `new header has a time from the future ${goTimeText(newNs)} (now: ${goTimeText(nowNs)}; max clock drift: ${goDurationText(maxClockDriftNs)})`,
  );
}

function requireNextValidators({ header }: TrustedHeader, untrusted: UntrustedHeader): void {
  const { validatorsHash: actual } = untrusted.header;
  if (equalBytes(actual, header.nextValidatorsHash)) return;
  throw invalid(
    `expected old header next validators (${upperHex(header.nextValidatorsHash)}) to match those from new header (${upperHex(actual)})`,
  );
}

function verifyTrustLevel(
  trusted: TrustedHeader,
  untrusted: UntrustedHeader,
  level: TrustLevel,
  checks: SignatureChecks,
): void {
  const signed = { chainId: trusted.header.chainId, commit: untrusted.commit };
  try {
    verifyCommitLightTrusting(trusted.validators, signed, level, checks);
  } catch (error) {
    // Go wraps only this error as `ErrNewValSetCantBeTrusted`.
    if (!(error instanceof CometError) || error.facts.code !== "not-enough-power") throw error;
    throw new CometError({ code: "untrusted-validators" }, `cant trust new val set: ${error.message}`);
  }
}

function invalid(text: string): CometError {
  return new CometError({ code: "invalid-header" }, text);
}
