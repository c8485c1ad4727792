import { equalBytes } from "../base/bytes.ts";
import type { Header, SignedHeader, ValidatorSet } from "./block-types.ts";
import { CometError, inContext } from "./comet-error.ts";
import { goDurationText, goTimeText } from "./go-text.ts";
import { upperHex, validateSignedHeader } from "./validate.ts";
import { validatorsHash } from "./validator-set.ts";
import {
  type SignatureMemo,
  type TrustLevel,
  verifyCommitLight,
  verifyCommitLightTrusting,
} from "./verify-commit.ts";

/** What is trusted: a header's facts and validators: for a step of more than one height those that may vouch. */
export interface TrustedHeader {
  readonly header: Pick<Header, "chainId" | "height" | "timeNs" | "nextValidatorsHash">;
  readonly validators: ValidatorSet;
}

/** What is to be verified. */
export interface UntrustedHeader extends SignedHeader {
  readonly validators: ValidatorSet;
}

/** How far trust goes. `nowNs` is the verifier's time; all are nanoseconds. */
export interface TrustOptions {
  readonly nowNs: bigint;
  readonly trustingPeriodNs: bigint;
  readonly maxClockDriftNs: bigint;
  readonly trustLevel: TrustLevel;
}

/**
 * Verifies a header from a trusted one, as CometBFT's `light.Verify`: one height further by the next validators' hash,
 * any other by `trustLevel` of the trusted validators. Throws `CometError` with CometBFT's text.
 */
export function verifyHeader(
  trusted: TrustedHeader,
  untrusted: UntrustedHeader,
  options: TrustOptions,
): void {
  const expiryNs = trusted.header.timeNs + options.trustingPeriodNs;
  if (expiryNs <= options.nowNs) {
    throw new CometError(
      { code: "old-header-expired" },
      `old header has expired at ${goTimeText(expiryNs)} (now: ${goTimeText(options.nowNs)})`,
    );
  }
  inContext("invalid header", () => checkNewHeader(trusted.header, untrusted, options));
  const memo: SignatureMemo = new Map();
  if (untrusted.header.height === trusted.header.height + 1n) requireNextValidators(trusted, untrusted);
  else verifyTrustLevel(trusted, untrusted, options.trustLevel, memo);
  const { chainId } = trusted.header;
  const { header, commit, validators } = untrusted;
  inContext("invalid header", () =>
    verifyCommitLight(validators, { chainId, blockId: commit.blockId, height: header.height, commit }, memo),
  );
}

/** Whether a trust level lies within [1/3, 1]. */
export function isTrustLevel({ numerator, denominator }: TrustLevel): boolean {
  return denominator !== 0n && numerator * 3n >= denominator && numerator <= denominator;
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
  memo: SignatureMemo,
): void {
  const of = { chainId: trusted.header.chainId, commit: untrusted.commit };
  try {
    verifyCommitLightTrusting(trusted.validators, of, level, memo);
  } catch (error) {
    if (!(error instanceof CometError) || error.facts.code !== "not-enough-power") throw error;
    throw new CometError({ code: "untrusted-validators" }, `cant trust new val set: ${error.message}`);
  }
}

function invalid(text: string): CometError {
  return new CometError({ code: "invalid-header" }, text);
}
