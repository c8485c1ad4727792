import { z } from "zod";
import { fromBase64, toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { messageToJson } from "../../../src/cosmos/proto/json.ts";
import {
  latestHeightOf,
  unpackClientState,
  packConsensusState,
} from "../../../src/localnet/chain/modules/ibc/client/client-store.ts";
import { packetPath } from "../../../src/localnet/chain/modules/ibc/host/keys.ts";
import {
  unpackClientMessage,
  heightOfHeader,
  trustedHeightOf,
} from "../../../src/localnet/chain/modules/ibc/client/client-message.ts";
import type { DecodedTx } from "../../../src/localnet/chain/runtime/tx.ts";
import { calculateRoot } from "../../../src/cosmos/merkle/ics23/verify-merkle-proof.ts";
import { decodeCommitmentProof, splitMerkleProof } from "../../../src/cosmos/merkle/ics23/decode-proof.ts";
import * as channel from "../../../src/cosmos/proto/gen/ibc/core/channel/v1/tx.ts";
import type { Packet } from "../../../src/cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import type { Height } from "../../../src/cosmos/proto/gen/ibc/core/client/v1/client.ts";
import { MsgCreateClient, MsgUpdateClient } from "../../../src/cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import * as connection from "../../../src/cosmos/proto/gen/ibc/core/connection/v1/tx.ts";
import { Header } from "../../../src/cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL } from "../../../src/cosmos/proto/registry.ts";
import { updateHeader } from "../comet/light-block.ts";
import type { ProvingChain } from "./proving-chain.ts";
import type { RecordedHeaders } from "./recorded-headers.ts";

/** The other chain: what it proves here, and what it proved when it was recorded. */
export interface Prover {
  readonly chain: ProvingChain;
  readonly recorded: RecordedHeaders;
}

/**
 * Replaces everything in a transaction that comes from the other chain: headers, consensus states and proofs. What was wrong in
 * the recorded one is wrong in the same way: the height and the key of a proof are those of the recorded proof, and `name` (of
 * the recorded transaction) says which bits to flip.
 */
export function withOwnProofs(tx: DecodedTx, name: string, prover: Prover): DecodedTx {
  return {
    ...tx,
    messages: tx.messages.map((message) => ({
      ...message,
      value: REBUILD[message.typeUrl]?.(message.value, name, prover) ?? message.value,
    })),
  };
}

type RebuildMessage = (value: Uint8Array, name: string, prover: Prover) => Uint8Array;

const CHANNEL = "/ibc.core.channel.v1.";
const CONNECTION = "/ibc.core.connection.v1.";

const REBUILD: Readonly<Record<string, RebuildMessage>> = {
  [TYPE_URL.createClient]: (value, _name, { chain }) => {
    const message = MsgCreateClient.decode(value);
    const { revisionHeight } = latestHeightOf(unpackClientState(message.clientState));
    reach(chain, revisionHeight);
    const { timeNs, appHash: root, nextValidatorsHash } = chain.header(revisionHeight).header;
    const consensusState = packConsensusState({ timeNs, root, nextValidatorsHash });
    return MsgCreateClient.encode({ ...message, consensusState }).finish();
  },
  [TYPE_URL.updateClient]: (value, name, prover) => {
    const message = MsgUpdateClient.decode(value);
    const unpacked = unpackClientMessage(message.clientMessage);
    if (unpacked.kind !== "header") return value;
    const header = ownHeader(unpacked.header, name, prover);
    const clientMessage = { typeUrl: TYPE_URL.tendermintHeader, value: Header.encode(header).finish() };
    return MsgUpdateClient.encode({ ...message, clientMessage }).finish();
  },
  [`${CONNECTION}MsgConnectionOpenTry`]: (value, name, prover) => {
    const message = connection.MsgConnectionOpenTry.decode(value);
    const own = proofFor(message.proofHeight, "", prover);
    return connection.MsgConnectionOpenTry.encode({
      ...message,
      proofInit: own(message.proofInit, ""),
      proofClient: flippedIf(/proof_client flipped/.test(name), own(message.proofClient, "")),
      proofConsensus: flippedIf(/proof_consensus flipped/.test(name), own(message.proofConsensus, "")),
    }).finish();
  },
  [`${CONNECTION}MsgConnectionOpenAck`]: (value, name, prover) => {
    const message = connection.MsgConnectionOpenAck.decode(value);
    const own = proofFor(message.proofHeight, name, prover);
    return connection.MsgConnectionOpenAck.encode({
      ...message,
      proofTry: own(message.proofTry, ""),
      proofClient: own(message.proofClient, ""),
      proofConsensus: own(message.proofConsensus, ""),
    }).finish();
  },
  [`${CONNECTION}MsgConnectionOpenConfirm`]: (value, name, prover) => {
    const message = connection.MsgConnectionOpenConfirm.decode(value);
    const proofAck = proofFor(message.proofHeight, name, prover)(message.proofAck, "");
    return connection.MsgConnectionOpenConfirm.encode({ ...message, proofAck }).finish();
  },
  [`${CHANNEL}MsgChannelOpenTry`]: (value, name, prover) => {
    const message = channel.MsgChannelOpenTry.decode(value);
    const proofInit = proofFor(message.proofHeight, name, prover)(message.proofInit, "");
    return channel.MsgChannelOpenTry.encode({ ...message, proofInit }).finish();
  },
  [`${CHANNEL}MsgChannelOpenAck`]: (value, name, prover) => {
    const message = channel.MsgChannelOpenAck.decode(value);
    const proofTry = proofFor(message.proofHeight, name, prover)(message.proofTry, "");
    return channel.MsgChannelOpenAck.encode({ ...message, proofTry }).finish();
  },
  [`${CHANNEL}MsgChannelOpenConfirm`]: (value, name, prover) => {
    const message = channel.MsgChannelOpenConfirm.decode(value);
    const proofAck = proofFor(message.proofHeight, name, prover)(message.proofAck, "");
    return channel.MsgChannelOpenConfirm.encode({ ...message, proofAck }).finish();
  },
  [`${CHANNEL}MsgRecvPacket`]: (value, name, prover) => {
    const message = channel.MsgRecvPacket.decode(value);
    const needed = keyOf("commitments", message.packet, "source");
    const proofCommitment = proofFor(message.proofHeight, name, prover)(message.proofCommitment, needed);
    return channel.MsgRecvPacket.encode({ ...message, proofCommitment }).finish();
  },
  [`${CHANNEL}MsgAcknowledgement`]: (value, name, prover) => {
    const message = channel.MsgAcknowledgement.decode(value);
    const needed = keyOf("acks", message.packet, "destination");
    const proofAcked = proofFor(message.proofHeight, name, prover)(message.proofAcked, needed);
    return channel.MsgAcknowledgement.encode({ ...message, proofAcked }).finish();
  },
  [`${CHANNEL}MsgTimeout`]: (value, name, prover) => {
    const message = channel.MsgTimeout.decode(value);
    const needed = keyOf("receipts", message.packet, "destination");
    const proofUnreceived = proofFor(message.proofHeight, name, prover)(message.proofUnreceived, needed);
    return channel.MsgTimeout.encode({ ...message, proofUnreceived }).finish();
  },
};

function ownHeader(recorded: Header, name: string, { chain }: Prover): Header {
  const { revisionHeight } = heightOfHeader(recorded);
  reach(chain, revisionHeight);
  const target = chain.header(revisionHeight);
  // The validators never change, so those of the trusted height are those of every block.
  const header = updateHeader(
    /every signature with one bit flipped/.test(name) ? withFlippedSignatures(target) : target,
    trustedHeightOf(recorded),
    target,
  );
  if (!/trusted validators of another power/.test(name)) return header;
  const { trustedValidators } = header;
  const validators = (trustedValidators?.validators ?? []).map((one) => ({
    ...one,
    votingPower: one.votingPower + 1n,
  }));
  return {
    ...header,
    trustedValidators: trustedValidators && { ...trustedValidators, validators, totalVotingPower: 2n },
  };
}

function withFlippedSignatures(block: ReturnType<ProvingChain["header"]>): typeof block {
  const signatures = block.commit.signatures.map((one) => ({ ...one, signature: flip(one.signature, 0) }));
  return { ...block, commit: { ...block.commit, signatures } };
}

function reach({ place, advance }: ProvingChain, height: bigint): void {
  if (height > place().height) advance(height);
}

/**
 * Returns a function that makes our proof for a recorded one. `neededKey` is the key for a recorded proof whose own key is damaged.
 * An empty proof stays empty.
 */
function proofFor(
  proofHeight: Height | undefined,
  name: string,
  { chain, recorded }: Prover,
): (recordedProof: Uint8Array, neededKey: string) => Uint8Array {
  const damage = /one bit of the proof flipped \(byte (\d+)\)|bit of the absence proof flipped/.exec(name);
  return (recordedProof, neededKey) => {
    if (recordedProof.length === 0) return recordedProof;
    const key = damage === null ? provenKey(recordedProof) : utf8(neededKey);
    // A proof that leads to the root of no recorded header is that of a header which no client has.
    const other = damage === null ? chain.place().height : (proofHeight?.revisionHeight ?? 0n);
    const height = recorded.heightOf(provenRoot(recordedProof)) ?? other;
    reach(chain, height);
    const proof = chain.prove(key, height);
    return damage === null
      ? proof
      : flip(proof, damage[1] === undefined ? proof.length - 1 : Number(damage[1]));
  };
}

const keyJson = z.object({ key: z.string() }).nullish();
const proofJson = z.object({ exist: keyJson, nonexist: keyJson });

/** The key that a proof is about, also one of absence. */
function provenKey(proof: Uint8Array): Uint8Array {
  const first = splitMerkleProof(proof)?.[0] ?? new Uint8Array(0);
  const { exist, nonexist } = proofJson.parse(messageToJson("cosmos.ics23.v1.CommitmentProof", first));
  const key = (exist ?? nonexist)?.key;
  if (key === undefined) throw new Error("a recorded proof without a key");
  return fromBase64(key);
}

/** The root that a proof leads to, in hex; empty without one. */
function provenRoot(proof: Uint8Array): string {
  const decoded = decodeCommitmentProof(splitMerkleProof(proof)?.[1] ?? new Uint8Array(0));
  const root = decoded.ok ? calculateRoot(decoded.value) : undefined;
  return root?.ok === true ? toHex(Buffer.from(root.value, "latin1")) : "";
}

function keyOf(
  entry: Parameters<typeof packetPath>[0],
  packet: Packet | undefined,
  end: "source" | "destination",
): string {
  if (packet === undefined) return "";
  const portId = end === "source" ? packet.sourcePort : packet.destinationPort;
  const channelId = end === "source" ? packet.sourceChannel : packet.destinationChannel;
  return packetPath(entry, { portId, channelId }, packet.sequence);
}

function flippedIf(isFlipped: boolean, proof: Uint8Array): Uint8Array {
  return isFlipped ? flip(proof, proof.length - 1) : proof;
}

/** Flips the lowest bit of a byte. */
function flip(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));
}
