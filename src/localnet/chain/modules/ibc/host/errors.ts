import { CometError } from "../../../../../cosmos/comet/comet-error.ts";
import { ModuleError, registerError, unregisteredError } from "../../../runtime/errors.ts";

const CLIENT = "client";
const CONNECTION = "connection";
const TENDERMINT = "07-tendermint";
const IBC = "ibc";

// Errors by their Go names. "Client" or "Ibc" is added to a name that several Go packages share.

// Codespace "client" (ibc-go 02-client).
export const ErrInvalidClient = registerError(CLIENT, 3, "light client is invalid");
export const ErrClientNotFound = registerError(CLIENT, 4, "light client not found");
export const ErrConsensusStateNotFound = registerError(CLIENT, 7, "consensus state not found");
export const ErrInvalidConsensus = registerError(CLIENT, 8, "invalid consensus state");
export const ErrInvalidClientType = registerError(CLIENT, 10, "invalid client type");
export const ErrInvalidClientHeader = registerError(CLIENT, 12, "invalid client header");
export const ErrInvalidMisbehaviour = registerError(CLIENT, 13, "invalid light client misbehaviour");
export const ErrUpdateClientFailed = registerError(CLIENT, 23, "unable to update light client");
export const ErrInvalidRecoveryClient = registerError(CLIENT, 24, "invalid recovery client");
export const ErrInvalidUpgradeClient = registerError(CLIENT, 25, "invalid client upgrade");
export const ErrInvalidClientHeight = registerError(CLIENT, 26, "invalid height");
export const ErrInvalidSubstitute = registerError(CLIENT, 27, "invalid client state substitute");
export const ErrClientNotActive = registerError(CLIENT, 29, "client state is not active");
export const ErrFailedMembershipVerification = registerError(CLIENT, 30, "membership verification failed");
export const ErrFailedNonMembershipVerification = registerError(
  CLIENT,
  31,
  "non-membership verification failed",
);

// Codespace "07-tendermint".
export const ErrInvalidChainID = registerError(TENDERMINT, 2, "invalid chain-id");
export const ErrInvalidTrustingPeriod = registerError(TENDERMINT, 3, "invalid trusting period");
export const ErrInvalidUnbondingPeriod = registerError(TENDERMINT, 4, "invalid unbonding period");
export const ErrInvalidHeaderHeight = registerError(TENDERMINT, 5, "invalid header height");
export const ErrInvalidHeader = registerError(TENDERMINT, 6, "invalid header");
export const ErrInvalidMaxClockDrift = registerError(TENDERMINT, 7, "invalid max clock drift");
export const ErrProcessedTimeNotFound = registerError(TENDERMINT, 8, "processed time not found");
export const ErrProcessedHeightNotFound = registerError(TENDERMINT, 9, "processed height not found");
export const ErrDelayPeriodNotPassed = registerError(
  TENDERMINT,
  10,
  "packet-specified delay period has not been reached",
);
export const ErrTrustingPeriodExpired = registerError(
  TENDERMINT,
  11,
  "time since latest trusted state has passed the trusting period",
);
export const ErrInvalidProofSpecs = registerError(TENDERMINT, 13, "invalid proof specs");
export const ErrInvalidValidatorSet = registerError(TENDERMINT, 14, "invalid validator set");
export const ErrInvalidTrustLevel = registerError(TENDERMINT, 15, "invalid trust level");

// Codespace "connection" (ibc-go 03-connection).
export const ErrConnectionNotFound = registerError(CONNECTION, 3, "connection not found");
export const ErrClientConnectionPathsNotFound = registerError(
  CONNECTION,
  4,
  "light client connection paths not found",
);
export const ErrInvalidConnectionState = registerError(CONNECTION, 6, "invalid connection state");
export const ErrInvalidConnectionCounterparty = registerError(
  CONNECTION,
  7,
  "invalid counterparty connection",
);
export const ErrInvalidConnectionVersion = registerError(CONNECTION, 9, "invalid connection version");
export const ErrVersionNegotiationFailed = registerError(
  CONNECTION,
  10,
  "connection version negotiation failed",
);
export const ErrInvalidConnectionIdentifier = registerError(CONNECTION, 11, "invalid connection identifier");

// Codespace "commitment" (ibc-go 23-commitment).
export const ErrInvalidProof = registerError("commitment", 2, "invalid proof");
export const ErrInvalidPrefix = registerError("commitment", 3, "invalid prefix");
export const ErrInvalidMerkleProof = registerError("commitment", 4, "invalid merkle proof");

// Codespace "ibc".
export const ErrInvalidSequence = registerError(IBC, 1, "invalid sequence");
export const ErrIbcUnauthorized = registerError(IBC, 2, "unauthorized");
export const ErrIbcInvalidAddress = registerError(IBC, 5, "invalid address");
export const ErrIbcInvalidHeight = registerError(IBC, 9, "invalid height");
export const ErrIbcInvalidVersion = registerError(IBC, 10, "invalid version");
export const ErrUnpackAny = registerError(IBC, 14, "failed unpacking protobuf message from Any");

// Codespace "host" (ICS-24 identifiers).
export const ErrInvalidID = registerError("host", 2, "invalid identifier");

/**
 * Runs a CometBFT check. An error becomes an unregistered error wrapped with `words`: CometBFT has no codes, and the SDK reports
 * plain Go errors as code 1 in the codespace "undefined".
 */
export function asModuleError<T>(words: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof CometError) throw unregisteredError(error.message).wrap(words);
    throw error;
  }
}

/** Decodes untrusted bytes. Any error becomes an unregistered error with Go's decoder prefix, "proto: ". */
export function decodeUntrusted<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof ModuleError) throw error;
    // Generated decoders throw plain errors for truncated or wrongly typed bytes.
    throw unregisteredError(`proto: ${error instanceof Error ? error.message : "cannot decode"}`);
  }
}

const CHANNEL = "channel";

// Codespace "channel" (ibc-go 04-channel), by the Go names.
export const ErrChannelNotFound = registerError(CHANNEL, 3, "channel not found");
export const ErrInvalidChannelState = registerError(CHANNEL, 5, "invalid channel state");
export const ErrInvalidChannelOrdering = registerError(CHANNEL, 6, "invalid channel ordering");
export const ErrInvalidCounterparty = registerError(CHANNEL, 7, "invalid counterparty channel");
export const ErrChannelCapabilityNotFound = registerError(CHANNEL, 9, "channel capability not found");
export const ErrSequenceSendNotFound = registerError(CHANNEL, 10, "sequence send not found");
export const ErrSequenceReceiveNotFound = registerError(CHANNEL, 11, "sequence receive not found");
export const ErrSequenceAckNotFound = registerError(CHANNEL, 12, "sequence acknowledgement not found");
export const ErrInvalidPacket = registerError(CHANNEL, 13, "invalid packet");
export const ErrTooManyConnectionHops = registerError(CHANNEL, 15, "too many connection hops");
export const ErrInvalidAcknowledgement = registerError(CHANNEL, 16, "invalid acknowledgement");
export const ErrAcknowledgementExists = registerError(
  CHANNEL,
  17,
  "acknowledgement for packet already exists",
);
export const ErrInvalidChannelIdentifier = registerError(CHANNEL, 18, "invalid channel identifier");
export const ErrPacketReceived = registerError(CHANNEL, 19, "packet already received");
export const ErrPacketSequenceOutOfOrder = registerError(CHANNEL, 21, "packet sequence is out of order");
export const ErrRedundantTx = registerError(CHANNEL, 22, "packet messages are redundant");
export const ErrUpgradeErrorNotFound = registerError(CHANNEL, 27, "upgrade error receipt not found");
export const ErrUpgradeNotFound = registerError(CHANNEL, 30, "upgrade not found");
export const ErrInvalidUpgradeTimeout = registerError(CHANNEL, 35, "upgrade timeout is invalid");
export const ErrTimeoutNotReached = registerError(CHANNEL, 39, "timeout not reached");
export const ErrTimeoutElapsed = registerError(CHANNEL, 40, "timeout elapsed");

/** The port has no application, or the channel is unknown (ibc-go's `capability` module). */
export const ErrCapabilityNotFound = registerError("capability", 7, "capability not found");
