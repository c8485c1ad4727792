import { Argument, Command } from "commander";
import type { CliContext } from "../cli-context.ts";
import { IBC_CHANNEL_TABLES, IBC_CLIENT_TABLES, IBC_CONNECTION_TABLES } from "../ibc-tables.ts";
import { type ServiceQuery, serviceQueryCommands } from "../service-query.ts";

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
];
