import { beforeEach, describe, expect, it } from "vitest";
import { State } from "../../../../src/cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import {
  classicContractAddress,
  contracts,
  contractStore,
} from "../../../../src/localnet/chain/modules/wasm/keeper.ts";
import { formatAddress } from "../../../../src/localnet/chain/runtime/address.ts";
import type { ChainEvent } from "../../../../src/localnet/chain/runtime/context.ts";
import type { Packet } from "../../../../src/localnet/chain/modules/ibc/host/packet.ts";
import { fromUtf8, toBase64, utf8 } from "../../../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../../../src/platform/base/json.ts";
import {
  acknowledgeMessage,
  carryHeader,
  of,
  openChannel,
  receiveMessage,
  succeed,
  timeoutMessage,
} from "../../../support/ibc/linked-pair.ts";
import {
  openTransferPair,
  sentPacket,
  type TransferChain,
  writtenAcknowledgement,
} from "../../../support/ibc/transfer-pair.ts";
import { buildEchoContract, buildIbcContract } from "../../../support/vm/wasm-builder.ts";

const ADDRESS = classicContractAddress(1n, 1n);
const PREFIXES = { a: "neutron", b: "cosmos" };
const CHANNEL = "channel-1";

let a: TransferChain;
let b: TransferChain;

beforeEach(() => {
  ({ a, b } = openTransferPair());
  for (const chain of [a, b]) deploy(chain);
});

function deploy(chain: TransferChain, code = buildIbcContract()): void {
  const sender = chain.address(0);
  succeed(chain, { "@type": "/cosmwasm.wasm.v1.MsgStoreCode", sender, wasm_byte_code: toBase64(code) });
  const instance = { sender, admin: sender, code_id: "1", label: "ibc", msg: { ok: {} }, funds: [] };
  succeed(chain, { "@type": "/cosmwasm.wasm.v1.MsgInstantiateContract", ...instance });
}

function contractOf(chain: TransferChain): string {
  return formatAddress(chain === a ? PREFIXES.a : PREFIXES.b, ADDRESS);
}

function portOf(chain: TransferChain): string {
  return `wasm.${contractOf(chain)}`;
}

/** The messages of transactions that the contract sends. */
function execute(
  chain: TransferChain,
  ...messages: readonly JsonObject[]
): ReturnType<TransferChain["deliver"]> {
  const msg = { ok: { messages: messages.map((each) => ({ id: 1, msg: each, reply_on: "success" })) } };
  const call = { sender: chain.address(0), contract: contractOf(chain), msg, funds: [] };
  return chain.deliver({ "@type": "/cosmwasm.wasm.v1.MsgExecuteContract", ...call });
}

/** What an entry point of the contract answers from now on. */
function answer(chain: TransferChain, entry: string, result: unknown): void {
  contractStore(chain.context(), ADDRESS).set(utf8(`answer:${entry}`), utf8(JSON.stringify(result)));
}

/** The message of the last call of an entry point. */
function seen(chain: TransferChain, entry: string): unknown {
  const bytes = contractStore(chain.context(), ADDRESS).get(utf8(entry));
  return bytes === undefined ? undefined : JSON.parse(fromUtf8(bytes));
}

function open(ordering = "ORDER_UNORDERED"): void {
  const ports = { port: portOf(a), otherPort: portOf(b) };
  openChannel({ a, b }, { ...ports, id: CHANNEL, ordering, version: "v1" });
}

function channelState(chain: TransferChain): State | undefined {
  const end = { portId: portOf(chain), channelId: CHANNEL };
  return chain.ibc.keeper.channel(chain.context(), end)?.state;
}

function sendPacket(data: string, timeout: JsonObject = { timestamp: `${b.timeNs() + 60_000_000_000n}` }) {
  return execute(a, {
    ibc: { send_packet: { channel_id: CHANNEL, data: toBase64(utf8(data)), timeout } },
  });
}

function sent(data = "hello"): Packet {
  const result = sendPacket(data);
  expect(result).toMatchObject({ code: 0, log: "" });
  return sentPacket(result);
}

function receive(packet: Packet): ReturnType<TransferChain["deliver"]> {
  carryHeader(a, b);
  return b.deliver(receiveMessage(a, b, packet));
}

const endOf = (chain: TransferChain) => ({ port_id: portOf(chain), channel_id: CHANNEL });

function textsOf(events: readonly ChainEvent[], ...types: readonly string[]): string[] {
  return events
    .filter(({ type }) => types.some((one) => type.endsWith(one)))
    .map(({ type, attributes }) => `${type} ${attributes.map(({ key, value }) => `${key}=${value}`).join()}`);
}

describe("the port of a contract", () => {
  it("is bound by an instance whose code has all entry points of IBC", () => {
    expect(contracts.get(a.context(), ADDRESS)?.ibcPortId).toBe(portOf(a));
  });

  it("is bound by a migration to such code, which other code cannot replace", () => {
    const { a: chain } = openTransferPair();
    deploy(chain, buildEchoContract());
    expect(contracts.get(chain.context(), ADDRESS)?.ibcPortId).toBe("");
    const sender = chain.address(0);
    const code = toBase64(buildIbcContract());
    succeed(chain, { "@type": "/cosmwasm.wasm.v1.MsgStoreCode", sender, wasm_byte_code: code });
    const contract = formatAddress(PREFIXES.a, ADDRESS);
    const migrate = (codeId: string) =>
      chain.deliver({
        "@type": "/cosmwasm.wasm.v1.MsgMigrateContract",
        sender,
        contract,
        code_id: codeId,
        msg: { ok: {} },
      });
    expect(migrate("2")).toMatchObject({ code: 0 });
    expect(contracts.get(chain.context(), ADDRESS)?.ibcPortId).toBe(`wasm.${contract}`);
    expect(migrate("1")).toMatchObject({
      codespace: "wasm",
      code: 11,
      log: "failed to execute message; message index: 0: requires ibc callbacks: migrate wasm contract failed",
    });
  });

  it("is bound by nobody else: its channels cannot be opened", () => {
    const channel = {
      state: "STATE_INIT",
      ordering: "ORDER_UNORDERED",
      counterparty: { port_id: "transfer", channel_id: "" },
      connection_hops: ["connection-0"],
      version: "v1",
    };
    for (const port of ["wasm.", "wasm.nobody", `wasm.${a.address(0)}`]) {
      const opening = of("channel", "MsgChannelOpenInit", a, { port_id: port, channel });
      expect(a.deliver(opening), port).toMatchObject({ codespace: "capability", code: 7 });
    }
  });
});

describe("a handshake", () => {
  it("calls the contracts at both ends with the channel as they see it", () => {
    open();
    const channel = (chain: TransferChain, other: TransferChain, channelId = CHANNEL) => ({
      endpoint: { port_id: portOf(chain), channel_id: CHANNEL },
      counterparty_endpoint: { port_id: portOf(other), channel_id: channelId },
      order: "ORDER_UNORDERED",
      version: "v1",
      connection_id: "connection-0",
    });
    expect(seen(a, "ibc_channel_open")).toEqual({ open_init: { channel: channel(a, b, "") } });
    expect(seen(b, "ibc_channel_open")).toEqual({
      open_try: { channel: channel(b, a), counterparty_version: "v1" },
    });
    expect(seen(a, "ibc_channel_connect")).toEqual({
      open_ack: { channel: channel(a, b), counterparty_version: "v1" },
    });
    expect(seen(b, "ibc_channel_connect")).toEqual({ open_confirm: { channel: channel(b, a) } });
  });

  const opening = (version: string) =>
    of("channel", "MsgChannelOpenInit", a, {
      port_id: portOf(a),
      channel: {
        state: "STATE_INIT",
        ordering: "ORDER_ORDERED",
        counterparty: { port_id: portOf(b), channel_id: "" },
        connection_hops: ["connection-0"],
        version,
      },
    });
  const versionOf = ({ events }: ReturnType<TransferChain["deliver"]>): string | undefined =>
    events.find(({ type }) => type === "channel_open_init")?.attributes.find(({ key }) => key === "version")
      ?.value;

  it("takes the version that the contract wants", () => {
    answer(a, "ibc_channel_open", { ok: { version: "other" } });
    expect(versionOf(a.deliver(opening("v1")))).toBe("other");
  });

  it("goes on with the given version after an error of the contract, as deployed", () => {
    answer(a, "ibc_channel_open", { error: "not with me" });
    expect(versionOf(a.deliver(opening("v1")))).toBe("v1");
    expect(a.deliver(opening(""))).toMatchObject({ codespace: "wasm", code: 12 });
  });

  it("is refused when the contract's answer is not one, or a message of it fails", () => {
    answer(a, "ibc_channel_open", 7);
    expect(a.deliver(opening("v1"))).toMatchObject({ codespace: "wasm", code: 5 });
    answer(b, "ibc_channel_connect", {
      ok: { messages: [{ id: 1, msg: { any: { type_url: "/no.such", value: "" } }, reply_on: "never" }] },
    });
    expect(() => open()).toThrow("callback failed");
  });
});

describe("a channel", () => {
  beforeEach(() => open());

  it("is closed by the contract, and the counterparty's contract learns it", () => {
    const closing = execute(a, { ibc: { close_channel: { channel_id: CHANNEL } } });
    expect(closing).toMatchObject({ code: 0, log: "" });
    expect(channelState(a)).toBe(State.STATE_CLOSED);
    expect(seen(a, "ibc_channel_close")).toMatchObject({ close_init: { channel: { version: "v1" } } });
    carryHeader(a, b);
    const { proof, height } = a.prove(`channelEnds/ports/${portOf(a)}/channels/${CHANNEL}`);
    const fields = { ...endOf(b), proof_init: proof, proof_height: height };
    succeed(b, of("channel", "MsgChannelCloseConfirm", b, fields));
    expect(channelState(b)).toBe(State.STATE_CLOSED);
    expect(seen(b, "ibc_channel_close")).toMatchObject({ close_confirm: { channel: { version: "v1" } } });
  });

  it("stays open when the contract refuses to close it", () => {
    answer(a, "ibc_channel_close", { error: "never" });
    const closing = a.deliver(of("channel", "MsgChannelCloseInit", a, endOf(a)));
    expect(closing).toMatchObject({ codespace: "wasm", code: 5 });
    expect(closing.log).toContain("never: execute wasm contract failed");
    expect(channelState(a)).toBe(State.STATE_OPEN);
  });

  it("is the only one of its port: the contract cannot send over another one", () => {
    const foreign = execute(b, {
      ibc: { send_packet: { channel_id: "channel-0", data: "AA==", timeout: { timestamp: "1" } } },
    });
    expect(foreign).toMatchObject({ codespace: "channel", code: 9 });
    expect(foreign.log).toContain("module does not own channel capability");
  });
});

describe("a packet", () => {
  beforeEach(() => open());

  it("reaches the other contract, whose acknowledgement reaches the sender", () => {
    const packet = sent();
    expect(seen(a, "reply")).toMatchObject({
      result: { ok: { data: "CAE=", msg_responses: [{ type_url: "/cosmwasm.wasm.v1.MsgIBCSendResponse" }] } },
    });
    const received = receive(packet);
    expect(received).toMatchObject({ code: 0, log: "" });
    const content = {
      data: toBase64(utf8("hello")),
      src: endOf(a),
      dest: endOf(b),
      sequence: 1,
      timeout: { block: null, timestamp: packet.timeout.timestamp.toString() },
    };
    expect(seen(b, "ibc_packet_receive")).toEqual({ packet: content, relayer: b.signer });
    expect(textsOf(received.events, "ibc_packet_received")).toEqual([
      `ibc_packet_received module=wasm,_contract_address=${contractOf(b)},success=true,msg_index=0`,
    ]);
    const acknowledgement = writtenAcknowledgement(received);
    expect(fromUtf8(acknowledgement)).toBe('{"result":"AQ=="}');
    carryHeader(b, a);
    succeed(a, acknowledgeMessage(b, a, packet, acknowledgement));
    expect(seen(a, "ibc_packet_ack")).toEqual({
      acknowledgement: { data: toBase64(acknowledgement) },
      original_packet: content,
      relayer: a.signer,
    });
  });

  it("has the acknowledgement of the last reply with data", () => {
    const messages = [
      { id: 7, msg: { bank: { send: { to_address: b.address(0), amount: [] } } }, reply_on: "always" },
    ];
    answer(b, "ibc_packet_receive", { ok: { acknowledgement: "Zmlyc3Q=", messages } });
    answer(b, "reply", { ok: { data: "c2Vjb25k" } });
    expect(fromUtf8(writtenAcknowledgement(receive(sent())))).toBe("second");
  });

  it("is refused with the contract's own text, without its writes", () => {
    answer(b, "ibc_packet_receive", { error: "no <thanks>" });
    const received = receive(sent());
    expect(received).toMatchObject({ code: 0, log: "" });
    expect(fromUtf8(writtenAcknowledgement(received))).toBe('{"error":"no \\u003cthanks\\u003e"}');
    expect(seen(b, "ibc_packet_receive")).toBeUndefined();
    expect(textsOf(received.events, "ibc_packet_received")).toEqual([
      `ibccallbackerror-ibc_packet_received ibccallbackerror-module=wasm,ibccallbackerror-_contract_address=${contractOf(b)},ibccallbackerror-success=false,msg_index=0`,
    ]);
  });

  it("is refused with codespace and code when a message of the contract fails", () => {
    const messages = [{ id: 7, msg: { any: { type_url: "/no.such", value: "" } }, reply_on: "never" }];
    answer(b, "ibc_packet_receive", {
      ok: { acknowledgement: "AA==", messages, attributes: [{ key: "a", value: "b" }] },
    });
    const received = receive(sent());
    expect(fromUtf8(writtenAcknowledgement(received))).toBe(
      '{"error":"ABCI error: wasm/10: error handling packet: see events for details"}',
    );
    expect(textsOf(received.events, "ibc_packet_received")[0]).toContain("error=submessages: Cannot unpack");
    expect(textsOf(received.events, "wasm")).toEqual([]);
  });

  it("fails the relayer's transaction when the contract traps or acknowledges nothing", () => {
    answer(b, "ibc_packet_receive", 7);
    const packet = sent();
    expect(receive(packet)).toMatchObject({ codespace: "undefined", code: 111_222 });
    answer(b, "ibc_packet_receive", { ok: { acknowledgement: null } });
    expect(receive(packet)).toMatchObject({ codespace: "channel", code: 16 });
  });

  it("that was not received in time is given back to its contract", () => {
    const result = sendPacket("late", { block: { revision: 1, height: Number(b.height()) + 1 } });
    const packet = sentPacket(result);
    b.block();
    b.block();
    carryHeader(b, a);
    succeed(a, timeoutMessage(b, a, packet));
    expect(seen(a, "ibc_packet_timeout")).toMatchObject({
      packet: { sequence: 1, timeout: { block: { revision: 1 } } },
      relayer: a.signer,
    });
    expect(seen(a, "ibc_packet_timeout")).not.toHaveProperty("packet.timeout.timestamp");
  });

  it("stays in flight when the contract fails on its acknowledgement", () => {
    const packet = sent();
    const acknowledgement = writtenAcknowledgement(receive(packet));
    answer(a, "ibc_packet_ack", { error: "I do not want it" });
    carryHeader(b, a);
    const result = a.deliver(acknowledgeMessage(b, a, packet, acknowledgement));
    expect(result).toMatchObject({ codespace: "wasm", code: 5 });
    expect(result.log).toContain("on ack: I do not want it: execute wasm contract failed");
  });

  it("cannot be sent by a contract without a port, without a channel, or acknowledged later", () => {
    const noChannel = { ibc: { send_packet: { channel_id: "", data: "AA==", timeout: { timestamp: "1" } } } };
    expect(execute(a, noChannel)).toMatchObject({ codespace: "wasm", code: 12 });
    const later = { ibc: { write_acknowledgement: { channel_id: CHANNEL, packet_sequence: 1, ack: {} } } };
    expect(execute(a, later).log).toContain("no handler found");
    expect(sendPacket("")).toMatchObject({ codespace: "channel", code: 13 });
    const { a: plain } = openTransferPair();
    deploy(plain, buildEchoContract());
    const call = { sender: plain.address(0), contract: formatAddress(PREFIXES.a, ADDRESS), funds: [] };
    const message = { ok: { messages: [{ id: 1, msg: noChannel, reply_on: "never" }] } };
    const result = plain.deliver({ "@type": "/cosmwasm.wasm.v1.MsgExecuteContract", ...call, msg: message });
    expect(result).toMatchObject({ codespace: "wasm", code: 17 });
  });
});
