import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toBase64, utf8 } from "../../../src/base/bytes.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { isRecord, type JsonObject } from "../../../src/base/json.ts";
import { silentLogger } from "../../../src/base/logger.ts";
import { formatRfc3339Ns } from "../../../src/base/rfc3339.ts";
import { CHAINS } from "../../../src/node/localnet/chains.ts";
import { createLocalnet } from "../../../src/node/localnet/create-localnet.ts";
import { Header } from "../../../src/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { messageToJson } from "../../../src/proto/json.ts";
import { lightBlockAt, updateHeader } from "../../support/comet/light-block.ts";
import { encodeMerkleProof } from "../../support/ibc/merkle-proof.ts";
import { type ChainEnd, openEnd, textOf } from "../../support/localnet/chain-end.ts";

const CLIENT = "07-tendermint-0";
const CHANNEL = "channelEnds/ports/transfer/channels/channel-0";
const END = { port_id: "transfer", channel_id: "channel-0" };

describe("a localnet", () => {
  const stop = new AbortController();
  let local: ChainEnd;
  let remote: ChainEnd;
  let done: Promise<unknown>;

  beforeAll(async () => {
    const free = { host: "127.0.0.1", port: 0, portOption: "--port" };
    const chain = { rpc: free, validatorPowers: [10n, 5n] };
    const localnet = createLocalnet(
      {
        chains: { local: chain, remote: { ...chain, localPowers: [10n, 5n] } },
        blockTimeMs: 100,
        remoteRpcUrl: "http://127.0.0.1:1",
      },
      { clock: systemClock, logger: silentLogger },
    );
    done = localnet.run(stop.signal);
    done.catch(() => {});
    const { chains } = await localnet.ready;
    local = await openEnd(CHAINS.local, chains.local, stop.signal);
    remote = await openEnd(CHAINS.remote, chains.remote, stop.signal);
    for (const { node } of [local, remote]) node.control.produce(3);
  });
  afterAll(async () => {
    stop.abort(new Error("the test is over"));
    await done;
  });

  it("starts with an open connection at both ends, over clients that trust real headers", () => {
    for (const [end, other] of [
      [local, remote],
      [remote, local],
    ] as const) {
      expect(
        end.query("/ibc.core.connection.v1.Query/Connection", { connection_id: "connection-0" }),
      ).toMatchObject({
        connection: {
          state: "STATE_OPEN",
          client_id: CLIENT,
          counterparty: { client_id: CLIENT, connection_id: "connection-0" },
        },
      });
      expect(end.query("/ibc.core.client.v1.Query/ClientStatus", { client_id: CLIENT })).toEqual({
        status: "Active",
      });
      const states = end.query("/ibc.core.client.v1.Query/ConsensusStates", { client_id: CLIENT })[
        "consensus_states"
      ];
      const first: unknown = Array.isArray(states) ? states[0] : undefined;
      if (!isRecord(first) || !isRecord(first["height"]) || !isRecord(first["consensus_state"]))
        throw new Error("no state");
      const header = lightBlockAt(other.node.view, BigInt(textOf(first["height"]["revision_height"]))).header;
      expect(first["consensus_state"]).toMatchObject({
        timestamp: formatRfc3339Ns(header.timeNs),
        root: { hash: toBase64(header.appHash) },
        next_validators_hash: Buffer.from(header.nextValidatorsHash).toString("hex").toUpperCase(),
      });
    }
  });

  it("carries a channel and a transfer with proofs of both chains", async () => {
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
    const timeout = { revision_number: "1", revision_height: "100000" };
    await local.send({
      "@type": "/ibc.applications.transfer.v1.MsgTransfer",
      source_port: "transfer",
      source_channel: "channel-0",
      token: { denom: "untrn", amount: "1234" },
      sender: local.address,
      receiver: remote.address,
      timeout_height: timeout,
    });
    const data = `{"amount":"1234","denom":"untrn","receiver":"${remote.address}","sender":"${local.address}"}`;
    const packet = {
      sequence: "1",
      source_port: "transfer",
      source_channel: "channel-0",
      destination_port: "transfer",
      destination_channel: "channel-0",
      data: toBase64(utf8(data)),
      timeout_height: timeout,
    };
    const entry = "ports/transfer/channels/channel-0/sequences/1";
    await relay(local, remote, `commitments/${entry}`, ({ proof, height }) => ({
      "@type": "/ibc.core.channel.v1.MsgRecvPacket",
      packet,
      proof_commitment: proof,
      proof_height: height,
    }));
    await relay(remote, local, `acks/${entry}`, ({ proof, height }) => ({
      "@type": "/ibc.core.channel.v1.MsgAcknowledgement",
      packet,
      acknowledgement: toBase64(utf8('{"result":"AQ=="}')),
      proof_acked: proof,
      proof_height: height,
    }));
    const voucher = "ibc/4E41ED8F3DCAEA15F4D6ADC6EDD7C04A676160735C9710B904B7BF53525B56D6";
    expect(
      remote.query("/cosmos.bank.v1beta1.Query/Balance", { address: remote.address, denom: voucher }),
    ).toEqual({ balance: { denom: voucher, amount: "1234" } });
    expect(
      local.query("/ibc.applications.transfer.v1.Query/TotalEscrowForDenom", { denom: "untrn" }),
    ).toEqual({ amount: { denom: "untrn", amount: "1234" } });
    expect(
      local.query("/ibc.core.channel.v1.Query/PacketCommitments", {
        port_id: "transfer",
        channel_id: "channel-0",
      }),
    ).toMatchObject({ commitments: [] });
  });
});

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
