import { describe, expect, it } from "vitest";
import { utf8 } from "../../../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../../../src/platform/base/json.ts";
import * as stored from "../../../../src/localnet/chain/modules/ibc/channel/channel-store.ts";
import type { Packet } from "../../../../src/localnet/chain/modules/ibc/host/packet.ts";
import { requireCanonicalReply } from "../../../../src/localnet/chain/modules/ibc/channel/ibc-module.ts";
import { sendPacket } from "../../../../src/localnet/chain/modules/ibc/channel/keeper.ts";
import { exportGenesis, initGenesis } from "../../../../src/localnet/chain/modules/ibc/module.ts";
import { messageFromJson, messageToJson } from "../../../../src/cosmos/proto/json.ts";
import { State } from "../../../../src/cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { createEchoApplication, ECHO_VERSION } from "../../../support/ibc/echo-application.ts";
import type { LinkedChain } from "../../../support/ibc/linked-chain.ts";
import {
  acknowledgeMessage,
  carryHeader,
  createPair,
  entryPath,
  type LinkedPair,
  of,
  openChannel,
  openConnection,
  packetJson,
  receiveMessage,
  succeed,
  timeoutMessage,
} from "../../../support/ibc/linked-pair.ts";
import { createMemoryWorld } from "../../../support/memory-context.ts";

const END = { portId: "echo", channelId: "channel-0" };
const NEVER = { revisionNumber: 0n, revisionHeight: 0n };
const DAY_NS = 86_400_000_000_000n;

interface EchoPair extends LinkedPair {
  readonly calls: { readonly a: string[]; readonly b: string[] };
}

function open(ordering: "ORDER_ORDERED" | "ORDER_UNORDERED"): EchoPair {
  const [first, second] = [createEchoApplication(), createEchoApplication()];
  const build = (application: typeof first) => () => ({
    modules: [],
    applications: new Map([["echo", application]]),
  });
  const pair = createPair(
    { chainId: "local-1", build: build(first) },
    { chainId: "remote-1", bech32Prefix: "cosmos", build: build(second) },
  );
  openConnection(pair);
  openChannel(pair, { port: "echo", id: "channel-0", ordering, version: ECHO_VERSION });
  return { ...pair, calls: { a: first.calls, b: second.calls } };
}

function send(chain: LinkedChain, text: string, timeout: Partial<Packet["timeout"]> = {}): Packet {
  const outgoing = {
    source: END,
    data: utf8(text),
    timeout: { height: NEVER, timestamp: chain.timeNs() + DAY_NS, ...timeout },
  };
  return { ...outgoing, sequence: sendPacket(chain.context(), outgoing), destination: END };
}

function textOf({ code, codespace, log }: ReturnType<LinkedChain["deliver"]>): string {
  return code === 0
    ? "done"
    : `${codespace}/${code} ${log.replace("failed to execute message; message index: 0: ", "")}`;
}

/** The responses of a packet message: 1 is a no-op, 2 a success. */
function resultOf({ code, log, responses }: ReturnType<LinkedChain["deliver"]>): string {
  if (code !== 0) return log;
  return responses.map((response) => ({ 1: "no-op", 2: "success" })[response[1] ?? 0]).join();
}

describe("a packet on an unordered channel", () => {
  it("is received once, acknowledged once, and leaves its receipt", () => {
    const { a, b, calls } = open("ORDER_UNORDERED");
    const packet = send(a, "hello");
    carryHeader(a, b);
    const receive = receiveMessage(a, b, packet);
    expect(resultOf(b.deliver(receive))).toBe("success");
    const again = b.deliver(receive);
    expect([resultOf(again), again.events.map(({ type }) => type)]).toEqual(["no-op", ["message"]]);
    carryHeader(b, a);
    const acknowledge = acknowledgeMessage(b, a, packet, utf8("hello"));
    expect(resultOf(a.deliver(acknowledge))).toBe("success");
    expect(resultOf(a.deliver(acknowledge))).toBe("no-op");
    expect([calls.a.at(-1), calls.b.at(-1)]).toEqual(["acknowledge 1 hello", "receive 1 hello"]);
    carryHeader(a, b);
    expect(b.check("check", receiveMessage(b, b, packet)).code).not.toBe(0);
  });

  it.each([
    ['{"result":"AQ=="}', "done"],
    ['{"error":"\\u003c"}', "done"],
    ["{}", "done"],
    ["[]", "done"],
    ['{"error":5}', "done"],
    ['{"error":"a","x":1}', "done"],
    ['x{"error":"a"}', "done"],
    ...[
      '{"result": "AQ=="}',
      '{"error":"<"}',
      '{"error":"a","error":"a"}',
      '{"error":"a","result":"AQ=="}',
      '{"result":"AQ=="}x',
      "{ }",
      "null",
    ].map((text) => [
      text,
      "channel/16 acknowledge packet verification failed: acknowledgement marshalling error: invalid acknowledgement",
    ]),
  ])("has an acknowledgement %s that ibc-go spells in one way: %s", (text = "", expected) => {
    const { a, b, calls } = open("ORDER_UNORDERED");
    const packet = send(a, text);
    carryHeader(a, b);
    succeed(b, receiveMessage(a, b, packet));
    carryHeader(b, a);
    const acknowledge = acknowledgeMessage(b, a, packet, utf8(text));
    // The spelling is checked before the proof.
    const unproven = { ...acknowledge, proof_acked: "AQ==" };
    expect(textOf(a.deliver(expected === "done" ? acknowledge : unproven))).toBe(expected);
    expect(textOf(a.deliver(acknowledge))).toBe(expected);
    expect(calls.a.filter((call) => call.startsWith("acknowledge"))).toHaveLength(
      expected === "done" ? 1 : 0,
    );
  });

  it("has an acknowledgement whose invalid UTF-8 ibc-go reads as U+FFFD", () => {
    const invalid = Uint8Array.of(...utf8('{"error":"'), 0xff, ...utf8('"}'));
    expect(() => requireCanonicalReply(invalid)).toThrow("acknowledgement marshalling error");
    expect(requireCanonicalReply(utf8('{"error":"\uFFFD"}'))).toBeUndefined();
  });

  it("may overtake another", () => {
    const { a, b, calls } = open("ORDER_UNORDERED");
    const packets = ["one", "two", "three"].map((text) => send(a, text));
    carryHeader(a, b);
    for (const packet of packets.toReversed()) succeed(b, receiveMessage(a, b, packet));
    expect(calls.b.slice(1)).toEqual(["receive 3 three", "receive 2 two", "receive 1 one"]);
  });

  it("is listed page by page, with the keys of ibc-go", () => {
    const { a } = open("ORDER_UNORDERED");
    for (const text of ["one", "two"]) send(a, text);
    const list = (pagination: JsonObject): unknown => {
      const request = { port_id: "echo", channel_id: "channel-0", pagination };
      const name = "ibc.core.channel.v1.QueryPacketCommitments";
      const response = a.query(
        "/ibc.core.channel.v1.Query/PacketCommitments",
        messageFromJson(`${name}Request`, request),
      );
      return messageToJson(`${name}Response`, response);
    };
    const key = Buffer.from("/2").toString("base64");
    expect(list({ limit: "1" })).toMatchObject({
      commitments: [{ sequence: "1" }],
      pagination: { next_key: key },
    });
    expect(list({ key })).toMatchObject({ commitments: [{ sequence: "2" }], pagination: { next_key: null } });
  });

  it("that is refused keeps no writes, and its events with a prefix", () => {
    const { a, b } = open("ORDER_UNORDERED");
    const packet = send(a, "refuse");
    carryHeader(a, b);
    const { code, events } = b.deliver(receiveMessage(a, b, packet));
    expect(code).toBe(0);
    expect(b.context().store("ibc").has(utf8("echo/1"))).toBe(false);
    expect(
      events.find(({ type }) => type === "ibccallbackerror-echo")?.attributes.map(({ key }) => key),
    ).toEqual(["ibccallbackerror-data", "msg_index"]);
    expect(events.some(({ type }) => type === "write_acknowledgement")).toBe(true);
  });

  it("may be acknowledged later; an application that throws fails the message", () => {
    const { a, b } = open("ORDER_UNORDERED");
    const [later, failing] = [send(a, "later"), send(a, "throw")];
    carryHeader(a, b);
    const { events } = b.deliver(receiveMessage(a, b, later));
    expect(events.some(({ type }) => type === "write_acknowledgement")).toBe(false);
    expect(textOf(b.deliver(receiveMessage(a, b, failing)))).toBe("undefined/1 the application failed");
    expect(
      b
        .context()
        .store("ibc")
        .has(utf8(entryPath("receipts", END, 2n))),
    ).toBe(false);
  });

  it("times out by time, and is then refused", () => {
    const { a, b, calls } = open("ORDER_UNORDERED");
    const packet = send(a, "late", { timestamp: a.timeNs() + 30_000_000_000n });
    carryHeader(b, a);
    expect(textOf(a.deliver(timeoutMessage(b, a, packet)))).toMatch(
      /^channel\/39 timeout packet verification failed: packet timeout not reached: current timestamp: \d+, timeout timestamp \d+: timeout not reached$/,
    );
    b.block(60n);
    a.block(60n);
    carryHeader(b, a);
    carryHeader(a, b);
    expect(textOf(b.deliver(receiveMessage(a, b, packet)))).toMatch(
      /^channel\/40 receive packet verification failed: packet timeout elapsed: current timestamp/,
    );
    const timeout = timeoutMessage(b, a, packet);
    expect(resultOf(a.deliver(timeout))).toBe("success");
    expect(resultOf(a.deliver(timeout))).toBe("no-op");
    expect(calls.a.at(-1)).toBe("timeout 1");
  });

  it("times out by height", () => {
    const { a, b } = open("ORDER_UNORDERED");
    const height = { revisionNumber: 1n, revisionHeight: b.height() + 2n };
    const packet = send(a, "late", { height, timestamp: 0n });
    carryHeader(b, a);
    expect(textOf(a.deliver(timeoutMessage(b, a, packet)))).toMatch(
      /current height: 1-\d+, timeout height 1-\d+: timeout not reached$/,
    );
    carryHeader(b, a);
    expect(resultOf(a.deliver(timeoutMessage(b, a, packet)))).toBe("success");
  });

  it("that was received does not time out", () => {
    const { a, b } = open("ORDER_UNORDERED");
    const packet = send(a, "hello", { timestamp: a.timeNs() + 30_000_000_000n });
    carryHeader(a, b);
    succeed(b, receiveMessage(a, b, packet));
    b.block(60n);
    a.block(60n);
    carryHeader(b, a);
    expect(textOf(a.deliver(timeoutMessage(b, a, packet)))).toMatch(
      /^commitment\/2 timeout packet verification failed: failed packet receipt absence verification for client \(07-tendermint-0\): got ExistenceProof/,
    );
  });

  it("is not sent when the client knows that its time is over", () => {
    const { a } = open("ORDER_UNORDERED");
    expect(() => send(a, "late", { timestamp: 1n })).toThrow(
      /^invalid packet timeout: current timestamp: \d+, timeout timestamp 1: timeout elapsed$/,
    );
    expect(() => send(a, "never", { timestamp: 0n })).toThrow(
      "constructed packet failed basic validation: packet timeout height and packet timeout timestamp cannot both be 0: invalid packet",
    );
    expect(stored.sequences.nextSequenceSend.get(a.context(), END)).toBe(1n);
  });
});

describe("a packet with another content than the one that was sent", () => {
  const changes: Readonly<Record<string, (packet: Packet) => Packet>> = {
    data: (packet) => ({ ...packet, data: utf8("other") }),
    "timeout height": (packet) => ({
      ...packet,
      timeout: { ...packet.timeout, height: { revisionNumber: 1n, revisionHeight: 9999n } },
    }),
    "timeout time": (packet) => ({
      ...packet,
      timeout: { ...packet.timeout, timestamp: packet.timeout.timestamp + 1n },
    }),
    number: (packet) => ({ ...packet, sequence: 9n }),
  };

  it.each(Object.entries(changes))("%s is refused", (_name, change) => {
    const { a, b } = open("ORDER_UNORDERED");
    const packet = send(a, "hello");
    carryHeader(a, b);
    const message = receiveMessage(a, b, packet);
    const result = b.deliver({ ...message, packet: packetJson(change(packet)) });
    expect(textOf(result)).toMatch(
      /^commitment\/2 receive packet verification failed: couldn't verify counterparty packet commitment: failed packet commitment verification for client/,
    );
  });

  it("channel is refused before its proof", () => {
    const { a, b } = open("ORDER_UNORDERED");
    const packet = send(a, "hello");
    carryHeader(a, b);
    const source = { portId: "echo", channelId: "channel-7" };
    const message = { ...receiveMessage(a, b, packet), packet: packetJson({ ...packet, source }) };
    expect(textOf(b.deliver(message))).toBe(
      "channel/13 receive packet verification failed: packet source channel doesn't match the counterparty's channel (channel-7 ≠ channel-0): invalid packet",
    );
    const unknown = {
      ...receiveMessage(a, b, packet),
      packet: packetJson({ ...packet, destination: source }),
    };
    expect(textOf(b.deliver(unknown))).toBe(
      "capability/7 could not retrieve module from port-id: capabilities/ports/echo/channels/channel-7: capability not found",
    );
  });
});

describe("an ordered channel", () => {
  it("receives and acknowledges in order only", () => {
    const { a, b } = open("ORDER_ORDERED");
    const [first, second] = [send(a, "one"), send(a, "two")];
    carryHeader(a, b);
    expect(textOf(b.deliver(receiveMessage(a, b, second)))).toBe(
      "channel/21 receive packet verification failed: packet sequence ≠ next receive sequence (2 ≠ 1): packet sequence is out of order",
    );
    const receiveFirst = receiveMessage(a, b, first);
    succeed(b, receiveFirst, receiveMessage(a, b, second));
    expect(resultOf(b.deliver(receiveFirst))).toBe("no-op");
    carryHeader(b, a);
    expect(textOf(a.deliver(acknowledgeMessage(b, a, second, utf8("two"))))).toBe(
      "channel/21 acknowledge packet verification failed: packet sequence ≠ next ack sequence (2 ≠ 1): packet sequence is out of order",
    );
    succeed(a, acknowledgeMessage(b, a, first, utf8("one")), acknowledgeMessage(b, a, second, utf8("two")));
    expect(stored.sequences.nextSequenceAck.get(a.context(), END)).toBe(3n);
  });

  it("is closed by a timeout", () => {
    const { a, b } = open("ORDER_ORDERED");
    const packet = send(a, "late", { timestamp: a.timeNs() + 30_000_000_000n });
    b.block(60n);
    a.block(60n);
    carryHeader(b, a);
    const { events } = a.deliver(timeoutMessage(b, a, packet, 1n));
    expect(events.map(({ type }) => type)).toEqual([
      "message",
      "channel_close",
      "message",
      "timeout_packet",
      "message",
    ]);
    expect(stored.channels.get(a.context(), END)?.state).toBe(State.STATE_CLOSED);
    expect(() => send(a, "more")).toThrow("channel is not OPEN (got STATE_CLOSED): invalid channel state");
  });
});

describe("a closed channel", () => {
  it("returns what was not received, before its timeout", () => {
    const { a, b, calls } = open("ORDER_UNORDERED");
    const packet = send(a, "hello");
    succeed(b, of("channel", "MsgChannelCloseInit", b, { port_id: "echo", channel_id: "channel-0" }));
    carryHeader(b, a);
    const closed = b.prove("channelEnds/ports/echo/channels/channel-0");
    const onClose = {
      ...timeoutMessage(b, a, packet),
      "@type": "/ibc.core.channel.v1.MsgTimeoutOnClose",
      proof_close: closed.proof,
    };
    expect(resultOf(a.deliver(onClose))).toBe("success");
    expect(resultOf(a.deliver(onClose))).toBe("no-op");
    expect(calls.a.at(-1)).toBe("timeout 1");
    succeed(
      a,
      of("channel", "MsgChannelCloseConfirm", a, {
        port_id: "echo",
        channel_id: "channel-0",
        proof_init: closed.proof,
        proof_height: closed.height,
      }),
    );
    expect(stored.channels.get(a.context(), END)?.state).toBe(State.STATE_CLOSED);
    expect(calls.a.at(-1)).toBe("close-confirm channel-0");
  });
});

describe("CheckTx", () => {
  it("refuses a transaction whose packets were all relayed before", () => {
    const { a, b } = open("ORDER_UNORDERED");
    const [first, second] = [send(a, "one"), send(a, "two")];
    carryHeader(a, b);
    const [one, two] = [receiveMessage(a, b, first), receiveMessage(a, b, second)];
    expect(b.check("check", one).log).toBe("");
    succeed(b, one);
    a.block();
    for (const mode of ["check", "recheck"] as const) {
      expect(textOf(b.check(mode, one))).toBe("channel/22 packet messages are redundant");
      expect(textOf(b.check(mode, a.updateFor(b, "07-tendermint-0"), one))).toBe(
        "channel/22 packet messages are redundant",
      );
      expect(textOf(b.check(mode, one, two))).toBe("done");
    }
    const other = of("channel", "MsgChannelCloseInit", b, { port_id: "echo", channel_id: "channel-0" });
    expect(textOf(b.check("check", other, one))).toBe("done");
    expect(textOf(b.check("simulate", one))).toBe("done");
  });

  it("sees the header that the transaction itself brings", () => {
    const { a, b } = open("ORDER_UNORDERED");
    const packet = send(a, "hello");
    a.block();
    const messages = [a.updateFor(b, "07-tendermint-0"), receiveMessage(a, b, packet)];
    expect(textOf(b.check("check", ...messages))).toBe("done");
    expect(textOf(b.check("check", ...messages.slice(1)))).toMatch(
      /^ibc\/9 receive packet verification failed/,
    );
    expect(resultOf(b.deliver(...messages))).toContain("success");
  });
});

describe("genesis", () => {
  it("with channels and packets restores the same store", () => {
    const { a, b } = open("ORDER_UNORDERED");
    const packets = ["one", "two"].map((text) => send(a, text));
    carryHeader(a, b);
    for (const packet of packets) succeed(b, receiveMessage(a, b, packet));
    for (const chain of [a, b]) {
      const exported = exportGenesis(chain.context());
      const copy = createMemoryWorld(chain.chainId);
      initGenesis(copy.context({ height: chain.height() }), JSON.parse(JSON.stringify(exported)));
      const entries = [...chain.context().store("ibc").iterate()].filter(
        ([key]) => !Buffer.from(key).toString().startsWith("echo/"),
      );
      expect(copy.dump("ibc")).toEqual(
        entries.map(([key, value]) => [Buffer.from(key).toString("hex"), Buffer.from(value).toString("hex")]),
      );
    }
  });

  it("may have packets and numbers of channels that it does not list", () => {
    const end = { port_id: "echo", channel_id: "channel-3" };
    const commitments = [{ ...end, sequence: "1", data: "AA==" }];
    const sequences = { send_sequences: [{ ...end, sequence: "2" }] };
    const context = createMemoryWorld("local-1").context();
    initGenesis(context, { channel_genesis: { commitments, ...sequences } });
    expect(exportGenesis(context)["channel_genesis"]).toMatchObject({ commitments, ...sequences });
  });

  it.each([
    [{ channels: [{ port_id: "echo", channel_id: "x" }] }, "channels[0]: identifier x has invalid length"],
    [
      {
        channels: [
          {
            state: "STATE_OPEN",
            ordering: "ORDER_ORDERED",
            connection_hops: ["connection-5"],
            counterparty: { port_id: "echo", channel_id: "channel-0" },
            port_id: "echo",
            channel_id: "channel-0",
          },
        ],
      },
      "channels[0]: the connection connection-5 does not exist",
    ],
    [
      { commitments: [{ port_id: "echo", channel_id: "x", sequence: "1", data: "AA==" }] },
      "commitments[0]: identifier x has invalid length",
    ],
  ])("that contradicts itself fails with its path: %j", (channels, expected) => {
    const context = createMemoryWorld("local-1").context();
    expect(() => initGenesis(context, { channel_genesis: channels })).toThrow(
      `app_state.ibc.channel_genesis.${expected}`,
    );
  });
});
