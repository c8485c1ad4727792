import type { MerkleProof } from "../../../../cosmos/merkle/ics23/proof-types.ts";
import type { Claim } from "../../../../cosmos/merkle/ics23/verify-merkle-proof.ts";
import type { ProofVerifier } from "../../../../cosmos/merkle/ics23/proof-verifier.ts";
import type {
  KVKey,
  RegisteredQuery,
} from "../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import type * as wire from "../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { ProofOps } from "../../../../cosmos/proto/gen/tendermint/crypto/proof.ts";
import { equalBytes, sha256, toBase64, toHex, goBytes } from "../../../../platform/base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
import * as errors from "../../runtime/errors.ts";
import * as keeper from "./keeper.ts";
import { ErrConsensusStateNotFound } from "../ibc/host/errors.ts";
import { checkSender } from "./handlers.ts";
import {
  verifyTransaction,
  type BlockHeader,
  checkConsecutive,
  readHeader,
  unpackHeader,
} from "./tx-queries.ts";

/**
 * MsgSubmitQueryResult. Any account may send this message at any time, because only relayers have to follow `update_period`. As in
 * Go, KV values are processed first. If the message contains KV values and requests their callback, its block is ignored. A block
 * without a transaction is accepted and has no effect.
 */
export function submitQueryResult(
  context: Context,
  message: wire.MsgSubmitQueryResult,
  keepers: keeper.Keepers,
): void {
  const { queryId, sender } = message;
  const result = errors.wrapErrors("failed to validate MsgSubmitQueryResult", () => {
    const { result: given } = message;
    if (given === undefined || (given.kvResults.length === 0 && given.block === undefined))
      throw keeper.ErrEmptyResult("query result can't be empty");
    if (queryId === 0n) throw keeper.ErrInvalidQueryID("query id cannot be equal zero");
    checkSender(keepers.bech32Prefix, sender);
    return given;
  });
  const query = errors.wrapErrors(
    (error) => keeper.wrapTwice("failed to get query by id", error),
    () => keeper.getQuery(context, queryId),
  );
  const clientId = requireClientId(context, query, keepers);
  if (result.kvResults.length > 0) {
    submitKvResult(context, { query, clientId, result }, keepers);
    if (result.allowKvCallbacks) return;
  }
  const { block } = result;
  if (block?.tx === undefined) return;
  submitTxResult(context, { query, clientId, block, tx: block.tx }, keepers);
}

/** Returns the client id of the query's connection. The message's own `client_id` is deprecated and ignored. */
function requireClientId(context: Context, query: RegisteredQuery, { ibc }: keeper.Keepers): string {
  const clientId = ibc.connectionClientId(context, query.connectionId);
  if (clientId !== undefined) return clientId;
  throw keeper.ErrInvalidConnectionID(
    `registered query ${query.id} has invalid connection id: ${query.connectionId}`,
  );
}

/** The KV values of a MsgSubmitQueryResult. `clientId` identifies the light client of the query's connection. */
interface KvSubmission {
  readonly query: RegisteredQuery;
  readonly clientId: string;
  readonly result: wire.QueryResult;
}

const EMPTY = new Uint8Array(0);

/**
 * Verifies all values of a KV query, stores the result and, if the submitter requests it, calls the owner. As in Go, the client's
 * status is not checked, so an expired or frozen client still verifies values. Store accesses and the callback consume gas, but
 * proof verification does not.
 */
function submitKvResult(context: Context, submission: KvSubmission, keepers: keeper.Keepers): void {
  const { query, clientId, result } = submission;
  // Run the checks in Go's order, because the first failed check determines the error.
  if (query.queryType !== "kv")
    throw keeper.ErrInvalidType(`invalid query result for query type: ${query.queryType}`);
  requireNewer(query, result);
  if (result.kvResults.length !== query.keys.length)
    throw keeper.ErrInvalidSubmittedResult(
      `KV keys length from result is not equal to registered query keys length: ${result.kvResults.length} != ${query.keys.length}`,
    );
  // Go reads the connection again at this point, which consumes gas.
  keepers.ibc.connectionClientId(context, query.connectionId);
  const root = requireRoot(context, clientId, result, keepers);
  const kvResults = query.keys.map((key, index) =>
    verifyStorageValue(keepers.proofs, root, key, result.kvResults[index]),
  );
  // Store the result before the callback and in the same context, because the owner reads it during the callback.
  keeper.saveKvResult(context, query, { ...result, kvResults });
  if (result.allowKvCallbacks)
    callOwner(context, keepers, query, {
      message: `{"kv_query_result":{"query_id":${query.id}}}`,
      failure: `contract ${query.owner} rejected KV query result (query_id: ${query.id})`,
    });
}

/**
 * Requires the result to be newer than the last result. A result with a greater revision is newer even if its height is lower. The
 * error message prints heights in Go's formats for a struct, such as `{1 5}`, and a pointer to a struct, such as `&{1 9999}`.
 */
function requireNewer(query: RegisteredQuery, result: wire.QueryResult): void {
  const last = query.lastSubmittedResultRemoteHeight;
  if (last === undefined) return;
  const isNewer =
    result.revision === last.revisionNumber
      ? result.height > last.revisionHeight
      : result.revision > last.revisionNumber;
  if (isNewer) return;
  throw keeper.ErrInvalidHeight(
    `result's remote height {${result.revision} ${result.height}} is less than or equal to last result's remote height &{${last.revisionNumber} ${last.revisionHeight}}`,
  );
}

/**
 * Returns the app hash after block H. The hash is read from the client's consensus state at H + 1, because the header at H + 1
 * contains this hash.
 */
function requireRoot(
  context: Context,
  clientId: string,
  result: wire.QueryResult,
  { ibc }: keeper.Keepers,
): Uint8Array {
  const height = { revisionNumber: result.revision, revisionHeight: result.height + 1n };
  const root = ibc.consensusRoot(context, clientId, height);
  if (root === undefined)
    throw ErrConsensusStateNotFound(
      `failed to get consensus state: rpc error: code = NotFound desc = client-id: ${clientId}: consensus state not found`,
    );
  // At this point, Go reads the proof specs from the client state. All clients have the SDK's proof specs, so only check that the
  // client exists.
  if (ibc.clientLatestHeight(context, clientId) === undefined)
    throw keeper.ErrInvalidClientID(`could not find client state with client id: ${clientId}`);
  return root;
}

/** Verifies a value and returns the value to store. Checks in Go's order: the proof's presence, the key, the path, the proof. */
function verifyStorageValue(
  proofs: ProofVerifier,
  root: Uint8Array,
  key: KVKey,
  value: wire.StorageValue | undefined,
): wire.StorageValue {
  if (value === undefined) throw keeper.ErrInvalidSubmittedResult("value is missing");
  const proof = decodeProof(proofs, value.Proof);
  if (!equalBytes(value.key, key.key))
    throw keeper.ErrInvalidSubmittedResult(
      `KV key from result is not equal to registered query key: ${goBytes(value.key)} != ${goBytes(key.key)}`,
    );
  if (value.storagePrefix !== key.path)
    throw keeper.ErrInvalidSubmittedResult(
      `KV path from result is not equal to registered query storage prefix: ${value.storagePrefix} != ${key.path}`,
    );
  const claim = { root, store: key.path, key: key.key, proof };
  return { ...value, value: verifyValue(proofs, claim, value.value) };
}

/** Decodes the proof operations. As in Go, ignores each operation's type and key. Throws ErrInvalidType for an undecodable proof. */
function decodeProof(proofs: ProofVerifier, operations: ProofOps | undefined): MerkleProof {
  const decoded = proofs.decode(operations?.ops.map(({ data }) => data));
  if (decoded.ok) return decoded.value;
  throw keeper.ErrInvalidType(`failed to convert crypto.ProofOps to MerkleProof: ${decoded.error.text}`);
}

/**
 * Verifies a key's proof and returns the value to store. If the proof shows that the key does not exist, returns an empty value
 * even if the submitter sent a value. Empty values cannot be proven (chain-extension-modules.md, "Errors", known behaviour 1).
 * Throws ErrInvalidProof if the verification fails.
 */
function verifyValue(proofs: ProofVerifier, claim: Claim, value: Uint8Array): Uint8Array {
  const isAbsent = claim.proof[0]?.kind === "nonexist";
  const result = isAbsent ? proofs.verifyNonMembership(claim) : proofs.verifyMembership(claim, value);
  if (!result.ok) throw keeper.ErrInvalidProof(`failed to verify proof: ${result.error.text}`);
  return isAbsent ? EMPTY : value;
}

/** The block and transaction in a MsgSubmitQueryResult. `clientId` identifies the light client of the query's connection. */
interface TxSubmission {
  readonly query: RegisteredQuery;
  readonly clientId: string;
  readonly block: wire.Block;
  readonly tx: wire.TxValue;
}

/**
 * Verifies one remote transaction, delivers it to the owner, and stores only its hash. If the query already received the
 * transaction, verifies the headers but does not deliver the transaction again. Even in this case, the query's local height
 * advances. Accounts other than the owner must therefore wait longer before they can remove the query. The query's remote height
 * never changes, because transactions may arrive in any order.
 */
function submitTxResult(context: Context, submission: TxSubmission, keepers: keeper.Keepers): void {
  const { query } = submission;
  if (query.queryType !== "tx")
    throw keeper.ErrInvalidType(`invalid query result for query type: ${query.queryType}`);
  errors.wrapErrors(
    (error) => keeper.wrapTwice("failed to ProcessBlock", error),
    () => processBlock(context, submission, keepers),
  );
  keeper.setQuery(context, { ...query, lastSubmittedResultLocalHeight: context.height });
}

function processBlock(context: Context, submission: TxSubmission, keepers: keeper.Keepers): void {
  const { query, tx } = submission;
  const { header, next } = verifyHeaders(context, submission, keepers);
  const hash = sha256(tx.data);
  if (keeper.submittedTxs.has(context, { queryId: query.id, hash })) return;
  const hashHex = toHex(hash);
  // Like Go, replace the error's code with ErrInternal and keep its message.
  errors.wrapErrors(
    (error) => keeper.ErrInternal(`failed to verifyTransaction ${hashHex}: ${error.message}`),
    () => verifyTransaction(tx, { dataHash: header.dataHash, resultsHash: next.lastResultsHash }),
  );
  callOwner(context, keepers, query, {
    message: txQueryResult(query.id, header, tx.data),
    failure: `contract ${query.owner} rejected transaction query result (tx_hash: ${hashHex})`,
  });
  keeper.markSubmitted(context, { queryId: query.id, hash });
}

/**
 * Updates the client with the block's header and the next header, then checks that the next header follows the block's. As in Go,
 * both consensus states are stored. If the next header conflicts with a stored state, the client is frozen without an error.
 */
function verifyHeaders(
  context: Context,
  { clientId, block }: TxSubmission,
  { ibc }: keeper.Keepers,
): { readonly header: BlockHeader; readonly next: BlockHeader } {
  const unpacked = [
    unpackHeader(block.header, "block header"),
    unpackHeader(block.nextBlockHeader, "next block header"),
  ] as const;
  return errors.wrapErrors(
    (error) => keeper.ErrInvalidHeader(`failed to verify headers: ${error.message}`),
    () => {
      for (const { packed } of unpacked)
        errors.wrapErrors(
          (error) => keeper.wrapTwice("failed to update client", error),
          () => ibc.updateClient(context, clientId, packed),
        );
      const [header, next] = [readHeader(unpacked[0]), readHeader(unpacked[1])];
      checkConsecutive(header, next);
      return { header, next };
    },
  );
}

/**
 * Prints the callback message like Go's `encoding/json`. Numbers up to 2^64 - 1 are JSON numbers, which JSON.stringify would round.
 * Members of the height are omitted if they are 0. Empty data is null, because protobuf decodes a missing field to nil.
 */
function txQueryResult(queryId: bigint, { trustedRevision, height }: BlockHeader, data: Uint8Array): string {
  const members = [
    ...(trustedRevision === 0n ? [] : [`"revision_number":${trustedRevision}`]),
    ...(height === 0n ? [] : [`"revision_height":${height}`]),
  ];
  const encoded = data.length === 0 ? "null" : `"${toBase64(data)}"`;
  return `{"tx_query_result":{"query_id":${queryId},"height":{${members.join(",")}},"data":${encoded}}}`;
}

/**
 * Calls the sudo entry point of the contract that owns the query. As in Go, the call shares the submission's context and gas limit, so
 * that the writes of the contract and the module are kept or dropped together. The contract's error keeps its message but gets the
 * codespace and code undefined/1, as in Go. An out-of-gas error is rethrown unchanged.
 */
function callOwner(
  context: Context,
  { contracts }: keeper.Keepers,
  query: RegisteredQuery,
  call: { readonly message: string; readonly failure: string },
): void {
  errors.wrapErrors(
    (error) => errors.unregisteredError(`${call.failure}: failed to sudo: ${error.message}`),
    () => {
      if (!contracts.isContract(context, query.owner))
        throw errors.unregisteredError(`${query.owner} is not a contract address`);
      contracts.sudo(context, query.owner, call.message);
    },
  );
}
