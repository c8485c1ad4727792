import {
  type Channel,
  type Counterparty,
  Order,
  type Params,
  State,
} from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import type * as wire from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/tx.ts";
import { enumName } from "../../../../../platform/base/text.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import * as ibcErrors from "../host/errors.ts";
import { requireSigner } from "../host/signed-handler.ts";
import { ZERO_HEIGHT } from "../host/height.ts";
import {
  isNumberedId,
  validateChannelId,
  validateConnectionId,
  validatePortId,
} from "../host/identifiers.ts";
import { packetOf, validatePacket } from "../host/packet.ts";
import { channelParams } from "../host/params.ts";

// Stateless checks of channel and packet messages (`ValidateBasic`), in ibc-go's order. All throw `ModuleError`.

export function validateOpenInit(message: wire.MsgChannelOpenInit, bech32Prefix: string): void {
  wrapErrors("invalid port ID", () => validatePortId(message.portId));
  requireState(message.channel, State.STATE_INIT, "INIT in MsgChannelOpenInit");
  if ((message.channel?.counterparty?.channelId ?? "") !== "")
    throw ibcErrors.ErrInvalidCounterparty("counterparty channel identifier must be empty");
  requireSigner(bech32Prefix, message);
  validateChannel(message.channel);
}

export function validateOpenTry(message: wire.MsgChannelOpenTry, bech32Prefix: string): void {
  wrapErrors("invalid port ID", () => validatePortId(message.portId));
  if (message.previousChannelId !== "") {
    throw ibcErrors.ErrInvalidChannelIdentifier(
      "previous channel identifier must be empty, this field has been deprecated as crossing hellos are no longer supported",
    );
  }
  requireProof(message.proofInit, "init proof");
  requireState(message.channel, State.STATE_TRYOPEN, "TRYOPEN in MsgChannelOpenTry");
  wrapErrors("invalid counterparty channel ID", () =>
    validateChannelId(message.channel?.counterparty?.channelId ?? ""),
  );
  requireSigner(bech32Prefix, message);
  validateChannel(message.channel);
}

export function validateOpenAck(message: wire.MsgChannelOpenAck, bech32Prefix: string): void {
  requireOwnIds(message);
  wrapErrors("invalid counterparty channel ID", () => validateChannelId(message.counterpartyChannelId));
  requireProof(message.proofTry, "try proof");
  requireSigner(bech32Prefix, message);
}

export function validateOpenConfirm(message: wire.MsgChannelOpenConfirm, bech32Prefix: string): void {
  requireOwnIds(message);
  requireProof(message.proofAck, "acknowledgement proof");
  requireSigner(bech32Prefix, message);
}

export function validateCloseInit(message: wire.MsgChannelCloseInit, bech32Prefix: string): void {
  requireOwnIds(message);
  requireSigner(bech32Prefix, message);
}

export function validateCloseConfirm(message: wire.MsgChannelCloseConfirm, bech32Prefix: string): void {
  requireOwnIds(message);
  requireProof(message.proofInit, "init proof");
  requireSigner(bech32Prefix, message);
}

export function validateReceive(message: wire.MsgRecvPacket, bech32Prefix: string): void {
  requireProof(message.proofCommitment, "commitment proof");
  requireSigner(bech32Prefix, message);
  validatePacket(packetOf(message));
}

export function validateTimeout(message: wire.MsgTimeout, bech32Prefix: string): void {
  requireProof(message.proofUnreceived, "unreceived proof");
  requireSequence(message);
  requireSigner(bech32Prefix, message);
  validatePacket(packetOf(message));
}

export function validateTimeoutOnClose(message: wire.MsgTimeoutOnClose, bech32Prefix: string): void {
  requireSequence(message);
  requireProof(message.proofUnreceived, "unreceived proof");
  requireProof(message.proofClose, "proof of closed counterparty channel end");
  requireSigner(bech32Prefix, message);
  validatePacket(packetOf(message));
}

export function validateAcknowledgement(message: wire.MsgAcknowledgement, bech32Prefix: string): void {
  requireProof(message.proofAcked, "acknowledgement proof");
  if (message.acknowledgement.length === 0)
    throw ibcErrors.ErrInvalidAcknowledgement("ack bytes cannot be empty");
  requireSigner(bech32Prefix, message);
  validatePacket(packetOf(message));
}

/** Checks MsgUpdateParams. A channel upgrade's timeout is a time after its start, never a height. */
export function validateUpdateParams(message: wire.MsgUpdateParams, bech32Prefix: string): void {
  requireSigner(bech32Prefix, { signer: message.authority });
  channelParams.validate(paramsIn(message));
}

/** Returns a message's params. As in Go, absent parts are zero. */
export function paramsIn({ params }: wire.MsgUpdateParams): Params {
  return { upgradeTimeout: { height: ZERO_HEIGHT, timestamp: 0n, ...params?.upgradeTimeout } };
}

/** Checks a channel in a message or a genesis document. */
export function validateChannel(channel: Channel | undefined): void {
  const { state, ordering, connectionHops, counterparty } = channel ?? NO_CHANNEL;
  if (state === State.STATE_UNINITIALIZED_UNSPECIFIED) throw ibcErrors.ErrInvalidChannelState();
  if (ordering !== Order.ORDER_ORDERED && ordering !== Order.ORDER_UNORDERED)
    throw ibcErrors.ErrInvalidChannelOrdering(enumName(Order, ordering));
  const [hop] = connectionHops;
  if (hop === undefined || connectionHops.length > 1)
    throw ibcErrors.ErrTooManyConnectionHops("current IBC version only supports one connection hop");
  wrapErrors("invalid connection hop ID", () => validateConnectionId(hop));
  validateCounterparty(counterparty);
}

const NO_CHANNEL = {
  state: State.STATE_UNINITIALIZED_UNSPECIFIED,
  ordering: Order.ORDER_NONE_UNSPECIFIED,
  connectionHops: [],
  counterparty: undefined,
};

function validateCounterparty(counterparty: Counterparty | undefined): void {
  const { portId = "", channelId = "" } = counterparty ?? {};
  wrapErrors("invalid counterparty port ID", () => validatePortId(portId));
  if (channelId !== "") wrapErrors("invalid counterparty channel ID", () => validateChannelId(channelId));
}

function requireState(channel: Channel | undefined, expected: State, words: string): void {
  const { state } = channel ?? NO_CHANNEL;
  if (state === expected) return;
  throw ibcErrors.ErrInvalidChannelState(
    `channel state must be ${words}. expected: ${enumName(State, expected)}, got: ${enumName(State, state)}`,
  );
}

function requireOwnIds({ portId, channelId }: { readonly portId: string; readonly channelId: string }): void {
  wrapErrors("invalid port ID", () => validatePortId(portId));
  if (!isNumberedId(channelId, "channel-")) throw ibcErrors.ErrInvalidChannelIdentifier();
}

function requireProof(proof: Uint8Array, name: string): void {
  if (proof.length > 0) return;
  throw ibcErrors.ErrInvalidProof(`cannot submit an empty ${name}`);
}

function requireSequence({ nextSequenceRecv }: { readonly nextSequenceRecv: bigint }): void {
  if (nextSequenceRecv === 0n) throw ibcErrors.ErrInvalidSequence("next sequence receive cannot be 0");
}
