import type { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import {
  ClientState,
  type Header,
} from "../../../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { equalBytes, utf8 } from "../../../../../platform/base/bytes.ts";
import type { Context } from "../../../runtime/context.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import { outOfGas } from "../../../runtime/gas.ts";
import { createSequence } from "../../../store/collections.ts";
import * as errors from "../host/errors.ts";
import * as events from "../host/events.ts";
import { compareHeights, formatHeight, selfHeight, ZERO_HEIGHT } from "../host/height.ts";
import { LOCALHOST, TENDERMINT_TYPE } from "../host/identifiers.ts";
import { STORE_NAME } from "../host/keys.ts";
import * as clientMessage from "./client-message.ts";
import {
  type ClientStore,
  durationNs,
  isExpired,
  latestHeightOf,
  type OpenClient,
  openClient,
  openClientStore,
  requireActive,
  statusOf,
  unpackClientState,
  unpackConsensusState,
} from "./client-store.ts";
import { isAllowedClient } from "../host/params.ts";

/** Number that the next client id will contain, starting at 0. */
export const clientSequence = createSequence(STORE_NAME, utf8("nextClientSequence"), 0n);

/**
 * Creates a client from a client state and the consensus state at its latest height. Returns the client's id. Throws
 * `ModuleError`.
 */
export function createClient(
  context: Context,
  clientState: Any | undefined,
  consensusState: Any | undefined,
): string {
  const client = unpackClientState(clientState);
  if (client.type === LOCALHOST)
    throw errors.ErrInvalidClientType(`cannot create client of type: ${client.type}`);
  if (!isAllowedClient(context, client.type)) {
    throw errors.ErrInvalidClientType(`client state type ${client.type} is not registered in the allowlist`);
  }
  const clientId = `${client.type}-${clientSequence.take(context)}`;
  const store = openClientStore(context, clientId);
  store.setClientState(client);
  store.setConsensusState(latestHeightOf(client), unpackConsensusState(consensusState));
  // As in ibc-go, check the status after storing the client. If the check fails, the message's writes are dropped.
  requireActive(
    context,
    { client, store },
    (status) => `cannot create client (${clientId}) with status ${status}`,
  );
  events.emitClientCreated(context, { clientId, clientType: client.type }, latestHeightOf(client));
  return clientId;
}

/** The `frozen_height` of every frozen client. As in ibc-go, this value does not depend on the height of the misbehaviour. */
const FROZEN_HEIGHT: Height = { revisionNumber: 0n, revisionHeight: 1n };

/**
 * Updates an active client with a header or misbehaviour (ibc-go `UpdateClient`). Verified misbehaviour freezes the client and
 * succeeds, because an error would revert the freeze. A header at a height with a stored consensus state changes nothing. Any other
 * header adds a consensus state, even if its height is below the latest height. Throws `ModuleError`.
 */
export function updateClient(context: Context, clientId: string, packed: Any | undefined): void {
  const message = clientMessage.unpackClientMessage(packed);
  const { state, store } = openForUpdate(context, clientId, `cannot update client with ID ${clientId}`);
  verifyMessage(context, state, message, store);
  const eventClient = { clientId, clientType: TENDERMINT_TYPE };
  if (isMisbehaviour(message, store)) {
    store.setClientState({ type: TENDERMINT_TYPE, state: { ...state, frozenHeight: FROZEN_HEIGHT } });
    events.emitMisbehaviour(context, eventClient);
  } else if (message.kind === "header" && packed !== undefined) {
    const height = storeHeader(context, state, message.header, store);
    events.emitClientUpdated(context, eventClient, height, packed);
  }
}

/**
 * Gas for a signature that OpenSSL rejects and that therefore needs the slow ZIP-215 verifier (1 to 2 ms). Honest validators never
 * produce such signatures, but an attacker can fill a header with them. CometBFT verifies all signatures at the same speed and
 * charges no gas for them.
 */
const SLOW_SIGNATURE_GAS = 50_000n;

/**
 * Gas limit in CheckTx and simulations for a transaction that contains a slow signature. The limit is enough for about 180
 * signatures. The limit is low, because nobody pays for CheckTx and simulations. With a full block's gas, a single check would take
 * many seconds.
 */
const SLOW_SIGNATURE_GAS_OUTSIDE_BLOCK = 10_000_000n;

/** Returns the current block's properties for header checks. */
export function verifyingBlock({ timeNs, gas, mode }: Context): clientMessage.VerifyingBlock {
  const location = "ZIP-215 signature";
  return {
    timeNs,
    beforeSlowSignature: () => {
      gas.consume(SLOW_SIGNATURE_GAS, location);
      const used = gas.used();
      if (mode !== "deliver" && used > SLOW_SIGNATURE_GAS_OUTSIDE_BLOCK)
        throw outOfGas(location, SLOW_SIGNATURE_GAS_OUTSIDE_BLOCK, used);
    },
  };
}

function verifyMessage(
  context: Context,
  client: ClientState,
  message: clientMessage.ClientMessage,
  store: ClientStore,
): void {
  if (message.kind === "header")
    clientMessage.verifyUpdateHeader(client, message.header, store, verifyingBlock(context));
  else clientMessage.verifyMisbehaviour(client, message.misbehaviour, store, verifyingBlock(context));
}

function isMisbehaviour(message: clientMessage.ClientMessage, store: ClientStore): boolean {
  return message.kind === "header"
    ? clientMessage.contradictsHistory(message.header, store)
    : clientMessage.isContradiction(message.misbehaviour);
}

/**
 * Updates a client in CheckTx (ibc-go `updateClientCheckTx`), so that packets in the same transaction can be verified. CheckTx
 * skips the misbehaviour check, and a recheck also skips the header's verification. Throws `ModuleError`.
 */
export function updateClientInCheck(context: Context, clientId: string, packed: Any | undefined): void {
  const message = clientMessage.unpackClientMessage(packed);
  const { state, store } = openForUpdate(context, clientId, clientId);
  if (context.mode !== "recheck") verifyMessage(context, state, message, store);
  if (message.kind === "header") storeHeader(context, state, message.header, store);
}

/**
 * Opens an active Tendermint client for an update. The client's status is checked before the header, because an expired or frozen
 * client can be reactivated only by a recovery. Throws client/4 with `words` for an unknown client, client/29 for an inactive
 * client, and client/23 for the localhost client.
 */
function openForUpdate(
  context: Context,
  clientId: string,
  words: string,
): { readonly state: ClientState; readonly store: ClientStore } {
  const opened = openClient(context, clientId, () => errors.ErrClientNotFound(words));
  requireActive(context, opened, (status) => `cannot update client (${clientId}) with status ${status}`);
  const { client, store } = opened;
  if (client.type === TENDERMINT_TYPE) return { state: client.state, store };
  throw errors.ErrUpdateClientFailed("client message verification is unsupported by the localhost client");
}

/** Stores a verified header's consensus state (ibc-go `UpdateState`) and returns its height. */
function storeHeader(context: Context, client: ClientState, header: Header, store: ClientStore): Height {
  pruneOldest(context, client, store);
  const height = clientMessage.heightOfHeader(header);
  if (store.consensusState(height) !== undefined) return height;
  const latest = client.latestHeight ?? ZERO_HEIGHT;
  const latestHeight = compareHeights(height, latest) > 0 ? height : latest;
  store.setClientState({ type: TENDERMINT_TYPE, state: { ...client, latestHeight } });
  store.setConsensusState(height, clientMessage.consensusStateOfHeader(header));
  return height;
}

/**
 * Deletes the oldest consensus state if it has expired. As in ibc-go, an update deletes at most one state, which limits the
 * update's gas.
 */
function pruneOldest(context: Context, client: ClientState, store: ClientStore): void {
  const height = store.earliestHeight();
  const oldest = height === undefined ? undefined : store.consensusState(height);
  if (height === undefined || oldest === undefined) return;
  if (isExpired(oldest, durationNs(client.trustingPeriod), context.timeNs))
    store.deleteConsensusState(height);
}

/**
 * Recovers a frozen or expired client (ibc-go `RecoverClient`) by copying the latest consensus state from an active substitute
 * with the same settings. Throws `ModuleError`.
 */
export function recoverClient(context: Context, subjectId: string, substituteId: string): void {
  const subject = openClient(context, subjectId, () =>
    errors.ErrClientNotFound(`subject client with ID ${subjectId}`),
  );
  if (statusOf(context, subject.client, subject.store) === "Active") {
    throw errors.ErrInvalidRecoveryClient("cannot recover Active subject client");
  }
  const substitute = openClient(context, substituteId, () =>
    errors.ErrClientNotFound(`substitute client with ID ${substituteId}`),
  );
  const heights = [latestHeightOf(subject.client), latestHeightOf(substitute.client)] as const;
  if (compareHeights(heights[0], heights[1]) >= 0) {
    throw errors.ErrInvalidClientHeight(
      `subject client state latest height is greater or equal to substitute client state latest height (${formatHeight(heights[0])} >= ${formatHeight(heights[1])})`,
    );
  }
  requireActive(context, substitute, (status) => `substitute client is not active, status is ${status}`);
  wrapErrors("failed to validate substitute client", () => copySubstitute(subject, substitute));
  events.emitClientRecovered(context, { clientId: subjectId, clientType: subject.client.type });
}

/** Copies the substitute's latest state to the subject (ibc-go `CheckSubstituteAndUpdateState`). */
function copySubstitute(subject: OpenClient, substitute: OpenClient): void {
  const [own, other] = [subject.client, substitute.client];
  if (own.type !== TENDERMINT_TYPE || other.type !== TENDERMINT_TYPE)
    throw errors.ErrInvalidClient(`expected a client of type ${TENDERMINT_TYPE}, got ${other.type}`);
  if (!isMatching(own.state, other.state))
    throw errors.ErrInvalidSubstitute("subject client state does not match substitute client state");
  const height = latestHeightOf(other);
  const state = substitute.store.consensusState(height);
  if (state === undefined)
    throw errors.ErrConsensusStateNotFound("unable to retrieve latest consensus state for substitute client");
  const processed = substitute.store.processed(height);
  if (processed === undefined)
    throw errors.ErrUpdateClientFailed(
      "unable to retrieve processed height for substitute client latest height",
    );
  subject.store.setConsensusState(height, state, processed);
  const { chainId, trustingPeriod } = other.state;
  subject.store.setClientState({
    type: TENDERMINT_TYPE,
    state: { ...own.state, frozenHeight: ZERO_HEIGHT, latestHeight: height, chainId, trustingPeriod },
  });
}

/** Returns whether two clients differ only in their heights, chain ids, trusting periods and deprecated flags. */
function isMatching(a: ClientState, b: ClientState): boolean {
  return equalBytes(settingsOf(a), settingsOf(b));
}

function settingsOf(state: ClientState): Uint8Array {
  return ClientState.encode({
    ...state,
    latestHeight: ZERO_HEIGHT,
    frozenHeight: ZERO_HEIGHT,
    trustingPeriod: undefined,
    chainId: "",
    allowUpdateAfterExpiry: true,
    allowUpdateAfterMisbehaviour: true,
  }).finish();
}

/** Creates the localhost client, with which the chain verifies its own state. */
export function createLocalhostClient(context: Context): void {
  openClientStore(context, LOCALHOST).setClientState({
    type: LOCALHOST,
    state: { latestHeight: selfHeight(context) },
  });
}

/** Sets the localhost client's latest height to the current height. Does nothing if the params do not allow localhost clients. */
export function updateLocalhostClient(context: Context): void {
  const store = openClientStore(context, LOCALHOST);
  const client = store.clientState();
  if (client === undefined || statusOf(context, client, store) !== "Active") return;
  store.setClientState({ type: LOCALHOST, state: { latestHeight: selfHeight(context) } });
}
