import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { ChainClient, StoreResponse } from "../../cosmos/client/chain-client.ts";
import type { WireMessage } from "../../cosmos/client/tx/tx-types.ts";
import type { Height } from "../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import { utf8 } from "../../platform/base/bytes.ts";
import { mapLimit } from "../../platform/base/waits.ts";
import { IbcRelayerError } from "./errors.ts";
import type { ChannelEnd } from "./ibc-reads.ts";

/** Kinds of work that the status counts. */
export const WORK_KINDS = ["receive", "acknowledge", "time_out", "channel"] as const;

export type WorkKind = (typeof WORK_KINDS)[number];

/** One message that a chain needs, and the paths to prove on the other chain. */
export interface Work {
  readonly kind: WorkKind;
  /** The work's name on its chain: `receive transfer/channel-0/7`. The same work keeps this name in the next cycle. */
  readonly name: string;
  /** Paths in the `ibc` store of the other chain. */
  readonly paths: readonly string[];
  /** Builds the message. `proofs` is in the same order as `paths`. */
  readonly message: (proven: Proven) => WireMessage;
}

/** Proofs for a message, the proof height, and the message's signer. */
interface Proven {
  /** Encoded `MerkleProof`s. */
  readonly proofs: readonly Uint8Array[];
  readonly height: Height;
  /** The IBC relayer's bech32 address on the chain that receives the message. */
  readonly signer: string;
}

/** What a channel-package message needs in addition to its subject. */
interface Proof {
  /** Encoded `MerkleProof`s of the first and the second path. */
  readonly first: Uint8Array;
  readonly second: Uint8Array;
  readonly at: { readonly proofHeight: Height; readonly signer: string };
}

const NO_PROOF = new Uint8Array();

/** Returns a function that builds a message of the channel package. */
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

/** A height at which a chain's state can be proven. Its header contains the state root at `height` - 1. */
export interface ProofPoint {
  readonly revision: bigint;
  readonly height: bigint;
}

/** Height and time from a chain's header. */
export interface Moment extends ProofPoint {
  readonly timeNs: bigint;
}

const CONCURRENT_READS = 50;

/** Reads the proofs for the work and builds its messages in the same order. Rejects with `ClientError` or `IbcRelayerError`. */
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

/** Encodes the proof operators as `ibc.core.commitment.v1.MerkleProof`: field 1 contains the proofs for all levels. */
function merkleProof(path: string, { code, log, proof }: StoreResponse): Uint8Array {
  if (code !== 0 || proof.length === 0) {
    const text = `cannot prove ibc/${path}: ${log === "" ? "the node returned no proof" : log}`;
    throw new IbcRelayerError({ code: "read-failed", key: path }, text);
  }
  const writer = new BinaryWriter();
  for (const { data } of proof) writer.uint32(FIRST_FIELD_TAG).bytes(data);
  return writer.finish();
}

/** Tag of field 1, length-delimited. */
const FIRST_FIELD_TAG = 10;

// ICS-24 paths, as stored by ibc-go.

export function channelPath(end: ChannelEnd): string {
  return `channelEnds/${suffix(end)}`;
}

/** Returns the path of the sequence that an ordered channel receives next. */
export function nextReceivePath(end: ChannelEnd): string {
  return `nextSequenceRecv/${suffix(end)}`;
}

/** Returns the path of a sent packet's hash, a packet's receipt, or an acknowledgement's hash. */
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
