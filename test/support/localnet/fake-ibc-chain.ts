import type { WireMessage } from "../../../src/cosmos/client/tx/tx-types.ts";
import { Order, type Packet, State } from "../../../src/cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { MsgRecvPacket } from "../../../src/cosmos/proto/gen/ibc/core/channel/v1/tx.ts";
import type { IbcChain } from "../../../src/localnet/ibc-relayer/ibc-chain.ts";
import type { ChannelView } from "../../../src/localnet/ibc-relayer/ibc-reads.ts";
import { utf8 } from "../../../src/platform/base/bytes.ts";

/** The channel on both chains. */
export const CHANNEL: ChannelView = {
  portId: "transfer",
  channelId: "channel-0",
  state: State.STATE_OPEN,
  ordering: Order.ORDER_UNORDERED,
  version: "ics20-1",
  counterparty: { portId: "transfer", channelId: "channel-0" },
};
const NEVER = { revisionNumber: 0n, revisionHeight: 0n };
const HOUR_NS = 3_600_000_000_000n;

/** Why a chain does not take a transaction. */
interface Refusal {
  readonly code: number;
  readonly codespace: string;
  readonly log: string;
  readonly failedMessage: number | undefined;
}

/** A chain with one channel, which takes packets without a look at their proofs. */
export interface FakeIbcChain {
  readonly chain: IbcChain;
  height: bigint;
  timeNs: bigint;
  channel: ChannelView;
  /** Sent packets without an acknowledgement, by number. */
  readonly sent: Map<bigint, Packet>;
  /** Numbers that the proven state still has as sent, and the present state has no more. */
  readonly completedSince: Set<bigint>;
  /** Received packets, by number. */
  readonly received: Map<bigint, Packet>;
  /** Numbers of received packets that the proven state does not have yet. */
  readonly receivedSince: Set<bigint>;
  /** Packets, by `send 1` and `acknowledge 1`, whose blocks are pruned. */
  readonly pruned: Set<string>;
  /** The messages of each included transaction: `receive 1`. */
  readonly transactions: (readonly string[])[];
  /** Gas limits of the included transactions. */
  readonly gasLimits: bigint[];
  /** How many packets each search of their content was for. */
  readonly searches: number[];
  /** How often what the searches found was dropped. */
  forgotten: number;
  /** How often the newest header was read. */
  reads: number;
  /** Called before each read of a header. */
  onRead: (signal: AbortSignal) => Promise<void>;
  /** Called with the messages of each simulation. Undefined: the chain takes them. */
  onSimulate: (names: readonly string[]) => Refusal | undefined;
  /** Called with the messages of each transaction. Undefined: the chain takes them. */
  onSend: (names: readonly string[]) => Promise<Refusal | "lost" | undefined>;
  /** Trusting period of the light client, and time of its newest consensus state. */
  readonly client: { trustingPeriodNs: bigint; timeNs: bigint; isUpdated: boolean };
  /** Sends packets. Returns their numbers. */
  readonly send: (count: number, packet?: Partial<Packet>) => readonly bigint[];
}

/** Creates two chains with clients of each other. */
export function createFakeIbcChains(): readonly [FakeIbcChain, FakeIbcChain] {
  const chains: FakeIbcChain[] = [];
  const one = createFake("local-1", () => chains[1] ?? one);
  const other = createFake("remote-1", () => one);
  chains.push(one, other);
  return [one, other];
}

function createFake(chainId: string, counterparty: () => FakeIbcChain): FakeIbcChain {
  let next = 1n;
  const parts = {
    sent: new Map<bigint, Packet>(),
    completedSince: new Set<bigint>(),
    received: new Map<bigint, Packet>(),
    receivedSince: new Set<bigint>(),
    pruned: new Set<string>(),
  };
  const fake: FakeIbcChain = {
    chain: createChain(chainId, () => fake, counterparty),
    height: 10n,
    timeNs: HOUR_NS,
    channel: CHANNEL,
    ...parts,
    transactions: [],
    gasLimits: [],
    searches: [],
    forgotten: 0,
    reads: 0,
    onRead: async () => {},
    onSimulate: () => undefined,
    onSend: async () => undefined,
    client: { trustingPeriodNs: HOUR_NS, timeNs: HOUR_NS, isUpdated: true },
    send: (count, packet = {}) =>
      Array.from({ length: count }, () => {
        const sequence = next++;
        const data = utf8("data");
        const ends = {
          sourcePort: "transfer",
          sourceChannel: "channel-0",
          destinationPort: "transfer",
          destinationChannel: "channel-0",
        };
        parts.sent.set(sequence, {
          sequence,
          ...ends,
          data,
          timeoutHeight: NEVER,
          timeoutTimestamp: 2n * HOUR_NS,
          ...packet,
        });
        return sequence;
      }),
  };
  return fake;
}

function createChain(chainId: string, own: () => FakeIbcChain, counterparty: () => FakeIbcChain): IbcChain {
  const only = (sequences: readonly bigint[], has: (sequence: bigint) => boolean): ReadonlySet<bigint> =>
    new Set(sequences.filter(has));
  const bytes = new Uint8Array(0);
  return {
    chainId,
    connectionId: "connection-0",
    client: {
      readStore: async () => ({
        code: 0,
        codespace: "",
        log: "",
        height: 1n,
        value: undefined,
        proof: [{ type: "ics23:iavl", key: bytes, data: Uint8Array.of(1) }],
        endpoint: chainId,
      }),
      lightBlock: async (_height, signal) => {
        const fake = own();
        fake.reads += 1;
        await fake.onRead(signal);
        const { height, timeNs } = fake;
        return { height, timeNs, appHash: bytes, signedHeader: bytes, validatorSet: bytes };
      },
      status: async () => {
        const { height, timeNs } = own();
        return { chainId, latestHeight: height, latestTimeNs: timeNs, earliestHeight: 1n, catchingUp: false };
      },
    },
    queries: {
      clientOfConnection: async () => "07-tendermint-0",
      clientState: async (clientId) => {
        const { client } = own();
        const { height, chain } = counterparty();
        return {
          clientId,
          chainId: chain.chainId,
          latestHeight: { revision: 1n, height: client.isUpdated ? height : height - 1n },
          trustingPeriodNs: client.trustingPeriodNs,
          trustLevel: { numerator: 1n, denominator: 3n },
        };
      },
      consensusState: async () => ({ timeNs: own().client.timeNs, nextValidatorsHash: bytes }),
      consensusHeights: async () => [{ revision: 1n, height: counterparty().height - 1n }],
    },
    reads: {
      channels: async () => [own().channel],
      commitments: async () => [...own().completedSince, ...own().sent.keys()],
      unreceived: async ({ sequences }, height) => {
        const { received, receivedSince } = own();
        const isLater = (each: bigint): boolean => height !== 0n && receivedSince.has(each);
        return only(sequences, (each) => !received.has(each) || isLater(each));
      },
      unacknowledged: async ({ sequences }) => only(sequences, (each) => own().sent.has(each)),
      acknowledged: async ({ sequences }) => only(sequences, (each) => own().received.has(each)),
      nextReceive: async () => BigInt(own().received.size) + 1n,
    },
    finder: {
      forget: () => {
        own().forgotten += 1;
      },
      find: async ({ type, sequences }) => {
        const { sent, received, pruned, searches } = own();
        searches.push(sequences.length);
        const [packets, name] = type === "send_packet" ? [sent, "send"] : [received, "acknowledge"];
        return new Map(
          sequences.flatMap((sequence) => {
            const packet = pruned.has(`${name} ${sequence}`) ? undefined : packets.get(sequence);
            return packet === undefined
              ? []
              : [[sequence, { packet, acknowledgement: Uint8Array.of(1) }] as const];
          }),
        );
      },
    },
    sender: {
      address: `${chainId}-ibc-relayer`,
      simulate: async (messages) => {
        const refusal = own().onSimulate(messages.map(nameOf));
        return refusal === undefined ? { ok: true, gasUsed: 1_000n } : { ok: false, ...refusal };
      },
      send: async (messages, gasLimit) => {
        const refusal = await own().onSend(messages.map(nameOf));
        const facts = { hash: bytes, bytes: 1, gasLimit: 1n, feeAmount: 1n };
        if (refusal === "lost")
          return { ...facts, confirmation: { kind: "lost", reason: "it is in no block" } };
        if (refusal !== undefined) return { ...facts, confirmation: { kind: "refused", ...refusal } };
        for (const message of messages) apply(own(), message);
        own().transactions.push(messages.map(nameOf));
        own().gasLimits.push(gasLimit);
        return {
          ...facts,
          confirmation: { kind: "included", height: 1n, gasUsed: 1n, gasWanted: 1n, data: bytes },
        };
      },
    },
  };
}

const KINDS: Readonly<Record<string, string>> = {
  MsgRecvPacket: "receive",
  MsgAcknowledgement: "acknowledge",
  MsgTimeout: "time-out",
  MsgTimeoutOnClose: "time-out-on-close",
};

/** Names a message: `receive 1`; the type for one without a packet. */
function nameOf({ typeUrl, value }: WireMessage): string {
  const type = typeUrl.slice(typeUrl.lastIndexOf(".") + 1);
  const kind = KINDS[type];
  // The packet is the first field of all these messages.
  return kind === undefined ? type : `${kind} ${MsgRecvPacket.decode(value).packet?.sequence}`;
}

function apply(chain: FakeIbcChain, message: WireMessage): void {
  const name = nameOf(message);
  if (name === "MsgUpdateClient") chain.client.isUpdated = true;
  if (!name.includes(" ")) return;
  const { packet } = MsgRecvPacket.decode(message.value);
  if (packet === undefined) return;
  if (name.startsWith("receive")) chain.received.set(packet.sequence, packet);
  else chain.sent.delete(packet.sequence);
}
