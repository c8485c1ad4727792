import { describe, expect, it } from "vitest";
import { toBase64, utf8 } from "../../../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../../../src/platform/base/json.ts";
import type { Packet } from "../../../../src/localnet/chain/modules/ibc/host/packet.ts";
import { sendPacket } from "../../../../src/localnet/chain/modules/ibc/channel/keeper.ts";
import { createEchoApplication, ECHO_VERSION } from "../../../support/ibc/echo-application.ts";
import type { LinkedChain, LinkedMessage } from "../../../support/ibc/linked-chain.ts";
import {
  acknowledgeMessage,
  carryHeader,
  connectionAck,
  connectionConfirm,
  connectionTry,
  createPair,
  entryPath,
  type LinkedPair,
  of,
  openChannel,
  openConnection,
  receiveMessage,
  succeed,
  timeoutMessage,
} from "../../../support/ibc/linked-pair.ts";

/** A message with a good proof, and what makes the proof one of something else. */
interface Proven {
  readonly from: LinkedChain;
  readonly to: LinkedChain;
  readonly message: LinkedMessage;
  /** The field of the proof. */
  readonly field: string;
  /** A path whose proof, of existence or of absence, is good in itself. */
  readonly otherPath: string;
  /** Fields with which the message claims another value than the proven one. Undefined: the proof is of absence. */
  readonly otherValue: JsonObject | undefined;
}

const PORT = "echo";
const ID = "channel-0";
const END = { portId: PORT, channelId: ID };
const CHANNEL = `channelEnds/ports/${PORT}/channels/${ID}`;
const OPENING = { ordering: "ORDER_UNORDERED", connection_hops: ["connection-0"], version: ECHO_VERSION };
const ENDS = { port_id: PORT, channel_id: ID };
/** An absent path between other neighbours: the proof of an absence is one for all paths between two neighbours. */
const ELSEWHERE = "acks/ports/a";
const FIRST = {
  client_id: "07-tendermint-0",
  counterparty: { client_id: "07-tendermint-0", connection_id: "", prefix: { key_prefix: "aWJj" } },
};

function linked(): LinkedPair {
  const build = () => ({ modules: [], applications: new Map([[PORT, createEchoApplication()]]) });
  return createPair({ chainId: "local-1", build }, { chainId: "remote-1", bech32Prefix: "cosmos", build });
}

/** Carries two headers, so that a client has two heights. */
function carry(from: LinkedChain, to: LinkedChain): void {
  carryHeader(from, to);
  carryHeader(from, to);
}

function connectionStep(step: "try" | "ack" | "confirm"): Proven {
  const pair = linked();
  const { a, b } = pair;
  const id = "connection-0";
  succeed(a, of("connection", "MsgConnectionOpenInit", a, FIRST));
  succeed(a, of("connection", "MsgConnectionOpenInit", a, FIRST));
  carry(a, b);
  const otherPath = "connections/connection-1";
  if (step === "try")
    return {
      from: a,
      to: b,
      message: connectionTry(pair, id),
      field: "proof_init",
      otherPath,
      otherValue: { delay_period: "7" },
    };
  succeed(b, connectionTry(pair, id), connectionTry(pair, "connection-1"));
  carry(b, a);
  if (step === "ack") {
    const otherValue = { counterparty_connection_id: "connection-1" };
    return { from: b, to: a, message: connectionAck(pair, id), field: "proof_try", otherPath, otherValue };
  }
  succeed(a, connectionAck(pair, id));
  carry(a, b);
  return {
    from: a,
    to: b,
    message: connectionConfirm(pair, id),
    field: "proof_ack",
    otherPath,
    otherValue: { connection_id: "connection-1" },
  };
}

function channelStep(step: "try" | "ack" | "confirm" | "close"): Proven {
  const pair = linked();
  const { a, b } = pair;
  openConnection(pair);
  const init = { ...OPENING, state: "STATE_INIT", counterparty: { port_id: PORT, channel_id: "" } };
  const start = of("channel", "MsgChannelOpenInit", a, { port_id: PORT, channel: init });
  succeed(a, start, start);
  carry(a, b);
  const tryFor = (channelId: string): LinkedMessage => {
    const { proof, height } = a.prove(`channelEnds/ports/${PORT}/channels/${channelId}`);
    return of("channel", "MsgChannelOpenTry", b, {
      port_id: PORT,
      channel: { ...OPENING, state: "STATE_TRYOPEN", counterparty: { port_id: PORT, channel_id: channelId } },
      counterparty_version: ECHO_VERSION,
      proof_init: proof,
      proof_height: height,
    });
  };
  const otherPath = `channelEnds/ports/${PORT}/channels/channel-1`;
  const other = { channel_id: "channel-1" };
  if (step === "try")
    return {
      from: a,
      to: b,
      message: tryFor(ID),
      field: "proof_init",
      otherPath,
      otherValue: { counterparty_version: "2" },
    };
  succeed(b, tryFor(ID), tryFor("channel-1"));
  carry(b, a);
  const tried = b.prove(CHANNEL);
  const ack = of("channel", "MsgChannelOpenAck", a, {
    ...ENDS,
    counterparty_channel_id: ID,
    counterparty_version: ECHO_VERSION,
    proof_try: tried.proof,
    proof_height: tried.height,
  });
  if (step === "ack")
    return {
      from: b,
      to: a,
      message: ack,
      field: "proof_try",
      otherPath,
      otherValue: { counterparty_version: "2" },
    };
  succeed(a, ack);
  carry(a, b);
  const acked = a.prove(CHANNEL);
  const confirm = of("channel", "MsgChannelOpenConfirm", b, {
    ...ENDS,
    proof_ack: acked.proof,
    proof_height: acked.height,
  });
  if (step === "confirm")
    return { from: a, to: b, message: confirm, field: "proof_ack", otherPath, otherValue: other };
  succeed(b, confirm);
  succeed(a, of("channel", "MsgChannelCloseInit", a, ENDS));
  carry(a, b);
  const closed = a.prove(CHANNEL);
  const close = of("channel", "MsgChannelCloseConfirm", b, {
    ...ENDS,
    proof_init: closed.proof,
    proof_height: closed.height,
  });
  return { from: a, to: b, message: close, field: "proof_init", otherPath, otherValue: undefined };
}

function open(ordering: string): LinkedPair {
  const pair = linked();
  openConnection(pair);
  openChannel(pair, { port: PORT, id: ID, ordering, version: ECHO_VERSION });
  return pair;
}

function send(chain: LinkedChain, timeoutSeconds = 86_400n): Packet {
  const timestamp = chain.timeNs() + timeoutSeconds * 1_000_000_000n;
  const timeout = { height: { revisionNumber: 0n, revisionHeight: 0n }, timestamp };
  const outgoing = { source: END, data: utf8("hello"), timeout };
  return { ...outgoing, sequence: sendPacket(chain.context(), outgoing), destination: END };
}

function received(): Proven {
  const { a, b } = open("ORDER_UNORDERED");
  const packet = send(a);
  send(a);
  carry(a, b);
  const message = receiveMessage(a, b, packet);
  // The test of packets with another content has the other values.
  return {
    from: a,
    to: b,
    message,
    field: "proof_commitment",
    otherPath: entryPath("commitments", END, 2n),
    otherValue: undefined,
  };
}

function acknowledged(): Proven {
  const { a, b } = open("ORDER_UNORDERED");
  const packets = [send(a), send(a)] as const;
  carry(a, b);
  succeed(b, ...packets.map((one) => receiveMessage(a, b, one)));
  carry(b, a);
  const message = acknowledgeMessage(b, a, packets[0], utf8("hello"));
  const otherValue = { acknowledgement: toBase64(utf8("other")) };
  return { from: b, to: a, message, field: "proof_acked", otherPath: entryPath("acks", END, 2n), otherValue };
}

function timedOut(ordering: "ORDER_UNORDERED" | "ORDER_ORDERED"): Proven {
  const { a, b } = open(ordering);
  const packet = send(a, 30n);
  for (const chain of [a, b]) chain.block(60n);
  carry(b, a);
  const isOrdered = ordering === "ORDER_ORDERED";
  return {
    from: b,
    to: a,
    message: timeoutMessage(b, a, packet, isOrdered ? 1n : undefined),
    field: "proof_unreceived",
    otherPath: isOrdered ? `nextSequenceSend/ports/${PORT}/channels/${ID}` : ELSEWHERE,
    otherValue: isOrdered ? { next_sequence_recv: "0" } : undefined,
  };
}

function closedUnder(field: "proof_unreceived" | "proof_close"): Proven {
  const { a, b } = open("ORDER_UNORDERED");
  const packet = send(a);
  succeed(b, of("channel", "MsgChannelCloseInit", b, ENDS));
  carry(b, a);
  const message = {
    ...timeoutMessage(b, a, packet),
    "@type": "/ibc.core.channel.v1.MsgTimeoutOnClose",
    proof_close: b.prove(CHANNEL).proof,
  };
  const otherPath = field === "proof_close" ? "connections/connection-0" : ELSEWHERE;
  return { from: b, to: a, message, field, otherPath, otherValue: undefined };
}

const MESSAGES: readonly (readonly [name: string, prepare: () => Proven])[] = [
  ["MsgConnectionOpenTry", () => connectionStep("try")],
  ["MsgConnectionOpenAck", () => connectionStep("ack")],
  ["MsgConnectionOpenConfirm", () => connectionStep("confirm")],
  ["MsgChannelOpenTry", () => channelStep("try")],
  ["MsgChannelOpenAck", () => channelStep("ack")],
  ["MsgChannelOpenConfirm", () => channelStep("confirm")],
  ["MsgChannelCloseConfirm", () => channelStep("close")],
  ["MsgRecvPacket", received],
  ["MsgAcknowledgement", acknowledged],
  ["MsgTimeout on an unordered channel", () => timedOut("ORDER_UNORDERED")],
  ["MsgTimeout on an ordered channel", () => timedOut("ORDER_ORDERED")],
  ["MsgTimeoutOnClose, not received", () => closedUnder("proof_unreceived")],
  ["MsgTimeoutOnClose, closed", () => closedUnder("proof_close")],
];

/** Runs a message with changes. Returns its code, or "done". */
function codeOf({ to, message }: Proven, changes: JsonObject): string {
  const { code, codespace, log } = to.deliver({ ...message, ...changes });
  return code === 0 ? "done" : `${codespace}/${code} ${log}`;
}

function earlier(height: unknown): JsonObject {
  const text = JSON.stringify(height);
  const [, newest = "0"] = /"revision_height":"(\d+)"/.exec(text) ?? [];
  return { revision_number: "1", revision_height: (BigInt(newest) - 1n).toString() };
}

describe.each(MESSAGES)("%s", (_name, prepare) => {
  it("passes with its own proof, and with no other", () => {
    const proven = prepare();
    const { from, message, field, otherPath, otherValue } = proven;
    const other = from.prove(otherPath);
    expect(other.height).toEqual(message["proof_height"]);
    expect(codeOf(proven, { [field]: other.proof })).toMatch(/^commitment\/2 /);
    // The client knows this height too: the carried header before the last one.
    expect(codeOf(proven, { proof_height: earlier(message["proof_height"]) })).toMatch(/^commitment\/2 /);
    expect(codeOf(proven, { [field]: "AA==" })).toMatch(/^commitment\/2 /);
    if (otherValue !== undefined) expect(codeOf(proven, otherValue)).not.toBe("done");
    expect(codeOf(proven, {})).toBe("done");
  });
});
