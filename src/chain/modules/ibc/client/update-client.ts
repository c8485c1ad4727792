import type { Any } from "../../../../proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../../proto/gen/ibc/core/client/v1/client.ts";
import type { ClientState, Header } from "../../../../proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import type { Context } from "../../../runtime/context.ts";
import { ErrClientNotActive, ErrClientNotFound, ErrUpdateClientFailed } from "../errors.ts";
import { clientUpdated, misbehaviourFound } from "../events.ts";
import { compareHeights, ZERO_HEIGHT } from "../height.ts";
import { type ClientMessage, unpackClientMessage } from "../tendermint/client-message.ts";
import { durationNs } from "../tendermint/duration.ts";
import { heightOfHeader, stateOfHeader } from "../tendermint/header.ts";
import { contradictsHistory, isContradiction, verifyMisbehaviour } from "../tendermint/misbehaviour.ts";
import { verifyUpdateHeader } from "../tendermint/verify-header.ts";
import { type ClientStore, openClientStore } from "./client-store.ts";
import { TENDERMINT_TYPE } from "./client-state.ts";
import { isExpired, statusOf } from "./client-status.ts";

/** What a frozen client carries: ibc-go writes this height whatever the misbehaviour's was. */
const FROZEN_HEIGHT: Height = { revisionNumber: 0n, revisionHeight: 1n };

/**
 * Tells a client a header or a misbehaviour, as ibc-go's `UpdateClient`: it must be active, and what it is told must
 * verify. Contradictions freeze it (that is success); a known header changes nothing; any other adds a consensus state,
 * also below the latest height. Throws `ModuleError`.
 */
export function updateClient(context: Context, clientId: string, packed: Any | undefined): void {
  const message = unpackClientMessage(packed);
  const store = openClientStore(context, clientId);
  const client = store.clientState();
  if (client === undefined) throw ErrClientNotFound(`cannot update client with ID ${clientId}`);
  const status = statusOf(context, client, store);
  if (status !== "Active") {
    throw ErrClientNotActive(`cannot update client (${clientId}) with status ${status}`);
  }
  if (client.type !== TENDERMINT_TYPE) {
    throw ErrUpdateClientFailed("client message verification is unsupported by the localhost client");
  }
  verifyMessage(context, client.state, message, store);
  const of = { clientId, clientType: client.type };
  if (isMisbehaviour(message, store)) {
    store.setClientState({ ...client, state: { ...client.state, frozenHeight: FROZEN_HEIGHT } });
    for (const event of misbehaviourFound(of)) context.emit(event);
  } else if (message.kind === "header" && packed !== undefined) {
    const height = storeHeader(context, client.state, message.header, store);
    for (const event of clientUpdated(of, height, packed)) context.emit(event);
  }
}

function verifyMessage(
  context: Context,
  client: ClientState,
  message: ClientMessage,
  store: ClientStore,
): void {
  if (message.kind === "header") verifyUpdateHeader(client, message.header, store, context.timeNs);
  else verifyMisbehaviour(client, message.misbehaviour, store, context.timeNs);
}

function isMisbehaviour(message: ClientMessage, store: ClientStore): boolean {
  return message.kind === "header"
    ? contradictsHistory(message.header, store)
    : isContradiction(message.misbehaviour);
}

function storeHeader(context: Context, client: ClientState, header: Header, store: ClientStore): Height {
  pruneOldest(context, client, store);
  const height = heightOfHeader(header);
  if (store.consensusState(height) !== undefined) return height;
  const latest = client.latestHeight ?? ZERO_HEIGHT;
  const latestHeight = compareHeights(height, latest) > 0 ? height : latest;
  store.setClientState({ type: TENDERMINT_TYPE, state: { ...client, latestHeight } });
  store.setConsensusState(height, stateOfHeader(header));
  return height;
}

/** One expired consensus state goes with every update, the oldest first. */
function pruneOldest(context: Context, client: ClientState, store: ClientStore): void {
  const height = store.earliestHeight();
  const oldest = height === undefined ? undefined : store.consensusState(height);
  if (height === undefined || oldest === undefined) return;
  if (isExpired(oldest, durationNs(client.trustingPeriod), context.timeNs))
    store.deleteConsensusState(height);
}
