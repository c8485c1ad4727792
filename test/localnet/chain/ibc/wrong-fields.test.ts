import { beforeAll, describe, expect, it } from "vitest";
import { utf8 } from "../../../../src/platform/base/bytes.ts";
import { isRecord, type JsonObject } from "../../../../src/platform/base/json.ts";
import type { Packet } from "../../../../src/localnet/chain/modules/ibc/host/packet.ts";
import { sendPacket } from "../../../../src/localnet/chain/modules/ibc/channel/keeper.ts";
import { createEchoApplication, ECHO_VERSION } from "../../../support/ibc/echo-application.ts";
import type { LinkedMessage } from "../../../support/ibc/linked-chain.ts";
import {
  acknowledgeMessage,
  carryHeader,
  createPair,
  type LinkedPair,
  of,
  openChannel,
  openConnection,
  packetJson,
  receiveMessage,
  succeed,
  timeoutMessage,
} from "../../../support/ibc/linked-pair.ts";

const END = { portId: "echo", channelId: "channel-0" };
const NO_HEIGHT = { revision_number: "0", revision_height: "0" };
const SIGNER = { signer: "me" };
const NO_SIGNER =
  "ibc/5 string could not be parsed as address: decoding bech32 failed: invalid bech32 string length 2: invalid address";
const PORT = "host/2 invalid port ID: identifier cannot be blank: invalid identifier";
const CHANNEL = "channel/18 invalid channel identifier";

let pair: LinkedPair;
let messages: Readonly<Record<string, LinkedMessage>>;
let packet: Packet;

/** A message of each type that is good but for its turn, or its proof. */
beforeAll(() => {
  const applications = new Map([["echo", createEchoApplication()]]);
  const build = () => ({ modules: [], applications });
  pair = createPair({ chainId: "local-1", build }, { chainId: "remote-1", bech32Prefix: "cosmos", build });
  openConnection(pair);
  openChannel(pair, { port: "echo", id: "channel-0", ordering: "ORDER_UNORDERED", version: ECHO_VERSION });
  const { a, b } = pair;
  const timeout = {
    height: { revisionNumber: 0n, revisionHeight: 0n },
    timestamp: a.timeNs() + 86_400_000_000_000n,
  };
  const outgoing = { source: END, data: utf8("hello"), timeout };
  packet = { ...outgoing, sequence: sendPacket(a.context(), outgoing), destination: END };
  carryHeader(a, b);
  const receive = receiveMessage(a, b, packet);
  succeed(b, receive);
  carryHeader(b, a);
  const proof = { proof_height: NO_HEIGHT };
  const end = { port_id: "echo", channel_id: "channel-0" };
  const channel = {
    state: "STATE_INIT",
    ordering: "ORDER_UNORDERED",
    connection_hops: ["connection-0"],
    version: ECHO_VERSION,
    counterparty: { port_id: "echo", channel_id: "" },
  };
  const their = { port_id: "echo", channel_id: "channel-0" };
  messages = {
    OpenInit: of("channel", "MsgChannelOpenInit", a, { port_id: "echo", channel }),
    OpenTry: of("channel", "MsgChannelOpenTry", a, {
      port_id: "echo",
      channel: { ...channel, state: "STATE_TRYOPEN", counterparty: their },
      counterparty_version: ECHO_VERSION,
      proof_init: "AA==",
      ...proof,
    }),
    OpenAck: of("channel", "MsgChannelOpenAck", a, {
      ...end,
      counterparty_channel_id: "channel-0",
      counterparty_version: ECHO_VERSION,
      proof_try: "AA==",
      ...proof,
    }),
    OpenConfirm: of("channel", "MsgChannelOpenConfirm", a, { ...end, proof_ack: "AA==", ...proof }),
    CloseInit: of("channel", "MsgChannelCloseInit", a, end),
    CloseConfirm: of("channel", "MsgChannelCloseConfirm", a, { ...end, proof_init: "AA==", ...proof }),
    Receive: { ...receive, signer: a.signer },
    Acknowledge: acknowledgeMessage(b, a, packet, utf8("hello")),
    Timeout: timeoutMessage(b, a, packet),
    TimeoutOnClose: {
      ...timeoutMessage(b, a, packet),
      "@type": "/ibc.core.channel.v1.MsgTimeoutOnClose",
      proof_close: "AA==",
    },
  };
});

type Change = (packet: JsonObject) => JsonObject;
const inPacket =
  (fields: JsonObject): Change =>
  () => ({ packet: { ...packetJson(packet), ...fields } });
const inChannel =
  (fields: JsonObject): Change =>
  ({ channel }) => ({ channel: { ...(isRecord(channel) ? channel : {}), ...fields } });

/** The fields of a packet, wrong in turn. */
const PACKET: readonly (readonly [field: string, change: Change, expected: string])[] = [
  ["sequence", inPacket({ sequence: "0" }), "channel/13 packet sequence cannot be 0: invalid packet"],
  [
    "source_port",
    inPacket({ source_port: "" }),
    "host/2 invalid source port ID: identifier cannot be blank: invalid identifier",
  ],
  [
    "source_channel",
    inPacket({ source_channel: "" }),
    "host/2 invalid source channel ID: identifier cannot be blank: invalid identifier",
  ],
  [
    "destination_port",
    inPacket({ destination_port: "" }),
    "host/2 invalid destination port ID: identifier cannot be blank: invalid identifier",
  ],
  [
    "destination_channel",
    inPacket({ destination_channel: "" }),
    "host/2 invalid destination channel ID: identifier cannot be blank: invalid identifier",
  ],
  ["data", inPacket({ data: "" }), "channel/13 packet data bytes cannot be empty: invalid packet"],
  [
    "timeout",
    inPacket({ timeout_height: NO_HEIGHT, timeout_timestamp: "0" }),
    "channel/13 packet timeout height and packet timeout timestamp cannot both be 0: invalid packet",
  ],
];

const CASES: readonly (readonly [message: string, field: string, change: Change, expected: string])[] = [
  ["OpenInit", "port_id", () => ({ port_id: "" }), PORT],
  [
    "OpenInit",
    "channel.state",
    inChannel({ state: "STATE_OPEN" }),
    "channel/5 channel state must be INIT in MsgChannelOpenInit. expected: STATE_INIT, got: STATE_OPEN: invalid channel state",
  ],
  [
    "OpenInit",
    "channel.ordering",
    inChannel({ ordering: "ORDER_NONE_UNSPECIFIED" }),
    "channel/6 ORDER_NONE_UNSPECIFIED: invalid channel ordering",
  ],
  [
    "OpenInit",
    "channel.connection_hops",
    inChannel({ connection_hops: [] }),
    "channel/15 current IBC version only supports one connection hop: too many connection hops",
  ],
  [
    "OpenInit",
    "channel.connection_hops",
    inChannel({ connection_hops: ["x"] }),
    "host/2 invalid connection hop ID: identifier x has invalid length: 1, must be between 10-64 characters: invalid identifier",
  ],
  [
    "OpenInit",
    "channel.counterparty.port_id",
    inChannel({ counterparty: { port_id: "", channel_id: "" } }),
    "host/2 invalid counterparty port ID: identifier cannot be blank: invalid identifier",
  ],
  [
    "OpenInit",
    "channel.counterparty.channel_id",
    inChannel({ counterparty: { port_id: "echo", channel_id: "channel-1" } }),
    "channel/7 counterparty channel identifier must be empty: invalid counterparty channel",
  ],
  [
    "OpenInit",
    "channel.version",
    inChannel({ version: "x" }),
    "undefined/1 channel open init callback failed for port ID: echo, channel ID: channel-1: unknown version x",
  ],
  ["OpenInit", "signer", () => SIGNER, NO_SIGNER],
  ["OpenTry", "port_id", () => ({ port_id: "" }), PORT],
  [
    "OpenTry",
    "previous_channel_id",
    () => ({ previous_channel_id: "channel-1" }),
    "channel/18 previous channel identifier must be empty, this field has been deprecated as crossing hellos are no longer supported: invalid channel identifier",
  ],
  [
    "OpenTry",
    "proof_init",
    () => ({ proof_init: "" }),
    "commitment/2 cannot submit an empty init proof: invalid proof",
  ],
  [
    "OpenTry",
    "channel.counterparty.channel_id",
    inChannel({ counterparty: { port_id: "echo", channel_id: "" } }),
    "host/2 invalid counterparty channel ID: identifier cannot be blank: invalid identifier",
  ],
  ["OpenTry", "signer", () => SIGNER, NO_SIGNER],
  ["OpenAck", "port_id", () => ({ port_id: "" }), PORT],
  ["OpenAck", "channel_id", () => ({ channel_id: "x" }), CHANNEL],
  [
    "OpenAck",
    "counterparty_channel_id",
    () => ({ counterparty_channel_id: "" }),
    "host/2 invalid counterparty channel ID: identifier cannot be blank: invalid identifier",
  ],
  [
    "OpenAck",
    "proof_try",
    () => ({ proof_try: "" }),
    "commitment/2 cannot submit an empty try proof: invalid proof",
  ],
  ["OpenAck", "signer", () => SIGNER, NO_SIGNER],
  ["OpenConfirm", "port_id", () => ({ port_id: "" }), PORT],
  ["OpenConfirm", "channel_id", () => ({ channel_id: "channel-" }), CHANNEL],
  [
    "OpenConfirm",
    "proof_ack",
    () => ({ proof_ack: "" }),
    "commitment/2 cannot submit an empty acknowledgement proof: invalid proof",
  ],
  ["OpenConfirm", "signer", () => SIGNER, NO_SIGNER],
  ["CloseInit", "port_id", () => ({ port_id: "" }), PORT],
  ["CloseInit", "channel_id", () => ({ channel_id: "channel-99999999999999999999" }), CHANNEL],
  ["CloseInit", "signer", () => SIGNER, NO_SIGNER],
  ["CloseConfirm", "port_id", () => ({ port_id: "" }), PORT],
  ["CloseConfirm", "channel_id", () => ({ channel_id: "" }), CHANNEL],
  [
    "CloseConfirm",
    "proof_init",
    () => ({ proof_init: "" }),
    "commitment/2 cannot submit an empty init proof: invalid proof",
  ],
  ["CloseConfirm", "signer", () => SIGNER, NO_SIGNER],
  [
    "Receive",
    "proof_commitment",
    () => ({ proof_commitment: "" }),
    "commitment/2 cannot submit an empty commitment proof: invalid proof",
  ],
  ["Receive", "signer", () => SIGNER, NO_SIGNER],
  [
    "Acknowledge",
    "proof_acked",
    () => ({ proof_acked: "" }),
    "commitment/2 cannot submit an empty acknowledgement proof: invalid proof",
  ],
  [
    "Acknowledge",
    "acknowledgement",
    () => ({ acknowledgement: "" }),
    "channel/16 ack bytes cannot be empty: invalid acknowledgement",
  ],
  ["Acknowledge", "signer", () => SIGNER, NO_SIGNER],
  [
    "Timeout",
    "proof_unreceived",
    () => ({ proof_unreceived: "" }),
    "commitment/2 cannot submit an empty unreceived proof: invalid proof",
  ],
  [
    "Timeout",
    "next_sequence_recv",
    () => ({ next_sequence_recv: "0" }),
    "ibc/1 next sequence receive cannot be 0: invalid sequence",
  ],
  ["Timeout", "signer", () => SIGNER, NO_SIGNER],
  [
    "TimeoutOnClose",
    "proof_unreceived",
    () => ({ proof_unreceived: "" }),
    "commitment/2 cannot submit an empty unreceived proof: invalid proof",
  ],
  [
    "TimeoutOnClose",
    "proof_close",
    () => ({ proof_close: "" }),
    "commitment/2 cannot submit an empty proof of closed counterparty channel end: invalid proof",
  ],
  [
    "TimeoutOnClose",
    "next_sequence_recv",
    () => ({ next_sequence_recv: "0" }),
    "ibc/1 next sequence receive cannot be 0: invalid sequence",
  ],
  ["TimeoutOnClose", "signer", () => SIGNER, NO_SIGNER],
  ...["Receive", "Acknowledge", "Timeout", "TimeoutOnClose"].flatMap((message) =>
    PACKET.map(([field, change, expected]) => [message, `packet.${field}`, change, expected] as const),
  ),
];

describe("a message of a channel with one wrong field", () => {
  it("is one of 70 cases", () => expect(CASES.length).toBe(70));

  it.each(CASES)("%s: %s", (name, _field, change, expected) => {
    const message = messages[name];
    if (message === undefined) throw new Error(`no message ${name}`);
    const { code, codespace, log } = pair.a.deliver({ ...message, ...change(message) });
    expect(`${codespace}/${code} ${log.replace("failed to execute message; message index: 0: ", "")}`).toBe(
      expected,
    );
  });
});
