import { registerError } from "../../../runtime/errors.ts";

const CHANNEL = "channel";

// Codespace "channel" (ibc-go 04-channel), by the Go names.
export const ErrChannelNotFound = registerError(CHANNEL, 3, "channel not found");
export const ErrInvalidChannelState = registerError(CHANNEL, 5, "invalid channel state");
export const ErrInvalidChannelOrdering = registerError(CHANNEL, 6, "invalid channel ordering");
export const ErrInvalidCounterparty = registerError(CHANNEL, 7, "invalid counterparty channel");
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

/** A port without an application, or an unknown channel (ibc-go's module `capability`). */
export const ErrCapabilityNotFound = registerError("capability", 7, "capability not found");
