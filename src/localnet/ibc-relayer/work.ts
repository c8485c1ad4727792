import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { ChainClient, StoreResponse } from "../../cosmos/client/chain-client.ts";
import type { WireMessage } from "../../cosmos/client/tx/tx-types.ts";
import type { Height } from "../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import { utf8 } from "../../platform/base/bytes.ts";
import { mapLimit } from "../../platform/base/waits.ts";
import { IbcRelayerError } from "./errors.ts";
import type { ChannelEnd } from "./ibc-reads.ts";

/** Kinds of messages that the IBC relayer sends. The IBC relayer's status counts the messages of each kind. */
export const WORK_KINDS = ["receive", "acknowledge", "time_out", "channel"] as const;

export type WorkKind = (typeof WORK_KINDS)[number];

/** A message to send to a chain, and the paths in the other chain's state that the message must prove. */
export interface Work {
  readonly kind: WorkKind;
  /** Name of the message, unique on its chain and the same in every cycle, such as `receive transfer/channel-0/7`. */
  readonly name: string;
  /** Paths to prove in the other chain's `ibc` store. */
  readonly paths: readonly string[];
  /** Builds the message from `proofs` in the order of `paths`. */
  readonly message: (proven: Proven) => WireMessage;
}

/** Values that a message needs in addition to its packet or channel: proofs, proof height and signer. */
interface Proven {
  /** One encoded `MerkleProof` per path, in the order of the paths. */
  readonly proofs: readonly Uint8Array[];
  readonly height: Height;
  /** The IBC relayer's bech32 address on the chain that receives the message. */
  readonly signer: string;
}

/** Proofs, proof height and signer, in the format of the messages in the `ibc.core.channel.v1` package. */
interface Proof {
  /** Proofs for the first and the second path, encoded as `MerkleProof`. */
  readonly first: Uint8Array;
  readonly second: Uint8Array;
  readonly at: { readonly proofHeight: Height; readonly signer: string };
}

const NO_PROOF = new Uint8Array();

/** Returns a function that builds a message in the `ibc.core.channel.v1` package. */
export function channelMessage<Message>(
  name: string,
  type: { encode(message: Message): { finish(): Uint8Array } },
  build: (proof: Proof) => Message,
): Work["message"] {
  return ({ proofs: [first = NO_PROOF, second = NO_PROOF], height: proofHeight, signer }) => ({
    typeUrl: `/ibc.core.channel.v1.${name}`,
    value: type.encode(build({ first, second, at: { proofHeight, signer } })).finish(),
  });
}

/** A height whose header proves a chain's state. The header at `height` contains the state root of `height` - 1. */
export interface ProofPoint {
  readonly revision: bigint;
  readonly height: bigint;
}

/** Height and time of a block header. The time is in nanoseconds since the Unix epoch. */
export interface Moment extends ProofPoint {
  readonly timeNs: bigint;
}

const CONCURRENT_READS = 50;

/** Reads the proofs and builds a message for each item of `work`, in the same order. Rejects with `ClientError` or `IbcRelayerError`. */
export function proveWork(
  work: readonly Work[],
  from: { readonly client: Pick<ChainClient, "readStore">; readonly point: ProofPoint },
  signer: string,
  signal: AbortSignal,
): Promise<readonly WireMessage[]> {
  const { client, point } = from;
  const height = { revisionNumber: point.revision, revisionHeight: point.height };
  return mapLimit(work, CONCURRENT_READS, async ({ paths, message }) => {
    const proofs = await Promise.all(
      paths.map(async (path) => {
        const read = { store: "ibc", key: utf8(path), height: point.height - 1n };
        return merkleProof(path, await client.readStore(read, signal));
      }),
    );
    return message({ proofs, height, signer });
  });
}

/** Encodes the proof operators as an `ibc.core.commitment.v1.MerkleProof`, whose field 1 contains the proofs for all levels. */
function merkleProof(path: string, { code, log, proof }: StoreResponse): Uint8Array {
  if (code !== 0 || proof.length === 0) {
    const text = `cannot prove ibc/${path}: ${log === "" ? "the node returned no proof" : log}`;
    throw new IbcRelayerError({ code: "read-failed", key: path }, text);
  }
  const writer = new BinaryWriter();
  for (const { data } of proof) writer.uint32(FIRST_FIELD_TAG).bytes(data);
  return writer.finish();
}

/** Protobuf tag of a length-delimited field 1: (1 << 3) | 2. */
const FIRST_FIELD_TAG = 10;

// The functions below return ICS-24 paths, which are the keys in ibc-go's store.

export function channelPath(end: ChannelEnd): string {
  return `channelEnds/${suffix(end)}`;
}

/** Returns the path of the next sequence to receive on an ordered channel. */
export function nextReceivePath(end: ChannelEnd): string {
  return `nextSequenceRecv/${suffix(end)}`;
}

/** Returns the path of a packet commitment, a packet receipt or an acknowledgement commitment. */
export function packetPath(
  name: "commitments" | "receipts" | "acks",
  end: ChannelEnd,
  sequence: bigint,
): string {
  return `${name}/${suffix(end)}/sequences/${sequence}`;
}

function suffix({ portId, channelId }: ChannelEnd): string {
  return `ports/${portId}/channels/${channelId}`;
}
