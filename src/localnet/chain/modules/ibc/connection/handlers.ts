import {
  ConnectionEnd,
  type Counterparty,
  type Params,
  State,
  type Version,
} from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import * as wire from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/tx.ts";
import { enumName } from "../../../../../platform/base/text.ts";
import type { Context } from "../../../runtime/context.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import { messageHandlers } from "../../../runtime/handlers.ts";
import type { MessageHandler } from "../../../runtime/module.ts";
import { openClientStore } from "../client/client-store.ts";
import { type MessageProof, OWN_PREFIX, proofOf, verifyRemoteValue } from "../client/verify-proof.ts";
import * as ibcErrors from "../host/errors.ts";
import { connectionEvent } from "../host/events.ts";
import { type IbcOptions, packedSigner, requireAuthority, requireSigner } from "../host/signed-handler.ts";
import { isNumberedId, LOCALHOST, validateClientId, validateConnectionId } from "../host/identifiers.ts";
import { connectionParams } from "../host/params.ts";
import {
  getClientConnections,
  goVersion,
  isSupportedVersion,
  nextConnectionSequence,
  pickVersion,
  requireActiveClient,
  requireConnection,
  setClientConnections,
  setConnection,
  SUPPORTED_VERSIONS,
  validateVersion,
} from "./connection-store.ts";

/** Message handlers for `ibc.core.connection.v1`. */
export function connectionHandlers({ bech32Prefix, authority }: IbcOptions): readonly MessageHandler[] {
  return messageHandlers(wire.Msg, {
    ConnectionOpenInit: {
      validate: (message) => validateOpenInit(message, bech32Prefix),
      handle: step("open init", openInit),
    },
    ConnectionOpenTry: {
      signers: packedSigner(({ clientState }) => [["ClientState", clientState]]),
      validate: (message) => validateOpenTry(message, bech32Prefix),
      handle: step("open try", openTry),
    },
    ConnectionOpenAck: {
      signers: packedSigner(({ clientState }) => [["ClientState", clientState]]),
      validate: (message) => validateOpenAck(message, bech32Prefix),
      handle: step("open ack", openAck),
    },
    ConnectionOpenConfirm: {
      validate: (message) => validateOpenConfirm(message, bech32Prefix),
      handle: step("open confirm", openConfirm),
    },
    UpdateConnectionParams: {
      validate: (message) => {
        requireSigner(bech32Prefix, message);
        connectionParams.validate(paramsIn(message));
      },
      handle: (context, message) => {
        requireAuthority(authority, message);
        connectionParams.set(context, paramsIn(message));
      },
    },
  });
}

/** Returns a message's params. As in Go, absent params are zero. */
function paramsIn({ params }: wire.MsgUpdateParams): Params {
  return params ?? { maxExpectedTimePerBlock: 0n };
}

/** Adds the name of the handshake step to the errors thrown by it. */
function step<T>(name: string, handle: (context: Context, message: T) => void) {
  return (context: Context, message: T): void =>
    wrapErrors(`connection handshake ${name} failed`, () => handle(context, message));
}

// The four handshake steps (ICS-3, ibc-go 03-connection). ibc-go 8.7 ignores the states of the counterparty's client and
// their proofs: only the connection end of the counterparty is proven.

/** Starts a connection. Throws `ModuleError`. */
function openInit(context: Context, message: wire.MsgConnectionOpenInit): void {
  const { clientId, version, delayPeriod } = message;
  if (version !== undefined && !isSupportedVersion(SUPPORTED_VERSIONS, version))
    throw ibcErrors.ErrInvalidConnectionVersion("version is not supported");
  requireActiveClient(context, clientId);
  const id = newConnectionId(context, clientId);
  const versions = version === undefined ? [...SUPPORTED_VERSIONS] : [version];
  const end = { clientId, versions, state: State.STATE_INIT, delayPeriod };
  const counterparty = counterpartyOf(message);
  setConnection(context, { id, ...end, counterparty });
  for (const event of connectionEvent("connection_open_init", id, { clientId, counterparty }))
    context.emit(event);
}

/** Accepts a connection that the counterparty has started. Each success creates another connection. Throws `ModuleError`. */
function openTry(context: Context, message: wire.MsgConnectionOpenTry): void {
  const { clientId, counterpartyVersions, delayPeriod } = message;
  const counterparty = counterpartyOf(message);
  const version = pickVersion(counterpartyVersions);
  const end = { clientId, versions: [version], state: State.STATE_TRYOPEN, counterparty, delayPeriod };
  const proof = proofOf(message.proofInit, message.proofHeight);
  verifyCounterparty(
    context,
    end,
    { proof, connectionId: counterparty.connectionId },
    {
      clientId: counterparty.clientId,
      versions: counterpartyVersions,
      state: State.STATE_INIT,
      counterparty: { clientId, connectionId: "", prefix: OWN_PREFIX },
      delayPeriod,
    },
  );
  const id = newConnectionId(context, clientId);
  setConnection(context, { id, ...end });
  for (const event of connectionEvent("connection_open_try", id, end)) context.emit(event);
}

/** Opens a connection that the counterparty has accepted. Throws `ModuleError`. */
function openAck(context: Context, message: wire.MsgConnectionOpenAck): void {
  const { connectionId, counterpartyConnectionId } = message;
  const connection = connectionInState(context, connectionId, State.STATE_INIT);
  const version = acceptedVersion(connection, message.version);
  const { clientId, counterparty, delayPeriod } = connection;
  const proof = proofOf(message.proofTry, message.proofHeight);
  verifyCounterparty(
    context,
    connection,
    { proof, connectionId: counterpartyConnectionId },
    {
      clientId: counterparty?.clientId ?? "",
      versions: [version],
      state: State.STATE_TRYOPEN,
      counterparty: { clientId, connectionId, prefix: OWN_PREFIX },
      delayPeriod,
    },
  );
  const opened = {
    ...connection,
    versions: [version],
    state: State.STATE_OPEN,
    counterparty: { ...counterpartyOf(connection), connectionId: counterpartyConnectionId },
  };
  setConnection(context, { id: connectionId, ...opened });
  for (const event of connectionEvent("connection_open_ack", connectionId, opened)) context.emit(event);
}

/** Opens a connection that the counterparty has opened. Throws `ModuleError`. */
function openConfirm(context: Context, message: wire.MsgConnectionOpenConfirm): void {
  const { connectionId } = message;
  const connection = connectionInState(context, connectionId, State.STATE_TRYOPEN);
  const { clientId, versions, delayPeriod } = connection;
  const counterparty = counterpartyOf(connection);
  const proof = proofOf(message.proofAck, message.proofHeight);
  verifyCounterparty(
    context,
    connection,
    { proof, connectionId: counterparty.connectionId },
    {
      clientId: counterparty.clientId,
      versions,
      state: State.STATE_OPEN,
      counterparty: { clientId, connectionId, prefix: OWN_PREFIX },
      delayPeriod,
    },
  );
  const opened = { ...connection, state: State.STATE_OPEN };
  setConnection(context, { id: connectionId, ...opened });
  for (const event of connectionEvent("connection_open_confirm", connectionId, opened)) context.emit(event);
}

function newConnectionId(context: Context, clientId: string): string {
  const sequence = nextConnectionSequence.get(context) ?? 0n;
  nextConnectionSequence.set(context, sequence + 1n);
  const id = `connection-${sequence}`;
  // ibc-go reads the client again before it lists the connection.
  openClientStore(context, clientId).clientState();
  setClientConnections(context, clientId, [...(getClientConnections(context, clientId) ?? []), id]);
  return id;
}

function connectionInState(context: Context, connectionId: string, expected: State): ConnectionEnd {
  const connection = requireConnection(context, connectionId);
  if (connection.state === expected) return connection;
  const name = expected === State.STATE_INIT ? "INIT" : "TRYOPEN";
  throw ibcErrors.ErrInvalidConnectionState(
    `connection state is not ${name} (got ${enumName(State, connection.state)})`,
  );
}

function acceptedVersion({ versions }: ConnectionEnd, version: Version | undefined): Version {
  if (version !== undefined && isSupportedVersion(versions, version)) return version;
  throw ibcErrors.ErrInvalidConnectionState(
    `the counterparty selected version ${version === undefined ? "<nil>" : goVersion(version)} is not supported by versions selected on INIT`,
  );
}

function verifyCounterparty(
  context: Context,
  connection: ConnectionEnd,
  { proof, connectionId }: { readonly proof: MessageProof; readonly connectionId: string },
  expected: ConnectionEnd,
): void {
  const proven = { ...proof, path: `connections/${connectionId}`, name: "connection state", isPacket: false };
  verifyRemoteValue(context, connection, proven, ConnectionEnd.encode(expected).finish());
}

/** Returns the counterparty with its prefix, which Go encodes even if empty. */
function counterpartyOf({ counterparty }: { readonly counterparty: Counterparty | undefined }): Counterparty {
  const { clientId = "", connectionId = "", prefix } = counterparty ?? {};
  return { clientId, connectionId, prefix: prefix ?? { keyPrefix: new Uint8Array(0) } };
}

/** Maximum number of versions that a counterparty may offer. */
const MAX_VERSIONS = 100;

/** Stateless checks of MsgConnectionOpenInit, in ibc-go's order. Throws `ModuleError`. */
function validateOpenInit(message: wire.MsgConnectionOpenInit, bech32Prefix: string): void {
  requireNotLocalhost(message.clientId);
  wrapErrors("invalid client ID", () => validateClientId(message.clientId));
  if ((message.counterparty?.connectionId ?? "") !== "")
    throw ibcErrors.ErrInvalidConnectionCounterparty("counterparty connection identifier must be empty");
  if (message.version !== undefined) {
    const { version } = message;
    wrapErrors("basic validation of the provided version failed", () => validateVersion(version));
  }
  requireSigner(bech32Prefix, message);
  validateCounterparty(message.counterparty);
}

/** Stateless checks of MsgConnectionOpenTry. Like ibc-go 8.7, ignores client states and their proofs. Throws `ModuleError`. */
function validateOpenTry(message: wire.MsgConnectionOpenTry, bech32Prefix: string): void {
  requireNotLocalhost(message.clientId);
  if (message.previousConnectionId !== "") {
    throw ibcErrors.ErrInvalidConnectionIdentifier(
      "previous connection identifier must be empty, this field has been deprecated as crossing hellos are no longer supported",
    );
  }
  wrapErrors("invalid client ID", () => validateClientId(message.clientId));
  wrapErrors("invalid counterparty connection ID", () =>
    validateConnectionId(message.counterparty?.connectionId ?? ""),
  );
  validateVersions(message.counterpartyVersions);
  if (message.proofInit.length === 0) throw ibcErrors.ErrInvalidProof("cannot submit an empty proof init");
  requireSigner(bech32Prefix, message);
  validateCounterparty(message.counterparty);
}

/** Stateless checks of MsgConnectionOpenAck, except for the ignored fields. Throws `ModuleError`. */
function validateOpenAck(message: wire.MsgConnectionOpenAck, bech32Prefix: string): void {
  requireNumberedId(message.connectionId);
  wrapErrors("invalid counterparty connection ID", () =>
    validateConnectionId(message.counterpartyConnectionId),
  );
  validateVersion(message.version);
  if (message.proofTry.length === 0) throw ibcErrors.ErrInvalidProof("cannot submit an empty proof try");
  requireSigner(bech32Prefix, message);
}

/** Stateless checks of MsgConnectionOpenConfirm. Throws `ModuleError`. */
function validateOpenConfirm(message: wire.MsgConnectionOpenConfirm, bech32Prefix: string): void {
  requireNumberedId(message.connectionId);
  if (message.proofAck.length === 0) throw ibcErrors.ErrInvalidProof("cannot submit an empty proof ack");
  requireSigner(bech32Prefix, message);
}

function requireNotLocalhost(clientId: string): void {
  if (clientId === LOCALHOST)
    throw ibcErrors.ErrInvalidClientType("localhost connection handshakes are disallowed");
}

function requireNumberedId(connectionId: string): void {
  if (!isNumberedId(connectionId, "connection-")) throw ibcErrors.ErrInvalidConnectionIdentifier();
}

function validateVersions(versions: wire.MsgConnectionOpenTry["counterpartyVersions"]): void {
  if (versions.length === 0) throw ibcErrors.ErrIbcInvalidVersion("empty counterparty versions");
  if (versions.length > MAX_VERSIONS)
    throw ibcErrors.ErrIbcInvalidVersion(`counterparty versions must not exceed ${MAX_VERSIONS} items`);
  for (const [index, version] of versions.entries()) {
    wrapErrors(`basic validation failed on version with index ${index}`, () => validateVersion(version));
  }
}

function validateCounterparty(counterparty: Counterparty | undefined): void {
  const { clientId = "", connectionId = "", prefix } = counterparty ?? {};
  if (connectionId !== "")
    wrapErrors("invalid counterparty connection ID", () => validateConnectionId(connectionId));
  wrapErrors("invalid counterparty client ID", () => validateClientId(clientId));
  if ((prefix?.keyPrefix.length ?? 0) === 0)
    throw ibcErrors.ErrInvalidConnectionCounterparty("counterparty prefix cannot be empty");
}
