import { Channel, Order, State } from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { enumName } from "../../../../../platform/base/text.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import * as ibcErrors from "../host/errors.ts";
import {
  isNumberedId,
  validateChannelId,
  validateConnectionId,
  validatePortId,
} from "../host/identifiers.ts";
import type { ChannelEndpoint } from "../host/packet.ts";

// Checks shared by several messages' `ValidateBasic` (stateless checks), all of which throw `ModuleError`.

const NO_CHANNEL = Channel.decode(new Uint8Array(0));

/** Returns a message's channel. As in Go, a missing channel is replaced by a channel with zero values. */
export function channelIn({ channel = NO_CHANNEL }: { readonly channel: Channel | undefined }): Channel {
  return channel;
}

/** Performs the stateless checks of a channel in a message or a genesis document. */
export function validateChannel({ state, ordering, connectionHops, counterparty }: Channel): void {
  if (state === State.STATE_UNINITIALIZED_UNSPECIFIED) throw ibcErrors.ErrInvalidChannelState();
  if (ordering !== Order.ORDER_ORDERED && ordering !== Order.ORDER_UNORDERED)
    throw ibcErrors.ErrInvalidChannelOrdering(enumName(Order, ordering));
  const [hop] = connectionHops;
  if (hop === undefined || connectionHops.length > 1)
    throw ibcErrors.ErrTooManyConnectionHops("current IBC version only supports one connection hop");
  wrapErrors("invalid connection hop ID", () => validateConnectionId(hop));
  const { portId = "", channelId = "" } = counterparty ?? {};
  wrapErrors("invalid counterparty port ID", () => validatePortId(portId));
  if (channelId !== "") requireCounterpartyId(channelId);
}

export function requireCounterpartyId(channelId: string): void {
  wrapErrors("invalid counterparty channel ID", () => validateChannelId(channelId));
}

export function requireState({ state }: Channel, expected: State, words: string): void {
  if (state === expected) return;
  throw ibcErrors.ErrInvalidChannelState(
    `channel state must be ${words}. expected: ${enumName(State, expected)}, got: ${enumName(State, state)}`,
  );
}

export function requirePort({ portId }: { readonly portId: string }): void {
  wrapErrors("invalid port ID", () => validatePortId(portId));
}

/** Throws if the port or channel id of a channel on this chain is invalid. */
export function requireOwnIds(end: ChannelEndpoint): void {
  requirePort(end);
  if (!isNumberedId(end.channelId, "channel-")) throw ibcErrors.ErrInvalidChannelIdentifier();
}

export function requireProof(proof: Uint8Array, name: string): void {
  if (proof.length > 0) return;
  throw ibcErrors.ErrInvalidProof(`cannot submit an empty ${name}`);
}
