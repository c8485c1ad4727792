import { unregisteredError } from "../../../runtime/errors.ts";
import { NS_PER_SECOND, goDurationText } from "../../../../../platform/base/time.ts";
import { revisionOfChainId } from "../../../../../cosmos/comet/ibc-height.ts";
import { CometError } from "../../../../../cosmos/comet/comet-error.ts";
import { isTrustLevel } from "../../../../../cosmos/comet/light-client.ts";
import { MAX_CHAIN_ID_LENGTH, validateHash } from "../../../../../cosmos/comet/validate.ts";
import type { ClientState } from "../../../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import type { ConsensusState } from "../client/consensus-state.ts";
import {
  ErrInvalidChainID,
  ErrInvalidClient,
  ErrInvalidConsensus,
  ErrInvalidHeaderHeight,
  ErrInvalidMaxClockDrift,
  ErrInvalidProofSpecs,
  ErrInvalidTrustingPeriod,
  ErrInvalidTrustLevel,
  ErrInvalidUnbondingPeriod,
} from "../errors.ts";
import { ZERO_HEIGHT } from "../height.ts";
import { durationNs } from "./duration.ts";

/** Greatest duration of Go (int64 nanoseconds), about 292 years. */
const MAX_DURATION_NS = 2n ** 63n - 1n;

/**
 * Stateless checks of a client state (07-tendermint `ClientState.Validate`), in ibc-go's order. Throws `ModuleError`.
 */
export function validateClientState(client: ClientState): void {
  validateChainId(client.chainId);
  const level = client.trustLevel ?? { numerator: 0n, denominator: 0n };
  if (!isTrustLevel(level)) {
    throw ErrInvalidTrustLevel(
      `trustLevel must be within [1/3, 1], given ${level.numerator}/${level.denominator}`,
    );
  }
  validatePeriods(client);
  validateLatestHeight(client);
  const trusting = durationNs(client.trustingPeriod);
  const unbonding = durationNs(client.unbondingPeriod);
  if (trusting >= unbonding) {
    throw ErrInvalidTrustingPeriod(
      `trusting period (${goDurationText(trusting)}) should be < unbonding period (${goDurationText(unbonding)})`,
    );
  }
  if (client.proofSpecs.length === 0) throw ErrInvalidProofSpecs("proof specs cannot be nil for tm client");
  for (const [index, key] of client.upgradePath.entries()) {
    if (key.trim() === "") throw ErrInvalidClient(`key in upgrade path at index ${index} cannot be empty`);
  }
}

/** Stateless checks of a consensus state (07-tendermint `ConsensusState.ValidateBasic`). Throws `ModuleError`. */
export function validateConsensusState(state: ConsensusState): void {
  if (state.root.length === 0) throw ErrInvalidConsensus("root cannot be empty");
  try {
    validateHash(state.nextValidatorsHash);
  } catch (error) {
    if (error instanceof CometError)
      throw unregisteredError(error.message).wrap("next validators hash is invalid");
    throw error;
  }
  // Go checks the seconds of the time (`Unix() <= 0`), so that a time within the first second is invalid.
  if (state.timeNs < NS_PER_SECOND) throw ErrInvalidConsensus("timestamp must be a positive Unix time");
}

function validateChainId(chainId: string): void {
  if (chainId.trim() === "") throw ErrInvalidChainID("chain id cannot be empty string");
  const { length } = Buffer.from(chainId);
  if (length <= MAX_CHAIN_ID_LENGTH) return;
  throw ErrInvalidChainID(`chainID is too long; got: ${length}, max: ${MAX_CHAIN_ID_LENGTH}`);
}

function validatePeriods(client: ClientState): void {
  // Go has 64-bit durations and rejects longer ones already while it decodes the message.
  for (const period of [client.trustingPeriod, client.unbondingPeriod, client.maxClockDrift]) {
    if (durationNs(period) > MAX_DURATION_NS) throw unregisteredError("proto: duration out of range");
  }
  if (durationNs(client.trustingPeriod) <= 0n) {
    throw ErrInvalidTrustingPeriod("trusting period must be greater than zero");
  }
  if (durationNs(client.unbondingPeriod) <= 0n) {
    throw ErrInvalidUnbondingPeriod("unbonding period must be greater than zero");
  }
  if (durationNs(client.maxClockDrift) <= 0n) {
    throw ErrInvalidMaxClockDrift("max clock drift must be greater than zero");
  }
}

function validateLatestHeight(client: ClientState): void {
  const height = client.latestHeight ?? ZERO_HEIGHT;
  const revision = revisionOfChainId(client.chainId);
  if (height.revisionNumber !== revision) {
    throw ErrInvalidHeaderHeight(
      `latest height revision number must match chain id revision number (${height.revisionNumber} != ${revision})`,
    );
  }
  if (height.revisionHeight === 0n) {
    throw ErrInvalidHeaderHeight("tendermint client's latest height revision height cannot be zero");
  }
}
