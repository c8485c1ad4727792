import { concat, readUint64BigEndian, uint64BigEndian, utf8 } from "../../../base/bytes.ts";
import type { Height } from "../../../proto/gen/ibc/core/client/v1/client.ts";
import { formatHeight } from "./height.ts";

/** Name of the module and of its store. Counterparty chains prove what lies in this store, so every path is ICS-24's. */
export const STORE_NAME = "ibc";

/** Prefix of everything that belongs to clients. */
export const CLIENTS_PREFIX = utf8("clients");

/** Prefix under which connection ends lie, followed by "/" and the id. */
export const CONNECTIONS_PREFIX = utf8("connections");

/** Number of the next client, 8 bytes big-endian. */
export const NEXT_CLIENT_SEQUENCE = utf8("nextClientSequence");

/** Number of the next connection, 8 bytes big-endian. */
export const NEXT_CONNECTION_SEQUENCE = utf8("nextConnectionSequence");

/** `ibc.core.client.v1.Params`. */
export const CLIENT_PARAMS = utf8("clientParams");

/** `ibc.core.connection.v1.Params`. */
export const CONNECTION_PARAMS = utf8("connectionParams");

/** Within a client's store: its state, as Any. */
export const CLIENT_STATE = utf8("clientState");

const ITERATION_PREFIX = utf8("iterateConsensusStates");

/** Prefix of one client's own store. */
export function clientPrefix(clientId: string): Uint8Array {
  return utf8(`clients/${clientId}/`);
}

/** Path of a client's state. */
export function clientStateKey(clientId: string): Uint8Array {
  return concat(clientPrefix(clientId), CLIENT_STATE);
}

/** Within a client's store: the consensus state of a height, as Any. */
export function consensusStateKey(height: Height): Uint8Array {
  return utf8(`consensusStates/${formatHeight(height)}`);
}

/** Within a client's store: when the consensus state came, block time in nanoseconds, 8 bytes big-endian. */
export function processedTimeKey(height: Height): Uint8Array {
  return utf8(`consensusStates/${formatHeight(height)}/processedTime`);
}

/** Within a client's store: at which own height the consensus state came, as text "revision-height". */
export function processedHeightKey(height: Height): Uint8Array {
  return utf8(`consensusStates/${formatHeight(height)}/processedHeight`);
}

/** Within a client's store: sorts by height; the value is the {@link consensusStateKey}. */
export function iterationKey(height: Height): Uint8Array {
  return concat(ITERATION_PREFIX, heightBytes(height));
}

/** Bounds of all iteration keys, or of those from a height on (inclusive), or below one. */
export function iterationRange(bounds: { readonly from?: Height; readonly below?: Height } = {}): {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
} {
  const start = bounds.from === undefined ? ITERATION_PREFIX : iterationKey(bounds.from);
  // "t" follows "s": the last letter of the prefix plus one ends the range of all heights
  const end = bounds.below === undefined ? utf8("iterateConsensusStatet") : iterationKey(bounds.below);
  return { start, end };
}

/** The height in an iteration key. */
export function heightOfIterationKey(key: Uint8Array): Height {
  const at = ITERATION_PREFIX.length;
  return {
    revisionNumber: readUint64BigEndian(key, at),
    revisionHeight: readUint64BigEndian(key, at + 8),
  };
}

/** Prefix of one client's consensus states and their metadata. */
export function consensusStatesPrefix(clientId: string): Uint8Array {
  return utf8(`clients/${clientId}/consensusStates/`);
}

/** Connections of a client, `ClientPaths`. */
export function clientConnectionsKey(clientId: string): Uint8Array {
  return utf8(`clients/${clientId}/connections`);
}

/** A connection end. */
export function connectionKey(connectionId: string): Uint8Array {
  return utf8(`connections/${connectionId}`);
}

function heightBytes(height: Height): Uint8Array {
  return concat(uint64BigEndian(height.revisionNumber), uint64BigEndian(height.revisionHeight));
}
