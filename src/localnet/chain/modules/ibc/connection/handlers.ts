import {
  ConnectionEnd,
  type Counterparty,
  type Params,
  State,
  type Version,
} from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import * as wire from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/tx.ts";
import { enumName } from "../../../../../platform/base/text.ts";
import type { Context, MessageHandler } from "../../../runtime/context.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import { messageHandlers } from "../../../runtime/handlers.ts";
import { openClientStore } from "../client/client-store.ts";
import { type MessageProof, OWN_PREFIX, proofOf, verifyRemoteValue } from "../client/verify-proof.ts";
import * as ibcErrors from "../host/errors.ts";
import { emitConnectionStep } from "../host/events.ts";
import { type IbcOptions, packedSigner, requireAuthority, requireSigner } from "../host/signed-handler.ts";
import { isNumberedId, LOCALHOST, validateClientId, validateConnectionId } from "../host/identifiers.ts";
import { connectionParams } from "../host/params.ts";
import * as store from "./connection-store.ts";

/**
 * Message handlers for `ibc.core.connection.v1`, with their stateless checks (`ValidateBasic`) in ibc-go's order. Like ibc-go
 * 8.7, these handlers ignore the counterparty client's state and its proofs, and verify only the counterparty's connection end.
 */
export function connectionHandlers({ bech32Prefix, authority }: IbcOptions): readonly MessageHandler[] {
  return messageHandlers(wire.Msg, {
    ConnectionOpenInit: {
      validate: (message) => {
        const { version } = message;
        requireRemoteClient(message.clientId);
        if ((message.counterparty?.connectionId ?? "") !== "")
          throw ibcErrors.ErrInvalidConnectionCounterparty(
            "counterparty connection identifier must be empty",
          );
        if (version !== undefined)
          wrapErrors("basic validation of the provided version failed", () => store.validateVersion(version));
        requireSigner(bech32Prefix, message);
        validateCounterparty(message.counterparty);
      },
      handle: step("init", openInit),
    },
    ConnectionOpenTry: {
      signers: packedSigner(({ clientState }) => [["ClientState", clientState]]),
      validate: (message) => {
        requireNotLocalhost(message.clientId);
        if (message.previousConnectionId !== "") {
          throw ibcErrors.ErrInvalidConnectionIdentifier(
            "previous connection identifier must be empty, this field has been deprecated as crossing hellos are no longer supported",
          );
        }
        requireRemoteClient(message.clientId);
        requireCounterpartyId(message.counterparty?.connectionId ?? "");
        validateVersions(message.counterpartyVersions);
        requireProof(message.proofInit, "init");
        requireSigner(bech32Prefix, message);
        validateCounterparty(message.counterparty);
      },
      handle: step("try", openTry),
    },
    ConnectionOpenAck: {
      signers: packedSigner(({ clientState }) => [["ClientState", clientState]]),
      validate: (message) => {
        requireNumberedId(message.connectionId);
        requireCounterpartyId(message.counterpartyConnectionId);
        store.validateVersion(message.version);
        requireProof(message.proofTry, "try");
        requireSigner(bech32Prefix, message);
      },
      handle: step("ack", openAck),
    },
    ConnectionOpenConfirm: {
      validate: (message) => {
        requireNumberedId(message.connectionId);
        requireProof(message.proofAck, "ack");
        requireSigner(bech32Prefix, message);
      },
      handle: step("confirm", openConfirm),
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

/** Returns a message's parameters. As in Go, missing parameters are zero. */
function paramsIn({ params }: wire.MsgUpdateParams): Params {
  return params ?? { maxExpectedTimePerBlock: 0n };
}

/** The connection id and the connection end that a handshake step stores. */
interface Written {
  readonly id: string;
  readonly end: ConnectionEnd;
}

/** Creates the handler for a step of the handshake (ICS-3, ibc-go 03-connection), which stores the connection end. */
function step<T>(name: string, run: (context: Context, message: T) => Written) {
  return (context: Context, message: T): void =>
    wrapErrors(`connection handshake open ${name} failed`, () => {
      const { id, end } = run(context, message);
      store.connections.set(context, id, end);
      emitConnectionStep(context, `connection_open_${name}`, id, end);
    });
}

/** Handles MsgConnectionOpenInit: creates a connection in state INIT. */
function openInit(context: Context, message: wire.MsgConnectionOpenInit): Written {
  const { clientId, version, delayPeriod } = message;
  if (version !== undefined && !store.isSupportedVersion(store.SUPPORTED_VERSIONS, version))
    throw ibcErrors.ErrInvalidConnectionVersion("version is not supported");
  store.requireActiveClient(context, clientId);
  const id = newConnectionId(context, clientId);
  const versions = version === undefined ? [...store.SUPPORTED_VERSIONS] : [version];
  const counterparty = counterpartyOf(message);
  return { id, end: { clientId, versions, state: State.STATE_INIT, counterparty, delayPeriod } };
}

/** Handles MsgConnectionOpenTry: accepts the counterparty's connection. Each successful message creates another connection. */
function openTry(context: Context, message: wire.MsgConnectionOpenTry): Written {
  const { clientId, counterpartyVersions: versions, delayPeriod } = message;
  const counterparty = counterpartyOf(message);
  const version = store.pickVersion(versions);
  const end = { clientId, versions: [version], state: State.STATE_TRYOPEN, counterparty, delayPeriod };
  const proof = proofOf(message.proofInit, message.proofHeight);
  verifyCounterparty(context, { id: "", end }, proof, { state: State.STATE_INIT, versions });
  return { id: newConnectionId(context, clientId), end };
}

/** Handles MsgConnectionOpenAck: opens a connection that the counterparty has accepted. */
function openAck(context: Context, message: wire.MsgConnectionOpenAck): Written {
  const { connectionId: id, counterpartyConnectionId: connectionId } = message;
  const connection = connectionInState(context, id, State.STATE_INIT);
  const versions = [acceptedVersion(connection, message.version)];
  const counterparty = { ...counterpartyOf(connection), connectionId };
  const end = { ...connection, versions, state: State.STATE_OPEN, counterparty };
  const proof = proofOf(message.proofTry, message.proofHeight);
  verifyCounterparty(context, { id, end }, proof, { state: State.STATE_TRYOPEN, versions });
  return { id, end };
}

/** Handles MsgConnectionOpenConfirm: opens a connection that the counterparty has opened. */
function openConfirm(context: Context, message: wire.MsgConnectionOpenConfirm): Written {
  const { connectionId: id } = message;
  const end = { ...connectionInState(context, id, State.STATE_TRYOPEN), state: State.STATE_OPEN };
  const proof = proofOf(message.proofAck, message.proofHeight);
  verifyCounterparty(context, { id, end }, proof, end);
  return { id, end };
}

function newConnectionId(context: Context, clientId: string): string {
  const id = `connection-${store.connectionSequence.take(context)}`;
  // Like ibc-go, read the client again before listing the connection, because each read consumes gas.
  openClientStore(context, clientId).clientState();
  const { paths } = store.clientConnections.get(context, clientId) ?? { paths: [] };
  store.clientConnections.set(context, clientId, { paths: [...paths, id] });
  return id;
}

function connectionInState(context: Context, connectionId: string, expected: State): ConnectionEnd {
  const connection = store.requireConnection(context, connectionId);
  if (connection.state === expected) return connection;
  const name = expected === State.STATE_INIT ? "INIT" : "TRYOPEN";
  throw ibcErrors.ErrInvalidConnectionState(
    `connection state is not ${name} (got ${enumName(State, connection.state)})`,
  );
}

function acceptedVersion({ versions }: ConnectionEnd, version: Version | undefined): Version {
  if (version !== undefined && store.isSupportedVersion(versions, version)) return version;
  throw ibcErrors.ErrInvalidConnectionState(
    `the counterparty selected version ${version === undefined ? "<nil>" : store.goVersion(version)} is not supported by versions selected on INIT`,
  );
}

/**
 * Verifies that the counterparty stores its end of the connection. `own.id` is empty if the counterparty does not know this chain's
 * connection id yet.
 */
function verifyCounterparty(
  context: Context,
  own: Written,
  proof: MessageProof,
  { state, versions }: Pick<ConnectionEnd, "state" | "versions">,
): void {
  const { clientId, delayPeriod } = own.end;
  const remote = counterpartyOf(own.end);
  const counterparty = { clientId, connectionId: own.id, prefix: OWN_PREFIX };
  const expected = { clientId: remote.clientId, versions, state, counterparty, delayPeriod };
  const path = `connections/${remote.connectionId}`;
  const proven = { ...proof, path, name: "connection state", isPacket: false };
  verifyRemoteValue(context, own.end, proven, ConnectionEnd.encode(expected).finish());
}

/** Returns the counterparty. A missing prefix is replaced by an empty prefix, because Go encodes the prefix even if it is empty. */
function counterpartyOf({ counterparty }: { readonly counterparty: Counterparty | undefined }): Counterparty {
  const { clientId = "", connectionId = "", prefix } = counterparty ?? {};
  return { clientId, connectionId, prefix: prefix ?? { keyPrefix: new Uint8Array(0) } };
}

/** Maximum number of versions that a counterparty may offer. */
const MAX_VERSIONS = 100;

function requireNotLocalhost(clientId: string): void {
  if (clientId === LOCALHOST)
    throw ibcErrors.ErrInvalidClientType("localhost connection handshakes are disallowed");
}

function requireRemoteClient(clientId: string): void {
  requireNotLocalhost(clientId);
  wrapErrors("invalid client ID", () => validateClientId(clientId));
}

function requireNumberedId(connectionId: string): void {
  if (!isNumberedId(connectionId, "connection-")) throw ibcErrors.ErrInvalidConnectionIdentifier();
}

function requireCounterpartyId(connectionId: string): void {
  wrapErrors("invalid counterparty connection ID", () => validateConnectionId(connectionId));
}

function requireProof(proof: Uint8Array, name: string): void {
  if (proof.length === 0) throw ibcErrors.ErrInvalidProof(`cannot submit an empty proof ${name}`);
}

function validateVersions(versions: readonly Version[]): void {
  if (versions.length === 0) throw ibcErrors.ErrIbcInvalidVersion("empty counterparty versions");
  if (versions.length > MAX_VERSIONS)
    throw ibcErrors.ErrIbcInvalidVersion(`counterparty versions must not exceed ${MAX_VERSIONS} items`);
  for (const [index, version] of versions.entries())
    wrapErrors(`basic validation failed on version with index ${index}`, () =>
      store.validateVersion(version),
    );
}

function validateCounterparty(counterparty: Counterparty | undefined): void {
  const { clientId = "", connectionId = "", prefix } = counterparty ?? {};
  if (connectionId !== "") requireCounterpartyId(connectionId);
  wrapErrors("invalid counterparty client ID", () => validateClientId(clientId));
  if ((prefix?.keyPrefix.length ?? 0) === 0)
    throw ibcErrors.ErrInvalidConnectionCounterparty("counterparty prefix cannot be empty");
}
