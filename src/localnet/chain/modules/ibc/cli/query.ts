import { Argument, Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { sequencesArgument } from "./arguments.ts";
import { parseUint64 } from "../../../../../platform/cli/options.ts";
import { IBC_CHANNEL_TABLES, IBC_CLIENT_TABLES, IBC_CONNECTION_TABLES } from "./tables.ts";
import { type ServiceQuery, serviceQueryCommands } from "../../../../cli/module-query.ts";

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
