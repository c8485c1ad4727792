import type { AnteStep } from "../../runtime/ante-step.ts";
import type { ChainModule, Context } from "../../runtime/context.ts";
import { channelHandlers } from "./channel/handlers.ts";
import type { PortRouter } from "./channel/ibc-module.ts";
import { createRelayCheck, packetMessages } from "./channel/packet-handlers.ts";
import { channelQueries } from "./channel/queries.ts";
import { clientHandlers, clientQueries } from "./client/handlers.ts";
import { updateLocalhostClient, createLocalhostClient, clientSequence } from "./client/keeper.ts";
import { connectionHandlers } from "./connection/handlers.ts";
import { connectionQueries } from "./connection/queries.ts";
import type { IbcOptions } from "./host/signed-handler.ts";
import { ibcKeeper, type IbcKeeper } from "./keeper.ts";
import { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { IdentifiedChannel, PacketState } from "../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { ConsensusStateWithHeight } from "../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import {
  ConnectionPaths,
  IdentifiedConnection,
} from "../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import { messageToJson } from "../../../../cosmos/proto/json.ts";
import { concat, latin1, prefixEnd, toBase64 } from "../../../../platform/base/bytes.ts";
import type { JsonField, JsonObject, JsonValue } from "../../../../platform/base/json.ts";
import { atPath, genesisField, genesisPart } from "../../runtime/genesis.ts";
import type { ModuleParams } from "../../runtime/params.ts";
import * as channelStore from "./channel/channel-store.ts";
import { validateChannel } from "./channel/messages.ts";
import * as clientStore from "./client/client-store.ts";
import {
  clientConnections,
  connections,
  createLocalhostConnection,
  connectionSequence,
} from "./connection/connection-store.ts";
import { parseHeight, ZERO_HEIGHT } from "./host/height.ts";
import { validateChannelId, validateClientId, validatePortId } from "./host/identifiers.ts";
import * as keys from "./host/keys.ts";
import type { ChannelEndpoint } from "./host/packet.ts";
import { channelParams, clientParams, connectionParams } from "./host/params.ts";

export interface IbcModule extends ChainModule {
  readonly keeper: IbcKeeper;
  /** The last ante step, which rejects redundant transactions from relayers. */
  readonly relayCheck: AnteStep;
}

/**
 * Creates the `ibc` module: light clients, connections and channels. `router` returns a port's application. `router` is called for
 * each message, because the applications are created after this module.
 */
export function createIbcModule(options: IbcOptions, router: PortRouter = () => undefined): IbcModule {
  return {
    name: keys.STORE_NAME,
    stores: [keys.STORE_NAME],
    messages: [
      ...clientHandlers(options),
      ...connectionHandlers(options),
      ...channelHandlers(options, router, packetMessages(options, router)),
    ],
    queries: [...clientQueries, ...connectionQueries, ...channelQueries],
    beginBlock: updateLocalhostClient,
    initGenesis,
    exportGenesis,
    keeper: ibcKeeper,
    relayCheck: createRelayCheck({ router, bech32Prefix: options.bech32Prefix }),
  };
}

const CLIENT = "ibc.core.client.v1";
const CONNECTION = "ibc.core.connection.v1";
const CHANNEL = "ibc.core.channel.v1";

const ANY = genesisPart<Any>("google.protobuf.Any", Any);
const CONSENSUS_STATE = genesisPart<ConsensusStateWithHeight>(
  `${CLIENT}.ConsensusStateWithHeight`,
  ConsensusStateWithHeight,
);
const CONNECTION_END = genesisPart<IdentifiedConnection>(
  `${CONNECTION}.IdentifiedConnection`,
  IdentifiedConnection,
);
const PATHS = genesisPart<ConnectionPaths>(`${CONNECTION}.ConnectionPaths`, ConnectionPaths);
const CHANNEL_END = genesisPart<IdentifiedChannel>(`${CHANNEL}.IdentifiedChannel`, IdentifiedChannel);
const PACKET_STATE = genesisPart<PacketState>(`${CHANNEL}.PacketState`, PacketState);

/**
 * Reads the module's genesis in ibc-go's format: `client_genesis`, `connection_genesis` and `channel_genesis`. If a part is
 * missing, its parameters are set to the defaults, and no clients, connections or channels are added. Like ibc-go, also creates the
 * localhost client and its connection. Throws `GenesisError`.
 */
export function initGenesis(context: Context, genesis: JsonValue | undefined): void {
  const root = genesisField(keys.STORE_NAME, genesis);
  initClients(context, root.member("client_genesis").orEmpty());
  initConnections(context, root.member("connection_genesis").orEmpty());
  initChannels(context, root.member("channel_genesis").orEmpty());
}

function initClients(context: Context, genesis: JsonField): void {
  initParams(context, genesis, CLIENT, clientParams);
  for (const client of genesis.member("clients").elements()) importClient(context, client, genesis);
  clientSequence.set(context, genesis.member("next_client_sequence").asUint64());
  createLocalhostClient(context);
}

function initConnections(context: Context, genesis: JsonField): void {
  initParams(context, genesis, CONNECTION, connectionParams);
  for (const { id, ...end } of CONNECTION_END.readList(genesis.member("connections")))
    connections.set(context, id, end);
  for (const each of PATHS.readList(genesis.member("client_connection_paths")))
    clientConnections.set(context, each.clientId, each);
  connectionSequence.set(context, genesis.member("next_connection_sequence").asUint64());
  createLocalhostConnection(context);
}

/** Exports the module's complete state, from which {@link initGenesis} restores the same store. */
export function exportGenesis(context: Context): JsonObject {
  const clients = listClients(context);
  return {
    client_genesis: {
      clients: clients.map(([client_id, { state }]) => ({ client_id, client_state: state })),
      clients_consensus: clients
        .filter(([, { consensus }]) => consensus.length > 0)
        .map(([client_id, { consensus }]) => ({ client_id, consensus_states: consensus })),
      clients_metadata: clients
        .filter(([, { metadata }]) => metadata.length > 0)
        .map(([client_id, { metadata }]) => ({ client_id, client_metadata: metadata })),
      params: exportParams(context, CLIENT, clientParams),
      create_localhost: false,
      next_client_sequence: `${clientSequence.next(context)}`,
    },
    connection_genesis: {
      connections: [...connections.entries(context)].map(([id, end]) => CONNECTION_END.print({ id, ...end })),
      client_connection_paths: clients.flatMap(([client_id]): JsonObject[] => {
        const entry = clientConnections.get(context, client_id);
        return entry === undefined ? [] : [{ client_id, paths: entry.paths }];
      }),
      next_connection_sequence: `${connectionSequence.next(context)}`,
      params: exportParams(context, CONNECTION, connectionParams),
    },
    channel_genesis: exportChannels(context),
  };
}

/**
 * Stores the `params` from one part of the genesis. If the part has no `params`, stores the defaults. Throws `GenesisError` for
 * invalid params.
 */
function initParams<T>(context: Context, genesis: JsonField, service: string, params: ModuleParams<T>): void {
  const field = genesis.member("params");
  const given = genesisPart(`${service}.Params`, params.type).readOptional(field);
  atPath(field.path, () => params.set(context, given ?? params.defaults));
}

function exportParams<T>(context: Context, service: string, params: ModuleParams<T>): JsonValue {
  return genesisPart(`${service}.Params`, params.type).print(params.get(context));
}

/**
 * Imports one entry from `clients`, along with its entries from `clients_consensus` and `clients_metadata`. `genesis` is the
 * `client_genesis` object, which contains the three lists. Throws `GenesisError`, or `ModuleError` for an invalid client.
 */
function importClient(context: Context, client: JsonField, genesis: JsonField): void {
  const clientId = client.member("client_id").required().asText();
  validateClientId(clientId);
  const state = ANY.readOptional(client.member("client_state"));
  const store = context.store(keys.STORE_NAME);
  const set = (key: Uint8Array, value: Uint8Array): void =>
    store.set(concat(keys.clientPrefix(clientId), key), value);
  set(keys.CLIENT_STATE, clientStore.encodeClientState(clientStore.unpackClientState(state)));
  for (const entry of entriesOf(genesis, "clients_consensus", clientId)) {
    for (const each of CONSENSUS_STATE.readList(entry.member("consensus_states"))) {
      const consensusState = clientStore.unpackConsensusState(each.consensusState);
      set(
        keys.consensusStateKey(each.height ?? ZERO_HEIGHT),
        clientStore.encodeConsensusState(consensusState),
      );
    }
  }
  for (const entry of entriesOf(genesis, "clients_metadata", clientId)) {
    const metadata = entry
      .member("client_metadata")
      .elements()
      .map((each) => [base64Of(each, "key"), base64Of(each, "value")] as const);
    for (const [key, value] of metadata) set(key, value);
  }
}

function base64Of(entry: JsonField, name: string): Uint8Array {
  return entry.member(name).required().asBase64();
}

/** Returns the entries of a genesis list that have this `client_id`. */
function entriesOf(genesis: JsonField, list: string, clientId: string): readonly JsonField[] {
  return genesis
    .member(list)
    .elements()
    .filter((entry) => entry.member("client_id").required().asText() === clientId);
}

/** A client in genesis format. `metadata` contains the client's store entries other than client and consensus states. */
interface ExportedClient {
  state: JsonValue;
  readonly consensus: JsonObject[];
  readonly metadata: JsonObject[];
}

/** Returns all clients, sorted by id as text. Each client includes all its store entries except its connections. */
function listClients(context: Context): readonly (readonly [clientId: string, ExportedClient])[] {
  const clients = new Map<string, ExportedClient>();
  const prefix = keys.CLIENTS_PREFIX;
  for (const [path, value] of context.store(keys.STORE_NAME).iterate(prefix, prefixEnd(prefix))) {
    // Paths are "clients/{id}/{key}". Decode as Latin-1, because some keys contain heights in binary.
    const [, clientId, key = ""] = /^clients\/([^/]+)\/(.*)$/s.exec(latin1(path)) ?? [];
    if (clientId === undefined || key === "connections") continue;
    const client = clients.get(clientId) ?? { state: null, consensus: [], metadata: [] };
    clients.set(clientId, client);
    const consensusState = consensusStateJson(key, value);
    if (key === "clientState") client.state = messageToJson("google.protobuf.Any", value);
    else if (consensusState !== undefined) client.consensus.push(consensusState);
    else {
      const own = path.subarray(path.length - key.length);
      client.metadata.push({ key: toBase64(own), value: toBase64(value) });
    }
  }
  return [...clients];
}

/** Returns a consensus state in genesis format, or undefined for any other key. */
function consensusStateJson(key: string, value: Uint8Array): JsonObject | undefined {
  const height = parseHeight(/^consensusStates\/([^/]+)$/.exec(key)?.[1] ?? "");
  if (height === undefined) return undefined;
  const { revisionNumber, revisionHeight } = height;
  return {
    height: { revision_number: `${revisionNumber}`, revision_height: `${revisionHeight}` },
    consensus_state: messageToJson("google.protobuf.Any", value),
  };
}

/** Genesis lists of packet entries, each with the name that its entries have in store keys. */
const PACKET_LISTS: readonly (readonly [list: string, name: keys.PacketEntryName])[] = [
  ["acknowledgements", "acks"],
  ["commitments", "commitments"],
  ["receipts", "receipts"],
];

/** Genesis lists of channel sequences, each with the name that its sequences have in store keys. */
const SEQUENCE_LISTS: readonly (readonly [list: string, name: keys.SequenceName])[] = [
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
  for (const [index, channel] of CHANNEL_END.readList(list).entries())
    atPath(`${list.path}[${index}]`, () => initChannel(context, channel));
  for (const [name, entry] of PACKET_LISTS) initPackets(context, genesis.member(name), entry);
  for (const [name, sequence] of SEQUENCE_LISTS) initSequences(context, genesis.member(name), sequence);
  channelStore.channelSequence.set(context, genesis.member("next_channel_sequence").asUint64());
}

function initChannel(context: Context, { portId, channelId, ...channel }: IdentifiedChannel): void {
  const end = { portId, channelId };
  validateEnd(end);
  validateChannel(channel);
  if (channelStore.channels.get(context, end) !== undefined)
    throw new Error(`duplicate channel ${channelId} of port ${portId}`);
  if (connections.get(context, channelStore.hopOf(channel)) === undefined)
    throw new Error(`the connection ${channelStore.hopOf(channel)} does not exist`);
  channelStore.channels.set(context, end, channel);
}

function initPackets(context: Context, list: JsonField, name: keys.PacketEntryName): void {
  for (const [index, state] of PACKET_STATE.readList(list).entries()) {
    atPath(`${list.path}[${index}]`, () => validateEnd(state));
    channelStore.packets[name].set(context, state, state.data);
  }
}

function initSequences(context: Context, list: JsonField, name: keys.SequenceName): void {
  for (const element of list.elements()) {
    const portId = element.member("port_id").required().asText();
    const channelId = element.member("channel_id").required().asText();
    atPath(element.path, () => validateEnd({ portId, channelId }));
    const sequence = element.member("sequence").required().asUint64();
    channelStore.sequences[name].set(context, { portId, channelId }, sequence);
  }
}

/** Throws if a channel's ids are invalid. As in ibc-go, the channel of a packet entry need not exist. */
function validateEnd({ portId, channelId }: ChannelEndpoint): void {
  validatePortId(portId);
  validateChannelId(channelId);
}

function exportChannels(context: Context): JsonObject {
  return {
    channels: channelStore.listChannels(context).map(CHANNEL_END.print),
    ...Object.fromEntries(
      PACKET_LISTS.map(([list, name]) => [
        list,
        [...channelStore.packets[name].entries(context)].map(([{ sequence, ...end }, data]) => ({
          ...sequenceJson(end, sequence),
          data: toBase64(data),
        })),
      ]),
    ),
    ...Object.fromEntries(
      SEQUENCE_LISTS.map(([list, name]) => [
        list,
        [...channelStore.sequences[name].entries(context)].map(([end, sequence]) =>
          sequenceJson(end, sequence),
        ),
      ]),
    ),
    next_channel_sequence: `${channelStore.channelSequence.next(context)}`,
    params: exportParams(context, CHANNEL, channelParams),
  };
}

function sequenceJson({ portId, channelId }: ChannelEndpoint, sequence: bigint): JsonObject {
  return { port_id: portId, channel_id: channelId, sequence: sequence.toString() };
}
