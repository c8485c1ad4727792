import { isRecord, type JsonValue } from "../../../../../platform/base/json.ts";
import { type AnswerTable, PARAMS_TABLE } from "../../../../cli/module-query.ts";
import { type Column, cellText, column, fieldAt } from "../../../../../platform/cli/table.ts";

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

const TRACE_COLUMNS = [column("PATH", "path"), column("DENOM", "base_denom")];

/** Tables of `ibc.applications.transfer.v1.Query`. */
export const TRANSFER_TABLES = {
  Params: PARAMS_TABLE,
  DenomTraces: { path: "denom_traces", columns: TRACE_COLUMNS },
  DenomTrace: { path: "denom_trace", columns: TRACE_COLUMNS },
  DenomHash: { path: "hash", columns: [{ title: "HASH", cell: cellText }] },
  EscrowAddress: { path: "escrow_address", columns: [{ title: "ADDRESS", cell: cellText }] },
  TotalEscrowForDenom: {
    path: "amount",
    columns: [column("AMOUNT", "amount"), column("DENOM", "denom")],
  },
} as const satisfies Readonly<Record<string, AnswerTable>>;

/** Tables of `neutron.ibcratelimit.v1beta1.Query`. */
export const RATE_LIMIT_TABLES = {
  Params: PARAMS_TABLE,
} as const satisfies Readonly<Record<string, AnswerTable>>;

const FAILURE_COLUMNS = [
  column("CONTRACT", "address"),
  column("FAILURE", "id"),
  column("ERROR", "error"),
  { title: "CALL", cell: (row: JsonValue) => callText(fieldAt(row, "sudo_payload")) },
];

/** The payload of a failed call is JSON in base64. */
function callText(payload: JsonValue): string {
  return cellText(typeof payload === "string" ? Buffer.from(payload, "base64").toString("utf8") : null);
}

/** Tables of `neutron.contractmanager.Query`. */
export const CONTRACT_MANAGER_TABLES = {
  Params: PARAMS_TABLE,
  Failures: { path: "failures", columns: FAILURE_COLUMNS },
  AddressFailures: { path: "failures", columns: FAILURE_COLUMNS },
  AddressFailure: { path: "failure", columns: FAILURE_COLUMNS },
} as const satisfies Readonly<Record<string, AnswerTable>>;
