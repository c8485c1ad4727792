import { Argument, Command } from "commander";
import { isRecord, type JsonValue } from "../../../../../platform/base/json.ts";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { parseUint64 } from "../../../../../platform/cli/options.ts";
import { cellText, column, type Column, fieldAt } from "../../../../../platform/cli/table.ts";
import {
  type AnswerTable,
  PARAMS_TABLE,
  type ServiceQuery,
  serviceQueryCommands,
} from "../../../../cli/module-query.ts";
import { sequencesArgument } from "./arguments.ts";

/** `relaywatch query ibc`. Names are those of ibc-go. */
export function queryIbcCommand(context: CliContext): Command {
  return new Command()
    .addCommand(clientCommand(context))
    .addCommand(connectionCommand(context))
    .addCommand(channelCommand(context));
}

const ARGUMENTS = {
  client_id: () => new Argument("<client>", "light client, e.g. 07-tendermint-0"),
  connection_id: () => new Argument("<connection>", "connection, e.g. connection-0"),
  connection: () => new Argument("<connection>", "connection, e.g. connection-0"),
  port_id: () => new Argument("<port>", "port, e.g. transfer"),
  channel_id: () => new Argument("<channel>", "channel, e.g. channel-0"),
  sequence: () => new Argument("<sequence>", "number of a packet").argParser(parseUint64),
  packet_commitment_sequences: sequencesArgument,
  packet_ack_sequences: sequencesArgument,
};
type Field = keyof typeof ARGUMENTS;

function clientCommand(context: CliContext): Command {
  return serviceQueryCommands(
    {
      service: "ibc.core.client.v1.Query",
      arguments: ARGUMENTS,
      tables: IBC_CLIENT_TABLES,
      queries: CLIENT_QUERIES,
    },
    context,
  )
    .name("client")
    .description("light clients of other chains");
}

const CLIENT_QUERIES: readonly ServiceQuery<Field, keyof typeof IBC_CLIENT_TABLES>[] = [
  { name: "states", rpc: "ClientStates", description: "list the clients", isList: true },
  { name: "state", rpc: "ClientState", description: "print a client", arguments: ["client_id"] },
  {
    name: "status",
    rpc: "ClientStatus",
    description: "print whether a client is active",
    arguments: ["client_id"],
  },
  {
    name: "consensus-state-heights",
    rpc: "ConsensusStateHeights",
    description: "list the heights that a client can verify proofs of",
    arguments: ["client_id"],
    isList: true,
  },
  { name: "params", rpc: "ClientParams", description: "print the parameters of the clients" },
];

function connectionCommand(context: CliContext): Command {
  return serviceQueryCommands(
    {
      service: "ibc.core.connection.v1.Query",
      arguments: ARGUMENTS,
      tables: IBC_CONNECTION_TABLES,
      queries: CONNECTION_QUERIES,
    },
    context,
  )
    .name("connection")
    .description("connections to other chains");
}

const CONNECTION_QUERIES: readonly ServiceQuery<Field, keyof typeof IBC_CONNECTION_TABLES>[] = [
  { name: "connections", rpc: "Connections", description: "list the connections", isList: true },
  { name: "end", rpc: "Connection", description: "print a connection", arguments: ["connection_id"] },
  {
    name: "path",
    rpc: "ClientConnections",
    description: "print the connections of a client",
    arguments: ["client_id"],
  },
  { name: "params", rpc: "ConnectionParams", description: "print the parameters of the connections" },
];

function channelCommand(context: CliContext): Command {
  return serviceQueryCommands(
    {
      service: "ibc.core.channel.v1.Query",
      arguments: ARGUMENTS,
      tables: IBC_CHANNEL_TABLES,
      queries: CHANNEL_QUERIES,
    },
    context,
  )
    .name("channel")
    .description("channels and their packets");
}

const CHANNEL_QUERIES: readonly ServiceQuery<Field, keyof typeof IBC_CHANNEL_TABLES>[] = [
  { name: "channels", rpc: "Channels", description: "list the channels", isList: true },
  { name: "end", rpc: "Channel", description: "print a channel", arguments: ["port_id", "channel_id"] },
  {
    name: "connections",
    rpc: "ConnectionChannels",
    description: "list the channels of a connection",
    arguments: ["connection"],
    isList: true,
  },
  {
    name: "packet-commitments",
    rpc: "PacketCommitments",
    description: "list the packets that were sent and not yet acknowledged",
    arguments: ["port_id", "channel_id"],
    isList: true,
  },
  {
    name: "packet-commitment",
    rpc: "PacketCommitment",
    description: "print the hash of a packet that was sent and not yet acknowledged",
    arguments: ["port_id", "channel_id", "sequence"],
  },
  {
    name: "packet-receipt",
    rpc: "PacketReceipt",
    description: "print whether a packet was received on an unordered channel",
    arguments: ["port_id", "channel_id", "sequence"],
  },
  {
    name: "packet-ack",
    rpc: "PacketAcknowledgement",
    description: "print the hash of the acknowledgement of a received packet",
    arguments: ["port_id", "channel_id", "sequence"],
  },
  {
    name: "unreceived-packets",
    rpc: "UnreceivedPackets",
    description: "list those of the other chain's packets that did not arrive here",
    arguments: ["port_id", "channel_id", "packet_commitment_sequences"],
  },
  {
    name: "unreceived-acks",
    rpc: "UnreceivedAcks",
    description: "list those of this chain's packets whose acknowledgement did not arrive here",
    arguments: ["port_id", "channel_id", "packet_ack_sequences"],
  },
  {
    name: "packet-acknowledgements",
    rpc: "PacketAcknowledgements",
    description: "list the acknowledgements of received packets",
    arguments: ["port_id", "channel_id"],
    isList: true,
  },
  {
    name: "next-sequence-send",
    rpc: "NextSequenceSend",
    description: "print the number of the next packet to send",
    arguments: ["port_id", "channel_id"],
  },
  {
    name: "next-sequence-receive",
    rpc: "NextSequenceReceive",
    description: "print the number of the next packet to receive on an ordered channel",
    arguments: ["port_id", "channel_id"],
  },
  { name: "params", rpc: "ChannelParams", description: "print the parameters of the channels" },
];

/** Creates a column of a height: revision number and height, as ibc-go prints them. */
function heightColumn(title: string, path: string): Column {
  return { title, cell: (row) => heightText(fieldAt(row, path)) };
}

function heightText(height: JsonValue): string {
  if (!isRecord(height)) return "-";
  return `${cellText(fieldAt(height, "revision_number"))}-${cellText(fieldAt(height, "revision_height"))}`;
}

/** Creates a column of an enum: `STATE_OPEN` as "open". */
function enumColumn(title: string, path: string): Column {
  return {
    title,
    cell: (row) =>
      cellText(fieldAt(row, path))
        .replace(/^[A-Z]+_/, "")
        .toLowerCase(),
  };
}

const CLIENT_COLUMNS = [
  column("CHAIN", "client_state.chain_id"),
  heightColumn("LATEST HEIGHT", "client_state.latest_height"),
  heightColumn("FROZEN AT", "client_state.frozen_height"),
  column("TRUSTING PERIOD", "client_state.trusting_period"),
];

/** Tables of `ibc.core.client.v1.Query`. */
export const IBC_CLIENT_TABLES = {
  ClientStates: { path: "client_states", columns: [column("CLIENT", "client_id"), ...CLIENT_COLUMNS] },
  ClientState: { path: "", columns: CLIENT_COLUMNS },
  ConsensusStateHeights: {
    path: "consensus_state_heights",
    columns: [{ title: "HEIGHT", cell: heightText }],
  },
  ClientStatus: { path: "status", columns: [{ title: "STATUS", cell: cellText }] },
  ClientParams: PARAMS_TABLE,
} as const satisfies Readonly<Record<string, AnswerTable>>;

const CONNECTION_COLUMNS = [
  enumColumn("STATE", "state"),
  column("CLIENT", "client_id"),
  column("THEIR CLIENT", "counterparty.client_id"),
  column("THEIR CONNECTION", "counterparty.connection_id"),
];

/** Tables of `ibc.core.connection.v1.Query`. */
export const IBC_CONNECTION_TABLES = {
  Connections: { path: "connections", columns: [column("CONNECTION", "id"), ...CONNECTION_COLUMNS] },
  Connection: { path: "connection", columns: CONNECTION_COLUMNS },
  ClientConnections: { path: "connection_paths", columns: [{ title: "CONNECTION", cell: cellText }] },
  ConnectionParams: PARAMS_TABLE,
} as const satisfies Readonly<Record<string, AnswerTable>>;

const CHANNEL_COLUMNS = [
  enumColumn("STATE", "state"),
  enumColumn("ORDER", "ordering"),
  column("VERSION", "version"),
  column("CONNECTION", "connection_hops"),
  column("THEIR PORT", "counterparty.port_id"),
  column("THEIR CHANNEL", "counterparty.channel_id"),
];
const NAMED_CHANNEL_COLUMNS = [
  column("PORT", "port_id"),
  column("CHANNEL", "channel_id"),
  ...CHANNEL_COLUMNS,
];
const PACKET_COLUMNS = [column("SEQUENCE", "sequence"), column("HASH", "data")];
const SEQUENCES = { path: "sequences", columns: [{ title: "SEQUENCE", cell: cellText }] };

/** Tables of `ibc.core.channel.v1.Query`. */
export const IBC_CHANNEL_TABLES = {
  Channels: { path: "channels", columns: NAMED_CHANNEL_COLUMNS },
  Channel: { path: "channel", columns: CHANNEL_COLUMNS },
  ConnectionChannels: { path: "channels", columns: NAMED_CHANNEL_COLUMNS },
  PacketCommitments: { path: "commitments", columns: PACKET_COLUMNS },
  PacketAcknowledgements: { path: "acknowledgements", columns: PACKET_COLUMNS },
  PacketCommitment: { path: "commitment", columns: [{ title: "HASH", cell: cellText }] },
  PacketReceipt: { path: "received", columns: [{ title: "RECEIVED", cell: cellText }] },
  PacketAcknowledgement: { path: "acknowledgement", columns: [{ title: "HASH", cell: cellText }] },
  UnreceivedPackets: SEQUENCES,
  UnreceivedAcks: SEQUENCES,
  ChannelParams: PARAMS_TABLE,
  NextSequenceSend: { path: "next_sequence_send", columns: [{ title: "NEXT", cell: cellText }] },
  NextSequenceReceive: { path: "next_sequence_receive", columns: [{ title: "NEXT", cell: cellText }] },
} as const satisfies Readonly<Record<string, AnswerTable>>;
