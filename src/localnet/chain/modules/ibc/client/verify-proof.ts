import { splitMerkleProof } from "../../../../../cosmos/merkle/ics23/decode-proof.ts";
import type { ProofFailure } from "../../../../../cosmos/merkle/ics23/proof-types.ts";
import { createProofVerifier } from "../../../../../cosmos/merkle/ics23/proof-verifier.ts";
import type { Claim } from "../../../../../cosmos/merkle/ics23/verify-merkle-proof.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type { ConnectionEnd } from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import { equalBytes, latin1, utf8 } from "../../../../../platform/base/bytes.ts";
import type { Context } from "../../../runtime/context.ts";
import * as errors from "../../../runtime/errors.ts";
import * as ibcErrors from "../host/errors.ts";
import { compareHeights, formatHeight, goHeight, selfHeight, ZERO_HEIGHT } from "../host/height.ts";
import { LOCALHOST } from "../host/identifiers.ts";
import { STORE_NAME } from "../host/keys.ts";
import { connectionParams } from "../host/params.ts";
import * as clientStore from "./client-store.ts";

/** A proof for a path in the counterparty's store. */
interface PathProof {
  readonly clientId: string;
  readonly proofHeight: Height;
  /** Encoded `MerkleProof`. */
  readonly proof: Uint8Array;
  /** Name of the counterparty's store that contains the path. */
  readonly prefix: Uint8Array;
  readonly path: string;
  /**
   * Time and number of blocks that must have passed since the consensus state was stored before the proof is accepted. Default: no
   * delay.
   */
  readonly delay?: { readonly timeNs: bigint; readonly blocks: bigint };
}

/** The only proof that the localhost client accepts. The client needs no real proof, because it reads the chain's own store. */
const SENTINEL_PROOF = Uint8Array.of(1);

// All chains can share this verifier, because its cache depends only on the proofs and never changes a result.
const proofs = createProofVerifier();

/**
 * Verifies that the counterparty stores `value` at the path (ibc-go `VerifyMembership`). Throws `ModuleError`, with commitment/2
 * or commitment/4 if the proof itself is invalid.
 */
export function verifyStored(context: Context, request: PathProof, value: Uint8Array): void {
  const { client, store } = activeClient(context, request);
  if (client.type === LOCALHOST) return verifyOwnValue(context, request, value);
  const result = proofs.verifyMembership(claimOf(context, request, { client, store }), value);
  if (!result.ok) throw commitmentError(result.error);
}

/** Verifies that the counterparty stores nothing at the path (ibc-go `VerifyNonMembership`). Throws `ModuleError`. */
function verifyAbsent(context: Context, request: PathProof): void {
  const { client, store } = activeClient(context, request);
  if (client.type === LOCALHOST) return verifyOwnAbsence(context, request);
  const result = proofs.verifyNonMembership(claimOf(context, request, { client, store }));
  if (!result.ok) throw commitmentError(result.error);
}

/**
 * Returns the client that verifies a proof. Throws client/4 for an unknown client, client/29 for an inactive client, and
 * commitment/3 for an empty prefix.
 */
function activeClient(context: Context, { clientId, prefix }: PathProof): clientStore.OpenClient {
  const opened = clientStore.openClient(context, clientId);
  clientStore.requireActive(context, opened, (status) => `client (${clientId}) status is ${status}`);
  if (prefix.length === 0) throw ibcErrors.ErrInvalidPrefix("prefix can't be empty");
  return opened;
}

/** Performs 07-tendermint's checks in order: height, delay, proof encoding, consensus state. */
function claimOf(context: Context, request: PathProof, { client, store }: clientStore.OpenClient): Claim {
  const { proofHeight } = request;
  const latest = clientStore.latestHeightOf(client);
  if (compareHeights(latest, proofHeight) < 0) {
    throw ibcErrors.ErrIbcInvalidHeight(
      `client state height < proof height (${goHeight(latest)} < ${goHeight(proofHeight)}), please ensure the client has been updated`,
    );
  }
  requireDelay(context, request, store);
  const operations = splitMerkleProof(request.proof);
  const proof = operations === undefined ? undefined : proofs.decode(operations);
  if (proof?.ok !== true)
    throw ibcErrors.ErrInvalidProof("failed to unmarshal proof into ICS 23 commitment merkle proof");
  const state = store.consensusState(proofHeight);
  if (state === undefined) {
    throw ibcErrors.ErrConsensusStateNotFound(
      "please ensure the proof was constructed against a height that exists on the client",
    );
  }
  const { prefix, path } = request;
  return { root: state.root, store: latin1(prefix), key: utf8(path), proof: proof.value };
}

function requireDelay(
  context: Context,
  { proofHeight, delay }: PathProof,
  store: clientStore.ClientStore,
): void {
  if (delay === undefined || (delay.timeNs === 0n && delay.blocks === 0n)) return;
  const processed = store.processed(proofHeight);
  if (delay.timeNs !== 0n) {
    if (processed === undefined)
      throw ibcErrors.ErrProcessedTimeNotFound(
        `processed time not found for height: ${formatHeight(proofHeight)}`,
      );
    // A huge delay wraps around, because Go adds two uint64 values.
    const valid = BigInt.asUintN(64, processed.timeNs + delay.timeNs);
    if (context.timeNs < valid)
      throw ibcErrors.ErrDelayPeriodNotPassed(
        `cannot verify packet until time: ${valid}, current time: ${context.timeNs}`,
      );
  }
  if (delay.blocks !== 0n) {
    if (processed === undefined)
      throw ibcErrors.ErrProcessedHeightNotFound(
        `processed height not found for height: ${formatHeight(proofHeight)}`,
      );
    const { revisionNumber, revisionHeight } = processed.height;
    const valid = { revisionNumber, revisionHeight: BigInt.asUintN(64, revisionHeight + delay.blocks) };
    const current = selfHeight(context);
    if (compareHeights(current, valid) < 0)
      throw ibcErrors.ErrDelayPeriodNotPassed(
        `cannot verify packet until height: ${formatHeight(valid)}, current height: ${formatHeight(current)}`,
      );
  }
}

function verifyOwnValue(context: Context, { proof, prefix, path }: PathProof, value: Uint8Array): void {
  requireSentinel(proof);
  const words = `at path: ${goPath(prefix, path)}`;
  const stored = context.store(STORE_NAME).get(utf8(path));
  if (stored === undefined)
    throw ibcErrors.ErrFailedMembershipVerification(`value not found for path ${goPath(prefix, path)}`);
  if (!equalBytes(stored, value))
    throw ibcErrors.ErrFailedMembershipVerification(`value provided does not equal value stored ${words}`);
}

function verifyOwnAbsence(context: Context, { proof, prefix, path }: PathProof): void {
  requireSentinel(proof);
  if (context.store(STORE_NAME).has(utf8(path)))
    throw ibcErrors.ErrFailedNonMembershipVerification(`value found for path ${goPath(prefix, path)}`);
}

function requireSentinel(proof: Uint8Array): void {
  if (!equalBytes(proof, SENTINEL_PROOF))
    throw ibcErrors.ErrInvalidProof(`expected ${latin1(SENTINEL_PROOF)}, got ${latin1(proof)}`);
}

/** Formats a path like Go formats the `MerklePath` struct. */
function goPath(prefix: Uint8Array, path: string): string {
  return `{[${latin1(prefix)} ${path}]}`;
}

/** Converts a proof failure to the matching ibc-go error, which is recognized by the end of the failure's message. */
function commitmentError({ text }: ProofFailure): errors.ModuleError {
  for (const kind of [ibcErrors.ErrInvalidProof, ibcErrors.ErrInvalidMerkleProof]) {
    const ending = `: ${kind().message}`;
    if (text.endsWith(ending)) return kind(text.slice(0, -ending.length));
  }
  return ibcErrors.ErrInvalidProof(text);
}

export interface MessageProof {
  /** Encoded `MerkleProof`. */
  readonly proof: Uint8Array;
  /** Height of the consensus state against which the proof is verified. */
  readonly height: Height;
}

/** A path in the counterparty's store, the path's name in error messages, and whether the connection's delay applies. */
interface ProvenPath {
  readonly path: string;
  readonly name: string;
  readonly isPacket: boolean;
}

/** Name of this chain's IBC store, which counterparties store as the prefix in their connection ends. */
export const OWN_PREFIX: { readonly keyPrefix: Uint8Array } = { keyPrefix: utf8(STORE_NAME) };

/** Returns a message's proof and its height. As in Go, a missing height becomes zero. */
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
  errors.wrapErrors((error) => {
    // Don't prefix errors about the client or the prefix, because ibc-go checks both before it verifies the proof.
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

/** Returns a connection's packet delay, as its delay period and the number of blocks expected in that period. */
function delayOf(context: Context, { delayPeriod }: ConnectionEnd): NonNullable<PathProof["delay"]> {
  const perBlock = connectionParams.get(context).maxExpectedTimePerBlock;
  const blocks = perBlock === 0n ? 0n : (delayPeriod + perBlock - 1n) / perBlock;
  return { timeNs: delayPeriod, blocks };
}
