import type { ChainClient, LightBlockBytes, StoreResponse } from "../../cosmos/client/chain-client.ts";
import {
  createTrustFinder,
  headerAny,
  isUpdatedTo,
  type Trust,
  updateClientMessage,
} from "../../cosmos/light-client/client-update.ts";
import type { RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import type { ProofFailure, ProofFailureCode } from "../../cosmos/merkle/ics23/proof-types.ts";
import { createProofVerifier, type ProofVerifier } from "../../cosmos/merkle/ics23/proof-verifier.ts";
import type { StorageValue } from "../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { toHex } from "../../platform/base/bytes.ts";
import { bad, errorText, good, type Result } from "../../platform/base/errors.ts";
import type { QueryFailure, QueryState } from "../registry/query-state.ts";
import type { QueryKey } from "../chain/registered-query.ts";
import { type ClientUpdate, MAX_AGE_MS, submitMessage } from "../result/proven-result.ts";
import type { ConnectionView } from "../connection/connection-view.ts";
import { type ConnectionWorker, intermediateHeadersOf } from "../connection/worker.ts";

/** The queries to read together, and the connection view that determines the remote height. */
export interface KvRead {
  readonly view: ConnectionView;
  /** The queries to read, in descending priority. */
  readonly candidates: readonly QueryState[];
}

export interface ProvenReads {
  readonly proofs: readonly ProofOutcome[];
  /** The client update that the proofs need; undefined if the client already has the consensus state. */
  readonly update: ClientUpdate | undefined;
}

/**
 * Reads all keys at one height and verifies all proofs. Returns no proofs if the reads took so long that the values are too old.
 * The next cycle then reads the values again. Throws `RelayError` and `ClientError` for connection errors.
 */
export async function readAndProve(
  worker: ConnectionWorker,
  read: KvRead,
  signal: AbortSignal,
): Promise<ProvenReads> {
  const [reads] = await Promise.all([
    readRemote(worker, read, signal),
    readLastHeights(worker, read, signal),
  ]);
  if (reads.afterMs > MAX_AGE_MS) return { proofs: [], update: undefined };
  const update = updateOf(worker, read.view, reads);
  return { proofs: await proveValues(worker, read, reads, signal), update };
}

interface RemoteReads {
  readonly block: LightBlockBytes;
  readonly answers: KeyAnswers;
  /** The trusted state for the client update; undefined if the client already has the consensus state. */
  readonly trust: Trust | undefined;
  /** Time in ms from reading the values to the end of any intermediate client updates. */
  readonly afterMs: number;
}

/** Reads the block, the keys and the trusted height in parallel, which takes one round trip for any number of keys. */
async function readRemote(
  worker: ConnectionWorker,
  { view: { client, headerAt, stateAt }, candidates }: KvRead,
  signal: AbortSignal,
): Promise<RemoteReads> {
  const finder = createTrustFinder(worker, client, signal);
  const keys = candidates.flatMap(({ query }) => query.keys);
  const [block, answers, trust] = await Promise.all([
    worker.remote.lightBlock(headerAt.height, signal),
    readKeys(worker.remote, keys, stateAt.height, signal),
    isUpdatedTo(client, headerAt) ? undefined : finder.below(headerAt),
  ]);
  const readMs = worker.clock.monotonicMs();
  const nearest = trust && (await intermediateHeadersOf(worker, client, signal)(block, trust));
  return { block, answers, trust: nearest, afterMs: worker.clock.monotonicMs() - readMs };
}

/** If unchanged values are skipped, rereads the queries from the chain, because another relayer may have sent newer results. */
async function readLastHeights(
  { registry }: ConnectionWorker,
  { candidates }: KvRead,
  signal: AbortSignal,
): Promise<void> {
  const known = candidates.filter(({ sent }) => sent.length > 0);
  await registry.reread(
    known.map(({ query }) => query.id),
    signal,
  );
}

/** Proves all values. If an endpoint's proof is invalid, reads the values again from the next endpoint. */
async function proveValues(
  { remote, settings, submitter }: ConnectionWorker,
  { candidates, view: { stateAt } }: KvRead,
  { block, answers: first }: RemoteReads,
  signal: AbortSignal,
): Promise<readonly ProofOutcome[]> {
  const wrong = new Set<string>();
  const onInvalidProof = (endpoint: string, reason: string): void => {
    wrong.add(endpoint);
    remote.distrust(endpoint, reason);
  };
  const allowKvCallbacks = settings.queries.allow_kv_callbacks;
  const options = { sender: submitter.address, allowKvCallbacks, onInvalidProof };
  for (let answers = first; ; ) {
    const before = wrong.size;
    const proofs = proveResults(candidates, answers, { appHash: block.appHash, at: stateAt }, options);
    if (wrong.size === before) return proofs;
    const failed = proofs.filter(({ result }) => !result.ok && result.error.code === "invalid-proof");
    const keys = failed.flatMap(({ state }) => state.query.keys);
    answers = new Map([...answers, ...(await readKeys(remote, keys, stateAt.height, signal))]);
  }
}

function updateOf(
  worker: ConnectionWorker,
  view: ConnectionView,
  { trust, block }: RemoteReads,
): ClientUpdate | undefined {
  const { clientId } = view.client;
  if (trust === undefined) return undefined;
  return {
    key: `${clientId}/${view.headerAt.revision}-${view.headerAt.height}`,
    connectionId: worker.connectionId,
    message: updateClientMessage(clientId, headerAny(block, trust), worker.submitter.address),
  };
}

/** The remote state to which all proofs refer. */
export interface ProofPoint {
  /** The app hash in the header of block `at` + 1. */
  readonly appHash: Uint8Array;
  /** Remote height of the state that was read. */
  readonly at: RemoteHeight;
}

export interface ProofOptions {
  readonly sender: string;
  readonly allowKvCallbacks: boolean;
  /** Called for each key whose proof cannot be verified. */
  readonly onInvalidProof?: (endpoint: string, reason: string) => void;
}

export interface ProvenValues {
  /** Encoded `MsgSubmitQueryResult`. */
  readonly message: Uint8Array;
  /** One value per key, in the query's order. An absent key has an empty value. */
  readonly values: readonly StorageValue[];
}

export interface ProofOutcome {
  readonly state: QueryState;
  readonly result: Result<ProvenValues, QueryFailure>;
}

/**
 * Verifies each key's proof once and builds one result per query. If a key cannot be proven, only the queries with that key fail.
 *
 * The chain would also refuse an unproven result, but the whole transaction would fail, including its other results.
 */
export function proveResults(
  states: readonly QueryState[],
  answers: KeyAnswers,
  point: ProofPoint,
  options: ProofOptions,
): readonly ProofOutcome[] {
  const verifier = createProofVerifier();
  const proven = new Map<string, Result<StorageValue, QueryFailure>>();
  const proveFirst = (key: QueryKey, name: string): Result<StorageValue, QueryFailure> => {
    const read = answers.get(name);
    const value = proveKey(key, read, point, verifier);
    if (!value.ok && value.error.code === "invalid-proof" && read?.ok === true)
      options.onInvalidProof?.(read.value.endpoint, value.error.reason);
    return value;
  };
  const valueOf = (key: QueryKey): Result<StorageValue, QueryFailure> => {
    const name = keyName(key);
    const value = proven.get(name) ?? proveFirst(key, name);
    proven.set(name, value);
    return value;
  };
  return states.map((state) => ({ state, result: toResult(state, valueOf, point, options) }));
}

function toResult(
  state: QueryState,
  valueOf: (key: QueryKey) => Result<StorageValue, QueryFailure>,
  { at }: ProofPoint,
  { sender, allowKvCallbacks }: ProofOptions,
): Result<ProvenValues, QueryFailure> {
  const kvResults: StorageValue[] = [];
  for (const key of state.query.keys) {
    const value = valueOf(key);
    if (!value.ok) return value;
    kvResults.push(value.value);
  }
  const result = { kvResults, block: undefined, height: at.height, revision: at.revision, allowKvCallbacks };
  return good({ message: submitMessage(state.query.id, result, sender), values: kvResults });
}

function proveKey(
  key: QueryKey,
  read: Result<StoreResponse, QueryFailure> | undefined,
  point: ProofPoint,
  verifier: ProofVerifier,
): Result<StorageValue, QueryFailure> {
  if (read === undefined) return bad({ code: "read-failed", reason: `${keyName(key)} was not read` });
  if (!read.ok) return read;
  const answer = read.value;
  if (answer.code !== 0) return bad(readFailure(answer, key));
  // A proof from another height can't match the root hash. An error that names both heights is clearer than "wrong root".
  if (answer.height !== point.at.height) {
    const reason = `${keyName(key)} was read at height ${answer.height} instead of ${point.at.height}`;
    return bad({ code: "read-failed", reason });
  }
  return verify(answer, key, point, verifier);
}

function verify(
  answer: StoreResponse,
  key: QueryKey,
  point: ProofPoint,
  verifier: ProofVerifier,
): Result<StorageValue, QueryFailure> {
  const decoded = verifier.decode(answer.proof.map(({ data }) => data));
  if (!decoded.ok) return bad(queryFailure(decoded.error, key));
  const claim = { root: point.appHash, store: key.path, key: key.key, proof: decoded.value };
  const isPresent = decoded.value[0]?.kind === "exist";
  const value = answer.value ?? new Uint8Array();
  const result = isPresent ? verifier.verifyMembership(claim, value) : verifier.verifyNonMembership(claim);
  if (!result.ok) return bad(queryFailure(result.error, key));
  const ops = answer.proof.map(({ type, key: opKey, data }) => ({ type, key: opKey, data }));
  return good({ storagePrefix: key.path, key: key.key, value, Proof: { ops } });
}

/** Proof failures that the remote state causes and not the node, because ICS-23 cannot prove the state. */
const UNPROVABLE_STATES: Partial<Record<ProofFailureCode, QueryFailure>> = {
  "empty-value": { code: "empty-value", reason: "has an empty value, which ICS-23 cannot prove" },
  "empty-tree": { code: "empty-store", reason: "is absent from an empty store, which ICS-23 cannot prove" },
  "empty-neighbour": {
    code: "absence-not-provable",
    reason:
      "is absent, but a neighbouring key has an empty value, which ICS-23 cannot prove; this may change as the tree changes",
  },
};

function queryFailure(error: ProofFailure, key: QueryKey): QueryFailure {
  const unprovable = UNPROVABLE_STATES[error.code];
  if (unprovable !== undefined)
    return { code: unprovable.code, reason: `${keyName(key)} ${unprovable.reason}` };
  return { code: "invalid-proof", reason: `${keyName(key)}: ${error.text}` };
}

function readFailure(answer: StoreResponse, key: QueryKey): QueryFailure {
  // The SDK's `rootmulti.Store.Query` returns this text for an unknown store.
  if (/no such store/i.test(answer.log)) {
    return { code: "no-such-store", reason: `the remote chain has no store ${JSON.stringify(key.path)}` };
  }
  return {
    code: "read-failed",
    reason: `cannot read ${keyName(key)}: ${answer.codespace}/${answer.code}: ${answer.log}`,
  };
}

/** The responses or failures of store reads at one height, by {@link keyName}. */
export type KeyAnswers = ReadonlyMap<string, Result<StoreResponse, QueryFailure>>;

/** Formats a key as store name and hex key, for example `bank/0214…`. */
function keyName(key: QueryKey): string {
  return `${key.path}/${toHex(key.key)}`;
}

/** Reads each distinct key with its proof at one height, in parallel. A failed read is part of the result and does not reject. */
export async function readKeys(
  remote: Pick<ChainClient, "readStore">,
  keys: readonly QueryKey[],
  height: bigint,
  signal: AbortSignal,
): Promise<KeyAnswers> {
  const distinct = new Map(keys.map((key) => [keyName(key), key]));
  const answers = await Promise.all(
    [...distinct].map(async ([name, key]) => [name, await readKey({ remote, key, height }, signal)] as const),
  );
  return new Map(answers);
}

interface KeyRead {
  readonly remote: Pick<ChainClient, "readStore">;
  readonly key: QueryKey;
  readonly height: bigint;
}

async function readKey(
  { remote, key, height }: KeyRead,
  signal: AbortSignal,
): Promise<Result<StoreResponse, QueryFailure>> {
  try {
    return good(await remote.readStore({ store: key.path, key: key.key, height }, signal));
  } catch (error) {
    signal.throwIfAborted();
    return bad({ code: "read-failed", reason: `cannot read ${keyName(key)}: ${errorText(error)}` });
  }
}
