import * as wireConnection from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import { utf8 } from "../../../../../platform/base/bytes.ts";
import { enumName, trimGoSpace } from "../../../../../platform/base/text.ts";
import type { Context } from "../../../runtime/context.ts";
import * as collections from "../../../store/collections.ts";
import { openClient, requireActive } from "../client/client-store.ts";
import * as ibcErrors from "../host/errors.ts";
import { LOCALHOST } from "../host/identifiers.ts";
import { STORE_NAME } from "../host/keys.ts";

/** Id of the chain's connection to itself. */
const LOCALHOST_CONNECTION = "connection-localhost";

/** Number that the next connection id will contain, starting at 0. */
export const connectionSequence = collections.createSequence(STORE_NAME, utf8("nextConnectionSequence"), 0n);

/** Connection ends, keyed by connection id and sorted as text. */
export const connections = collections.createMap(
  STORE_NAME,
  utf8("connections/"),
  collections.textCodec,
  collections.messageCodec<wireConnection.ConnectionEnd>(wireConnection.ConnectionEnd),
);

/** Each client's connection ids, keyed by client id. A client that never had a connection has no entry. */
export const clientConnections = collections.createMap(
  STORE_NAME,
  utf8("clients/"),
  collections.mappedCodec(
    collections.textCodec,
    (path) => path.replace(/\/connections$/, ""),
    (clientId: string) => `${clientId}/connections`,
  ),
  collections.messageCodec<wireConnection.ClientPaths>(wireConnection.ClientPaths),
);

/** Creates the chain's connection to itself, over the localhost client. */
export function createLocalhostConnection(context: Context): void {
  connections.set(context, LOCALHOST_CONNECTION, {
    clientId: LOCALHOST,
    versions: [...SUPPORTED_VERSIONS],
    state: wireConnection.State.STATE_OPEN,
    counterparty: {
      clientId: LOCALHOST,
      connectionId: LOCALHOST_CONNECTION,
      prefix: { keyPrefix: utf8(STORE_NAME) },
    },
    delayPeriod: 0n,
  });
}

/** Returns a connection in any state. Throws connection/3 if the connection does not exist. */
export function requireConnection(context: Context, connectionId: string): wireConnection.ConnectionEnd {
  const connection = connections.get(context, connectionId);
  if (connection === undefined) throw ibcErrors.ErrConnectionNotFound(connectionId);
  return connection;
}

/** Returns an open connection. Throws connection/3 if the connection does not exist, and connection/6 if it is not open. */
export function requireOpenConnection(context: Context, connectionId: string): wireConnection.ConnectionEnd {
  return requireOpen(requireConnection(context, connectionId));
}

/** Returns the given connection. Throws connection/6 if the connection is not open. */
export function requireOpen(connection: wireConnection.ConnectionEnd): wireConnection.ConnectionEnd {
  if (connection.state === wireConnection.State.STATE_OPEN) return connection;
  throw ibcErrors.ErrInvalidConnectionState(
    `connection state is not OPEN (got ${enumName(wireConnection.State, connection.state)})`,
  );
}

/** Throws client/4 for an unknown client, and client/29 for a client that is not active. */
export function requireActiveClient(context: Context, clientId: string): void {
  const notFound = () => ibcErrors.ErrClientNotFound(`clientID (${clientId})`);
  const opened = openClient(context, clientId, notFound);
  requireActive(context, opened, (status) => `client (${clientId}) status is ${status}`);
}

/** The connection versions that this chain supports. IBC defines only one version, "1". */
export const SUPPORTED_VERSIONS: readonly wireConnection.Version[] = [
  { identifier: "1", features: ["ORDER_ORDERED", "ORDER_UNORDERED"] },
];

/** Performs the stateless checks of a version (ibc-go `ValidateVersion`). Throws connection/9 for an invalid version. */
export function validateVersion(version: wireConnection.Version | undefined): void {
  if (version === undefined) throw ibcErrors.ErrInvalidConnectionVersion("version cannot be nil");
  if (trimGoSpace(version.identifier) === "")
    throw ibcErrors.ErrInvalidConnectionVersion("version identifier cannot be blank");
  const blank = version.features.findIndex((feature) => trimGoSpace(feature) === "");
  if (blank >= 0) throw ibcErrors.ErrInvalidConnectionVersion(`feature cannot be blank, index ${blank}`);
}

/**
 * Returns whether a supported version has the same identifier and includes all requested features. A request without features is not
 * supported.
 */
export function isSupportedVersion(
  supported: readonly wireConnection.Version[],
  version: wireConnection.Version,
): boolean {
  const known = supported.find(({ identifier }) => identifier === version.identifier);
  return (
    known !== undefined &&
    version.features.length > 0 &&
    version.features.every((feature) => known.features.includes(feature))
  );
}

/**
 * Picks the first of this chain's versions that the counterparty supports, with their common features. Throws connection/10 if
 * there is no common version.
 */
export function pickVersion(counterparty: readonly wireConnection.Version[]): wireConnection.Version {
  for (const { identifier, features } of SUPPORTED_VERSIONS) {
    const other = counterparty.find((version) => version.identifier === identifier);
    const shared = features.filter((feature) => other?.features.includes(feature));
    if (shared.length > 0) return { identifier, features: shared };
  }
  throw ibcErrors.ErrVersionNegotiationFailed(
    `failed to find a matching counterparty version (${goVersions(counterparty)}) from the supported version list (${goVersions(SUPPORTED_VERSIONS)})`,
  );
}

/** Formats versions like Go formats a list of these protobuf messages. */
export function goVersions(versions: readonly wireConnection.Version[]): string {
  return `[${versions.map(goVersion).join(" ")}]`;
}

/** Formats a version like Go formats the protobuf message, including the trailing space. */
export function goVersion({ identifier, features }: wireConnection.Version): string {
  const identity = identifier === "" ? "" : `identifier:${JSON.stringify(identifier)} `;
  return identity + features.map((feature) => `features:${JSON.stringify(feature)} `).join("");
}
