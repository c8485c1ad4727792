import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromBase64, fromHex, toBase64, toHex, utf8 } from "../../../../src/platform/base/bytes.ts";
import { isRecord, type JsonObject } from "../../../../src/platform/base/json.ts";
import { messageFromJson, messageToJson } from "../../../../src/cosmos/proto/json.ts";
import {
  acknowledgeTransfer,
  openTransferChannel,
  receiveTransfer,
  sendTransfer,
} from "../../../support/localnet/carry.ts";
import { type ChainEnd, startBothEnds } from "../../../support/localnet/chain-end.ts";

// What the Go relayer and Hermes ask, in the forms in which they ask it. Packet 1 is relayed whole, the acknowledgement of
// packet 2 and packet 3 are not.

const CHANNEL_ARGUMENTS = { port_id: "transfer", channel_id: "channel-0" };
/** The Go relayer asks for pages of this size everywhere. */
const PAGE = { pagination: { limit: "1000" } };
/** Hermes asks for everything in one page. */
const ALL = { pagination: { limit: "4294967295" } };
const IBC = "/ibc.core";

type Side = "local" | "remote";
type Row = readonly [side: Side, name: string, params: JsonObject, result: JsonObject];

const search = (query: string, more: JsonObject = {}): JsonObject => ({
  query,
  page: "1",
  per_page: "1000",
  order_by: "",
  ...more,
});
const SENT_3 = "send_packet.packet_src_channel='channel-0' AND send_packet.packet_sequence='3'";
const WRITTEN_2 =
  "write_acknowledgement.packet_dst_channel='channel-0' AND write_acknowledgement.packet_sequence='2'";

/** The five conditions by which Hermes finds a packet, written as it writes them. */
const hermesSearch = (event: string, sequence: string): JsonObject => ({
  query: [
    `${event}.packet_src_channel = 'channel-0'`,
    `${event}.packet_src_port = 'transfer'`,
    `${event}.packet_dst_channel = 'channel-0'`,
    `${event}.packet_dst_port = 'transfer'`,
    `${event}.packet_sequence = '${sequence}'`,
  ].join(" AND "),
  prove: false,
  page: "1",
  per_page: "10",
  order_by: "desc",
});

/** RPC calls. All parameters are texts, as CometBFT's Go client sends them. */
const RPC_CALLS: readonly Row[] = [
  ["local", "status", {}, { node_info: { network: "local-1", other: { tx_index: "on" } } }],
  ["remote", "status", {}, { sync_info: { catching_up: false }, node_info: { network: "remote-1" } }],
  ["local", "commit", { height: "3" }, { canonical: true, signed_header: { header: { height: "3" } } }],
  [
    "local",
    "validators",
    { height: "3", page: "1", per_page: "100" },
    { block_height: "3", count: "2", total: "2" },
  ],
  ["local", "block", { height: "3" }, { block: { header: { chain_id: "local-1", height: "3" } } }],
  ["local", "block_results", { height: "3" }, { height: "3", txs_results: null }],
  ["local", "tx_search", search(SENT_3, { prove: true }), { total_count: "1" }],
  ["remote", "tx_search", search(WRITTEN_2, { prove: true }), { total_count: "1" }],
  [
    "remote",
    "tx_search",
    search(WRITTEN_2.replace("'2'", "'3'"), { prove: true }),
    { txs: [], total_count: "0" },
  ],
  ["local", "tx_search", hermesSearch("send_packet", "3"), { total_count: "1" }],
  ["remote", "tx_search", hermesSearch("write_acknowledgement", "2"), { total_count: "1" }],
  ["remote", "tx_search", hermesSearch("write_acknowledgement", "3"), { txs: [], total_count: "0" }],
  // The events of transactions are not those of a block: the Go relayer looks into both indexes.
  ["local", "block_search", search(SENT_3), { blocks: [], total_count: "0" }],
  ["remote", "block_search", search(WRITTEN_2), { blocks: [], total_count: "0" }],
];

/** gRPC methods by `abci_query`, with the fields of the response that a relayer decides by. */
const QUERIES: readonly Row[] = [
  ["local", "/cosmos.staking.v1beta1.Query/Params", {}, { params: { unbonding_time: "1814400s" } }],
  [
    "local",
    `${IBC}.client.v1.Query/ClientStates`,
    PAGE,
    { client_states: [{ client_id: "07-tendermint-0" }, { client_id: "09-localhost" }] },
  ],
  [
    "local",
    `${IBC}.connection.v1.Query/Connections`,
    PAGE,
    { connections: [{ id: "connection-0", state: "STATE_OPEN" }, { id: "connection-localhost" }] },
  ],
  [
    "local",
    `${IBC}.channel.v1.Query/Channels`,
    { pagination: { limit: "100" } },
    { channels: [{ state: "STATE_OPEN", channel_id: "channel-0", version: "ics20-1" }] },
  ],
  [
    "remote",
    `${IBC}.channel.v1.Query/ConnectionChannels`,
    { connection: "connection-0", ...PAGE },
    { channels: [{ counterparty: CHANNEL_ARGUMENTS }] },
  ],
  [
    "local",
    `${IBC}.channel.v1.Query/PacketCommitments`,
    { ...CHANNEL_ARGUMENTS, ...PAGE },
    { commitments: [{ sequence: "2" }, { sequence: "3" }] },
  ],
  [
    "remote",
    `${IBC}.channel.v1.Query/UnreceivedPackets`,
    { ...CHANNEL_ARGUMENTS, packet_commitment_sequences: ["2", "3"] },
    { sequences: ["3"] },
  ],
  [
    "remote",
    `${IBC}.channel.v1.Query/PacketAcknowledgements`,
    { ...CHANNEL_ARGUMENTS, ...PAGE },
    { acknowledgements: [{ sequence: "1" }, { sequence: "2" }] },
  ],
  // Hermes names the sequences that are still committed.
  [
    "remote",
    `${IBC}.channel.v1.Query/PacketAcknowledgements`,
    { ...CHANNEL_ARGUMENTS, ...ALL, packet_commitment_sequences: ["2", "3"] },
    { acknowledgements: [{ sequence: "2" }] },
  ],
  [
    "local",
    `${IBC}.channel.v1.Query/UnreceivedAcks`,
    { ...CHANNEL_ARGUMENTS, packet_ack_sequences: ["1", "2"] },
    { sequences: ["2"] },
  ],
  [
    "remote",
    "/ibc.applications.transfer.v1.Query/DenomTraces",
    PAGE,
    { denom_traces: [{ path: "transfer/channel-0", base_denom: "untrn" }] },
  ],
];

describe("a localnet with packets under way", () => {
  let ends: Readonly<Record<Side, ChainEnd>>;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    const { local, remote, ...started } = await startBothEnds();
    ends = { local, remote };
    stop = started.stop;
    await openTransferChannel(local, remote);
    for (const amount of ["1", "2", "3"]) await sendTransfer(local, remote, amount);
    await receiveTransfer(local, remote, { sequence: "1", amount: "1" });
    await receiveTransfer(local, remote, { sequence: "2", amount: "2" });
    await acknowledgeTransfer(local, remote, { sequence: "1", amount: "1" });
  });
  afterAll(() => stop());

  it.each(RPC_CALLS)("%s %s %j", async (side, method, params, result) =>
    expect(await call(ends[side], method, params)).toMatchObject(result),
  );

  it.each(QUERIES)("%s %s %j", async (side, path, request, expected) => {
    const name = path.slice(1).replace("Query/", "Query");
    const data = toHex(messageFromJson(`${name}Request`, request));
    const value = await abciValue(ends[side], { path, data, height: "0", prove: false });
    expect(messageToJson(`${name}Response`, fromBase64(value))).toMatchObject(expected);
  });

  it("finds a transaction by the hash as base64, with its proof", async () => {
    const found = await call(ends.local, "tx_search", search(SENT_3, { prove: false }));
    const first: unknown = Array.isArray(found["txs"]) ? found["txs"][0] : undefined;
    const hash = isRecord(first) && typeof first["hash"] === "string" ? first["hash"] : "";
    const tx = await call(ends.local, "tx", { hash: toBase64(fromHex(hash)), prove: true });
    expect(tx).toMatchObject({ hash, tx_result: { code: 0 }, proof: { root_hash: expect.any(String) } });
  });

  it("proves a store path at the height that is named as a text", async () => {
    const { latestHeight } = ends.local.node.view.status();
    const data = toHex(utf8("commitments/ports/transfer/channels/channel-0/sequences/3"));
    const height = (latestHeight - 1n).toString();
    const { response } = await call(ends.local, "abci_query", {
      path: "store/ibc/key",
      data,
      height,
      prove: true,
    });
    expect(response).toMatchObject({
      code: 0,
      height,
      proofOps: { ops: [{ type: "ics23:iavl" }, { type: "ics23:simple" }] },
    });
  });

  // The Go relayer asks for the unbonding time in two other ways first and takes the parameters of staking after an error.
  it("has no parameters of the legacy module", async () => {
    const request = { path: "/cosmos.params.v1beta1.Query/Params", data: "", height: "0", prove: false };
    const { response } = await call(ends.local, "abci_query", request);
    expect(response).toMatchObject({ code: 6, log: "unknown query path: unknown request" });
  });
});

async function call(
  end: ChainEnd,
  method: string,
  params: JsonObject,
): Promise<Readonly<Record<string, unknown>>> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method, params });
  const reply = await fetch(`http://127.0.0.1:${end.node.ports.get("rpc")}`, { method: "POST", body });
  const json: unknown = await reply.json();
  if (!isRecord(json) || !isRecord(json["result"])) throw new Error(JSON.stringify(json));
  return json["result"];
}

async function abciValue(end: ChainEnd, params: JsonObject): Promise<string> {
  const { response } = await call(end, "abci_query", params);
  if (!isRecord(response) || response["code"] !== 0 || typeof response["value"] !== "string")
    throw new Error(JSON.stringify(response));
  return response["value"];
}
