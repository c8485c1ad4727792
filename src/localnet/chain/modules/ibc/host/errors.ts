import { CometError } from "../../../../../cosmos/comet/comet-error.ts";
import { errorsOf, ModuleError, unregisteredError } from "../../../runtime/errors.ts";

// ibc-go's errors, under their Go names. If several Go packages use the same name, "Client" or "Ibc" is added to it.

// ibc-go 02-client.
const client = errorsOf("client");
export const ErrInvalidClient = client(3, "light client is invalid");
export const ErrClientNotFound = client(4, "light client not found");
export const ErrConsensusStateNotFound = client(7, "consensus state not found");
export const ErrInvalidConsensus = client(8, "invalid consensus state");
export const ErrInvalidClientType = client(10, "invalid client type");
export const ErrInvalidClientHeader = client(12, "invalid client header");
export const ErrInvalidMisbehaviour = client(13, "invalid light client misbehaviour");
export const ErrUpdateClientFailed = client(23, "unable to update light client");
export const ErrInvalidRecoveryClient = client(24, "invalid recovery client");
export const ErrInvalidUpgradeClient = client(25, "invalid client upgrade");
export const ErrInvalidClientHeight = client(26, "invalid height");
export const ErrInvalidSubstitute = client(27, "invalid client state substitute");
export const ErrClientNotActive = client(29, "client state is not active");
export const ErrFailedMembershipVerification = client(30, "membership verification failed");
export const ErrFailedNonMembershipVerification = client(31, "non-membership verification failed");

const tendermint = errorsOf("07-tendermint");
export const ErrInvalidChainID = tendermint(2, "invalid chain-id");
export const ErrInvalidTrustingPeriod = tendermint(3, "invalid trusting period");
export const ErrInvalidUnbondingPeriod = tendermint(4, "invalid unbonding period");
export const ErrInvalidHeaderHeight = tendermint(5, "invalid header height");
export const ErrInvalidHeader = tendermint(6, "invalid header");
export const ErrInvalidMaxClockDrift = tendermint(7, "invalid max clock drift");
export const ErrProcessedTimeNotFound = tendermint(8, "processed time not found");
export const ErrProcessedHeightNotFound = tendermint(9, "processed height not found");
export const ErrDelayPeriodNotPassed = tendermint(10, "packet-specified delay period has not been reached");
export const ErrTrustingPeriodExpired = tendermint(
  11,
  "time since latest trusted state has passed the trusting period",
);
export const ErrInvalidProofSpecs = tendermint(13, "invalid proof specs");
export const ErrInvalidValidatorSet = tendermint(14, "invalid validator set");
export const ErrInvalidTrustLevel = tendermint(15, "invalid trust level");

// ibc-go 03-connection.
const connection = errorsOf("connection");
export const ErrConnectionNotFound = connection(3, "connection not found");
export const ErrClientConnectionPathsNotFound = connection(4, "light client connection paths not found");
export const ErrInvalidConnectionState = connection(6, "invalid connection state");
export const ErrInvalidConnectionCounterparty = connection(7, "invalid counterparty connection");
export const ErrInvalidConnectionVersion = connection(9, "invalid connection version");
export const ErrVersionNegotiationFailed = connection(10, "connection version negotiation failed");
export const ErrInvalidConnectionIdentifier = connection(11, "invalid connection identifier");

// ibc-go 23-commitment.
const commitment = errorsOf("commitment");
export const ErrInvalidProof = commitment(2, "invalid proof");
export const ErrInvalidPrefix = commitment(3, "invalid prefix");
export const ErrInvalidMerkleProof = commitment(4, "invalid merkle proof");

const ibc = errorsOf("ibc");
export const ErrInvalidSequence = ibc(1, "invalid sequence");
export const ErrIbcUnauthorized = ibc(2, "unauthorized");
export const ErrIbcInsufficientFunds = ibc(3, "insufficient funds");
export const ErrIbcUnknownRequest = ibc(4, "unknown request");
export const ErrIbcInvalidAddress = ibc(5, "invalid address");
export const ErrIbcInvalidCoins = ibc(6, "invalid coins");
export const ErrIbcInvalidRequest = ibc(8, "invalid request");
export const ErrIbcInvalidHeight = ibc(9, "invalid height");
export const ErrIbcInvalidVersion = ibc(10, "invalid version");
export const ErrIbcInvalidType = ibc(12, "invalid type");
export const ErrUnpackAny = ibc(14, "failed unpacking protobuf message from Any");

// Errors about ICS-24 identifiers, with codespace "host".
export const ErrInvalidID = errorsOf("host")(2, "invalid identifier");

// ibc-go 04-channel.
const channel = errorsOf("channel");
export const ErrChannelNotFound = channel(3, "channel not found");
export const ErrInvalidChannelState = channel(5, "invalid channel state");
export const ErrInvalidChannelOrdering = channel(6, "invalid channel ordering");
export const ErrInvalidCounterparty = channel(7, "invalid counterparty channel");
export const ErrChannelCapabilityNotFound = channel(9, "channel capability not found");
export const ErrSequenceSendNotFound = channel(10, "sequence send not found");
export const ErrSequenceReceiveNotFound = channel(11, "sequence receive not found");
export const ErrSequenceAckNotFound = channel(12, "sequence acknowledgement not found");
export const ErrInvalidPacket = channel(13, "invalid packet");
export const ErrTooManyConnectionHops = channel(15, "too many connection hops");
export const ErrInvalidAcknowledgement = channel(16, "invalid acknowledgement");
export const ErrAcknowledgementExists = channel(17, "acknowledgement for packet already exists");
export const ErrInvalidChannelIdentifier = channel(18, "invalid channel identifier");
export const ErrPacketReceived = channel(19, "packet already received");
export const ErrPacketSequenceOutOfOrder = channel(21, "packet sequence is out of order");
export const ErrRedundantTx = channel(22, "packet messages are redundant");
export const ErrUpgradeErrorNotFound = channel(27, "upgrade error receipt not found");
export const ErrUpgradeNotFound = channel(30, "upgrade not found");
export const ErrInvalidUpgradeTimeout = channel(35, "upgrade timeout is invalid");
export const ErrTimeoutNotReached = channel(39, "timeout not reached");
export const ErrTimeoutElapsed = channel(40, "timeout elapsed");

/** Thrown for a port without an application or an unknown channel (ibc-go's `capability` module). */
export const ErrCapabilityNotFound = errorsOf("capability")(7, "capability not found");

/**
 * Runs a CometBFT check. If the check throws, throws an unregistered error wrapped with `words`. CometBFT's errors have no codes,
 * so the SDK reports them with code 1 in the codespace "undefined".
 */
export function asModuleError<T>(words: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof CometError) throw unregisteredError(error.message).wrap(words);
    throw error;
  }
}

/** Decodes untrusted bytes. If the decoder throws, throws an unregistered error with the prefix `proto:`, like Go's decoder. */
export function decodeUntrusted<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof ModuleError) throw error;
    // Generated decoders throw plain errors for truncated or wrongly typed bytes.
    throw unregisteredError(`proto: ${error instanceof Error ? error.message : "cannot decode"}`);
  }
}
