import { equalBytes } from "../../../../../platform/base/bytes.ts";
import type { MerkleProof } from "../../../../../cosmos/merkle/ics23/proof-types.ts";
import type { ProofVerifier } from "../../../../../cosmos/merkle/ics23/proof-verifier.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type {
  KVKey,
  RegisteredQuery,
} from "../../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import type {
  QueryResult,
  StorageValue,
} from "../../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { ProofOps } from "../../../../../cosmos/proto/gen/tendermint/crypto/proof.ts";
import type { Context } from "../../../runtime/context.ts";
import {
  ErrConsensusStateNotFound,
  ErrInvalidClientID,
  ErrInvalidHeight,
  ErrInvalidProof,
  ErrInvalidSubmittedResult,
  ErrInvalidType,
} from "../errors.ts";
import { saveKvResult } from "../keeper.ts";
import type { Environment } from "../types.ts";
import { callKvOwner } from "./callbacks.ts";

/** The KV part of a submission. `clientId` is the client of the query's connection. */
export interface KvSubmission {
  readonly query: RegisteredQuery;
  readonly clientId: string;
  readonly result: QueryResult;
}

/** One submitted value with its proof. */
interface ClaimedValue {
  /** App hash of the remote chain. */
  readonly root: Uint8Array;
  readonly store: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly proof: MerkleProof;
}

const EMPTY = new Uint8Array(0);

/**
 * Verifies all values of a KV query, stores the result and calls the owner if the submitter asks for it. As in Go, the
 * client's status is not checked: consensus states of an expired or frozen client still verify values. Store accesses
 * and the callback cost gas; the verification of proofs costs none.
 */
export function submitKvResult(context: Context, submission: KvSubmission, environment: Environment): void {
  const { query, clientId, result } = submission;
  // The order of the checks is Go's: it decides which error a submission with several defects fails with.
  if (query.queryType !== "kv")
    throw ErrInvalidType(`invalid query result for query type: ${query.queryType}`);
  requireNewer(query, result);
  if (result.kvResults.length !== query.keys.length)
    throw ErrInvalidSubmittedResult(
      `KV keys length from result is not equal to registered query keys length: ${result.kvResults.length} != ${query.keys.length}`,
    );
  const root = requireRoot(context, clientId, result, environment);
  const kvResults = query.keys.map((key, index) =>
    verifyStorageValue(environment.proofs, root, key, result.kvResults[index]),
  );
  // Stored before the callback, in the same context: the owner reads the result during the callback.
  saveKvResult(context, query, { ...result, kvResults });
  if (result.allowKvCallbacks) callKvOwner(context, environment.contracts, query);
}

/**
 * The result must be newer than the last one: first by revision, then by height. A lower height of a newer revision is
 * newer. The text prints heights as Go prints a struct and a pointer to a struct: "{1 5}" and "&{1 9999}".
 */
function requireNewer(query: RegisteredQuery, result: QueryResult): void {
  const last = query.lastSubmittedResultRemoteHeight;
  if (last === undefined) return;
  const isNewer =
    result.revision === last.revisionNumber
      ? result.height > last.revisionHeight
      : result.revision > last.revisionNumber;
  if (isNewer) return;
  throw ErrInvalidHeight(
    `result's remote height {${result.revision} ${result.height}} is less than or equal to last result's remote height &{${last.revisionNumber} ${last.revisionHeight}}`,
  );
}

/** Returns the app hash after block H. It is in the header of H + 1, so the client must store that consensus state. */
function requireRoot(
  context: Context,
  clientId: string,
  result: QueryResult,
  { ibc }: Environment,
): Uint8Array {
  const height: Height = { revisionNumber: result.revision, revisionHeight: result.height + 1n };
  const root = ibc.consensusRoot(context, clientId, height);
  if (root === undefined)
    throw ErrConsensusStateNotFound(
      `failed to get consensus state: rpc error: code = NotFound desc = client-id: ${clientId}: consensus state not found`,
    );
  // Go reads the client state here for its proof specs. Only its presence matters: the specs are always the SDK's.
  if (ibc.clientLatestHeight(context, clientId) === undefined)
    throw ErrInvalidClientID(`could not find client state with client id: ${clientId}`);
  return root;
}

/** Verifies one value in Go's order: proof present, key, path, proof. Returns the value to store. */
function verifyStorageValue(
  proofs: ProofVerifier,
  root: Uint8Array,
  key: KVKey,
  value: StorageValue | undefined,
): StorageValue {
  if (value === undefined) throw ErrInvalidSubmittedResult("value is missing");
  const proof = decodeProof(proofs, value.Proof);
  if (!equalBytes(value.key, key.key))
    throw ErrInvalidSubmittedResult(
      `KV key from result is not equal to registered query key: ${goBytes(value.key)} != ${goBytes(key.key)}`,
    );
  if (value.storagePrefix !== key.path)
    throw ErrInvalidSubmittedResult(
      `KV path from result is not equal to registered query storage prefix: ${value.storagePrefix} != ${key.path}`,
    );
  const claim = { root, store: key.path, key: key.key, value: value.value, proof };
  return { ...value, value: verifyValue(proofs, claim) };
}

/** Decodes the proof operations. As in Go, their types and keys are ignored. Throws ErrInvalidType. */
function decodeProof(proofs: ProofVerifier, operations: ProofOps | undefined): MerkleProof {
  const decoded = proofs.decode(operations?.ops.map(({ data }) => data));
  if (decoded.ok) return decoded.value;
  throw ErrInvalidType(`failed to convert crypto.ProofOps to MerkleProof: ${decoded.error.text}`);
}

/**
 * Verifies a claim and returns the value to store. The proof alone decides about absence: with a proof of absence the
 * value is empty, even if the submitter sent a value. Empty values cannot be proven (chain-extension-modules.md,
 * "Errors", known behaviour 1). Throws ErrInvalidProof.
 */
function verifyValue(proofs: ProofVerifier, { value, ...claim }: ClaimedValue): Uint8Array {
  const isAbsent = claim.proof[0]?.kind === "nonexist";
  const verdict = isAbsent ? proofs.verifyNonMembership(claim) : proofs.verifyMembership(claim, value);
  if (!verdict.ok) throw ErrInvalidProof(`failed to verify proof: ${verdict.error.text}`);
  return isAbsent ? EMPTY : value;
}

/** Prints bytes as Go prints a slice with `%v`: "[1 125 203]". */
function goBytes(bytes: Uint8Array): string {
  return `[${bytes.join(" ")}]`;
}
