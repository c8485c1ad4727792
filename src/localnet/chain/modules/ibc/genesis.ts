import { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { IdentifiedChannel, PacketState } from "../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { ConsensusStateWithHeight } from "../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import {
  ConnectionPaths,
  IdentifiedConnection,
} from "../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import { messageFromJson, messageToJson } from "../../../../cosmos/proto/json.ts";
import { concat, prefixEnd, toBase64 } from "../../../../platform/base/bytes.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import { isRecord, JsonField, type JsonObject, type JsonValue } from "../../../../platform/base/json.ts";
import type { Context } from "../../runtime/context.ts";
import { atPath, GenesisError } from "../../runtime/genesis.ts";
import type { ModuleParams } from "../../runtime/params.ts";
import {
  getChannel,
  hopOf,
  listChannels,
  listPacketEntries,
  listSequences,
  nextChannelSequence,
  setChannel,
  setPacketEntry,
  setSequence,
} from "./channel/channel-store.ts";
import { validateChannel } from "./channel/messages.ts";
import type { ChannelEndpoint } from "./host/packet.ts";
import {
  encodeClientState,
  encodeConsensusState,
  unpackClientState,
  unpackConsensusState,
} from "./client/client-store.ts";
import { createLocalhostClient, nextClientSequence } from "./client/keeper.ts";
import {
  createLocalhostConnection,
  getClientConnections,
  getConnection,
  listConnections,
  nextConnectionSequence,
  setClientConnections,
  setConnection,
} from "./connection/connection-store.ts";
import { parseHeight, ZERO_HEIGHT } from "./host/height.ts";
import { validateChannelId, validateClientId, validatePortId } from "./host/identifiers.ts";
import {
  clientPrefix,
  CLIENTS_PREFIX,
  clientStateKey,
  consensusStateKey,
  type PacketEntryName,
  type SequenceName,
  STORE_NAME,
} from "./host/keys.ts";
import { channelParams, clientParams, connectionParams } from "./host/params.ts";

const CLIENT = "ibc.core.client.v1";
const CONNECTION = "ibc.core.connection.v1";
const CHANNEL = "ibc.core.channel.v1";

/**
 * Reads the module's genesis in ibc-go's format: `client_genesis`, `connection_genesis` and `channel_genesis`. If a part is
 * absent, its clients, connections or channels are empty and its params are the defaults. Creates the localhost client and its
 * connection, as ibc-go does whenever it starts from a genesis. Throws `GenesisError`.
 */
export function initGenesis(context: Context, genesis: JsonValue | undefined): void {
  const root = genesisField(genesis);
  initClients(context, root.member("client_genesis").orEmpty());
  initConnections(context, root.member("connection_genesis").orEmpty());
  initChannels(context, root.member("channel_genesis").orEmpty());
}

function initClients(context: Context, genesis: JsonField): void {
  initParams(context, genesis, CLIENT, clientParams);
  for (const client of genesis.member("clients").elements()) importClient(context, client, genesis);
  nextClientSequence.set(context, genesis.member("next_client_sequence").asUint64());
  createLocalhostClient(context);
}

function initConnections(context: Context, genesis: JsonField): void {
  initParams(context, genesis, CONNECTION, connectionParams);
  const connections = asMessages(genesis.member("connections"), {
    name: `${CONNECTION}.IdentifiedConnection`,
    codec: IdentifiedConnection,
  });
  for (const connection of connections) setConnection(context, connection);
  const clientPaths = asMessages(genesis.member("client_connection_paths"), {
    name: `${CONNECTION}.ConnectionPaths`,
    codec: ConnectionPaths,
  });
  for (const { clientId, paths } of clientPaths) setClientConnections(context, clientId, paths);
  nextConnectionSequence.set(context, genesis.member("next_connection_sequence").asUint64());
  createLocalhostConnection(context);
}

/** Exports the module's complete state, from which {@link initGenesis} restores the same store. */
export function exportGenesis(context: Context): JsonObject {
  const clients = listClients(context);
  return {
    client_genesis: {
      clients: clients.map(({ clientId, clientState }) => ({
        client_id: clientId,
        client_state: clientState,
      })),
      clients_consensus: clients
        .filter(({ consensusStates }) => consensusStates.length > 0)
        .map(({ clientId, consensusStates }) => ({ client_id: clientId, consensus_states: consensusStates })),
      clients_metadata: clients
        .filter(({ metadata }) => metadata.length > 0)
        .map(({ clientId, metadata }) => ({ client_id: clientId, client_metadata: metadata })),
      params: exportParams(context, CLIENT, clientParams),
      create_localhost: false,
      next_client_sequence: `${nextClientSequence.get(context) ?? 0n}`,
    },
    connection_genesis: exportConnections(
      context,
      clients.map(({ clientId }) => clientId),
    ),
    channel_genesis: exportChannels(context),
  };
}

function exportConnections(context: Context, clientIds: readonly string[]): JsonObject {
  return {
    connections: listConnections(context).map((connection) =>
      toJson(`${CONNECTION}.IdentifiedConnection`, IdentifiedConnection.encode(connection)),
    ),
    client_connection_paths: clientIds.flatMap((clientId): JsonObject[] => {
      const paths = getClientConnections(context, clientId);
      return paths === undefined ? [] : [{ client_id: clientId, paths }];
    }),
    next_connection_sequence: `${nextConnectionSequence.get(context) ?? 0n}`,
    params: exportParams(context, CONNECTION, connectionParams),
  };
}

/** Stores the `params` from one part of the genesis, or the defaults if absent. Throws `GenesisError` if they are invalid. */
function initParams<T>(context: Context, genesis: JsonField, service: string, params: ModuleParams<T>): void {
  const field = genesis.member("params");
  const given = asMessage(field, { name: `${service}.Params`, codec: params.type });
  atPath(field.path, () => params.set(context, given ?? params.defaults));
}

function exportParams<T>(context: Context, service: string, params: ModuleParams<T>): JsonObject {
  return toJson(`${service}.Params`, params.type.encode(params.get(context)));
}

function toJson(typeName: string, writer: { finish(): Uint8Array }): JsonObject {
  const json = messageToJson(typeName, writer.finish());
  return isRecord(json) ? json : unreachable(`${typeName} does not print as an object`);
}

/** A generated message type and its full name. */
interface MessageType<T> {
  readonly name: string;
  readonly codec: { decode(input: Uint8Array): T };
}

/** Wraps the module's genesis. An absent genesis is treated as an empty object. The field's methods throw `GenesisError`. */
function genesisField(genesis: JsonValue | undefined): JsonField {
  const path = `app_state.${STORE_NAME}`;
  return new JsonField(genesis ?? {}, path, (where, expected) => new GenesisError(where, `not ${expected}`));
}

/** Decodes a message from proto JSON, or returns undefined if absent. */
function asMessage<T>(field: JsonField, type: MessageType<T>): T | undefined {
  if (!field.isPresent()) return undefined;
  return atPath(field.path, () => type.codec.decode(messageFromJson(type.name, field.value)));
}

/** Decodes a list of messages from proto JSON. An absent list is empty. */
function asMessages<T>(field: JsonField, type: MessageType<T>): readonly T[] {
  return field.elements().flatMap((element) => asMessage(element, type) ?? []);
}

/** A client in genesis format. `metadata` contains all other entries in its store. */
interface ExportedClient {
  readonly clientId: string;
  readonly clientState: JsonValue;
  readonly consensusStates: readonly JsonObject[];
  readonly metadata: readonly JsonObject[];
}

/**
 * Imports one entry from `clients`, along with its entries from `clients_consensus` and `clients_metadata`. `genesis` is the
 * object that contains the three lists. Throws `GenesisError`, or `ModuleError` for an invalid client.
 */
function importClient(context: Context, client: JsonField, genesis: JsonField): void {
  const clientId = client.member("client_id").required().asText();
  validateClientId(clientId);
  const state = asMessage(client.member("client_state"), { name: "google.protobuf.Any", codec: Any });
  const store = context.store(STORE_NAME);
  const prefix = clientPrefix(clientId);
  store.set(clientStateKey(clientId), encodeClientState(unpackClientState(state)));
  for (const entry of entriesOf(genesis, "clients_consensus", clientId)) {
    const states = asMessages(entry.member("consensus_states"), CONSENSUS_STATE);
    for (const { height, consensusState } of states) {
      const key = concat(prefix, consensusStateKey(height ?? ZERO_HEIGHT));
      store.set(key, encodeConsensusState(unpackConsensusState(consensusState)));
    }
  }
  for (const entry of entriesOf(genesis, "clients_metadata", clientId)) {
    for (const { key, value } of entry.member("client_metadata").elements().map(metadataOf))
      store.set(concat(prefix, key), value);
  }
}

const CONSENSUS_STATE = {
  name: "ibc.core.client.v1.ConsensusStateWithHeight",
  codec: ConsensusStateWithHeight,
};

/** Returns the entries of a list with this `client_id`. */
function entriesOf(genesis: JsonField, list: string, clientId: string): readonly JsonField[] {
  return genesis
    .member(list)
    .elements()
    .filter((entry) => entry.member("client_id").required().asText() === clientId);
}

function metadataOf(entry: JsonField): { readonly key: Uint8Array; readonly value: Uint8Array } {
  return {
    key: entry.member("key").required().asBase64(),
    value: entry.member("value").required().asBase64(),
  };
}

/** Returns all clients, sorted by their ids as text, each with all its store entries except its connections. */
function listClients(context: Context): readonly ExportedClient[] {
  const clients = new Map<string, { state: JsonValue; consensus: JsonObject[]; metadata: JsonObject[] }>();
  const entries = context.store(STORE_NAME).iterate(CLIENTS_PREFIX, prefixEnd(CLIENTS_PREFIX));
  for (const [path, value] of entries) {
    const { clientId, key } = splitPath(path);
    if (clientId === undefined || key === undefined || textOf(key) === "connections") continue;
    const client = clients.get(clientId) ?? { state: null, consensus: [], metadata: [] };
    clients.set(clientId, client);
    const consensusState = consensusStateJson(key, value);
    if (textOf(key) === "clientState") client.state = messageToJson("google.protobuf.Any", value);
    else if (consensusState !== undefined) client.consensus.push(consensusState);
    else client.metadata.push({ key: toBase64(key), value: toBase64(value) });
  }
  return [...clients].map(([clientId, { state, consensus, metadata }]) => ({
    clientId,
    clientState: state,
    consensusStates: consensus,
    metadata,
  }));
}

/** Splits "clients/{id}/{key}". The key may contain any bytes: iteration keys contain binary heights. */
function splitPath(path: Uint8Array): { readonly clientId?: string; readonly key?: Uint8Array } {
  const slash = "/".charCodeAt(0);
  const start = CLIENTS_PREFIX.length + 1;
  const end = path.indexOf(slash, start);
  if (end < 0) return {};
  return { clientId: textOf(path.subarray(start, end)), key: path.subarray(end + 1) };
}

/** Returns a consensus state in genesis format, or undefined for any other key. */
function consensusStateJson(key: Uint8Array, value: Uint8Array): JsonObject | undefined {
  const match = /^consensusStates\/([^/]+)$/.exec(textOf(key));
  const height = parseHeight(match?.[1] ?? "");
  if (height === undefined) return undefined;
  return {
    height: {
      revision_number: `${height.revisionNumber}`,
      revision_height: `${height.revisionHeight}`,
    },
    consensus_state: messageToJson("google.protobuf.Any", value),
  };
}

/** Decodes bytes as Latin-1, which maps every byte to one character, so binary keys compare safely. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

/** Genesis lists that contain packet entries. */
const PACKET_LISTS: readonly (readonly [list: string, name: PacketEntryName])[] = [
  ["acknowledgements", "acks"],
  ["commitments", "commitments"],
  ["receipts", "receipts"],
];

/** Genesis lists that contain channel sequences. */
const SEQUENCE_LISTS: readonly (readonly [list: string, name: SequenceName])[] = [
  ["send_sequences", "nextSequenceSend"],
  ["recv_sequences", "nextSequenceRecv"],
  ["ack_sequences", "nextSequenceAck"],
];

/**
 * Reads `channel_genesis` in ibc-go's format, after the connections. Throws `GenesisError` if a channel is invalid, is listed
 * twice, or has no connection.
 */
function initChannels(context: Context, genesis: JsonField): void {
  initParams(context, genesis, CHANNEL, channelParams);
  const list = genesis.member("channels");
  const channels = asMessages(list, { name: `${CHANNEL}.IdentifiedChannel`, codec: IdentifiedChannel });
  for (const [index, channel] of channels.entries())
    atPath(`${list.path}[${index}]`, () => initChannel(context, channel));
  for (const [name, entry] of PACKET_LISTS) initPackets(context, genesis.member(name), entry);
  for (const [name, sequence] of SEQUENCE_LISTS) initSequences(context, genesis.member(name), sequence);
  nextChannelSequence.set(context, genesis.member("next_channel_sequence").asUint64());
}

function initChannel(context: Context, { portId, channelId, ...channel }: IdentifiedChannel): void {
  const end = { portId, channelId };
  validatePortId(portId);
  validateChannelId(channelId);
  validateChannel(channel);
  if (getChannel(context, end) !== undefined)
    throw new Error(`duplicate channel ${channelId} of port ${portId}`);
  if (getConnection(context, hopOf(channel)) === undefined)
    throw new Error(`the connection ${hopOf(channel)} does not exist`);
  setChannel(context, end, channel);
}

function initPackets(context: Context, list: JsonField, name: PacketEntryName): void {
  const states = asMessages(list, { name: `${CHANNEL}.PacketState`, codec: PacketState });
  for (const [index, { portId, channelId, sequence, data }] of states.entries()) {
    const end = { portId, channelId };
    checkEnd(`${list.path}[${index}]`, end);
    setPacketEntry(context, name, { end, sequence }, data);
  }
}

function initSequences(context: Context, list: JsonField, name: SequenceName): void {
  for (const element of list.elements()) {
    const portId = element.member("port_id").required().asText();
    const channelId = element.member("channel_id").required().asText();
    checkEnd(element.path, { portId, channelId });
    setSequence(context, name, { portId, channelId }, element.member("sequence").required().asUint64());
  }
}

/** Checks a channel's ids. As in ibc-go, the channel need not exist. */
function checkEnd(path: string, { portId, channelId }: ChannelEndpoint): void {
  atPath(path, () => {
    validatePortId(portId);
    validateChannelId(channelId);
  });
}

/** Exports all channels and their packets. */
function exportChannels(context: Context): JsonObject {
  const channels = listChannels(context);
  return {
    channels: channels.map((channel) =>
      messageToJson(`${CHANNEL}.IdentifiedChannel`, IdentifiedChannel.encode(channel).finish()),
    ),
    ...Object.fromEntries(PACKET_LISTS.map(([list, name]) => [list, exportPackets(context, name)])),
    ...Object.fromEntries(SEQUENCE_LISTS.map(([list, name]) => [list, exportSequences(context, name)])),
    next_channel_sequence: `${nextChannelSequence.get(context) ?? 0n}`,
    params: exportParams(context, CHANNEL, channelParams),
  };
}

function exportPackets(context: Context, name: PacketEntryName): readonly JsonValue[] {
  return listPacketEntries(context, name).map(({ portId, channelId, sequence, data }) => ({
    port_id: portId,
    channel_id: channelId,
    sequence: sequence.toString(),
    data: toBase64(data),
  }));
}

function exportSequences(context: Context, name: SequenceName): readonly JsonValue[] {
  return listSequences(context, name).map(({ portId, channelId, sequence }) => ({
    port_id: portId,
    channel_id: channelId,
    sequence: sequence.toString(),
  }));
}
