import { describe, expect, it } from "vitest";
import { planChannels, planTransferChannel } from "../../../src/localnet/ibc-relayer/channel-work.ts";
import { unstartedStatus } from "../../../src/localnet/ibc-relayer/ibc-relayer.ts";
import {
  ibcRelayerJson,
  type IbcRelayerStatus,
  ibcRelayerHealth,
} from "../../../src/localnet/ibc-relayer/status.ts";
import type { ChannelView } from "../../../src/localnet/ibc-relayer/ibc-reads.ts";
import { readPackets } from "../../../src/localnet/ibc-relayer/packet-finder.ts";
import {
  acknowledge,
  type Destination,
  packetAction,
  receive,
  timeOut,
  timeOutOnClose,
} from "../../../src/localnet/ibc-relayer/packet-plan.ts";
import { createRetryBackoff } from "../../../src/localnet/ibc-relayer/deliver.ts";
import { Order, type Packet, State } from "../../../src/cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import {
  MsgAcknowledgement,
  MsgRecvPacket,
  MsgTimeout,
  MsgTimeoutOnClose,
} from "../../../src/cosmos/proto/gen/ibc/core/channel/v1/tx.ts";
import { createManualClock } from "../../support/manual-clock.ts";

function channel(state: State, id = "channel-0", their = "channel-0"): ChannelView {
  return {
    portId: "transfer",
    channelId: id,
    state,
    ordering: Order.ORDER_UNORDERED,
    version: "ics20-1",
    counterparty: { portId: "transfer", channelId: their },
  };
}
const { STATE_INIT, STATE_TRYOPEN, STATE_OPEN, STATE_CLOSED } = State;

describe("the next step of a handshake", () => {
  const steps = (proven: readonly ChannelView[], latest: readonly ChannelView[]): readonly string[] =>
    planChannels({ proven, latest, connectionId: "connection-0" }).map(({ name }) => name);

  it.each([
    ["init", STATE_INIT, undefined, "open-try"],
    ["try", STATE_TRYOPEN, STATE_INIT, "open-ack"],
    ["ack", STATE_OPEN, STATE_TRYOPEN, "open-confirm"],
    ["close", STATE_CLOSED, STATE_OPEN, "close-confirm"],
    ["nothing when both are open", STATE_OPEN, STATE_OPEN, undefined],
    ["nothing when the other relayer was faster", STATE_TRYOPEN, STATE_OPEN, undefined],
    ["nothing when both are closed", STATE_CLOSED, STATE_CLOSED, undefined],
  ])("after %s", (_title, theirs, own, step) => {
    const proven = channel(theirs, "channel-0", theirs === STATE_INIT ? "" : "channel-0");
    const latest = own === undefined ? [] : [channel(own)];
    expect(steps([proven], latest)).toEqual(step === undefined ? [] : [`${step} transfer/channel-0`]);
  });

  it("is not taken twice: an end that names the other one exists already", () => {
    expect(
      steps([channel(STATE_INIT, "channel-5", "")], [channel(STATE_TRYOPEN, "channel-1", "channel-5")]),
    ).toEqual([]);
  });

  it("leaves an end alone that belongs to another channel", () => {
    expect(
      steps(
        [channel(STATE_OPEN, "channel-5", "channel-1")],
        [channel(STATE_TRYOPEN, "channel-1", "channel-4")],
      ),
    ).toEqual([]);
  });

  it("begins a channel for transfers only when there is none", () => {
    const names = (channels: readonly ChannelView[]) =>
      planTransferChannel(channels, "connection-0").map(({ name }) => name);
    expect(names([])).toEqual(["open-init transfer"]);
    expect(names([channel(STATE_CLOSED)])).toEqual(["open-init transfer"]);
    expect(names([{ ...channel(STATE_OPEN), portId: "icahost" }])).toEqual(["open-init transfer"]);
    const ofContract = { ...channel(STATE_OPEN), counterparty: { portId: "wasm.x", channelId: "channel-0" } };
    expect(names([ofContract])).toEqual(["open-init transfer"]);
    for (const state of [STATE_INIT, STATE_TRYOPEN, STATE_OPEN]) expect(names([channel(state)])).toEqual([]);
  });
});

const PACKET: Packet = {
  sequence: 7n,
  sourcePort: "transfer",
  sourceChannel: "channel-0",
  destinationPort: "transfer",
  destinationChannel: "channel-3",
  data: new Uint8Array([1, 2]),
  timeoutHeight: { revisionNumber: 1n, revisionHeight: 100n },
  timeoutTimestamp: 1_000n,
};

describe("the fate of a packet that did not arrive", () => {
  const at = (height: bigint, timeNs: bigint, state: State = STATE_OPEN, revision = 1n) => ({
    end: channel(state),
    moment: { revision, height, timeNs },
    nextReceive: 0n,
  });

  it.each([
    ["in time", at(98n, 999n), "receive"],
    ["one block before its height, in which it would be too late", at(99n, 999n), "wait"],
    ["at its height", at(100n, 999n), "time-out"],
    ["at its time", at(5n, 1_000n), "time-out"],
    ["of an earlier revision", at(5n, 5n, STATE_OPEN, 2n), "time-out"],
    ["on a closed channel", at(5n, 5n, STATE_CLOSED), "time-out-on-close"],
    ["on a channel that is not open yet", at(5n, 5n, STATE_TRYOPEN), "wait"],
  ])("%s", (_title, destination, fate) => {
    expect(packetAction(PACKET, destination, true)).toBe(fate);
    // Nothing proves yet that it did not arrive.
    expect(packetAction(PACKET, destination, false)).toBe(fate === "receive" ? "receive" : "wait");
  });

  it("a timeout of zero never elapses", () => {
    const none = { revisionNumber: 0n, revisionHeight: 0n };
    expect(packetAction({ ...PACKET, timeoutHeight: none }, at(1_000n, 5n), true)).toBe("receive");
    expect(packetAction({ ...PACKET, timeoutTimestamp: 0n }, at(5n, 9_999n), true)).toBe("receive");
  });
});

describe("the message of a packet", () => {
  const destination = (ordering: Order, nextReceive: bigint): Destination => ({
    end: { ...channel(STATE_OPEN, "channel-3"), ordering },
    moment: { revision: 1n, height: 5n, timeNs: 5n },
    nextReceive,
  });
  const proven = {
    proofs: [Uint8Array.of(1), Uint8Array.of(2)],
    height: { revisionNumber: 1n, revisionHeight: 9n },
    signer: "me",
  };
  const base = { packet: PACKET, proofHeight: proven.height, signer: "me" };
  const acknowledgement = Uint8Array.of(7);
  const [unordered, ordered] = [destination(Order.ORDER_UNORDERED, 0n), destination(Order.ORDER_ORDERED, 5n)];
  const PORT_END = "ports/transfer/channels";

  it.each([
    [
      receive(PACKET),
      [`commitments/${PORT_END}/channel-0/sequences/7`],
      MsgRecvPacket,
      { ...base, proofCommitment: proven.proofs[0] },
    ],
    [
      acknowledge({ packet: PACKET, acknowledgement }),
      [`acks/${PORT_END}/channel-3/sequences/7`],
      MsgAcknowledgement,
      { ...base, acknowledgement, proofAcked: proven.proofs[0] },
    ],
    [
      timeOut(PACKET, unordered),
      [`receipts/${PORT_END}/channel-3/sequences/7`],
      MsgTimeout,
      { ...base, proofUnreceived: proven.proofs[0], nextSequenceRecv: 1n },
    ],
    [
      timeOut(PACKET, ordered),
      [`nextSequenceRecv/${PORT_END}/channel-3`],
      MsgTimeout,
      { ...base, proofUnreceived: proven.proofs[0], nextSequenceRecv: 5n },
    ],
    [
      timeOutOnClose(PACKET, unordered),
      [`receipts/${PORT_END}/channel-3/sequences/7`, `channelEnds/${PORT_END}/channel-3`],
      MsgTimeoutOnClose,
      {
        ...base,
        proofUnreceived: proven.proofs[0],
        proofClose: proven.proofs[1],
        nextSequenceRecv: 1n,
        counterpartyUpgradeSequence: 0n,
      },
    ],
  ])("$name proves what its chain verifies", (work, paths, type, expected) => {
    expect(work.paths).toEqual(paths);
    expect(type.decode(work.message(proven).value)).toEqual(expected);
  });
});

describe("a packet in events", () => {
  const attributes = {
    packet_data_hex: "0102",
    packet_ack_hex: "03",
    packet_timeout_height: "1-100",
    packet_timeout_timestamp: "1000",
    packet_sequence: "7",
    packet_src_port: "transfer",
    packet_src_channel: "channel-0",
    packet_dst_port: "transfer",
    packet_dst_channel: "channel-3",
  };
  const events = (changes: Readonly<Record<string, string>> = {}, type = "send_packet") => [
    { type: "message", attributes: [] },
    {
      type,
      attributes: Object.entries({ ...attributes, ...changes }).map(([key, value]) => ({ key, value })),
    },
  ];

  it("is read whole", () => {
    expect(readPackets(events(), "send_packet")).toEqual([
      { packet: PACKET, acknowledgement: new Uint8Array() },
    ]);
    expect(readPackets(events({}, "write_acknowledgement"), "write_acknowledgement")).toEqual([
      { packet: PACKET, acknowledgement: new Uint8Array([3]) },
    ]);
    expect(readPackets(events(), "write_acknowledgement")).toEqual([]);
  });

  it.each([
    ["packet_sequence", "x"],
    ["packet_sequence", ""],
    ["packet_timeout_height", "5"],
    ["packet_timeout_timestamp", "-1"],
    ["packet_data_hex", "0"],
    ["packet_data_hex", "zz"],
  ])("is left out when %s is %j", (key, value) => {
    expect(readPackets(events({ [key]: value }), "send_packet")).toEqual([]);
  });
});

it("retries of rejected work back off, and work that no chain needs is removed", () => {
  const clock = createManualClock(0);
  const backoff = createRetryBackoff(clock, () => 1);
  expect(backoff.isReady("a")).toBe(true);
  backoff.recordRefusal("a", "no");
  expect([backoff.isReady("a"), backoff.list()]).toEqual([
    false,
    [{ name: "a", reason: "no", attempts: 1, retryAtMs: 2_000 }],
  ]);
  backoff.recordRefusal("a", "still no");
  expect([backoff.list(), backoff.refusals()]).toMatchObject([[{ attempts: 2, retryAtMs: 4_000 }], 2]);
  backoff.retain(new Set(["b"]));
  expect([backoff.isReady("a"), backoff.list()]).toEqual([true, []]);
});

describe("the status of the IBC relayer", () => {
  const chain = {
    chainId: "local-1",
    channels: [channel(STATE_OPEN)],
    pending: 2,
    oldestPendingMs: 500,
    unreadable: 0,
    done: { receive: 1, acknowledge: 0, time_out: 0, channel: 2 },
    lastDoneMs: undefined,
    refusals: 3,
    refused: [],
  };
  const { failures } = unstartedStatus([]);
  const good: IbcRelayerStatus = { lastCycleMs: 1_000, error: undefined, failures, chains: [chain] };
  const refused = { name: "receive transfer/channel-0/1", reason: "no", attempts: 1, retryAtMs: 9_000 };

  it.each([
    ["carrying", good, ""],
    ["starting", { ...good, lastCycleMs: undefined }, ""],
    ["failing", { ...good, error: "local-1 is unreachable" }, "local-1 is unreachable"],
    ["failing", { ...good, lastCycleMs: -40_000 }, "no cycle for 42 s"],
    [
      "blocked",
      { ...good, chains: [{ ...chain, refused: [refused] }] },
      "local-1 rejects receive transfer/channel-0/1: no",
    ],
    [
      "blocked",
      { ...good, chains: [{ ...chain, unreadable: 3 }] },
      "the blocks of 3 packets from local-1, or of their acknowledgements, are pruned",
    ],
    ["starting", { ...good, chains: [{ ...chain, channels: [] }] }, "no channel for transfers is open yet"],
  ] as const)("%s", (state, status, reason) => {
    expect(ibcRelayerHealth(status, 2_000)).toEqual({ state, reason });
  });

  it("prints as JSON", () => {
    expect(ibcRelayerJson({ ...good, chains: [{ ...chain, refused: [refused] }] }, 2_000)).toEqual({
      state: "blocked",
      reason: "local-1 rejects receive transfer/channel-0/1: no",
      last_cycle_at: "1970-01-01T00:00:01.000Z",
      chains: [
        {
          chain_id: "local-1",
          channels: [
            {
              port_id: "transfer",
              channel_id: "channel-0",
              state: "STATE_OPEN",
              counterparty: { port_id: "transfer", channel_id: "channel-0" },
            },
          ],
          packets: { pending: 2, oldest_pending_since: "1970-01-01T00:00:00.500Z", unreadable: 0 },
          done: { receive: 1, acknowledge: 0, time_out: 0, channel: 2 },
          last_done_at: null,
          refused: [
            {
              name: "receive transfer/channel-0/1",
              reason: "no",
              attempts: 1,
              next_attempt_at: "1970-01-01T00:00:09.000Z",
            },
          ],
        },
      ],
    });
  });
});
