import { toBase64, utf8 } from "../../../src/platform/base/bytes.ts";
import { isRecord, type JsonObject } from "../../../src/platform/base/json.ts";
import { Header } from "../../../src/cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { messageToJson } from "../../../src/cosmos/proto/json.ts";
import { lightBlockAt, updateHeader } from "../comet/light-block.ts";
import { encodeMerkleProof } from "../ibc/merkle-proof.ts";
import { type ChainEnd, textOf } from "./chain-end.ts";
import { transferMessage } from "./ibc-relayer-net.ts";

/** The clients of both chains at genesis. */
export const CLIENT = "07-tendermint-0";
/** The ends of the channel that `openTransferChannel` opens. */
const END = { port_id: "transfer", channel_id: "channel-0" };
const CHANNEL = "channelEnds/ports/transfer/channels/channel-0";
const ENTRY = "ports/transfer/channels/channel-0/sequences";
const TIMEOUT_HEIGHT = { revision_number: "1", revision_height: "100000" };

/** Opens a channel of `transfer` over `connection-0`. */
export async function openTransferChannel(local: ChainEnd, remote: ChainEnd): Promise<void> {
  const opening = { ordering: "ORDER_UNORDERED", connection_hops: ["connection-0"], version: "ics20-1" };
  await local.send({
    "@type": "/ibc.core.channel.v1.MsgChannelOpenInit",
    port_id: "transfer",
    channel: { ...opening, state: "STATE_INIT", counterparty: { port_id: "transfer" } },
    signer: local.address,
  });
  await relay(local, remote, CHANNEL, ({ proof, height }) => ({
    "@type": "/ibc.core.channel.v1.MsgChannelOpenTry",
    port_id: "transfer",
    channel: { ...opening, state: "STATE_TRYOPEN", counterparty: END },
    counterparty_version: "ics20-1",
    proof_init: proof,
    proof_height: height,
  }));
  await relay(remote, local, CHANNEL, ({ proof, height }) => ({
    "@type": "/ibc.core.channel.v1.MsgChannelOpenAck",
    ...END,
    counterparty_channel_id: "channel-0",
    counterparty_version: "ics20-1",
    proof_try: proof,
    proof_height: height,
  }));
  await relay(local, remote, CHANNEL, ({ proof, height }) => ({
    "@type": "/ibc.core.channel.v1.MsgChannelOpenConfirm",
    ...END,
    proof_ack: proof,
    proof_height: height,
  }));
}

/** A transfer of the local denomination between the accounts of both ends. */
interface Transfer {
  readonly sequence: string;
  readonly amount: string;
}

/** Sends a transfer. The caller knows the sequence that it gets. */
export async function sendTransfer(from: ChainEnd, to: ChainEnd, amount: string): Promise<void> {
  const transfer = { receiver: to.address, amount: BigInt(amount), denom: "untrn" };
  await from.send(transferMessage(from, transfer, { timeout_height: TIMEOUT_HEIGHT }));
}

/** Carries a sent transfer to the other end. */
export async function receiveTransfer(from: ChainEnd, to: ChainEnd, transfer: Transfer): Promise<void> {
  await relay(from, to, `commitments/${ENTRY}/${transfer.sequence}`, ({ proof, height }) => ({
    "@type": "/ibc.core.channel.v1.MsgRecvPacket",
    packet: packetOf(from, to, transfer),
    proof_commitment: proof,
    proof_height: height,
  }));
}

/** Carries the acknowledgement of a received transfer back to its sender. */
export async function acknowledgeTransfer(from: ChainEnd, to: ChainEnd, transfer: Transfer): Promise<void> {
  await relay(to, from, `acks/${ENTRY}/${transfer.sequence}`, ({ proof, height }) => ({
    "@type": "/ibc.core.channel.v1.MsgAcknowledgement",
    packet: packetOf(from, to, transfer),
    acknowledgement: toBase64(utf8('{"result":"AQ=="}')),
    proof_acked: proof,
    proof_height: height,
  }));
}

function packetOf(from: ChainEnd, to: ChainEnd, { sequence, amount }: Transfer): JsonObject {
  const data = `{"amount":"${amount}","denom":"untrn","receiver":"${to.address}","sender":"${from.address}"}`;
  return {
    sequence,
    source_port: "transfer",
    source_channel: "channel-0",
    destination_port: "transfer",
    destination_channel: "channel-0",
    data: toBase64(utf8(data)),
    timeout_height: TIMEOUT_HEIGHT,
  };
}

/** Proves a path of `from` to `to`: the update of the client and the message travel in one transaction. */
async function relay(
  from: ChainEnd,
  to: ChainEnd,
  path: string,
  message: (proven: { readonly proof: string; readonly height: JsonObject }) => JsonObject,
): Promise<void> {
  const { view, control } = from.node;
  // The header of a block has the root of the state before it.
  control.produce(2);
  const height = view.status().latestHeight;
  const { proof = [] } = view.query({
    path: "store/ibc/key",
    data: utf8(path),
    height: height - 1n,
    prove: true,
  });
  const state = to.query("/ibc.core.client.v1.Query/ClientState", { client_id: CLIENT })["client_state"];
  const latest = isRecord(state) && isRecord(state["latest_height"]) ? state["latest_height"] : {};
  const trusted = BigInt(textOf(latest["revision_height"]));
  const header = updateHeader(
    lightBlockAt(view, height),
    { revisionNumber: 1n, revisionHeight: trusted },
    lightBlockAt(view, trusted + 1n),
  );
  const value = messageToJson("ibc.lightclients.tendermint.v1.Header", Header.encode(header).finish());
  await to.send(
    {
      "@type": "/ibc.core.client.v1.MsgUpdateClient",
      client_id: CLIENT,
      client_message: {
        "@type": "/ibc.lightclients.tendermint.v1.Header",
        ...(isRecord(value) ? value : {}),
      },
      signer: to.address,
    },
    {
      ...message({
        proof: encodeMerkleProof(proof.map(({ data }) => data)),
        height: { revision_number: "1", revision_height: height.toString() },
      }),
      signer: to.address,
    },
  );
}
