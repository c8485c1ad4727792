import { utf8 } from "../../../../../platform/base/bytes.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type { ConnectionEnd } from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import type { Context } from "../../../runtime/context.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import { type PathProof, verifyAbsent, verifyStored } from "../client/verify-proof.ts";
import { ZERO_HEIGHT } from "../height.ts";
import { STORE_NAME } from "../keys.ts";
import { getConnectionParams } from "../params.ts";

/** A proof in a message. */
export interface MessageProof {
  /** Encoded `MerkleProof`. */
  readonly proof: Uint8Array;
  /** Height of the consensus state that it leads to. */
  readonly height: Height;
}

/** A path of the counterparty's store with its name in error texts, and whether the delay of the connection applies. */
export interface ProvenPath {
  readonly path: string;
  readonly name: string;
  readonly isPacket: boolean;
}

/** Prefix of this chain's store, in the connection ends of its counterparties. */
export const OWN_PREFIX: { readonly keyPrefix: Uint8Array } = { keyPrefix: utf8(STORE_NAME) };

/** Returns a proof of a message. An absent height is zero, as in Go. */
export function proofOf(proof: Uint8Array, height: Height | undefined): MessageProof {
  return { proof, height: height ?? ZERO_HEIGHT };
}

/** Verifies that the chain behind a connection stores a value. Throws `ModuleError`. */
export function verifyRemoteValue(
  context: Context,
  connection: ConnectionEnd,
  proven: ProvenPath & MessageProof,
  value: Uint8Array,
): void {
  verify(connection, proven, () => verifyStored(context, requestOf(context, connection, proven), value));
}

/** Verifies that the chain behind a connection stores nothing at a path. Throws `ModuleError`. */
export function verifyRemoteAbsence(
  context: Context,
  connection: ConnectionEnd,
  proven: ProvenPath & MessageProof,
): void {
  verify(connection, proven, () => verifyAbsent(context, requestOf(context, connection, proven)));
}

function verify({ clientId }: ConnectionEnd, { name }: ProvenPath, check: () => void): void {
  wrapErrors((error) => {
    // The checks of the client itself precede the verification, and their errors are not part of it.
    const isOfClient = error.codespace === "client" && (error.code === 4 || error.code === 29);
    const isOfPrefix = error.codespace === "commitment" && error.code === 3;
    return isOfClient || isOfPrefix
      ? error
      : error.wrap(`failed ${name} verification for client (${clientId})`);
  }, check);
}

function requestOf(
  context: Context,
  connection: ConnectionEnd,
  { proof, height, path, isPacket }: ProvenPath & MessageProof,
): PathProof {
  const prefix = connection.counterparty?.prefix?.keyPrefix ?? new Uint8Array(0);
  const request = { clientId: connection.clientId, proofHeight: height, proof, prefix, path };
  return isPacket ? { ...request, delay: delayOf(context, connection) } : request;
}

/** Returns the delay of packets: the time of the connection, and the blocks that a chain makes in this time. */
function delayOf(context: Context, { delayPeriod }: ConnectionEnd): NonNullable<PathProof["delay"]> {
  const perBlock = getConnectionParams(context).maxExpectedTimePerBlock;
  const blocks = perBlock === 0n ? 0n : (delayPeriod + perBlock - 1n) / perBlock;
  return { timeNs: delayPeriod, blocks };
}
