import type { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type {
  ClientState,
  Header,
} from "../../../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import type { Context } from "../../../runtime/context.ts";
import { ErrClientNotActive, ErrClientNotFound, ErrUpdateClientFailed } from "../host/errors.ts";
import { clientUpdated, misbehaviourFound } from "../host/events.ts";
import { compareHeights, ZERO_HEIGHT } from "../host/height.ts";
import { type ClientMessage, unpackClientMessage } from "../tendermint/client-message.ts";
import { durationNs } from "../tendermint/duration.ts";
import { heightOfHeader, consensusStateOfHeader } from "../tendermint/header.ts";
import { contradictsHistory, isContradiction, verifyMisbehaviour } from "../tendermint/misbehaviour.ts";
import { verifyingBlock, verifyUpdateHeader } from "../tendermint/verify-header.ts";
import { type ClientStore, openClientStore } from "./client-store.ts";
import { TENDERMINT_TYPE } from "../host/identifiers.ts";
import { isExpired, statusOf } from "./client-status.ts";

/** Frozen height of every frozen client. ibc-go writes this constant, whatever the height of the misbehaviour. */
const FROZEN_HEIGHT: Height = { revisionNumber: 0n, revisionHeight: 1n };

/**
 * Updates an active client with a header or a misbehaviour (ibc-go `UpdateClient`). A verified contradiction freezes
 * the client and is a success: an error would revert the freeze. A header of a stored height changes nothing. Any other
 * header adds a consensus state, also below the latest height. Throws `ModuleError`.
 */
export function updateClient(context: Context, clientId: string, packed: Any | undefined): void {
  const message = unpackClientMessage(packed);
  const store = openClientStore(context, clientId);
  const client = store.clientState();
  if (client === undefined) throw ErrClientNotFound(`cannot update client with ID ${clientId}`);
  // Checked before the header: a header must not revive an expired or frozen client. Only a recovery can.
  const status = statusOf(context, client, store);
  if (status !== "Active") {
    throw ErrClientNotActive(`cannot update client (${clientId}) with status ${status}`);
  }
  if (client.type !== TENDERMINT_TYPE) {
    throw ErrUpdateClientFailed("client message verification is unsupported by the localhost client");
  }
  verifyMessage(context, client.state, message, store);
  const eventClient = { clientId, clientType: client.type };
  if (isMisbehaviour(message, store)) {
    store.setClientState({ ...client, state: { ...client.state, frozenHeight: FROZEN_HEIGHT } });
    for (const event of misbehaviourFound(eventClient)) context.emit(event);
  } else if (message.kind === "header" && packed !== undefined) {
    const height = storeHeader(context, client.state, message.header, store);
    for (const event of clientUpdated(eventClient, height, packed)) context.emit(event);
  }
}

function verifyMessage(
  context: Context,
  client: ClientState,
  message: ClientMessage,
  store: ClientStore,
): void {
  if (message.kind === "header") verifyUpdateHeader(client, message.header, store, verifyingBlock(context));
  else verifyMisbehaviour(client, message.misbehaviour, store, verifyingBlock(context));
}

function isMisbehaviour(message: ClientMessage, store: ClientStore): boolean {
  return message.kind === "header"
    ? contradictsHistory(message.header, store)
    : isContradiction(message.misbehaviour);
}

/**
 * Updates a client in CheckTx (ibc-go `updateClientCheckTx`), so that the packets of the same transaction can be verified. A
 * contradiction is not looked for. A repeated check leaves out the verification. Throws `ModuleError`.
 */
export function updateClientInCheck(context: Context, clientId: string, packed: Any | undefined): void {
  const message = unpackClientMessage(packed);
  const store = openClientStore(context, clientId);
  const client = store.clientState();
  if (client === undefined) throw ErrClientNotFound(clientId);
  const status = statusOf(context, client, store);
  if (status !== "Active")
    throw ErrClientNotActive(`cannot update client (${clientId}) with status ${status}`);
  if (client.type !== TENDERMINT_TYPE)
    throw ErrUpdateClientFailed("client message verification is unsupported by the localhost client");
  if (context.mode !== "recheck") verifyMessage(context, client.state, message, store);
  if (message.kind === "header") storeHeader(context, client.state, message.header, store);
}

/** Stores the consensus state of a verified header (ibc-go `UpdateState`). Returns its height. */
function storeHeader(context: Context, client: ClientState, header: Header, store: ClientStore): Height {
  pruneOldest(context, client, store);
  const height = heightOfHeader(header);
  if (store.consensusState(height) !== undefined) return height;
  const latest = client.latestHeight ?? ZERO_HEIGHT;
  const latestHeight = compareHeights(height, latest) > 0 ? height : latest;
  store.setClientState({ type: TENDERMINT_TYPE, state: { ...client, latestHeight } });
  store.setConsensusState(height, consensusStateOfHeader(header));
  return height;
}

/**
 * Deletes the oldest consensus state if it is expired. Like ibc-go, deletes at most one with every update, which bounds
 * the gas of an update.
 */
function pruneOldest(context: Context, client: ClientState, store: ClientStore): void {
  const height = store.earliestHeight();
  const oldest = height === undefined ? undefined : store.consensusState(height);
  if (height === undefined || oldest === undefined) return;
  if (isExpired(oldest, durationNs(client.trustingPeriod), context.timeNs))
    store.deleteConsensusState(height);
}
