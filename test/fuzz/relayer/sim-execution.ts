import { equalBytes, toHex, sha256 } from "../../../src/platform/base/bytes.ts";
import type { WireMessage } from "../../../src/cosmos/client/tx/tx-types.ts";
import { txResultLeaf } from "../../../src/cosmos/comet/block-hashes.ts";
import { createProofVerifier } from "../../../src/cosmos/merkle/ics23/proof-verifier.ts";
import { verifySimpleProof } from "../../../src/cosmos/merkle/simple-tree.ts";
import { MsgUpdateClient } from "../../../src/cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import { Header } from "../../../src/cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import {
  MsgSubmitQueryResult,
  type QueryResult,
  type StorageValue,
} from "../../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { RegisteredQuery } from "../../../src/relayer/chain/registered-query.ts";
import type { SimRemote } from "./sim-remote.ts";

interface ConsensusState {
  readonly timeNs: bigint;
  readonly appHash: Uint8Array;
}
type ConsensusStates = Map<bigint, ConsensusState>;

/** A light client on the simulated local chain. */
export interface SimClient {
  readonly remote: SimRemote;
  latest: bigint;
  readonly consensus: ConsensusStates;
}

/** The state of the simulated local chain. */
export interface SimState {
  height: bigint;
  queries: Map<bigint, RegisteredQuery>;
  clients: Map<string, SimClient>;
  /** Queries whose contracts reject every result. */
  readonly rejecting: Set<bigint>;
  /** Queries whose results fail their transaction in the block, without a named message. Simulations do not see it. */
  readonly poison: Set<bigint>;
  /** KV queries with a result in the present block. */
  readonly answeredInBlock: Set<bigint>;
  /** Hashes of delivered remote transactions, by query. */
  readonly delivered: Map<bigint, string[]>;
  /** Descriptions of everything that a relayer must never do. */
  readonly violations: string[];
}

/** An error that the chain returns to its user. Any other error is a bug of the simulation. */
export class Refusal extends Error {}

/** Returns a client. Throws {@link Refusal}. */
export function clientOf({ clients }: SimState, id: string): SimClient {
  const client = clients.get(id);
  if (client === undefined) throw new Refusal(`client ${id} not found`);
  return client;
}

/**
 * The KV and TX workers of a connection run side by side, a result may wait ten seconds for its transaction, and a
 * transaction may wait for its block: one may update the client this far beyond the other.
 */
const MAX_WORKER_DISTANCE = 36n;

/** Consensus states of a client, with those that one transaction adds. */
type OwnConsensus = Pick<ConsensusStates, "get" | "has"> & {
  readonly set: (height: bigint, state: ConsensusState) => void;
  /** Those that the transaction added. */
  readonly added: ConsensusStates;
};

function ownConsensus(known: ConsensusStates | undefined): OwnConsensus {
  const added: ConsensusStates = new Map();
  return {
    get: (height) => added.get(height) ?? known?.get(height),
    has: (height) => added.has(height) || known?.has(height) === true,
    set: (height, state) => void added.set(height, state),
    added,
  };
}

/** One transaction in execution. It adds its consensus states to the client when it commits, so that a failure changes nothing. */
interface Execution {
  readonly state: SimState;
  readonly consensusOf: (clientId: string) => OwnConsensus;
  readonly answeredQueries: Set<bigint>;
}

/** Executes the messages of one transaction. Returns a function that commits them. Throws {@link Refusal}. */
export function execute(state: SimState, messages: readonly WireMessage[]): () => void {
  const consensus = new Map<string, OwnConsensus>();
  const consensusOf = (id: string): OwnConsensus => {
    const own = consensus.get(id) ?? ownConsensus(state.clients.get(id)?.consensus);
    consensus.set(id, own);
    return own;
  };
  const execution: Execution = { state, consensusOf, answeredQueries: new Set() };
  const commits = messages.map((message, index) => {
    try {
      return executeMessage(execution, message);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      throw new Refusal(`failed to execute message; message index: ${index}: ${error.message}`);
    }
  });
  return () => {
    for (const [id, own] of consensus)
      for (const [at, block] of own.added) state.clients.get(id)?.consensus.set(at, block);
    for (const commit of commits) commit();
  };
}

function executeMessage(execution: Execution, { typeUrl, value }: WireMessage): () => void {
  if (typeUrl.endsWith("MsgUpdateClient")) return updateClient(execution, MsgUpdateClient.decode(value));
  const { queryId, result } = MsgSubmitQueryResult.decode(value);
  const query = execution.state.queries.get(queryId);
  if (query === undefined) throw new Refusal("invalid query id: there is none");
  if (result === undefined) throw new Refusal("empty result");
  return query.type === "tx" ? submitTx(execution, query, result) : submitKv(execution, query, result);
}

function updateClient(execution: Execution, { clientId, clientMessage }: MsgUpdateClient): () => void {
  const { state, consensusOf } = execution;
  const client = clientOf(state, clientId);
  const header = clientMessage?.value ?? new Uint8Array();
  const at = checkHeader(state, client, header, consensusOf(clientId));
  // When the validators have changed, transactions of old blocks may need updates to the headers in front of them.
  if (at + MAX_WORKER_DISTANCE < client.latest && isVerifiable(client, 0n, client.latest))
    state.violations.push(`${clientId} is updated to ${at}, below its latest height ${client.latest}`);
  return () => {
    client.latest = at > client.latest ? at : client.latest;
  };
}

/** Adds the consensus state of a header. Returns its height. */
function checkHeader(
  { violations }: SimState,
  client: SimClient,
  value: Uint8Array,
  consensus: OwnConsensus,
): bigint {
  const header = Header.decode(value);
  const at = header.signedHeader?.header?.height ?? 0n;
  const trusted = header.trustedHeight?.revisionHeight ?? 0n;
  if (!consensus.has(trusted)) throw new Refusal(`no consensus state at ${trusted}`);
  if (trusted >= at) violations.push(`header ${at} has the trusted height ${trusted}`);
  const block = client.remote.block(at);
  const appHash = header.signedHeader?.header?.appHash ?? new Uint8Array();
  if (block === undefined || !equalBytes(block.appHash, appHash))
    throw new Refusal("header is invalid: it is not of this chain");
  if (!isVerifiable(client, trusted, at)) {
    violations.push(`header ${at} cannot be verified from height ${trusted}`);
    throw new Refusal("cant trust new val set: insufficient voting power");
  }
  consensus.set(at, block);
  return at;
}

/** Whether more than 1/3 of the validators that are trusted at a height have signed the block `at`. */
function isVerifiable({ remote }: SimClient, trusted: bigint, at: bigint): boolean {
  if (at === trusted + 1n) return true;
  const [before, after] = [trusted + 1n, at].map((height) => remote.block(height)?.validators ?? []);
  const kept = before?.filter((one) => after?.some((other) => equalBytes(one, other))).length ?? 0;
  return kept * 3 > (before?.length ?? 0);
}

function submitKv(execution: Execution, query: RegisteredQuery, result: QueryResult): () => void {
  const { state, consensusOf, answeredQueries } = execution;
  const { violations } = state;
  if (answeredQueries.has(query.id)) violations.push(`two results of query ${query.id} in one transaction`);
  answeredQueries.add(query.id);
  if (query.keys.some(({ path }) => path !== "bank")) violations.push(`query ${query.id} has no answer`);
  const last = query.lastRemoteHeight?.height ?? 0n;
  if (result.height <= last)
    throw new Refusal(
      `result's remote height {${result.revision} ${result.height}} is less than or equal to last result's remote height &{${result.revision} ${last}}: height is invalid`,
    );
  const root = consensusOf(clientIdOf(query)).get(result.height + 1n)?.appHash;
  if (root === undefined) throw new Refusal("no consensus state");
  for (const [index, value] of result.kvResults.entries()) {
    const key = query.keys[index];
    if (key === undefined || !equalBytes(key.key, value.key))
      throw new Refusal("invalid result: keys differ");
    if (!isProven(key.path, value, root)) throw new Refusal("merkle proof is invalid");
  }
  if (state.rejecting.has(query.id)) throw new Refusal("the contract rejects the result");
  const lastRemoteHeight = { revision: result.revision, height: result.height };
  return () => {
    if (state.answeredInBlock.has(query.id)) violations.push(`two results of query ${query.id} in one block`);
    state.answeredInBlock.add(query.id);
    state.queries.set(query.id, { ...query, lastLocalHeight: state.height, lastRemoteHeight });
  };
}

function clientIdOf({ connectionId }: RegisteredQuery): string {
  return connectionId.replace("connection", "client");
}

/** One for all, as in the chain: each proof is verified in the simulation of its transaction and in its block. */
const proofs = createProofVerifier();

function isProven(store: string, value: StorageValue, root: Uint8Array): boolean {
  const proof = proofs.decode(value.Proof?.ops.map(({ data }) => data));
  if (!proof.ok) return false;
  const claim = { root, store, key: value.key, proof: proof.value };
  return value.value.length > 0
    ? proofs.verifyMembership(claim, value.value).ok
    : proofs.verifyNonMembership(claim).ok;
}

function submitTx(execution: Execution, query: RegisteredQuery, { block }: QueryResult): () => void {
  const { state, consensusOf } = execution;
  const client = clientOf(state, clientIdOf(query));
  const consensus = consensusOf(clientIdOf(query));
  const [own, next] = [block?.header, block?.nextBlockHeader].map((any) => any?.value ?? new Uint8Array());
  if (own === undefined || next === undefined) throw new Refusal("headers are missing");
  const at = checkHeader(state, client, own, consensus);
  const nextAt = checkHeader(state, client, next, consensus);
  if (nextAt !== at + 1n) throw new Refusal("headers are not consecutive");
  checkTx(state, block?.tx, own, next);
  if (state.rejecting.has(query.id)) throw new Refusal("the contract rejects the transaction");
  const hash = toHex(sha256(block?.tx?.data ?? new Uint8Array()));
  return () => {
    client.latest = nextAt > client.latest ? nextAt : client.latest;
    const hashes = state.delivered.get(query.id) ?? [];
    if (hashes.includes(hash)) state.violations.push(`transaction ${hash} is submitted twice`);
    state.delivered.set(query.id, [...hashes, hash]);
    state.queries.set(query.id, { ...query, lastLocalHeight: state.height });
  };
}

function checkTx(
  { violations }: SimState,
  tx: NonNullable<QueryResult["block"]>["tx"],
  own: Uint8Array,
  next: Uint8Array,
): void {
  if (tx?.inclusionProof === undefined || tx.deliveryProof === undefined || tx.response === undefined)
    throw new Refusal("internal error: proofs are missing");
  const headers = [own, next].map((value) => Header.decode(value).signedHeader?.header);
  const dataHash = headers[0]?.dataHash ?? new Uint8Array();
  if (!verifySimpleProof(dataHash, sha256(tx.data), tx.inclusionProof).ok)
    throw new Refusal("internal error: inclusion");
  const resultsHash = headers[1]?.lastResultsHash ?? new Uint8Array();
  if (!verifySimpleProof(resultsHash, txResultLeaf(tx.response), tx.deliveryProof).ok)
    throw new Refusal("internal error: delivery");
  if (tx.response.code !== 0) violations.push("a failed transaction is submitted");
}
