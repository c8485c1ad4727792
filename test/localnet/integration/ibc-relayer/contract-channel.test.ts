import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ibcRelayerHealth } from "../../../../src/localnet/ibc-relayer/status.ts";
import { localDenom, parseTrace } from "../../../../src/localnet/chain/modules/transfer/denom.ts";
import { intermediateSender } from "../../../../src/workbench/modules/ibc-hooks/middleware.ts";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { fromBase64, fromUtf8, toBase64, utf8 } from "../../../../src/platform/base/bytes.ts";
import { isRecord, type JsonObject } from "../../../../src/platform/base/json.ts";
import { until } from "../../../support/e2e/cli-process.ts";
import { textOf } from "../../../support/localnet/chain-end.ts";
import {
  balanceOf,
  type IbcRelayerNet,
  inFlight,
  startIbcRelayerNet,
  timeAfterMs,
  transferMessage,
} from "../../../support/localnet/ibc-relayer-net.ts";
import { buildEchoContract, buildIbcContract } from "../../../support/vm/wasm-builder.ts";

let net: IbcRelayerNet;
let ibcRelayer: ReturnType<IbcRelayerNet["startIbcRelayer"]>;
/** A contract with the entry points of IBC. */
let contract: string;
/** A contract that answers with its message. */
let echo: string;

beforeAll(async () => {
  net = await startIbcRelayerNet({ hasBench: true });
  contract = await deploy(buildIbcContract());
  echo = await deploy(buildEchoContract());
  // The channel of a contract comes first, so that the IBC relayer must not take it for one for transfers.
  await openChannel();
  ibcRelayer = net.startIbcRelayer();
  await until("a channel for transfers", () =>
    ibcRelayerHealth(ibcRelayer.status(), systemClock.nowMs()).state === "carrying" ? true : undefined,
  );
  await until("the channel of the contract", () =>
    channelOf(contract)?.["state"] === "STATE_OPEN" ? true : undefined,
  );
});
afterAll(async () => {
  await ibcRelayer.kill();
  await net.stop();
});

async function deploy(code: Uint8Array): Promise<string> {
  const { send, query, address } = net.local;
  await send({ "@type": "/cosmwasm.wasm.v1.MsgStoreCode", sender: address, wasm_byte_code: toBase64(code) });
  const codes = query("/cosmwasm.wasm.v1.Query/Codes", { pagination: { reverse: true, limit: "1" } });
  const [last] = Array.isArray(codes["code_infos"]) ? codes["code_infos"] : [];
  const code_id = isRecord(last) ? textOf(last["code_id"]) : "";
  const instance = { sender: address, admin: "", code_id, label: "ibc", msg: { ok: {} }, funds: [] };
  await send({ "@type": "/cosmwasm.wasm.v1.MsgInstantiateContract", ...instance });
  const { contracts } = query("/cosmwasm.wasm.v1.Query/ContractsByCode", { code_id });
  return textOf(Array.isArray(contracts) ? contracts[0] : undefined);
}

/** Begins a channel from the contract's port to the port of transfers. */
function openChannel(): Promise<void> {
  return net.local.send({
    "@type": "/ibc.core.channel.v1.MsgChannelOpenInit",
    port_id: `wasm.${contract}`,
    channel: {
      state: "STATE_INIT",
      ordering: "ORDER_UNORDERED",
      counterparty: { port_id: "transfer", channel_id: "" },
      connection_hops: ["connection-0"],
      version: "ics20-1",
    },
    signer: net.local.address,
  });
}

function channelOf(address: string): Readonly<Record<string, unknown>> | undefined {
  const { channels } = net.local.query("/ibc.core.channel.v1.Query/Channels", {});
  const all: readonly unknown[] = Array.isArray(channels) ? channels : [];
  return all.filter(isRecord).find((one) => one["port_id"] === `wasm.${address}`);
}

/** The channel of the contract as both chains name it. */
function channelIds(): { readonly own: string; readonly other: string } {
  const channel = channelOf(contract);
  const counterparty = channel?.["counterparty"];
  return {
    own: textOf(channel?.["channel_id"]),
    other: textOf(isRecord(counterparty) ? counterparty["channel_id"] : undefined),
  };
}

/** Makes the contract send a packet. */
function sendPacket(data: JsonObject, timeoutMs: number): Promise<void> {
  const message = {
    ibc: {
      send_packet: {
        channel_id: channelIds().own,
        data: toBase64(utf8(JSON.stringify(data))),
        timeout: { timestamp: timeAfterMs(timeoutMs) },
      },
    },
  };
  return execute({ ok: { messages: [{ id: 1, msg: message, reply_on: "never" }] } });
}

function execute(msg: JsonObject): Promise<void> {
  const call = { sender: net.local.address, contract, msg, funds: [] };
  return net.local.send({ "@type": "/cosmwasm.wasm.v1.MsgExecuteContract", ...call });
}

/** Returns what a contract stores under a key. */
function stored(key: string, address = contract): unknown {
  const request = { address, query_data: toBase64(utf8(key)) };
  const { data } = net.local.query("/cosmwasm.wasm.v1.Query/RawContractState", request);
  return data === "" ? undefined : JSON.parse(fromUtf8(fromBase64(textOf(data))));
}

const transferOf = (amount: string): JsonObject => ({
  denom: "tokens",
  amount,
  sender: contract,
  receiver: net.remote.address,
});

describe("the channel of a contract over the IBC relayer", () => {
  it("is opened by the relayer, which opens one for transfers, too", () => {
    expect(stored("ibc_channel_connect")).toMatchObject({ open_ack: { counterparty_version: "ics20-1" } });
    expect(ibcRelayer.status().chains.map(({ channels }) => channels.length)).toEqual([2, 2]);
  });

  it("carries a packet of the contract and its acknowledgement", async () => {
    await sendPacket(transferOf("5"), 3_600_000);
    await until("the acknowledgement", () => stored("ibc_packet_ack"));
    expect(stored("ibc_packet_ack")).toMatchObject({
      acknowledgement: { data: toBase64(utf8('{"result":"AQ=="}')) },
      original_packet: { sequence: 1, src: { port_id: `wasm.${contract}` } },
    });
    expect(balanceOf(net.remote, localDenom(parseTrace(`transfer/${channelIds().other}/tokens`)))).toBe(5n);
  });

  it("carries a transfer to the contract and its acknowledgement", async () => {
    const denom = localDenom(parseTrace(`transfer/${channelIds().other}/tokens`));
    const transfer = transferMessage(net.remote, { receiver: contract, amount: 2n, denom });
    await net.remote.send({ ...transfer, source_channel: channelIds().other });
    await until("the packet", () => stored("ibc_packet_receive"));
    await until("the acknowledgement", () =>
      inFlight(net.remote, channelIds().other).length === 0 ? true : undefined,
    );
    expect(balanceOf(net.remote, denom)).toBe(3n);
  });

  it("times out a packet that nobody carried in time", async () => {
    await ibcRelayer.kill();
    const before = systemClock.nowMs();
    await sendPacket(transferOf("7"), 1_000);
    await until("the timeout", () =>
      Number(net.remote.node.view.status().latestTimeNs / 1_000_000n) > before + 1_500 ? true : undefined,
    );
    ibcRelayer = net.startIbcRelayer();
    await until("the contract's timeout", () => stored("ibc_packet_timeout"));
    expect(stored("ibc_packet_timeout")).toMatchObject({ packet: { sequence: 2 } });
  });

  it("leaves the channel for transfers alone, over which a transfer calls a contract", async () => {
    const own = { receiver: net.remote.address, amount: 900n, denom: "untrn" };
    const channel = transferChannel();
    await net.local.send({ ...transferMessage(net.local, own), source_channel: channel.own });
    const denom = localDenom(parseTrace(`transfer/${channel.other}/untrn`));
    await until("the coins", () => (balanceOf(net.remote, denom) === 900n ? true : undefined));
    const memo = JSON.stringify({ wasm: { contract: echo, msg: { ok: { data: "aGk=" } } } });
    const back = transferMessage(net.remote, { receiver: echo, amount: 400n, denom });
    await net.remote.send({ ...back, source_channel: channel.other, memo });
    await until("the call", () => stored("info", echo));
    expect(stored("info", echo)).toEqual({
      sender: intermediateSender(channel.own, net.remote.address, "neutron"),
      funds: [{ denom: "untrn", amount: "400" }],
    });
    expect(balanceOf(net.local, "untrn", echo)).toBe(400n);
  });
});

/** The channel that the IBC relayer opened for transfers. */
function transferChannel(): { readonly own: string; readonly other: string } {
  const [local] = ibcRelayer.status().chains;
  const found = local?.channels.find(({ portId }) => portId === "transfer");
  return { own: found?.channelId ?? "", other: found?.counterparty.channelId ?? "" };
}
