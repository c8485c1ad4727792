import { Command } from "commander";
import { isRecord, type JsonValue } from "../../../platform/base/json.ts";
import type { CliContext } from "../../../platform/cli/cli-context.ts";
import { cellText, fieldAt } from "../../../platform/cli/table.ts";
import { type QueryGroup, query, queryCommands } from "../module-query.ts";

/** Formats the height at `path` as ibc-go does, for example "1-5000" for revision 1 and height 5000. */
function heightAt(path: string): (row: JsonValue) => string {
  return (row) => {
    const height = fieldAt(row, path);
    if (!isRecord(height)) return "-";
    return `${cellText(fieldAt(height, "revision_number"))}-${cellText(fieldAt(height, "revision_height"))}`;
  };
}

/** Formats the enum value at `path` in lower case without its prefix, for example "open" for `STATE_OPEN`. */
function enumAt(path: string): (row: JsonValue) => string {
  return (row) =>
    cellText(fieldAt(row, path))
      .replace(/^[A-Z]+_/, "")
      .toLowerCase();
}

const FIELDS = {
  client_id: "<client> light client, e.g. 07-tendermint-0",
  connection: "<connection> connection, e.g. connection-0",
  sequence: "<sequence> packet sequence",
  packet_commitment_sequences: "<sequence...> packet sequences",
  packet_ack_sequences: "<sequence...> packet sequences",
};

const CLIENT = {
  CHAIN: "client_state.chain_id",
  "LATEST HEIGHT": heightAt("client_state.latest_height"),
  "FROZEN AT": heightAt("client_state.frozen_height"),
  "TRUSTING PERIOD": "client_state.trusting_period",
};

export const IBC_CLIENT_QUERIES: QueryGroup = {
  service: "ibc.core.client.v1.Query",
  fields: FIELDS,
  queries: {
    states: query("ClientStates", "list the clients", { columns: { CLIENT: "client_id", ...CLIENT } }),
    state: query("ClientState", "print a client", { path: "", columns: CLIENT }),
    status: query("ClientStatus", "print a client's status, e.g. Active or Expired", "STATUS"),
    "consensus-state-heights": query(
      "ConsensusStateHeights",
      "list the heights for which a client can verify proofs",
      { columns: { HEIGHT: heightAt("") } },
    ),
    params: query("ClientParams", "print the client parameters"),
  },
};

const CONNECTION = {
  STATE: enumAt("state"),
  CLIENT: "client_id",
  "THEIR CLIENT": "counterparty.client_id",
  "THEIR CONNECTION": "counterparty.connection_id",
};

export const IBC_CONNECTION_QUERIES: QueryGroup = {
  service: "ibc.core.connection.v1.Query",
  fields: FIELDS,
  queries: {
    connections: query("Connections", "list the connections", {
      columns: { CONNECTION: "id", ...CONNECTION },
    }),
    end: query("Connection", "print a connection", { columns: CONNECTION }),
    path: query("ClientConnections", "print a client's connections", "CONNECTION"),
    params: query("ConnectionParams", "print the connection parameters"),
  },
};

const CHANNEL = {
  STATE: enumAt("state"),
  ORDER: enumAt("ordering"),
  VERSION: "version",
  CONNECTION: "connection_hops",
  "THEIR PORT": "counterparty.port_id",
  "THEIR CHANNEL": "counterparty.channel_id",
};
const NAMED_CHANNEL = { columns: { PORT: "port_id", CHANNEL: "channel_id", ...CHANNEL } };
const PACKET = "SEQUENCE sequence, HASH data";

export const IBC_CHANNEL_QUERIES: QueryGroup = {
  service: "ibc.core.channel.v1.Query",
  fields: FIELDS,
  queries: {
    channels: query("Channels", "list the channels", NAMED_CHANNEL),
    end: query("Channel", "print a channel", { columns: CHANNEL }),
    connections: query("ConnectionChannels", "list a connection's channels", NAMED_CHANNEL),
    "packet-commitments": query(
      "PacketCommitments",
      "list the packets that were sent but are not acknowledged yet",
      PACKET,
    ),
    "packet-commitment": query(
      "PacketCommitment",
      "print the hash of a packet that was sent but is not acknowledged yet",
      "HASH",
    ),
    "packet-receipt": query("PacketReceipt", "print whether a packet was received on an unordered channel", {
      columns: "RECEIVED",
    }),
    "packet-ack": query("PacketAcknowledgement", "print a received packet's acknowledgement hash", "HASH"),
    "unreceived-packets": query(
      "UnreceivedPackets",
      "list the other chain's packets that have not arrived here",
      "SEQUENCE",
    ),
    "unreceived-acks": query(
      "UnreceivedAcks",
      "list this chain's packets whose acknowledgement has not arrived here",
      "SEQUENCE",
    ),
    "packet-acknowledgements": query("PacketAcknowledgements", "list received packets' acknowledgements", {
      columns: PACKET,
      takes: ["port_id", "channel_id"],
    }),
    "next-sequence-send": query("NextSequenceSend", "print the sequence of the next packet to send", "NEXT"),
    "next-sequence-receive": query(
      "NextSequenceReceive",
      "print the sequence of the next packet to receive on an ordered channel",
      "NEXT",
    ),
    params: query("ChannelParams", "print the channel parameters"),
  },
};

/** `relaywatch query ibc`, with the same command names as ibc-go. */
export function queryIbcCommand(context: CliContext): Command {
  const group = (queries: QueryGroup, name: string, description: string): Command =>
    queryCommands(queries)(context).name(name).description(description);
  return new Command()
    .addCommand(group(IBC_CLIENT_QUERIES, "client", "light clients of other chains"))
    .addCommand(group(IBC_CONNECTION_QUERIES, "connection", "connections to other chains"))
    .addCommand(group(IBC_CHANNEL_QUERIES, "channel", "channels and their packets"));
}
