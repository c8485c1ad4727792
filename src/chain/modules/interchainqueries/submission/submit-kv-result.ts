import { equalBytes } from "../../../../base/bytes.ts";
import type { ProofVerifier } from "../../../../merkle/ics23/proof-verifier.ts";
import type { Height } from "../../../../proto/gen/ibc/core/client/v1/client.ts";
import type { KVKey, RegisteredQuery } from "../../../../proto/gen/neutron/interchainqueries/genesis.ts";
import type { QueryResult, StorageValue } from "../../../../proto/gen/neutron/interchainqueries/tx.ts";
import type { Context } from "../../../runtime/context.ts";
import { registerError } from "../../../runtime/module-error.ts";
import { callKvOwner } from "./callbacks.ts";
import { invalidClientId, invalidHeight, invalidSubmittedResult, invalidType } from "../errors.ts";
import type { Environment } from "../handlers.ts";
import { saveKvResult } from "../keeper.ts";
import { decodeProof, verifyValue } from "./kv-proof.ts";

/** Values submitted for a query over the connection's client. */
export interface KvSubmission {
  readonly query: RegisteredQuery;
  readonly clientId: string;
  readonly result: QueryResult;
}

const consensusStateNotFound = registerError("client", 7, "consensus state not found");

/**
 * Takes the values of a KV query, proven against the client's consensus state of the height after the result's, whatever
 * the client's status is. The result is stored before the owner is told, so that the owner can read it.
 */
export function submitKvResult(context: Context, submission: KvSubmission, environment: Environment): void {
  const { query, clientId, result } = submission;
  if (query.queryType !== "kv") throw invalidType(`invalid query result for query type: ${query.queryType}`);
  requireNewer(query, result);
  if (result.kvResults.length !== query.keys.length)
    throw invalidSubmittedResult(
      `KV keys length from result is not equal to registered query keys length: ${result.kvResults.length} != ${query.keys.length}`,
    );
  const root = requireRoot(context, clientId, result, environment);
  const kvResults = query.keys.map((key, index) =>
    provenValue(environment.proofs, root, key, result.kvResults[index]),
  );
  saveKvResult(context, query, { ...result, kvResults });
  if (result.allowKvCallbacks) callKvOwner(context, environment.contracts, query);
}

/** Strictly newer than the last result: revision first, then height. The text is Go's for its structs. */
function requireNewer(query: RegisteredQuery, result: QueryResult): void {
  const last = query.lastSubmittedResultRemoteHeight;
  if (last === undefined) return;
  const newer =
    result.revision === last.revisionNumber
      ? result.height > last.revisionHeight
      : result.revision > last.revisionNumber;
  if (newer) return;
  throw invalidHeight(
    `result's remote height {${result.revision} ${result.height}} is less than or equal to last result's remote height &{${last.revisionNumber} ${last.revisionHeight}}`,
  );
}

/** The app hash after block H is in the header of H + 1. */
function requireRoot(
  context: Context,
  clientId: string,
  result: QueryResult,
  { ibc }: Environment,
): Uint8Array {
  const height: Height = { revisionNumber: result.revision, revisionHeight: result.height + 1n };
  const root = ibc.consensusRoot(context, clientId, height);
  if (root === undefined)
    throw consensusStateNotFound(
      `failed to get consensus state: rpc error: code = NotFound desc = client-id: ${clientId}: consensus state not found`,
    );
  if (ibc.clientLatestHeight(context, clientId) === undefined)
    throw invalidClientId(`could not find client state with client id: ${clientId}`);
  return root;
}

/** Checks one value in the deployed order: a proof is there, key, path, proof. */
function provenValue(
  proofs: ProofVerifier,
  root: Uint8Array,
  key: KVKey,
  value: StorageValue | undefined,
): StorageValue {
  if (value === undefined) throw invalidSubmittedResult("value is missing");
  const proof = decodeProof(proofs, value.Proof);
  if (!equalBytes(value.key, key.key))
    throw invalidSubmittedResult(
      `KV key from result is not equal to registered query key: ${goBytes(value.key)} != ${goBytes(key.key)}`,
    );
  if (value.storagePrefix !== key.path)
    throw invalidSubmittedResult(
      `KV path from result is not equal to registered query storage prefix: ${value.storagePrefix} != ${key.path}`,
    );
  const proven = { root, store: key.path, key: key.key, value: value.value, proof };
  return { ...value, value: verifyValue(proofs, proven) };
}

/** Bytes as Go prints a slice: "[1 125 203]". */
function goBytes(bytes: Uint8Array): string {
  return `[${bytes.join(" ")}]`;
}
