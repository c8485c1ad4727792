import { upperHex } from "../../../../base/go-text.ts";
import { withRevision } from "../../../../comet/chain-revision.ts";
import { equalBytes } from "../../../../base/bytes.ts";
import type { ValidatorSet } from "../../../../comet/block-types.ts";
import { verifyHeader } from "../../../../comet/light-client.ts";
import { validatorSetFromProto } from "../../../../comet/proto-blocks.ts";
import { validatorsHash } from "../../../../comet/validator-set.ts";
import type { ClientState, Header } from "../../../../proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import type { ClientStore } from "../client/client-store.ts";
import type { VerifiedState } from "../client/consensus-state.ts";
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

/** The consensus state that a header builds on. Throws client/7; `which` names the header in the text. */
export function trustedStateOf(header: Header, store: ClientStore, which = "Header"): VerifiedState {
  const trusted = trustedHeightOf(header);
  const state = store.consensusState(trusted);
  if (state !== undefined) return state;
  throw ErrConsensusStateNotFound(
    `could not get trusted consensus state from clientStore for ${which} at TrustedHeight: ${formatHeight(trusted)}`,
  );
}

/** The validators that a header offers as trusted, which must be those whose hash the client kept. Throws 07-tendermint/14. */
export function trustedValidatorsOf(header: Header, trusted: VerifiedState): ValidatorSet {
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
 * Verifies a header against the client's consensus state at the header's trusted height: trusted validators, revision,
 * heights, then all of CometBFT's light client. `nowNs` is the block's time. Throws `ModuleError`; changes nothing.
 */
export function verifyUpdateHeader(
  client: ClientState,
  header: Header,
  store: ClientStore,
  nowNs: bigint,
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
      `header height ≤ consensus state height (${formatHeight(height)} < ${formatHeight(trustedHeight)})`,
    );
  }
  const trustedHeader = {
    chainId: withRevision(client.chainId, height.revisionNumber),
    height: trustedHeight.revisionHeight,
    timeNs: trusted.timeNs,
    nextValidatorsHash: trusted.nextValidatorsHash,
  };
  asModuleError("failed to verify header", () =>
    verifyHeader(
      { header: trustedHeader, validators },
      { ...untrusted.signed, validators: untrusted.validators },
      { ...trustOptions(client), nowNs },
    ),
  );
}

/** How far a client trusts, in the terms of the light client. */
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
