import { upperHex, equalBytes } from "../../../../../platform/base/bytes.ts";
import type { ValidatorSet } from "../../../../../cosmos/comet/block-types.ts";
import { verifyHeader } from "../../../../../cosmos/comet/light-client.ts";
import { validatorSetFromProto } from "../../../../../cosmos/comet/proto-blocks.ts";
import { validatorsHash } from "../../../../../cosmos/comet/block-hashes.ts";
import type {
  ClientState,
  Header,
} from "../../../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import type { Context } from "../../../runtime/context.ts";
import type { ClientStore } from "../client/client-store.ts";
import type { ConsensusState } from "../client/consensus-state.ts";
import {
  asModuleError,
  ErrConsensusStateNotFound,
  ErrInvalidClientHeader,
  ErrInvalidHeaderHeight,
  ErrInvalidValidatorSet,
} from "../errors.ts";
import { compareHeights, formatHeight } from "../height.ts";
import { durationNs } from "./duration.ts";
import { heightOfHeader, readHeader, trustedHeightOf } from "./header.ts";

/** What the checks of a header need of the block that they run in. */
export interface VerifyingBlock {
  readonly timeNs: bigint;
  /** Pays for a signature that only the slow verifier can decide. */
  readonly beforeSlowSignature: () => void;
}

/**
 * Gas of a signature that OpenSSL refuses, so that the ZIP-215 verifier decides. It takes 1 to 2 ms. Honest validators
 * never make such signatures, but an attacker can fill a header with them. CometBFT verifies them as fast as others and
 * charges nothing.
 */
const SLOW_SIGNATURE_GAS = 50_000n;

/** Returns what the checks of a header need of the block of a context. */
export function verifyingBlock({ timeNs, gas }: Context): VerifyingBlock {
  return { timeNs, beforeSlowSignature: () => gas.consume(SLOW_SIGNATURE_GAS, "ZIP-215 signature") };
}

/**
 * Returns the consensus state at the trusted height of a header. Throws ErrConsensusStateNotFound; `name` is part of
 * its text.
 */
export function trustedStateOf(header: Header, store: ClientStore, name = "Header"): ConsensusState {
  const trusted = trustedHeightOf(header);
  const state = store.consensusState(trusted);
  if (state !== undefined) return state;
  throw ErrConsensusStateNotFound(
    `could not get trusted consensus state from clientStore for ${name} at TrustedHeight: ${formatHeight(trusted)}`,
  );
}

/**
 * Returns the trusted validators of a header. The client stores only their hash, so that each header must bring them
 * along. Throws ErrInvalidValidatorSet when their hash differs from the hash in the trusted consensus state.
 */
export function trustedValidatorsOf(header: Header, trusted: ConsensusState): ValidatorSet {
  const set = asModuleError("trusted validator set in not tendermint validator set type", () =>
    validatorSetFromProto(header.trustedValidators),
  );
  const hash = validatorsHash(set.validators);
  if (equalBytes(trusted.nextValidatorsHash, hash)) return set;
  throw ErrInvalidValidatorSet(
    `trusted validators, does not hash to latest trusted validators. Expected: ${upperHex(trusted.nextValidatorsHash)}, got: ${upperHex(hash)}`,
  );
}

/**
 * Verifies a header against the client's consensus state at the header's trusted height (ibc-go `verifyHeader`): trusted
 * validators, revision, heights, then the checks of CometBFT's light client. Throws
 * `ModuleError`.
 */
export function verifyUpdateHeader(
  client: ClientState,
  header: Header,
  store: ClientStore,
  block: VerifyingBlock,
): void {
  const trusted = trustedStateOf(header, store);
  const validators = trustedValidatorsOf(header, trusted);
  const height = heightOfHeader(header);
  const trustedHeight = trustedHeightOf(header);
  if (height.revisionNumber !== trustedHeight.revisionNumber) {
    throw ErrInvalidHeaderHeight(
      `header height revision ${height.revisionNumber} does not match trusted header revision ${trustedHeight.revisionNumber}`,
    );
  }
  const untrusted = readHeader(header);
  if (compareHeights(height, trustedHeight) <= 0) {
    throw ErrInvalidClientHeader(
      `header height ≤ consensus state height (${formatHeight(height)} ≤ ${formatHeight(trustedHeight)})`,
    );
  }
  // The client's own chain id: after a recovery, headers of an earlier revision no longer update the client.
  const trustedHeader = {
    chainId: client.chainId,
    height: trustedHeight.revisionHeight,
    timeNs: trusted.timeNs,
    nextValidatorsHash: trusted.nextValidatorsHash,
  };
  asModuleError("failed to verify header", () =>
    verifyHeader(
      { header: trustedHeader, validators },
      { ...untrusted.signed, validators: untrusted.validators },
      { ...trustOptions(client), nowNs: block.timeNs, beforeSlowSignature: block.beforeSlowSignature },
    ),
  );
}

/** Returns the trust options of a client for the light client. Absent fields are zero, as in Go. */
export function trustOptions(client: ClientState): {
  readonly trustingPeriodNs: bigint;
  readonly maxClockDriftNs: bigint;
  readonly trustLevel: { readonly numerator: bigint; readonly denominator: bigint };
} {
  return {
    trustingPeriodNs: durationNs(client.trustingPeriod),
    maxClockDriftNs: durationNs(client.maxClockDrift),
    trustLevel: client.trustLevel ?? { numerator: 0n, denominator: 0n },
  };
}
